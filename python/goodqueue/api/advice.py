"""``gq.advise``: which line to type on a link."""

import os
from collections.abc import Sequence

from goodqueue.advise import checking, show, trying
from goodqueue.advise import question as asking_of
from goodqueue.advise.answer import Advice as Answer
from goodqueue.advise.answer import Change, Check, Doubt, Tried
from goodqueue.api import asking, showing
from goodqueue.show import terminal
from goodqueue.show.tables import Table


class Advice(showing.Shown):
    """Which lines to type on a link, what they change, how sure that is, and what would change the answer.

    >>> import goodqueue as gq
    >>> advice = gq.advise("8mbit", "1mbit", link="dsl", quick=True)
    >>> advice.down.split()[0]
    'cake'
    >>> advice.change("ping_rtt_p95_ms").difference.mean < -100
    True
    """

    def __init__(self, answer: Answer) -> None:
        """Show ``answer``."""
        self.answer = answer
        """All of it, typed."""

    @property
    def down(self) -> str:
        """The qdisc line of the way down, as after ``tc qdisc add dev X root``."""
        return self.answer.down

    @property
    def up(self) -> str:
        """The qdisc line of the way up."""
        return self.answer.up

    @property
    def commands(self) -> dict[str, list[str]]:
        """What to type, by direction; ``prepare`` comes before the way down. Empty where nothing is worth it."""
        return self.answer.commands

    @property
    def sqm(self) -> dict[str, str]:
        """The options of OpenWrt's /etc/config/sqm that say the same; empty where SQM has none."""
        return self.answer.sqm

    @property
    def changes(self) -> list[Change]:
        """What the lines change: each number now and then, with its interval."""
        return self.answer.changes

    @property
    def tried(self) -> list[Tried]:
        """All that was tried; the first is what is there now."""
        return self.answer.tried

    @property
    def doubts(self) -> list[Doubt]:
        """What would change the answer, tried."""
        return self.answer.doubts

    @property
    def checks(self) -> list[Check]:
        """The promised numbers beside those of Linux's own qdiscs, with ``verify=True``."""
        return self.answer.checks

    def change(self, metric: str) -> Change:
        """Return the change of one number, as ``"ping_rtt_p95_ms"``. Raises `gq.UserError` where there is none."""
        from goodqueue.errors import UserError, quoted

        for one in self.changes:
            if one.metric == metric:
                return one
        accepted = ", ".join(one.metric for one in self.changes)
        raise UserError("metric", f"found {quoted(metric)}; accepted: {accepted}")

    def _parts(self) -> tuple[str, Sequence[Table], Sequence[str]]:
        answer = self.answer
        above = [show.headline(answer.question), *show.measured(answer.question), "", *show.lines(answer)]
        below = [*show.sure(answer), *show.doubts(answer), show.assumed(answer)]
        return "\n".join(above), [show.changes(answer), *show.checks(answer)], below


@asking.in_words_of_python
def advise(
    down: str | None = None,
    up: str | None = None,
    rtt: str | None = None,
    *,
    link: str = "docsis",
    use: str | Sequence[str] = asking_of.USES,
    flent: str | os.PathLike[str] | Sequence[str | os.PathLike[str]] = (),
    buffer: str | None = None,
    trace: str | os.PathLike[str] | None = None,
    verify: bool = False,
    quick: bool = False,
    seeds: int | None = None,
    seed: int = 1,
    workers: int | None = None,
) -> Advice:
    """Say which tc lines to type on a link, and what they change.

    Args:
        down: What the link carries down, as ``"50mbit"``; what Flent measured, where None.
        up: What it carries up.
        rtt: Round trip without queueing; 30 ms, or what Flent measured, where None.
        link: ``docsis``, ``dsl``, ``vdsl``, ``ethernet``, ``lte`` or ``wifi``.
        use: What counts: any of ``calls``, ``games``, ``downloads``, ``web``.
        flent: Flent's measurements of the real link: a file, or several.
        buffer: How long the modem's queue gets now.
        trace: A file of rates that an LTE link follows down.
        verify: Whether the answer is run on Linux's own qdiscs too.
        quick: 3 seeds of half the length.
        seeds: Runs of each line.
        seed: The first seed.
        workers: Threads; the result is the same with any. All cores where None.

    Returns:
        An `Advice`.

    Raises:
        UserError: An argument is refused, before anything runs; one line says what is accepted.

    >>> import goodqueue as gq
    >>> gq.advise(up="1mbit")
    Traceback (most recent call last):
    goodqueue.errors.UserError: down: missing; accepted: a rate such as 50mbit, or flent FILE that measured it
    """
    if seeds is not None:
        asking.whole("seeds", seeds, 1, 1000)
    asking.whole("seed", seed, 0)
    if workers is not None:
        asking.whole("workers", workers, 1, 4096)
    files = [flent] if isinstance(flent, str | os.PathLike) else list(flent)
    uses = use if isinstance(use, str) else ",".join(use)
    rates = None if trace is None else os.fspath(trace)
    question = asking_of.ask(
        down, up, rtt, link, uses, buffer, seeds, seed, quick, rates, [os.fspath(file) for file in files]
    )
    with terminal.progress(f"{question.link.title}: what Linux ships") as progress:
        answer = trying.advise(question, workers, progress)
    if verify:
        with terminal.progress("Linux's own qdiscs") as progress:
            answer = checking.checked(answer, progress)
    return Advice(answer)
