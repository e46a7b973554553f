"""What a suite is made of. Plain values: nothing here reads files or runs anything."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from goodqueue.studies.model import Experiment, Lines, Tolerance
from goodqueue.studies.published import At, Claim, Published
from goodqueue.studies.wording import Words

TESTED = ("qdisc", "cc")
"""What a suite may test: queue disciplines or congestion controls."""


@dataclass(frozen=True, slots=True)
class Check:
    """Something that the measured numbers decide: a claim in which a term without an algorithm means the one tested."""

    claim: Claim
    source: str
    """Who asks for it: a section of a standard, or ``ours`` where the standard leaves the judgement to the tester."""


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure of a row."""

    kind: str
    """One of `goodqueue.suites.figures.KINDS`."""
    metrics: tuple[str, ...] = ()
    """What it shows, where the kind leaves that open: metrics of the experiment, or series of its records."""
    along: str = ""
    """Of ``lines`` the swept parameter that goes across."""
    at: At = field(default_factory=dict)
    """The part of the point that it shows; everything, where empty."""


@dataclass(frozen=True, slots=True)
class Row:
    """A section of the standard."""

    section: str
    """Such as ``5.1.1``."""
    title: str
    level: str
    """How the standard asks for it, in its own word: ``must``, ``should``, ``may``, ``discuss``."""
    asked: str
    """What it asks for, in a sentence or two of ours."""
    experiments: tuple[str, ...] = ()
    """Ids of the experiments behind it."""
    at: At = field(default_factory=dict)
    """The part of the point that it is about."""
    shows: tuple[str, ...] = ()
    """The metrics in its table; all, where empty."""
    checks: tuple[Check, ...] = ()
    figures: tuple[Figure, ...] = ()
    statement: str = ""
    """A name of `goodqueue.suites.statements.STATEMENTS`, where words answer what no run can."""
    not_run: str = ""
    """Why nothing here answers it; empty where something does."""


@dataclass(frozen=True, slots=True)
class Trial:
    """An experiment before it is known what is under test."""

    experiment: Experiment
    """Its qdiscs are those that the tested ones are compared with."""
    sets: Mapping[str, str]
    """Of a suite of congestion controls: scenario key to template, ``{}`` stands for the one under test."""
    under: tuple[str, ...]
    """Of a suite of congestion controls: the names of the queues that it is run with; the scenario's own, if empty."""
    varied: bool
    """Of a suite of qdiscs: whether each tested line is also run with each of its parameters halved and doubled."""


@dataclass(frozen=True, slots=True)
class Suite:
    """A suite, checked."""

    folder: Path
    key: str
    title: str
    citation: str
    tests: str
    """One of `TESTED`."""
    default: tuple[str, ...]
    """What is tested where nothing is named; empty: something must be."""
    beside: Mapping[str, Lines]
    """What is always run beside it, by name: qdisc lines, or congestion controls."""
    queues: Mapping[str, str]
    """Of a suite of congestion controls: queues by name."""
    trials: tuple[Trial, ...]
    rows: tuple[Row, ...]
    words: Words
    published: Published
    """Numbers that somebody printed for the same tests; an empty one where nobody did."""
    tolerances: Mapping[str, Tolerance]

    def scenarios_of(self, row: Row) -> list[str]:
        """Return the ids of the scenarios that the experiments behind ``row`` answer."""
        own = [trial.experiment for trial in self.trials if trial.experiment.id in row.experiments]
        return [id_ for experiment in own for id_ in experiment.published]
