"""What ``goodqueue sweep`` and ``gq.sweep`` ask."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from goodqueue.ask import shared
from goodqueue.ask.fields import argument, flag, option, scenario_options
from goodqueue.ask.question import Question, Work, question
from goodqueue.ask.readers import PAIRS, SCENARIO, SETS, Source, whole
from goodqueue.errors import Option, UserError, quoted
from goodqueue.measures import FIRST_SEED, SEEDS

if TYPE_CHECKING:
    from goodqueue.running import Progress
    from goodqueue.show.answer import Answer
    from goodqueue.store import Store

HIGHEST_SEED = 2**63 - 1 - 10_000
"""The highest first seed. A store can then hold the last seed of a cell."""

MOST = 100
"""The default of the most seeds per cell with ``--until-ci``."""


@question
class Sweep(Question):
    """Run a scenario over a grid of values; show the means.

    Examples:
      goodqueue sweep link.toml --set bottleneck.qdisc="codel,pie target 20ms" --set path.rtt=5ms,50ms
      goodqueue sweep link.toml --set bottleneck.qdisc=codel,pie --set bottleneck.qdisc.target=5ms,9ms
      goodqueue sweep link.toml --set traffic.0.count=1,4,16 --until-ci 2% --metric delay_p95_ms
      goodqueue sweep link.toml --set bottleneck.rate=5mbit,50mbit --seeds 20 --store runs
      goodqueue sweep link.toml --mix few=bulk:2,ping --mix calls=bulk:8,voip:20,ping
      goodqueue sweep link.toml --set path.rtt=10ms,100ms --store runs --executor dask://head:8786

    All cells have the same seeds, so qdiscs are compared per seed. With --store the same command continues a sweep that
    was interrupted, and gives the same tables. --out needs --store beside it. A comma inside quotes, brackets or braces
    is part of a value. If a cell is refused or fails, the command names it, runs the other cells, and exits with
    status 1.
    """

    verb = "sweep"
    report = "Write figures, report.html, results.json, tables.tex, cells.csv, runs.parquet."
    needs_store = True
    has_latex = True

    scenario: Source | None = argument(
        "SCENARIO.toml", "The scenario file.", reader=SCENARIO, is_optional_in_python=True
    )
    grid: Sequence[str] | Mapping[str, Any] = option(
        "KEY=V1,V2,...",
        "Values of a key; repeatable: all combinations are run.",
        reader=SETS,
        name="set",
        completes="assignment",
        is_positional=True,
    )
    mixes: tuple[str, ...] = option(
        "NAME=LIST",
        "A mix of traffic as a value of the key traffic: calls=bulk:4,voip:10 or calls=FILE.toml; repeatable.",
        reader=PAIRS,
        name="mix",
    )
    described: dict[str, Any] = scenario_options()
    keys: Mapping[str, Any] = shared.keys_in_python()
    seeds: int = shared.seeds(SEEDS, "Runs of each cell.")
    seed: int = option("N", "The first seed.", FIRST_SEED, reader=whole(0, HIGHEST_SEED))
    until_ci: str | None = option(
        "P%", "More seeds, until the 95 % CI of the first --metric (or delay_mean_ms) is within P % of its mean."
    )
    max_seeds: int | None = option("N", "Most seeds of a cell.", reader=whole(2, 10_000), otherwise=str(MOST))
    metric: tuple[str, ...] = shared.metric()
    against: str | None = option(
        "KEY=VALUE", "What all others are compared with: path.rtt=10ms.", otherwise="the first qdisc"
    )
    correct: str | None = shared.correct()
    effect: bool = flag(shared.EFFECT, in_python=False)
    engine: str = shared.engine()
    executor: str = option("WHERE", "local, or dask://HOST:PORT, a Dask scheduler.", "local")
    store: str | None = shared.store()
    workers: int | None = shared.workers("jobs")

    def work(self) -> Work:
        """Return the runs of all cells. Raises UserError."""
        from contextlib import nullcontext

        from goodqueue import executors
        from goodqueue.errors import warn
        from goodqueue.sweeps import answer, carrying, plan

        planned = plan.of(self)
        execute = executors.parse(self.executor, self.workers, warn)

        def carry_out(progress: "Progress", store: "Store | None") -> "Answer":
            sweep, computed = carrying.carry_out(planned, store, execute, lambda _: nullcontext(progress), warn)
            return answer.of(sweep, self, store, computed)

        return Work(f"{len(planned.cells)} cells x {self.seeds} seeds", carry_out)

    def goal_percent(self) -> float | None:
        """Return the half-width of ``--until-ci`` in percent. Raises UserError."""
        if self.until_ci is None:
            if self.max_seeds is not None:
                raise UserError(
                    Option("max_seeds"),
                    ["there is no ", Option("until_ci"), "; accepted: ", Option("seeds"), " alone, or both"],
                )
            return None
        text = self.until_ci.strip()
        try:
            percent = float(text.removesuffix("%")) if text.endswith("%") else 0.0
        except ValueError:
            percent = 0.0
        if not 0 < percent < 1000:
            raise UserError(Option("until_ci"), f"found {quoted(self.until_ci)}; accepted: a percentage, as 2%")
        if self.seeds < 2:
            raise UserError(
                Option("seeds"),
                ["found 1, and ", Option("until_ci"), " needs a spread; accepted: a whole number from 2"],
            )
        most = self.most_seeds()
        if self.seeds > most:
            raise UserError(
                Option("max_seeds"),
                [f"found {most}, less than ", Option("seeds", str(self.seeds)), "; accepted: at least as many"],
            )
        return percent

    def most_seeds(self) -> int:
        """Return the most seeds of a cell with ``--until-ci``."""
        return self.max_seeds if self.max_seeds is not None else max(MOST, self.seeds)
