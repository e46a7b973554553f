"""What ``goodqueue fit`` and ``gq.fit`` ask."""

from collections.abc import Mapping
from typing import Any

from goodqueue.ask import shared
from goodqueue.ask.fields import argument, option
from goodqueue.ask.question import Question, Work, question
from goodqueue.ask.readers import PAIRS, SCENARIO, TEXTS, Reader, Source, whole
from goodqueue.errors import Option


def _observed(option: Option, value: Any) -> tuple[str, ...]:
    """Return ``{"goodput_mbps": (9.4, 0.1)}`` as the command line has it: ``goodput_mbps=9.4+-0.1``."""
    if not isinstance(value, Mapping):
        texts: tuple[str, ...] = PAIRS.read(option, value)
        return texts
    return tuple(
        f"{name}={number[0]}+-{number[1]}" if isinstance(number, tuple) else f"{name}={number}"
        for name, number in value.items()
    )


OBSERVED = Reader(
    _observed,
    "Mapping[str, float | tuple[float, float]] | Sequence[str]",
    repeats=True,
    note='Or a dict, with the error of a number beside it: {"goodput_mbps": (9.4, 0.1)}.',
)


@question
class Fit(Question):
    """Say which unknown settings explain what was measured.

    Examples:
      goodqueue fit rrul_be.flent.gz                              What queue is in this modem?
      goodqueue fit rrul_be.flent.gz --qdisc pfifo --qdisc "pie target 10ms" --out modem
      goodqueue fit link.toml --vary bottleneck.buffer.bdp=0.1..10 --vary bottleneck.qdisc=pfifo,codel,pie \\
          --observed delay_p95_ms=48+-3 --observed goodput_mbps=9.4

    For a measurement the rates, the base RTT, the buffer and the discipline are unknown; others are added by --vary.
    For a scenario they are what --vary says. The answer has probabilities and 90 % intervals, and says what the numbers
    cannot tell. It is inferred, not measured. With --store the same command continues.
    """

    verb = "fit"
    report = shared.REPORT

    source: Source = argument("FILE", "A file of Flent, iperf3 or irtt; or a scenario (.toml).", reader=SCENARIO)
    vary: tuple[str, ...] = option(
        "KEY=LOW..HIGH|WORD,WORD", "An unknown setting. Repeatable.", reader=PAIRS, completes="assignment"
    )
    observed: tuple[str, ...] = option(
        "METRIC=VALUE[+-ERROR]", "A measured number, for a scenario. Repeatable.", reader=OBSERVED
    )
    qdisc: tuple[str, ...] = option(
        "QDISC", "A line that the link may have; repeatable.", reader=TEXTS, completes="qdisc"
    )
    evaluations: int = option("N", "Settings to try.", 1000, reader=whole(1, 1_000_000))
    draw_seed: int = shared.draw_seed()
    keys: tuple[str, ...] = shared.keys()
    store: str | None = shared.store()
    workers: int | None = shared.workers()

    def work(self) -> Work:
        """Return the search. Raises UserError."""
        from goodqueue import executors
        from goodqueue.search.fit import answer, plan, work
        from goodqueue.search.runner import Runner

        planned = plan.of(self)
        execute = executors.local(self.workers)
        return Work(
            f"{self.evaluations} settings",
            lambda progress, store: answer.of(work.carry_out(planned, Runner(execute, store), progress)),
        )
