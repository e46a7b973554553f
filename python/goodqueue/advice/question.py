"""What ``goodqueue advise`` and ``gq.advise`` ask."""

from typing import TYPE_CHECKING

from goodqueue.advice import framing
from goodqueue.ask import shared
from goodqueue.ask.fields import argument, flag, option
from goodqueue.ask.question import Question, Work, question
from goodqueue.ask.readers import LISTED, PATH, PATHS, whole
from goodqueue.measures import FIRST_SEED

if TYPE_CHECKING:
    from goodqueue.running import Progress
    from goodqueue.show.answer import Answer
    from goodqueue.store import Store


@question
class Advise(Question):
    """Say which tc lines to type on a link, and what they change.

    Examples:
      goodqueue advise --down 50mbit --up 10mbit --rtt 30ms
      goodqueue advise --down 8mbit --up 1mbit --link dsl --use calls,games --why
      goodqueue advise --down 100mbit --up 40mbit --link vdsl --pppoe router --vlan
      goodqueue advise --down 100mbit --up 40mbit --link ethernet --verify
      goodqueue advise --down 12mbit --up 4mbit --link lte --rtt 60ms
      goodqueue advise --down 40mbit --link wifi
      goodqueue advise --flent rrul-*.flent.gz --link docsis --out report

    The command simulates the link with qdiscs that Linux ships, in both directions at once. The downloads and uploads
    of a household of four users fill the link, and the modem has a queue behind the router. The answer is what was
    measured: calls, pings, pages and goodput, compared with the link as it is now. The command also tries what would
    change the answer: another rate, another buffer, Wi-Fi. Give the rates at which the link itself sends: the
    contract's rate for cable, the modem's sync rate for DSL.
    """

    verb = "advise"
    report = "Write a report: a page, JSON, and the scenarios."
    has_latex = True

    more: tuple[str, ...] = argument(
        "FILE", "Further files of --flent.", reader=PATHS, is_optional=True, in_python=False
    )
    down: str | None = option("RATE", "The link's rate down.", is_positional=True)
    up: str | None = option("RATE", "The link's rate up.", is_positional=True)
    rtt: str | None = option("TIME", "Round trip without queueing.", otherwise="30ms", is_positional=True)
    link: str = option(
        "KIND",
        "docsis (cable), lld, dsl (ATM), vdsl (PTM), ethernet (fibre), lte, 5g, starlink, wifi.",
        "docsis",
    )
    use: str = option(
        "LIST", "What matters to you: any of calls,games,downloads,web.", "calls,games,downloads,web", reader=LISTED
    )
    flent: tuple[str, ...] = option(
        "FILE...", "Flent's measurements of the real link: its rates, RTT, queue.", reader=PATHS
    )
    buffer: str | None = option(
        "TIME", "Delay of the modem's full queue, as it is now.", otherwise="250ms; lte 1s, 5g 500ms"
    )
    trace: str | None = option("FILE", "A file of rates that an LTE or 5G link follows down.", reader=PATH)
    pppoe: str | None = option("WHO", "Who dials: router, modem, no.", otherwise="dsl, vdsl: modem; others: no")
    vlan: bool = flag("The packets have a VLAN's tag on the line.")
    overhead: int | None = option("BYTES", "What the line adds to an IP packet.", reader=whole(0, framing.MOST))
    wan: str | None = option("NAME", "The router's interface.", otherwise="eth0; pppoe-wan if the router dials; wlan0")
    why: bool = flag("Show every line that was tried.")
    verify: bool = flag("Run the answer also on Linux's own qdiscs. This takes minutes.")
    tune: bool = flag("Search for a better rate and rtt of cake, judged on other links.")
    quick: bool = flag("Runs of half the length: 3 of each line, 4 over a radio.")
    seeds: int | None = option("N", "Runs of each line.", reader=whole(1, 1000), otherwise="5; 12 over a radio")
    seed: int = shared.first_seed(FIRST_SEED)
    workers: int | None = shared.workers()

    def work(self) -> Work:
        """Return the runs of all lines. Raises UserError."""
        from goodqueue.advice import answer, checking, reading, trying, tuned
        from goodqueue.errors import UserError, quoted

        if self.more and not self.flent:
            raise UserError("advise", f"found {quoted(self.more[0])} without --flent; accepted: --flent FILE...")
        household = reading.ask(self)
        if self.tune:
            tuned.check(household)

        def carry_out(progress: "Progress", _: "Store | None") -> "Answer":
            advice = trying.advise(household, self.workers, progress)
            if self.verify:
                advice = checking.checked(advice, progress)
            if self.tune:
                advice = tuned.tuned(advice, self.workers, progress)
            return answer.of(advice, self)

        return Work(f"{household.link.title}: what Linux ships", carry_out)
