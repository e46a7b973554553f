"""A question: its fields, how they are read, the command that asks it again, and the work that answers it."""

import dataclasses
import inspect
import shlex
from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Self

from goodqueue.ask.fields import KEY, Field
from goodqueue.errors import Option

if TYPE_CHECKING:
    from goodqueue.running import Progress
    from goodqueue.show.answer import Answer
    from goodqueue.store import Store


@dataclass(frozen=True, slots=True)
class Work:
    """What answers a question. All that can be refused has been refused."""

    label: str
    """What the progress bar says: ``2000 scenarios``."""
    carry_out: "Callable[[Progress, Store | None], Answer]"
    """Returns the answer. It takes its runs from the store, if there is one, and keeps them there."""


class Question:
    """The base of all questions.

    The docstring of a question is the text of ``--help``: one sentence, then ``Examples:``, then further paragraphs. An
    option in it is written ``--draw-seed``, and Python's help writes ``draw_seed``.
    """

    verb: ClassVar[str]
    """The name of the command, and of the function in Python."""
    report: ClassVar[str]
    """The sentence of ``--out``: what the folder of a report has."""

    def work(self) -> Work:
        """Return what answers the question. Raises UserError for what cannot be asked, before any run."""
        raise NotImplementedError

    @classmethod
    def fields(cls) -> dict[str, Field]:
        """Return the fields by name, in their order. A store and workers come last, as in each question."""
        every = dataclasses.fields(cls)  # type: ignore[arg-type] # each question is a dataclass
        return {field.name: field.metadata[KEY] for field in every}

    @classmethod
    def defaults(cls) -> dict[str, Any]:
        """Return the values that the fields have if nobody gives one. Arguments have none."""
        every = dataclasses.fields(cls)  # type: ignore[arg-type]
        return {field.name: field.default for field in every if field.default is not MISSING}

    @classmethod
    def read(cls, given: Mapping[str, Any]) -> Self:
        """Return the question of the values ``given`` by name. None is no value. Raises UserError."""
        values = {name: value for name, value in given.items() if value is not None}
        fields = cls.fields()
        return cls(**{name: fields[name].reader.read(Option(name), value) for name, value in values.items()})

    def command(self) -> str:
        """Return the command that asks the same question.

        What does not change an answer is left out: the store and the number of workers.
        """
        words = ["goodqueue", self.verb]
        for name, field in self.fields().items():
            value = getattr(self, name)
            if name in UNSAID or value is None or value is False:
                continue
            for each in value if field.reader.repeats else [value]:
                words += [] if field.is_argument else [str(Option(name))]
                words += [] if each is True else [str(each)]
        return shlex.join(words)

    @classmethod
    def text(cls) -> str:
        """Return the text of the help, without indents."""
        return inspect.getdoc(cls) or ""


UNSAID = ("store", "workers")
"""The fields that say how a question is answered, not what is asked."""
