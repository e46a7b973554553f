"""What ``goodqueue attack`` and ``gq.attack`` ask."""

from goodqueue.ask import shared
from goodqueue.ask.fields import argument, flag, option
from goodqueue.ask.question import Question, Work, question
from goodqueue.ask.readers import LISTED, PAIRS, TEXTS, whole


@question
class Attack(Question):
    """Find scenarios in which a property breaks; shrink them.

    Examples:
      goodqueue attack codel --property delay
      goodqueue attack bbr --property "drop_percent >= 3" --property "drop_percent >= 5 x cubic"
      goodqueue attack cubic --property "completion_p50_ms >= 1.5 x cubic nohystart"
      goodqueue attack vegas --property share --bound jitter=0.5..10 --out found
      goodqueue attack ./my_aqm.py:MyAqm --property delay --property "delay_targets of pie < 5"
      goodqueue attack pie --property recovery --kernel 6.1     Linux confirms what is found

    A find holds with three seeds that the search has not seen. It is then shrunk: facts that do not matter are left
    out, and numbers become round. 20 more seeds say how often it holds. `x OTHER` compares with another discipline, CC
    or KEY=VALUE in the same scenario. With --store the same command continues a search that was killed.
    """

    verb = "attack"
    report = "Write a report, and each find as a scenario."

    subject: str = argument("QDISC|CC", "A tc line, a congestion control, or FILE.py:CLASS.", completes="qdisc")
    property: tuple[str, ...] = option(
        "NAME|CONDITION",
        "delay, use, share, loss, ... or 'drop_percent >= 5 x cubic'. All must break.",
        reader=TEXTS,
        is_positional=True,
    )
    bound: tuple[str, ...] = option(
        "NAME=LOW..HIGH", "Narrower bounds: rate=10..100 (mbit), flows=1..8. Repeatable.", reader=PAIRS
    )
    without: str | None = option("LIST", "Leave out: cbr, bulk, jitter, loss, bursts, changes.", reader=LISTED)
    qdisc: tuple[str, ...] = option(
        "QDISC", "Lines of the link, for a CC; repeatable.", reader=TEXTS, otherwise="pfifo", completes="qdisc"
    )
    cc: tuple[str, ...] = option(
        "CC", "Flows' CCs; repeatable.", reader=TEXTS, otherwise="cubic, reno, bbr", completes="cc"
    )
    ecn: bool = flag("The flows use ECN.")
    evaluations: int = option("N", "Scenarios to try at most.", 2000, reader=whole(1, 1_000_000))
    finds: int = option("N", "Stop after so many different finds.", 1, reader=whole(1, 100))
    method: str = shared.method()
    draw_seed: int = shared.draw_seed()
    kernel: str | None = shared.kernel()
    store: str | None = shared.store()
    workers: int | None = shared.workers()

    def work(self) -> Work:
        """Return the search. Raises UserError."""
        from goodqueue import executors
        from goodqueue.search.attack import answer, plan, work
        from goodqueue.search.evaluating import Evaluator
        from goodqueue.search.runner import Runner

        planned = plan.of(self)
        execute = executors.local(self.workers)
        return Work(
            f"{self.evaluations} scenarios",
            lambda progress, store: answer.of(
                work.carry_out(
                    planned, Evaluator(planned.subject, planned.broken.conditions, Runner(execute, store)), progress
                )
            ),
        )
