"""What ``goodqueue tune`` and ``gq.tune`` ask."""

from goodqueue.ask import shared
from goodqueue.ask.fields import argument, option
from goodqueue.ask.question import Question, Work, question
from goodqueue.ask.readers import PAIRS, TEXTS, whole


@question
class Tune(Question):
    """Find the best values of a line's parameters.

    Examples:
      goodqueue tune codel --rate 4mbit --rtt 100ms
      goodqueue tune pie --rate 20mbit --rtt 30ms --vary target --vary tupdate --vary alpha=1..8
      goodqueue tune cake --rate 10mbit --rtt 300ms --vary rtt=20ms..1000ms --max goodput_mbps \\
          --want "delay_p95_ms < 60"
      goodqueue tune fq_codel --on mine.toml --on other.toml --held-out third.toml --out tuned

    A link has four scenarios for tuning and six others, on which the result is judged. The answer has 95 % intervals
    over these: better than the line that was given, as good, or a trade. With --store the same command continues.
    """

    verb = "tune"
    report = shared.REPORT

    qdisc: str = argument("QDISC", "The tc line to tune.", completes="qdisc")
    rate: str | None = option("RATE", "The link's rate: 10mbit.")
    rtt: str | None = option("TIME", "The base RTT: 50ms.")
    on: tuple[str, ...] = option("SCENARIO.toml", "Tune on this scenario, not on a link. Repeatable.", reader=TEXTS)
    held_out: tuple[str, ...] = option("SCENARIO.toml", "Judge on this scenario. Repeatable.", reader=TEXTS)
    vary: tuple[str, ...] = option(
        "NAME[=LOW..HIGH]", "A parameter to vary.", reader=PAIRS, otherwise="times and real numbers, x 1/8..8"
    )
    want: tuple[str, ...] = option("CONDITION", "What must hold: 'delay_p95_ms < 20'. Repeatable.", reader=TEXTS)
    max: tuple[str, ...] = option("METRIC", "Make it large.", reader=TEXTS, otherwise="goodput_mbps")
    min: tuple[str, ...] = option("METRIC", "Make it small.", reader=TEXTS, otherwise="delay_p95_ms")
    evaluations: int = option("N", "Candidates to try.", 128, reader=whole(1, 100_000))
    seeds: int = shared.seeds(2, "Runs per scenario.")
    method: str = shared.method()
    draw_seed: int = shared.draw_seed()
    store: str | None = shared.store()
    workers: int | None = shared.workers()

    def work(self) -> Work:
        """Return the search. Raises UserError."""
        from goodqueue import executors
        from goodqueue.search.runner import Runner
        from goodqueue.search.tune import answer, plan, work

        planned = plan.of(self)
        execute = executors.local(self.workers)
        return Work(
            f"{self.evaluations} candidates",
            lambda progress, store: answer.of(work.carry_out(planned, Runner(execute, store), progress)),
        )
