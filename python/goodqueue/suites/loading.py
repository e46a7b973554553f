"""Reads ``suite.toml`` and the files that it names, and checks them before anything runs."""

from collections.abc import Mapping
from pathlib import Path

from goodqueue.studies import published
from goodqueue.studies.experiments import (
    check_ids,
    check_sets,
    read_assignments,
    read_experiment,
    read_lines,
    read_tolerance,
    read_words,
)
from goodqueue.studies.keys import Table, load_toml, unknown
from goodqueue.studies.libraries import SUITES
from goodqueue.studies.model import Lines
from goodqueue.studies.published import Claim, Published, Term
from goodqueue.suites.figures import KINDS
from goodqueue.suites.model import TESTED, Check, Figure, Row, Suite, Trial
from goodqueue.suites.statements import STATEMENTS

OURS = "ours"
"""The source of a check that no standard requires."""


def load(folder: Path) -> Suite:
    """Return the suite in ``folder``. Raises UserError with the file, the key, what was found and what is accepted."""
    file = folder / SUITES.file
    top = Table(load_toml(file, "a suite in TOML"), file)
    about = top.table("suite")
    facts = _published(folder, about)
    tests = about.choice("tests", TESTED)
    beside = read_lines(top.table("beside"))
    queues = {name: str(line) for name, line in read_lines(top.table("queues")).items()}
    trials = tuple(_trial(table, facts, tests, beside, queues) for table in top.tables("experiment"))
    check_ids(top, [trial.experiment.id for trial in trials])
    trials_by_id = {trial.experiment.id: trial for trial in trials}
    suite = Suite(
        folder=folder,
        key=about.text("key", folder.name),
        title=about.text("title"),
        citation=about.text("citation"),
        tests=tests,
        default=about.texts("default", (), lone=True),
        beside=beside,
        queues=queues,
        trials=trials,
        rows=tuple(_row(table, trials_by_id, beside) for table in top.tables("row")),
        words=read_words(top.table("words"), top.table("places")),
        published=facts,
        tolerances={unit: read_tolerance(table) for unit, table in top.inner("tolerance").items()},
    )
    about.finish()
    top.finish()
    return suite


def _published(folder: Path, about: Table) -> Published:
    """Return the published facts. They are empty if the suite names no file."""
    if file := about.text("published", ""):
        return published.load(folder / file)
    return Published(folder / SUITES.file, "", about.text("title"), (), 0, "", {}, (), ())


def _trial(table: Table, facts: Published, tests: str, beside: Mapping[str, Lines], queues: Mapping[str, str]) -> Trial:
    if tests == "qdisc":
        varied = table.flag("varied", False)
        return Trial(read_experiment(table, facts, beside, own_scenario=True), {}, (), varied)
    tested = table.table("tested")
    sets = read_assignments(tested, "set")
    tested.finish()
    if not sets:
        table.refuse("tested.set", 'missing; accepted: what the tested one stands in, { "traffic.0.cc" = "{}" }')
    under = table.texts("under", ())
    for name in under:
        if name not in queues:
            table.refuse("under", unknown(name, queues))
    trial = Trial(read_experiment(table, facts, {}, own_scenario=True), sets, under, False)
    check_sets(trial.experiment, table, [(f"tested.set.{key}", f"{key}={text}") for key, text in sets.items()])
    return trial


def _row(table: Table, trials: Mapping[str, Trial], beside: Mapping[str, object]) -> Row:
    section = table.text("section")
    ids = table.texts("experiments", (), lone=True)
    for id_ in ids:
        if id_ not in trials:
            table.refuse("experiments", unknown(id_, trials))
    answered = tuple(dict.fromkeys(experiment_id for id_ in ids for experiment_id in trials[id_].experiment.published))
    metrics = {metric.name for id_ in ids for metric in trials[id_].experiment.metrics.values()}
    shows = table.texts("shows", ())
    for name in shows:
        if name not in metrics:
            table.refuse("shows", unknown(name, sorted(metrics)))
    statement = table.text("statement", "")
    if statement and statement not in STATEMENTS:
        table.refuse("statement", unknown(statement, STATEMENTS))
    not_run = table.text("not_run", "")
    answers = [
        name for name, answer in (("experiments", ids), ("statement", statement), ("not_run", not_run)) if answer
    ]
    if len(answers) != 1:
        answered_by = " and ".join(answers) or "none"
        table.refuse("", f"found {answered_by} of experiments, statement and not_run; accepted: one of them")
    row = Row(
        section=section,
        title=table.text("title"),
        level=table.text("level"),
        asked=table.text("asked"),
        experiments=ids,
        at=table.mapping("at"),
        shows=shows,
        checks=tuple(
            _check(check, f"{section} {index}", answered, metrics, beside)
            for index, check in enumerate(table.tables("check"), 1)
        ),
        figures=tuple(_figure(figure) for figure in table.tables("figure")),
        statement=statement,
        not_run=not_run,
    )
    table.finish()
    return row


def _check(
    table: Table, id_: str, scenarios: tuple[str, ...], metrics: set[str], beside: Mapping[str, object]
) -> Check:
    """Return the check that ``table`` describes, on one of the ``scenarios`` that the row's experiments answer."""
    source = table.text("source", OURS)
    claim = published.read_claim(table, scenarios, id_, scenarios[0] if scenarios else None)
    table.finish()
    for term in terms_of(claim):
        for name in term.metrics or ():
            if name not in metrics:
                table.refuse("metric", unknown(name, sorted(metrics)))
        for name in term.algorithms or ():
            if name not in beside:
                table.refuse("algorithm", unknown(name, beside))
    return Check(claim, source)


def terms_of(claim: Claim) -> list[Term]:
    """Return the terms that ``claim`` compares."""
    return [term for term in (claim.left, claim.right, *claim.items) if term is not None]


def _figure(table: Table) -> Figure:
    figure = Figure(
        kind=table.choice("kind", KINDS),
        metrics=table.texts("metrics", (), lone=True),
        along=table.text("along", ""),
        at=table.mapping("at"),
    )
    table.finish()
    return figure
