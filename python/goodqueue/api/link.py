"""``gq.link``: two programs behind a bottleneck, in virtual time."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from goodqueue.api import asking, showing
from goodqueue.linking.question import Link
from goodqueue.record import Record
from goodqueue.show.answer import Answer, Part


@dataclass(frozen=True, repr=False)
class Linked(showing.Shown):
    """A link that has ended: what CMD printed, and the record of the path."""

    status: int
    """The exit status of CMD, or of CLIENT if there are two commands. 128 + the number of a signal that killed it."""
    stdout: str
    """What both commands printed on standard output."""
    stderr: str
    """The same of standard error."""
    record: Record
    """What the path did, as ``goodqueue link --json`` prints it."""

    def _parts(self) -> Sequence[Part]:
        from goodqueue.linking import answer  # only Linux can import it

        return list(answer.parts(self.record))


def _linked(answer: Answer, _: Any) -> Linked:
    stdout, stderr = answer.result.printed
    return Linked(answer.status, stdout, stderr, answer.result.as_record())


link = asking.function(Link, _linked, "Linked", "A `Linked`.")
