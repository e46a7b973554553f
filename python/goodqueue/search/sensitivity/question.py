"""What ``goodqueue sensitivity`` and ``gq.sensitivity`` ask."""

from goodqueue.ask import shared
from goodqueue.ask.fields import argument, option
from goodqueue.ask.question import Question, Work, question
from goodqueue.ask.readers import PAIRS, SCENARIO, Source, whole
from goodqueue.measures import FIRST_SEED

METRICS = ("delay_p95_ms", "goodput_mbps")
"""The metrics, unless others are asked for."""


@question
class Sensitivity(Question):
    """Say which keys of a scenario matter, and how much.

    Examples:
      goodqueue sensitivity link.toml --vary path.rtt=5ms..200ms --vary traffic.0.count=1..32
      goodqueue sensitivity link.toml --vary bottleneck.rate=1mbit..50mbit --vary path.rtt=5ms..200ms --out matters
      goodqueue sensitivity link.toml --vary bottleneck.qdisc.target=1ms..50ms --vary traffic.0.count=1..16
      goodqueue sensitivity link.toml --method morris --vary ... --vary ...

    Sobol's first index is the share of a metric's variance that a key explains alone. The total index has its
    interactions, too. Sobol takes samples x (keys + 2) runs, Morris's effects samples x (keys + 1). A range whose end
    is 10 times its beginning or more is drawn on a logarithmic scale. With --store the same command continues.
    """

    verb = "sensitivity"
    report = shared.REPORT

    scenario: Source = argument("SCENARIO.toml", "The scenario file.", reader=SCENARIO)
    vary: tuple[str, ...] = option(
        "KEY=LOW..HIGH",
        "A key and its range: path.rtt=10ms..100ms. Two at least.",
        reader=PAIRS,
        completes="assignment",
        is_positional=True,
    )
    metric: tuple[str, ...] = shared.metric(", ".join(METRICS))
    method: str = option("NAME", "sobol, or morris for many keys.", "sobol")
    samples: int | None = option("N", "Base sample.", reader=whole(2, 65_536), otherwise="128 for sobol, 20 for morris")
    seeds: int = shared.seeds(1, "Runs per point.")
    seed: int = shared.first_seed(FIRST_SEED)
    keys: tuple[str, ...] = shared.keys()
    store: str | None = shared.store()
    workers: int | None = shared.workers()

    def work(self) -> Work:
        """Return the runs of all points. Raises UserError."""
        from goodqueue import executors
        from goodqueue.measures import numbers
        from goodqueue.scenario import asked
        from goodqueue.search import ranges
        from goodqueue.search.sensitivity import answer, work

        varied = ranges.read(self.vary)
        base, _ = asked.base(self.scenario, {}, self.keys)
        metrics = numbers.find(self.metric or METRICS)
        name = shared.name_of(self.scenario)
        plan = work.plan(name, base, varied, metrics, self.method, self.samples, self.seeds, self.seed)
        execute = executors.local(self.workers)
        return Work(
            f"{len(plan.values) * self.seeds} runs",
            lambda progress, store: answer.of(work.carry_out(plan, store, execute, progress)),
        )
