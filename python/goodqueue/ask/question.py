"""A question: its fields, how they are read, the command that asks it again, and the work that answers it."""

import dataclasses
import inspect
import json
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, dataclass
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self, TypeVar, dataclass_transform

from goodqueue import options
from goodqueue.ask.fields import KEY, Field
from goodqueue.errors import UserError

if TYPE_CHECKING:
    from goodqueue.running import Progress
    from goodqueue.show.answer import Answer
    from goodqueue.store import Store


class Work(NamedTuple):
    """What answers a question. All that can be refused has been refused."""

    label: str
    """What the progress bar says: ``2000 scenarios``."""
    carry_out: "Callable[[Progress, Store | None], Answer]"
    """Returns the answer. It takes its runs from the store, if there is one, and keeps them there."""


class Question:
    """The base of all questions, each of which is a dataclass (`question`).

    The docstring of a question is the text of ``--help``: one sentence, then ``Examples:``, then further paragraphs. An
    option in it is written ``--draw-seed``, and Python's help writes ``draw_seed``.
    """

    verb: ClassVar[str]
    """The name of the command, and of the function in Python if there is one. A sub-command's has two words."""
    further: ClassVar[tuple[type["Question"], ...]] = ()
    """The questions of the verb's sub-commands."""
    report: ClassVar[str] = ""
    """The sentence of ``--out``: what the folder of a report has. Empty if there is none."""
    needs_store: ClassVar[bool] = False
    """Whether a report stands beside a store only."""
    opens_store: ClassVar[bool] = False
    """Whether its work opens what ``--store`` names itself, since runs of another kind are kept there."""
    writes: ClassVar[tuple[str, ...]] = ()
    """The fields that name further files, which the answer has (`Answer.also`)."""
    has_latex: ClassVar[bool] = False
    """Whether ``--latex`` prints the tables of the answer."""
    has_json: ClassVar[bool] = True
    """Whether ``--json`` prints the answer. A verb whose answer is a file has no other."""

    __dataclass_fields__: ClassVar[dict[str, dataclasses.Field[Any]]]

    def for_report(self) -> Self:
        """Return the question to ask if its answer becomes a report: figures may need more of the runs."""
        return self

    def for_json(self) -> Self:
        """Return the question to ask if the answer is printed as JSON: programs that it runs print elsewhere."""
        return self

    def for_python(self) -> Self:
        """Return the question to ask if the answer goes to a program in Python: what programs print is kept for it.

        Raises UserError for what only the command line can do.
        """
        return self

    def work(self) -> Work:
        """Return what answers the question. Raises UserError for what cannot be asked, before any run."""
        raise NotImplementedError

    @classmethod
    def fields(cls) -> dict[str, Field]:
        """Return what a person may say, by name, in the order of the class."""
        return {field.name: field.metadata[KEY] for field in dataclasses.fields(cls) if KEY in field.metadata}

    @classmethod
    def defaults(cls) -> dict[str, Any]:
        """Return the values that the fields have if nobody gives one. Arguments have none."""
        every = dataclasses.fields(cls)
        made = {field.name: field.default_factory() for field in every if field.default_factory is not MISSING}
        return {field.name: field.default for field in every if field.default is not MISSING} | made

    @classmethod
    def read(cls, given: Mapping[str, Any]) -> Self:
        """Return the question of the values ``given`` by name. None is no value. Raises UserError."""
        values = {name: value for name, value in given.items() if value is not None}
        fields = cls.fields()
        if missing := fields.keys() - cls.defaults().keys() - values.keys():
            (name, *_) = sorted(missing)
            raise UserError(cls.verb, f"missing {fields[name].metavar}; accepted: {fields[name].help}")
        return cls(
            **{name: fields[name].reader.read(fields[name].option(name), value) for name, value in values.items()}
        )

    def command(self) -> str:
        """Return the command that asks the same question.

        What has its default is left out, and what does not change an answer: the store and the number of workers.
        """
        arguments, said, defaults = list[str](), dict[str, list[Any]](), self.defaults()
        for name, field in self.fields().items():
            value = getattr(self, name)
            if field.of_scenario is not None:
                for option, given in value.items():
                    is_known = option in field.of_scenario
                    key, word = (option, given) if is_known else ("set", f"{options.DECLARED[option].key}={given}")
                    said.setdefault(key, []).append(word)
            elif name not in UNSAID and value != defaults.get(name, MISSING):
                values = list(_assigned(value)) if field.reader.repeats else [value]
                if field.is_argument:
                    arguments += [str(each) for each in values if each is not None]
                else:
                    said.setdefault(field.name or name, []).extend(values)
        words = self.verb.split()
        if not any(word.startswith("-") for word in arguments):
            return options.command(*words, *arguments, **said)
        return f"{options.command(*words, **said)} -- {shlex.join(arguments)}"

    @classmethod
    def text(cls) -> str:
        """Return the text of the help, without indents."""
        return inspect.getdoc(cls) or ""


Asked = TypeVar("Asked", bound=Question)


@dataclass_transform(kw_only_default=True, frozen_default=True)
def question(asked: type[Asked]) -> type[Asked]:
    """Make ``asked`` a dataclass of named fields, which only mypy keeps from being changed.

    `dataclasses` writes the methods of a frozen class as text, which each process compiles. Ten questions would take
    ``--help`` 10 ms, and no question is compared, printed or changed.
    """
    return dataclass(kw_only=True, eq=False, repr=False)(asked)


def _assigned(value: Any) -> Sequence[Any]:
    """Return the values of a repeated option. A dict's are as the command line has them: ``KEY=VALUE``."""
    if not isinstance(value, Mapping):
        return tuple(value)
    return [f"{key}={given if isinstance(given, str) else json.dumps(given)}" for key, given in value.items()]


UNSAID = ("store", "workers")
"""The fields that say how a question is answered, not what is asked."""
