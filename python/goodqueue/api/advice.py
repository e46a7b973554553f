"""``gq.advise``: which ``tc`` line to type on a link."""

from collections.abc import Sequence

from goodqueue.advice.question import Advise
from goodqueue.advice.result import Advice as Answered
from goodqueue.advice.result import Change, Check, Doubt, Tried
from goodqueue.api import asking, showing
from goodqueue.show.answer import Answer, Part, Section


class Advice(showing.Shown):
    """The ``tc`` lines for a link, what they change, how sure that is, and what would change the answer.

    >>> import goodqueue as gq
    >>> advice = gq.advise("8mbit", "1mbit", link="dsl", quick=True)
    >>> advice.down.split()[0]
    'cake'
    >>> advice.change("ping_rtt_p95_ms").difference.mean < -100
    True
    """

    def __init__(self, answer: Answer) -> None:
        """Show ``answer``."""
        self._answer = answer
        self.answer: Answered = answer.result
        """The whole answer, typed."""

    @property
    def down(self) -> str:
        """The qdisc line for the direction down, as after ``tc qdisc add dev X root``."""
        return self.answer.down

    @property
    def up(self) -> str:
        """The qdisc line for the direction up."""
        return self.answer.up

    @property
    def commands(self) -> dict[str, list[str]]:
        """The commands to type, by direction; ``prepare`` comes before ``down``. Empty if no change is worth it."""
        return self.answer.commands

    @property
    def sqm(self) -> dict[str, str]:
        """The same answer as options of OpenWrt's /etc/config/sqm. Empty if SQM has no such options."""
        return self.answer.sqm

    @property
    def address(self) -> str:
        """The address that shows the link as it is beside the link with the lines, in the page of ``goodqueue serve``.

        Empty for a link that follows a file of rates.
        """
        return self.answer.address

    @property
    def changes(self) -> list[Change]:
        """What the lines change: each number before and after, with its interval."""
        return self.answer.changes

    @property
    def tried(self) -> list[Tried]:
        """Every line that was tried. The first is the present one."""
        return self.answer.tried

    @property
    def doubts(self) -> list[Doubt]:
        """The assumptions that may be wrong. Each was tried, to see whether it would change the answer."""
        return self.answer.doubts

    @property
    def checks(self) -> list[Check]:
        """The promised numbers beside the numbers of Linux's own qdiscs. Filled with ``verify=True``."""
        return self.answer.checks

    def change(self, metric: str) -> Change:
        """Return the change of one metric, such as ``"ping_rtt_p95_ms"``. Raises `gq.UserError` for an unknown one."""
        from goodqueue.errors import UserError, quoted

        for one in self.changes:
            if one.metric == metric:
                return one
        accepted = ", ".join(one.metric for one in self.changes)
        raise UserError("metric", f"found {quoted(metric)}; accepted: {accepted}")

    def _parts(self) -> Sequence[Part]:
        return [part for part in self._answer.parts if not (isinstance(part, Section) and part.is_detail)]


def _advised(answer: Answer, _question: Advise) -> Advice:
    return Advice(answer)


advise = asking.function(Advise, _advised, "Advice", "An `Advice`.")
