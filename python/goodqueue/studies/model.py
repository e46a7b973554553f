"""What a study is made of. Plain values: nothing here reads files or runs anything."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from goodqueue.record import Scenario
from goodqueue.studies.published import At, Published
from goodqueue.studies.wording import Words, as_text


@dataclass(frozen=True, slots=True)
class Metric:
    """How one published metric is computed: a number of each run's record, then one number of all seeds."""

    name: str
    """As published, with the unit at its end: ``delay_mean_ms``."""
    record: str = ""
    """Dotted path into the record, such as ``queues.down.delay_ms.mean``; empty where a computation is named."""
    compute: str = ""
    """Name of a computation of `goodqueue.studies.metrics.COMPUTATIONS`; empty where a path is given."""
    options: Mapping[str, str | float] = field(default_factory=dict)
    """What the computation is told."""
    over_seeds: str = "mean"
    """``mean`` or ``sd`` (sample standard deviation)."""
    scale: float = 1.0
    """Factor from the record's unit to the metric's."""
    at: At = field(default_factory=dict)
    """The part of the point that the metric itself stands for, such as a direction or one of the flows."""
    to: str | At = ""
    """What a run's number is set against: the same seed's under another algorithm, at another point, or ``ALONE``."""
    to_record: str = ""
    """Dotted path of the number there, where it is another one."""
    form: str = "ratio"
    """How it is set against that: see `goodqueue.studies.metrics.FORMS`."""
    distance_from: str = ""
    """The swept parameter from whose value the number's distance is taken, without its sign; empty: none."""
    pooled: tuple[str, ...] = ()
    """The swept parameters over whose points a seed's numbers are pooled; empty: none."""
    pooled_at: Mapping[str, tuple[float | str | bool, ...]] = field(default_factory=dict)
    """Of a pooled parameter the values that count; all, where it is not named."""
    pooled_as: str = "mean"
    """What is made of the numbers of the points: see `goodqueue.studies.metrics.POOLS`."""
    spread: tuple[str, ...] = ()
    """The swept parameters over whose points the pooled numbers' greatest less their least is taken; empty: none."""

    @property
    def joined(self) -> tuple[str, ...]:
        """Both: what is no part of its points."""
        return (*self.pooled, *self.spread)

    @property
    def beside(self) -> str:
        """What it is set against, as a key; empty: nothing."""
        return self.to if isinstance(self.to, str) else ", ".join(f"{name}={value}" for name, value in self.to.items())

    def pools(self, at: At) -> bool:
        """Whether its pooled number is the one at ``at``."""
        own = all(at.get(name) == value for name, value in self.at.items())
        return own and bool(self.joined) and not set(self.joined) & (at.keys() - self.at.keys())


ALONE = "alone"
"""What `Metric.to` says for the run without load."""

Lines = str | Mapping[str, str]
"""A qdisc line for the way down; lines by a swept parameter's ``name=value``; or by the link's rate, for both ways.

The ends of a Wi-Fi cell, which have no rate, have the first of the last."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """A swept parameter: what each of its values sets in the scenario."""

    name: str
    """As in the ``at`` of published values: ``rtt_ms``."""
    set: Mapping[str, str]
    """Scenario key to template; ``{}`` stands for the value: ``{"path.rtt": "{}ms"}``."""
    values: tuple[float | str | bool, ...] | None
    """The values to run; None: those of the published scenario's ``sweep``."""
    cases: Mapping[float | str | bool, Mapping[str, str]] = field(default_factory=dict)
    """Value to what it sets, where no template says it."""

    def assignments(self, value: float | str | bool) -> Mapping[str, str]:
        """Return what ``value`` sets: scenario key to value."""
        text = as_text(value)
        return self.cases.get(value) or {key: template.replace("{}", text) for key, template in self.set.items()}


@dataclass(frozen=True, slots=True)
class Quick:
    """What ``--quick`` changes."""

    seeds: int
    set: Mapping[str, str]
    """Scenario key to value."""


@dataclass(frozen=True, slots=True)
class Experiment:
    """Runs of one scenario file that yield the numbers of one or more published scenarios."""

    id: str
    published: tuple[str, ...]
    """Ids of the published scenarios that it answers."""
    origin: Path
    """The study.toml that describes it."""
    file: Path
    scenario: Scenario
    """The scenario file and its content."""
    qdiscs: Mapping[str, Lines]
    """Published algorithm to what stands at the bottlenecks."""
    sweep: Mapping[str, Parameter]
    points: Mapping[str, At]
    """Published scenario to what it sweeps (``EACH``) and what it fixes; one that is missing sweeps everything."""
    at: At
    """The part of the point that the whole experiment stands for."""
    metrics: Mapping[str, Metric]
    seeds: int
    quick: Quick
    keep_records: bool
    """Whether the records themselves are kept for the study's figures."""
    hops: tuple[str, ...] = ()
    """Names of the links beside the bottleneck that have the algorithm's line, too."""
    alone: Scenario | None = None
    """The scenario without load; it is run with the first algorithm and seed."""
    reconstruction: str = ""
    """The id of the reconstruction that changed it; empty: it is as the study states it."""


EACH = "*"
"""What `Experiment.points` says for each value of a parameter."""


@dataclass(frozen=True, slots=True)
class Exclusion:
    """Published values and claims that are not tested, and why."""

    metrics: tuple[str, ...]
    """Names or shell patterns of the values' metrics."""
    needs: tuple[str, ...]
    """What a claim may need that is not there."""
    scenarios: tuple[str, ...]
    """Published scenarios none of whose values is tested."""
    why: str


@dataclass(frozen=True, slots=True)
class Decision:
    """Something that the paper leaves open, what was chosen, and why."""

    about: str
    choice: str
    why: str


@dataclass(frozen=True, slots=True)
class Reconstruction:
    """A choice that the paper does not state but that its numbers imply; run beside the stated reading on demand."""

    id: str
    title: str
    evidence: str
    experiments: tuple[str, ...]
    """Ids of those that it changes."""
    qdiscs: Mapping[str, Lines]
    """Published algorithm to the line or lines that stand in place of its own."""
    append: Mapping[str, str]
    """Published algorithm to what is added to each of its lines."""
    replace: Mapping[str, str]
    """Words of any line to those that stand in their place."""
    set: Mapping[str, str]
    """Scenario key to value."""


@dataclass(frozen=True, slots=True)
class Tolerance:
    """How far a measured value may lie from the published one; see `goodqueue.studies.judging`."""

    reproduced: float
    close: float


@dataclass(frozen=True, slots=True)
class Study:
    """A study, checked."""

    folder: Path
    key: str
    title: str
    citation: str
    doi: str
    published: Published
    experiments: tuple[Experiment, ...]
    exclusions: tuple[Exclusion, ...]
    decisions: tuple[Decision, ...]
    tolerances: Mapping[str, Tolerance]
    """By unit, where the study has its own."""
    words: Words = field(default_factory=Words)
    """What its reports call algorithms, metrics and points."""
    reconstructions: tuple[Reconstruction, ...] = ()

    @property
    def file(self) -> Path:
        """The study's main file."""
        return self.folder / "study.toml"

    def experiments_of(self, scenario: str) -> list[Experiment]:
        """Return the experiments that answer the published ``scenario``."""
        return [experiment for experiment in self.experiments if scenario in experiment.published]

    def fixed(self, scenario: str) -> At:
        """Return what the published ``scenario`` fixes of the parameters that others sweep."""
        given = [one.points.get(scenario, {}) for one in self.experiments_of(scenario)]
        return {name: value for point in given for name, value in point.items() if value != EACH}


@dataclass(frozen=True, slots=True)
class Cell:
    """One point of one published scenario under one algorithm: what its seeds measure together."""

    experiment: Experiment
    scenario: str
    """Published scenario id."""
    algorithm: str
    at: At
    """The point, by swept parameter."""
    fixed: At = field(default_factory=dict)
    """Parameters that the published scenario fixes, which its values and claims do not name."""

    @property
    def point(self) -> At:
        """The point, with what is fixed."""
        return {**self.at, **self.fixed}

    @property
    def name(self) -> str:
        """What a person calls it: ``table1a codel bandwidth_mbps=1``."""
        point = [f"{name}={value}" for name, value in self.at.items()]
        return " ".join([self.scenario.rpartition("/")[2], self.algorithm, *point])
