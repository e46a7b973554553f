"""The types of a study. They are plain values: this module reads no files and runs nothing."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from goodqueue.record import Scenario
from goodqueue.studies.computing import Computation
from goodqueue.studies.published import At, Published
from goodqueue.studies.wording import Words, as_text


@dataclass(frozen=True, slots=True)
class Metric:
    """How to compute one published metric: a number from each run's record, then one number over all seeds."""

    name: str
    """Its published name, with the unit at the end: ``delay_mean_ms``."""
    record: str = ""
    """Dotted path into the record, such as ``queues.down.delay_ms.mean``. Empty if a computation is named."""
    compute: str = ""
    """Name of a computation: one of `goodqueue.studies.measuring`, or of the study's own. Empty if a path is given."""
    computation: Computation | None = None
    """That computation. None if a path is given."""
    options: Mapping[str, str | float] = field(default_factory=dict)
    """The options of the computation."""
    over_seeds: str = "mean"
    """``mean`` or ``sd`` (sample standard deviation)."""
    scale: float = 1.0
    """Factor from the record's unit to the metric's."""
    at: At = field(default_factory=dict)
    """The part of the point that the metric itself fixes, such as a direction or one of the flows."""
    to: str | At = ""
    """The run to compare with, on the same seed: an algorithm, another point, or ``ALONE``. Empty: none."""
    to_record: str = ""
    """Dotted path of the number in that run, if it is another number."""
    form: str = "ratio"
    """How the two are compared: see `goodqueue.studies.measuring.FORMS`."""
    distance_from: str = ""
    """The swept parameter whose value is subtracted from the number; the distance has no sign. Empty: none."""
    pooled: tuple[str, ...] = ()
    """The swept parameters over whose points a seed's numbers are pooled. Empty: none."""
    pooled_at: Mapping[str, tuple[float | str | bool, ...]] = field(default_factory=dict)
    """The values of a pooled parameter that count. All of them if the parameter is missing."""
    pooled_as: str = "mean"
    """How the numbers of the points are pooled: see `goodqueue.studies.measuring.POOLS`."""
    spread: tuple[str, ...] = ()
    """The swept parameters over which the range (greatest minus least) of the pooled numbers is taken. Empty: none."""

    @property
    def joined(self) -> tuple[str, ...]:
        """The parameters of ``pooled`` and ``spread``. They are no part of the metric's points."""
        return (*self.pooled, *self.spread)

    @property
    def beside(self) -> str:
        """The run to compare with, as a key. Empty: none."""
        return self.to if isinstance(self.to, str) else ", ".join(f"{name}={value}" for name, value in self.to.items())

    def pools(self, at: At) -> bool:
        """Return whether the metric's pooled number is the one at ``at``."""
        is_member = all(at.get(name) == value for name, value in self.at.items())
        return is_member and bool(self.joined) and not set(self.joined) & (at.keys() - self.at.keys())


ALONE = "alone"
"""The value of `Metric.to` for the run without load."""

Lines = str | Mapping[str, str]
"""A qdisc line for the direction down; or lines by ``name=value`` of a swept parameter; or by link rate, for both ways.

The ends of a Wi-Fi cell have no rate. They get the first of the lines by rate."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """A swept parameter, and the scenario keys that each of its values sets."""

    name: str
    """Its name in the ``at`` of published values: ``rtt_ms``."""
    set: Mapping[str, str]
    """Templates by scenario key; ``{}`` stands for the value: ``{"path.rtt": "{}ms"}``."""
    values: tuple[float | str | bool, ...] | None
    """The values to run. None: the values of the published scenario's ``sweep``."""
    cases: Mapping[float | str | bool, Mapping[str, str]] = field(default_factory=dict)
    """The assignments of each value that no template covers."""

    def assignments(self, value: float | str | bool) -> Mapping[str, str]:
        """Return the assignments of ``value``, by scenario key."""
        text = as_text(value)
        return self.cases.get(value) or {key: template.replace("{}", text) for key, template in self.set.items()}


@dataclass(frozen=True, slots=True)
class Quick:
    """The changes that ``--quick`` makes."""

    seeds: int
    set: Mapping[str, str]
    """Values by scenario key."""


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
    """The lines at the bottlenecks, by published algorithm."""
    sweep: Mapping[str, Parameter]
    points: Mapping[str, At]
    """By published scenario, the parameters that it sweeps (``EACH``) or fixes. A missing scenario sweeps all."""
    at: At
    """The part of the point that the whole experiment fixes."""
    metrics: Mapping[str, Metric]
    seeds: int
    quick: Quick
    keep_records: bool
    """Whether the records themselves are kept for the study's figures."""
    seeds_apart: bool = False
    """Whether the cells have different seeds: then one chance does not hit all of them."""
    hops: tuple[str, ...] = ()
    """Names of the links beside the bottleneck that have the algorithm's line too."""
    alone: Scenario | None = None
    """The scenario without load. It is run with the first algorithm and seed."""
    reconstruction: str = ""
    """The id of the reconstruction that changed it. Empty: it is as the study states it."""


EACH = "*"
"""The value of `Experiment.points` for a swept parameter: every value of it."""


@dataclass(frozen=True, slots=True)
class Exclusion:
    """Published values and claims that are not tested, and why."""

    metrics: tuple[str, ...]
    """Names or shell patterns of the values' metrics."""
    needs: tuple[str, ...]
    """Features that a claim may need and that are missing."""
    scenarios: tuple[str, ...]
    """Published scenarios of which no value is tested."""
    why: str


@dataclass(frozen=True, slots=True)
class Decision:
    """A detail that the paper leaves open, the choice, and its reason."""

    about: str
    choice: str
    why: str


@dataclass(frozen=True, slots=True)
class Reconstruction:
    """A choice that the paper does not state but that its numbers imply. It is run on demand, beside the stated one."""

    id: str
    title: str
    evidence: str
    experiments: tuple[str, ...]
    """Ids of the experiments that it changes."""
    qdiscs: Mapping[str, Lines]
    """By published algorithm, the line or lines that replace its own."""
    append: Mapping[str, str]
    """By published algorithm, the text that is appended to each of its lines."""
    replace: Mapping[str, str]
    """Replacements for words in any line."""
    set: Mapping[str, str]
    """Values by scenario key."""
    unknown: str
    """What it is a value of. Two values of one unknown exclude each other. ``--fit`` combines all others."""
    parts: tuple["Reconstruction", ...] = ()
    """If it is a combination: what it consists of. Each part changes its own experiments."""


@dataclass(frozen=True, slots=True)
class View:
    """A figure of measured cells for each group of them."""

    scenario: str
    """The published scenario of the cells."""
    metric: str
    x: str
    """The parameter along the x axis."""
    by: str
    """The parameter of whose values each has a figure. Empty: there is one figure."""
    panel: str
    """The parameter of whose values each has a panel. Empty: each line has one."""


@dataclass(frozen=True, slots=True)
class Tolerance:
    """How far a measured value may lie from the published one; see `goodqueue.studies.judging`."""

    reproduced: float
    close: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Study:
    """A checked study."""

    folder: Path
    key: str
    title: str
    citation: str
    doi: str = ""
    published: Published
    experiments: tuple[Experiment, ...] = ()
    exclusions: tuple[Exclusion, ...] = ()
    decisions: tuple[Decision, ...] = ()
    tolerances: Mapping[str, Tolerance]
    """The study's own tolerances, by unit."""
    views: tuple[View, ...] = ()
    """The figures of its measured cells."""
    words: Words = field(default_factory=Words)
    """The names of algorithms, metrics and points in its reports."""
    reconstructions: tuple[Reconstruction, ...] = ()
    candidates: tuple[Reconstruction, ...] = ()
    """What ``--fit`` tries beside the reconstructions, without other evidence than that it might be so."""

    def experiments_of(self, scenario: str) -> list[Experiment]:
        """Return the experiments that answer the published ``scenario``."""
        return [experiment for experiment in self.experiments if scenario in experiment.published]

    def fixed(self, scenario: str) -> At:
        """Return the values that the published ``scenario`` fixes of parameters that other scenarios sweep."""
        points = [experiment.points.get(scenario, {}) for experiment in self.experiments_of(scenario)]
        return {name: value for point in points for name, value in point.items() if value != EACH}


@dataclass(frozen=True, slots=True)
class Cell:
    """One point of one published scenario under one algorithm. All its seeds together measure its numbers."""

    experiment: Experiment
    scenario: str
    """Id of the published scenario."""
    algorithm: str
    at: At
    """The point: values by swept parameter."""
    fixed: At = field(default_factory=dict)
    """Parameters that the published scenario fixes, and that its values and claims do not name."""

    @property
    def point(self) -> At:
        """The point, with the fixed parameters."""
        return {**self.at, **self.fixed}

    @property
    def name(self) -> str:
        """The cell's name for a person: ``table1a codel bandwidth_mbps=1``."""
        point = [f"{name}={value}" for name, value in self.at.items()]
        return " ".join([self.scenario.rpartition("/")[2], self.algorithm, *point])
