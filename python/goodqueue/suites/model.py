"""The types of a suite. They are plain values: this module reads no files and runs nothing."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from goodqueue.studies.model import Experiment, Lines, Study
from goodqueue.studies.published import At, Claim

TESTED = ("qdisc", "cc")
"""The subjects that a suite may test: queue disciplines or congestion controls."""


@dataclass(frozen=True, slots=True)
class Check:
    """A claim that the measured numbers decide. A term without an algorithm refers to the tested one."""

    claim: Claim
    source: str
    """Who requires it: a section of a standard, or ``ours`` if the standard leaves the judgement to the tester."""


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure of a row."""

    kind: str
    """One of `goodqueue.suites.figures.KINDS`."""
    metrics: tuple[str, ...] = ()
    """Its data, if the kind leaves that open: metrics of the experiment, or series of its records."""
    along: str = ""
    """The swept parameter on the x axis, for ``lines``."""
    at: At = field(default_factory=dict)
    """The part of the point that it shows. Empty: everything."""


@dataclass(frozen=True, slots=True)
class Row:
    """A section of the standard."""

    section: str
    """Its number, such as ``5.1.1``."""
    title: str
    level: str
    """The standard's own word for its strength: ``must``, ``should``, ``may``, ``discuss``."""
    asked: str
    """What it requires, in a sentence or two of ours."""
    experiments: tuple[str, ...] = ()
    """Ids of the experiments that answer it."""
    at: At = field(default_factory=dict)
    """The part of the point that it is about."""
    shows: tuple[str, ...] = ()
    """The metrics in its table. Empty: all."""
    checks: tuple[Check, ...] = ()
    figures: tuple[Figure, ...] = ()
    statement: str = ""
    """A name of `goodqueue.suites.statements.STATEMENTS`, if words answer what no run can."""
    not_run: str = ""
    """Why goodqueue cannot answer it. Empty if it can."""


@dataclass(frozen=True, slots=True)
class Trial:
    """An experiment before the subjects under test are known."""

    experiment: Experiment
    """Its qdiscs are those with which the tested ones are compared."""
    sets: Mapping[str, str]
    """For a suite of congestion controls: templates by scenario key; ``{}`` stands for the one under test."""
    under: tuple[str, ...]
    """For a suite of congestion controls: the names of the queues to run it with. Empty: the scenario's own."""
    varied: bool
    """For a suite of qdiscs: whether each tested line is also run with each of its parameters halved and doubled."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Suite(Study):
    """A checked suite: a study whose experiments and claims follow from what is tested.

    Its published numbers are for the same tests. There may be none.
    """

    tests: str
    """One of `TESTED`."""
    default: tuple[str, ...]
    """The subjects to test if the user names none. Empty: the user must name one."""
    beside: Mapping[str, Lines]
    """The subjects that are always run too, by name: qdisc lines, or congestion controls."""
    queues: Mapping[str, str]
    """For a suite of congestion controls: queues by name."""
    trials: tuple[Trial, ...]
    rows: tuple[Row, ...]

    def scenarios_of(self, row: Row) -> list[str]:
        """Return the ids of the scenarios that the experiments behind ``row`` answer."""
        experiments = [trial.experiment for trial in self.trials if trial.experiment.id in row.experiments]
        return [id_ for experiment in experiments for id_ in experiment.published]
