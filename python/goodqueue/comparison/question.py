"""What ``goodqueue compare`` and ``gq.compare`` ask."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from goodqueue.ask import shared
from goodqueue.ask.fields import argument, flag, option, scenario_options
from goodqueue.ask.question import Question, Work, question
from goodqueue.ask.readers import SCENARIO, Reader, Source
from goodqueue.errors import Option, UserError, quoted, said
from goodqueue.measures import FIRST_SEED, SEEDS
from goodqueue.options import COMPARED


def _lines(_: Option, value: Any) -> tuple[str, ...]:
    for line in value:
        if not said(line).strip():
            raise UserError("compare", f"found {quoted(line)}; accepted: lines of tc, as text")
    return tuple(str(line) for line in value)


@question
class Compare(Question):
    """Compare qdiscs on the same traffic, seed by seed.

    Examples:
      goodqueue compare pfifo codel fq_codel --rate 10mbit --rtt 50ms
      goodqueue compare codel "codel target 15ms" pie --flows 16 --cc reno --seeds 10
      goodqueue compare fq_codel sfq --traffic bulk:4,bulk:2:up,cbr:1mbit,ping --up-rate 1mbit
      goodqueue compare pfifo fq_codel --traffic bulk:2,transfer:100kB,rr:10kB,stream:1mbit
      goodqueue compare pfifo codel --traffic rrul,voip:up,page:huffpost --up-rate 1mbit
      goodqueue compare pfifo codel --traffic bulk:4:up,voip:up --metric voip_mos
      goodqueue compare "cake flows" "cake dual-dsthost" --traffic bulk:1:host=ann,bulk:4:host=bob
      goodqueue compare codel "codel / fq_codel" --traffic bulk:4,bulk:2:up,ping --up-rate 1mbit
      goodqueue compare pfifo fq_codel mac80211 --wifi 802.11n --stations fast:mcs15*2,slow:mcs0
      goodqueue compare pfifo codel --scenario my-link.toml --out report --json
      goodqueue compare codel pie --engine sim,kernel --seeds 3
      goodqueue compare pfifo codel --engine sim,kernel,live --seeds 1
      goodqueue compare codel cake --engine sim,kernel --kernel 6.1,7.3

    Every qdisc runs with the same seeds. So the difference of two qdiscs is computed per seed, and has a smaller error
    than either result. Tables and figures show the loaded direction, or both directions if both are loaded; --json has
    both. The default traffic is 4 bulk flows that start at random within the first second, and a ping; `goodqueue list
    traffic` shows all kinds. A DETAIL is a rate, a size, a codec, or a page (its name or a HAR file). With --engine
    sim,kernel,live each qdisc runs in the simulator, on Linux's own qdiscs and TCP, and with Linux's TCP across the
    simulated path in real time. The engines are then compared too.
    """

    verb = "compare"
    report = "Write figures, report.html and results.json to this folder."
    has_latex = True

    qdiscs: tuple[str, ...] = argument(
        "QDISC...",
        "tc lines, or FILE.py:CLASS; quote one with spaces. 'DOWN / UP' is one each way.",
        reader=Reader(_lines, "str", repeats=True),
        completes="qdisc",
    )
    described: dict[str, Any] = scenario_options(*COMPARED, up_qdisc="as each QDISC")
    seeds: int = shared.seeds(SEEDS, "Runs of each qdisc.")
    seed: int = shared.first_seed(FIRST_SEED)
    scenario: Source | None = option("FILE", "Link and traffic from a scenario file.", reader=SCENARIO)
    metric: tuple[str, ...] = shared.metric()
    against: str | None = option(
        "QDISC", "The qdisc from which the others differ.", otherwise="the first", completes="qdisc"
    )
    correct: str | None = shared.correct()
    effect: bool = flag(shared.EFFECT, in_python=False)
    keys: Sequence[str] | Mapping[str, Any] = shared.keys()
    engine: str = shared.engines()
    kernel: str | None = shared.kernels()
    workers: int | None = shared.workers()
    is_drawn: bool = False
    """Whether figures show the runs over time, so that the runs must record it."""

    def for_report(self) -> "Compare":
        """Return the same question with time series in the runs."""
        return replace(self, is_drawn=True)

    def work(self) -> Work:
        """Return the runs. Raises UserError."""
        from goodqueue.comparison import answer, comparing, request

        checked = request.check(self)
        seeds = range(self.seed, self.seed + self.seeds)
        many = f" x {len(checked.engines)} engines" if checked.engines[1:] else ""
        return Work(
            f"{len(checked.lines)} qdiscs x {self.seeds} seeds{many}",
            lambda progress, _: answer.of(
                comparing.compare(
                    checked.base, checked.lines, seeds, self.workers, progress, checked.engines, checked.metrics,
                    checked.against, checked.correction,
                ),
                self.effect,
            ),
        )  # fmt: skip
