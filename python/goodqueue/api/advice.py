"""``gq.advise``: which ``tc`` line to type on a link."""

import os
from collections.abc import Sequence

from goodqueue.advice import checking, framing, show, trying, tuned
from goodqueue.advice import question as asking_of
from goodqueue.advice.answer import Advice as Answer
from goodqueue.advice.answer import Change, Check, Doubt, Tried
from goodqueue.api import asking, showing
from goodqueue.show import terminal
from goodqueue.show.answer import Code, Part


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
        self.answer = answer
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
        answer = self.answer
        return [
            show.headline(answer.question), *show.measured(answer.question), Code("\n".join(show.lines(answer))),
            show.changes(answer), *show.checks(answer), *show.sentences(answer), *show.address(answer),
        ]  # fmt: skip


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
    pppoe: str | None = None,
    vlan: bool = False,
    overhead: int | None = None,
    wan: str | None = None,
    verify: bool = False,
    tune: bool = False,
    quick: bool = False,
    seeds: int | None = None,
    seed: int = 1,
    workers: int | None = None,
) -> Advice:
    """Return which tc lines to type on a link, and what they change.

    Args:
        down: The link's rate down, such as ``"50mbit"``. If None, the rate that Flent measured.
        up: The link's rate up.
        rtt: Round-trip time without queueing. If None, the time that Flent measured, or 30 ms.
        link: ``docsis`` (cable), ``lld``, ``dsl`` (ATM), ``vdsl`` (PTM), ``ethernet`` (fibre), ``lte``, ``5g``,
            ``starlink`` or ``wifi``.
        use: The traffic that counts: any of ``calls``, ``games``, ``downloads``, ``web``.
        flent: Flent's measurements of the real link: one file, or several.
        buffer: The present size of the modem's queue, as a time.
        trace: A file of rates that an LTE or 5G link follows down.
        pppoe: Who dials: ``router``, ``modem`` or ``no``. If None, the modem for DSL, and nobody for other links.
        vlan: Whether the packets have a VLAN's tag on the line.
        overhead: The bytes that the line adds to an IP packet. If None, those of the kind of link.
        wan: The router's interface to the Internet.
        verify: Whether to run the answer on Linux's own qdiscs too.
        tune: Whether to search for a better rate and ``rtt`` of cake, judged on other links.
        quick: Whether the runs have half the length: 3 of each line, 4 over a radio.
        seeds: Number of runs per line. If None, 5; 12 over a radio.
        seed: The first seed.
        workers: Number of threads; the result does not depend on it. If None, all cores.

    Returns:
        An `Advice`.

    Raises:
        UserError: An argument is refused before anything runs. One line says what is accepted.

    >>> import goodqueue as gq
    >>> gq.advise(up="1mbit")
    Traceback (most recent call last):
    goodqueue.errors.UserError: down: missing; accepted: a rate such as 50mbit, or flent FILE that measured it
    """
    if seeds is not None:
        asking.whole("seeds", seeds, 1, 1000)
    asking.numbers(seed=seed, workers=workers)
    if overhead is not None:
        asking.whole("overhead", overhead, 0, framing.MOST)
    given = {"down": down, "up": up, "rtt": rtt, "buffer": buffer, "pppoe": pppoe, "wan": wan}
    for name, value in given.items():
        if value is not None:
            asking.word(name, value)
    files = [asking.place("flent", one) for one in (flent if isinstance(flent, list | tuple) else [flent])]
    uses = ",".join(asking.words("use", use))
    rates = None if trace is None else asking.place("trace", trace)
    question = asking_of.ask(
        down, up, rtt, asking.word("link", link), uses, buffer, seeds, seed, quick, rates, files,
        pppoe=pppoe, vlan=vlan, overhead=overhead, wan=wan,
    )  # fmt: skip
    with terminal.progress(f"{question.link.title}: what Linux ships") as progress:
        answer = trying.advise(question, workers, progress)
    if verify:
        with terminal.progress("Linux's own qdiscs") as progress:
            answer = checking.checked(answer, progress)
    if tune:
        with terminal.progress("A better rate and rtt") as progress:
            answer = tuned.tuned(answer, workers, progress)
    return Advice(answer)
