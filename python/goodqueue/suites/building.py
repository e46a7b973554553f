"""Builds a study from a suite and the subjects under test. `goodqueue.studies` plans, runs and judges it.

The study's algorithms are the tested ones and those that they are compared with. The checks of each row become claims,
one per tested algorithm.
"""

import copy
import itertools
from collections.abc import Iterator, Sequence
from dataclasses import replace

from goodqueue.show import labels
from goodqueue.studies.model import Experiment, Lines, Parameter
from goodqueue.studies.published import Claim, PublishedScenario, Term
from goodqueue.studies.selection import Selection
from goodqueue.suites import stacks
from goodqueue.suites.loading import terms_of
from goodqueue.suites.model import Check, Row, Suite, Trial
from goodqueue.suites.subjects import Subject, takes_buffer, with_cc
from goodqueue.suites.variations import variations

QUEUE = "queue"
"""The swept parameter of a suite of congestion controls: the queue at the bottleneck."""

VARIATION = "variation"
"""The swept parameter of a qdisc line whose parameters are varied: ``as given``, ``target 2.5ms``."""


def study(suite: Suite, subjects: Sequence[Subject]) -> Suite:
    """Return the study of ``subjects`` that ``suite`` asks for."""
    experiments_of = (
        _of_qdiscs(trial, subjects) if suite.tests == "qdisc" else _of_ccs(suite, trial, subjects)
        for trial in suite.trials
    )
    experiments = tuple(itertools.chain.from_iterable(experiments_of))
    titles = {id_: row.title for row in suite.rows for id_ in row.experiments}
    sections = {id_: row.section for row in suite.rows for id_ in row.experiments}
    scenarios = {
        id_: PublishedScenario(id_, titles.get(id_, id_), sections.get(id_, ""), {})
        for trial in suite.trials
        for id_ in trial.experiment.published
        if id_ not in suite.published.scenarios
    }
    claims = tuple(
        claim_of(check, subject.name)
        for row in suite.rows
        for check in row.checks
        for subject in subjects
        if not compares_itself(check, subject.name)
    )
    facts = suite.published
    facts = replace(facts, scenarios={**facts.scenarios, **scenarios}, claims=(*facts.claims, *claims))
    # The tested lines have short names in tables, which differ from each other and from what is beside them.
    lines = dict.fromkeys([*(subject.name for subject in subjects), *suite.beside])
    short = labels.short(list(lines)) if suite.tests == "qdisc" else {}
    words = replace(suite.words, names={**short, **suite.words.names})
    return replace(suite, published=facts, experiments=experiments, words=words)


def _of_qdiscs(trial: Trial, subjects: Sequence[Subject]) -> Iterator[Experiment]:
    """Yield the experiment for the lines that take the scenario's buffer, and one without buffer for the others."""
    # An experiment that repeats somebody's runs may have its own line for a tested name. Then that line is run.
    lines: dict[str, Lines] = {**{subject.name: subject.name for subject in subjects}, **trial.experiment.qdiscs}
    if trial.varied:
        yield from (_varied(trial.experiment, subject.name) for subject in subjects)
        return
    if "buffer" not in trial.experiment.scenario["bottleneck"]:
        yield replace(trial.experiment, qdiscs=lines)
        return
    taking = {subject.name: subject.takes_buffer for subject in subjects}
    taking |= {name: isinstance(line, str) and takes_buffer(line) for name, line in trial.experiment.qdiscs.items()}
    if sized := {name: line for name, line in lines.items() if taking[name]}:
        yield replace(trial.experiment, qdiscs=sized)
    if others := {name: line for name, line in lines.items() if not taking[name]}:
        scenario = copy.deepcopy(trial.experiment.scenario)
        del scenario["bottleneck"]["buffer"]
        yield replace(trial.experiment, id=f"{trial.experiment.id}, own limit", qdiscs=others, scenario=scenario)


def _varied(experiment: Experiment, line: str) -> Experiment:
    """Return the experiment with the tested ``line`` as given, and with each of its parameters halved and doubled."""
    varied = variations(line)
    lines = {f"{VARIATION}={name}": whole for name, whole in varied.items()}
    swept = {VARIATION: Parameter(VARIATION, {}, tuple(varied))}
    scenario = {**experiment.scenario, "bottleneck": {**experiment.scenario["bottleneck"]}}
    scenario["bottleneck"].pop("buffer", None)  # the buffer would set a limit, which is one of the parameters
    id_ = f"{experiment.id}, {line}"
    return replace(experiment, id=id_, scenario=scenario, qdiscs={line: lines}, sweep={**experiment.sweep, **swept})


def _of_ccs(suite: Suite, trial: Trial, subjects: Sequence[Subject]) -> Iterator[Experiment]:
    """Yield one experiment per congestion control, with each of the trial's queues."""
    experiment = trial.experiment
    lines: Lines = {f"{QUEUE}={name}": suite.queues[name] for name in trial.under} or experiment.scenario["bottleneck"][
        "qdisc"
    ]
    swept = {QUEUE: Parameter(QUEUE, {}, tuple(trial.under))} if trial.under else {}
    beside = [Subject(name) for name in suite.beside if name not in [subject.name for subject in subjects]]
    for subject in [*subjects, *beside]:
        scenario, name = with_cc(experiment.scenario, trial.sets, subject), subject.name
        yield replace(
            experiment,
            id=f"{experiment.id}, {name}",
            scenario=scenario,
            qdiscs={name: lines},
            sweep={**experiment.sweep, **swept},
            metrics=stacks.metrics(experiment, trial.sets) if subject.stack else experiment.metrics,
        )


def claim_of(check: Check, subject: str) -> Claim:
    """Return the claim of ``check`` on ``subject``, which replaces the missing algorithm of its terms."""

    def of_subject(term: Term | None) -> Term | None:
        return replace(term, algorithms=term.algorithms or (subject,)) if term and term.is_lookup else term

    claim = check.claim
    items = tuple(replace(item, algorithms=item.algorithms or (subject,)) for item in claim.items)
    return replace(
        claim, id=f"{claim.id} {subject}", left=of_subject(claim.left), right=of_subject(claim.right), items=items
    )


def compares_itself(check: Check, subject: str) -> bool:
    """Return whether ``check`` would compare ``subject`` with itself."""
    return any(subject in (term.algorithms or ()) for term in terms_of(check.claim))


def selected(suite: Suite, rows: Sequence[Row]) -> Selection:
    """Return the selection of the runs behind ``rows``."""
    if len(rows) == len(suite.rows):
        return Selection(frozenset())
    ids = dict.fromkeys(id_ for row in rows for id_ in suite.scenarios_of(row))
    # An empty selection would mean everything, and some rows need no runs.
    chosen_ids = {*ids, *(f"row {row.section}" for row in rows)}
    return Selection(frozenset(chosen_ids), tuple((id_, None, {}) for id_ in ids))
