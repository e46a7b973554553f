"""Reads ``study.toml`` and the files that it names, and checks them before anything runs."""

from dataclasses import replace
from pathlib import Path

from goodqueue.errors import quoted
from goodqueue.studies import cells, own, published
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
from goodqueue.studies.model import (
    Decision,
    Exclusion,
    Experiment,
    Reconstruction,
    Study,
    View,
)
from goodqueue.studies.published import Published
from goodqueue.studies.wording import Words

FILE = "study.toml"


def load(folder: Path) -> Study:
    """Return the study in ``folder``. Raises UserError with the file, the key, what was found and what is accepted."""
    file = folder / FILE
    top = Table(load_toml(file, "a study in TOML"), file)
    about = top.table("study")
    facts, views = _with_cells(top, published.load(folder / about.text("published", "published.toml")))
    common = read_lines(top.table("qdiscs"))
    ours = own.computations(folder)
    experiments = tuple(read_experiment(table, facts, common, ours) for table in top.tables("experiment"))
    check_ids(top, [experiment.id for experiment in experiments])
    _check_unique(top, experiments)
    study = Study(
        folder=folder,
        key=facts.key,
        title=about.text("title", facts.title),
        citation=about.text("citation", ""),
        doi=about.text("doi", ""),
        published=facts,
        experiments=experiments,
        exclusions=tuple(_exclusion(table, facts) for table in top.tables("exclude")),
        decisions=tuple(_decision(table) for table in top.tables("decision")),
        reconstructions=tuple(_reconstruction(table, experiments) for table in top.tables("reconstruction")),
        candidates=tuple(_reconstruction(table, experiments) for table in top.tables("candidate")),
        views=views,
        tolerances={unit: read_tolerance(table) for unit, table in top.inner("tolerance").items()},
        words=_words(top.table("words"), top.table("places"), facts, experiments),
    )
    about.finish()
    top.finish()
    return study


def _with_cells(top: Table, facts: Published) -> tuple[Published, tuple[View, ...]]:
    """Return ``facts`` with the measured cells of the files that the study names, and the figures of these cells."""
    tables = [cells.read(table, facts.key, facts.scenarios) for table in top.tables("cells")]
    values = (*facts.values, *(value for values, _ in tables for value in values))
    seen: set[str] = set()
    for value in values:
        if value.id in seen:
            top.refuse("cells", f"the cell of {quoted(value.id)} is there twice; accepted: each once")
        seen.add(value.id)
    return replace(facts, values=values), tuple(view for _, view in tables if view)


def _check_unique(top: Table, experiments: tuple[Experiment, ...]) -> None:
    for index, experiment in enumerate(experiments):
        for other in experiments[:index]:
            both = set(other.published) & set(experiment.published)
            if both and other.at == experiment.at and set(other.qdiscs) & set(experiment.qdiscs):
                clash = f"{min(both)} is answered by {other.id} and by {experiment.id}"
                accepted = "one experiment for each, or several whose `at` or `algorithms` differ"
                top.refuse("experiment", f"{clash}; accepted: {accepted}")


def _exclusion(table: Table, facts: Published) -> Exclusion:
    scenarios = table.texts("scenarios", ())
    for id_ in scenarios:
        if id_ not in facts.scenarios:
            table.refuse("scenarios", unknown(id_, facts.scenarios))
    exclusion = Exclusion(table.texts("metrics", ()), table.texts("needs", (), lone=True), scenarios, table.text("why"))
    if not (exclusion.metrics or exclusion.needs or exclusion.scenarios):
        table.refuse("", "found none of metrics, scenarios and needs; accepted: at least one of them")
    table.finish()
    return exclusion


def _words(name_table: Table, places: Table, facts: Published, experiments: tuple[Experiment, ...]) -> Words:
    terms = [term for claim in facts.claims for term in (claim.left, claim.right, *claim.items) if term]
    points = [*(value.at for value in facts.values), *(term.at for term in terms)]
    points += [point for claim in facts.claims for point in claim.points]
    parameters = {name for point in points for name in point} | {term.param for term in terms if term.param}
    parameters.update(
        *(scenario.sweep for scenario in facts.scenarios.values()), *(experiment.sweep for experiment in experiments)
    )
    known_names = parameters | {name for value in facts.values for name in (value.algorithm, value.metric)}
    known_names.update(name for term in terms for name in (*(term.algorithms or ()), *(term.metrics or ())))
    for table, accepted in ((name_table, known_names), (places, parameters)):
        for name in table.content:
            if name not in accepted:
                table.refuse(name, unknown(name, sorted(accepted)))
    return read_words(name_table, places)


def _decision(table: Table) -> Decision:
    decision = Decision(table.text("about"), table.text("choice"), table.text("why"))
    table.finish()
    return decision


def _reconstruction(table: Table, experiments: tuple[Experiment, ...]) -> Reconstruction:
    ids = [experiment.id for experiment in experiments]
    reconstruction = Reconstruction(
        id=table.text("id"),
        title=table.text("title"),
        evidence=table.text("evidence"),
        experiments=table.texts("experiments", tuple(ids)),
        qdiscs=read_lines(table.table("qdiscs")),
        append=read_assignments(table, "append"),
        replace=read_assignments(table, "replace"),
        set=read_assignments(table, "set"),
        unknown=table.text("unknown", table.text("id")),
    )
    table.finish()
    for id_ in reconstruction.experiments:
        if id_ not in ids:
            table.refuse("experiments", unknown(id_, ids))
    rerun = [experiment for experiment in experiments if experiment.id in reconstruction.experiments]
    rerun_algorithms = {algorithm for experiment in rerun for algorithm in experiment.qdiscs}
    for key, algorithms in (("qdiscs", reconstruction.qdiscs), ("append", reconstruction.append)):
        for algorithm in algorithms:
            if algorithm not in rerun_algorithms:
                table.refuse(f"{key}.{algorithm}", unknown(algorithm, sorted(rerun_algorithms)))
    lines = [line for experiment in rerun for line in experiment.qdiscs.values()]
    for words in reconstruction.replace:
        if not any(words in text for line in lines for text in ([line] if isinstance(line, str) else line.values())):
            table.refuse(f"replace.{words}", "found in no line; accepted: words of a qdisc line of these experiments")
    if not (reconstruction.qdiscs or reconstruction.append or reconstruction.replace or reconstruction.set):
        table.refuse("", "changes nothing; accepted: with qdiscs, append, replace or set")
    for experiment in rerun:
        check_sets(experiment, table, [(f"set.{key}", f"{key}={text}") for key, text in reconstruction.set.items()])
    return reconstruction
