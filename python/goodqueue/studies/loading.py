"""Reading ``study.toml`` and all that it refers to, checked before anything runs."""

import copy
from collections.abc import Iterable, Mapping
from pathlib import Path

from goodqueue import scenario as scenarios
from goodqueue.dotted import check_path
from goodqueue.errors import UserError, quoted
from goodqueue.studies import published
from goodqueue.studies.metrics import COMPUTATIONS, FORMS, POOLS
from goodqueue.studies.model import (
    ALONE,
    EACH,
    Decision,
    Exclusion,
    Experiment,
    Lines,
    Metric,
    Parameter,
    Quick,
    Reconstruction,
    Study,
    Tolerance,
)
from goodqueue.studies.published import At, Published
from goodqueue.studies.reading import Table, load_toml, unknown
from goodqueue.studies.wording import Words

FILE = "study.toml"


def load(folder: Path) -> Study:
    """Return the study in ``folder``. Raises UserError with the file, the key, what was found and what is accepted."""
    file = folder / FILE
    top = Table(load_toml(file, "a study in TOML"), file)
    about = top.table("study")
    facts = published.load(folder / about.text("published", "published.toml"))
    common = _qdiscs(top.table("qdiscs"))
    experiments = tuple(_experiment(table, facts, common) for table in top.tables("experiment"))
    if not experiments:
        top.refuse("experiment", "missing; accepted: at least one [[experiment]]")
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
        tolerances={unit: _tolerance(table) for unit, table in top.inner("tolerance").items()},
        words=_words(top.table("words"), top.table("places"), facts, experiments),
    )
    about.finish()
    top.finish()
    return study


def _check_unique(top: Table, experiments: tuple[Experiment, ...]) -> None:
    for index, experiment in enumerate(experiments):
        for other in experiments[:index]:
            if other.id == experiment.id:
                top.refuse("experiment", f"the id {quoted(other.id)} is used twice; accepted: ids that differ")
            both = set(other.published) & set(experiment.published)
            if both and other.at == experiment.at and set(other.qdiscs) & set(experiment.qdiscs):
                found = f"{min(both)} is answered by {other.id} and by {experiment.id}"
                accepted = "one experiment for each, or several whose `at` or `algorithms` differ"
                top.refuse("experiment", f"{found}; accepted: {accepted}")


def _qdiscs(table: Table) -> dict[str, Lines]:
    found: dict[str, Lines] = {}
    for algorithm, content in table.content.items():
        if isinstance(content, dict):
            inner = table.table(algorithm)
            found[algorithm] = {rate: inner.text(rate) for rate in inner.content}
        else:
            found[algorithm] = table.text(algorithm)
    return found


def _experiment(table: Table, facts: Published, common: Mapping[str, Lines]) -> Experiment:
    ids = table.texts("published", lone=True)
    for id_ in ids:
        if id_ not in facts.scenarios:
            table.refuse("published", unknown(id_, facts.scenarios))
    file = table.file.parent / table.text("scenario")
    scenario = scenarios.load(file)
    sweep = {name: _parameter(name, inner) for name, inner in table.inner("sweep").items()}
    quick = table.table("quick")
    qdiscs = {**common, **_qdiscs(table.table("qdiscs"))}
    algorithms = table.texts("algorithms", tuple(qdiscs))
    for algorithm in algorithms:
        if algorithm not in qdiscs:
            table.refuse("algorithms", unknown(algorithm, qdiscs))
    alone = table.text("alone", "")
    hops = table.texts("hops", ())
    named = [hop.get("name", "") for hop in scenario.get("hop", ())]
    for hop in hops:
        if hop not in named:
            table.refuse("hops", unknown(hop, named))
    experiment = Experiment(
        id=table.text("id"),
        published=ids,
        origin=table.file,
        file=file,
        scenario=scenario,
        qdiscs={algorithm: qdiscs[algorithm] for algorithm in algorithms},
        sweep=sweep,
        points=_points(table.table("points"), ids, sweep),
        at=table.mapping("at"),
        metrics={name: _metric(name, inner, facts, ids) for name, inner in table.inner("metrics").items()},
        seeds=table.count("seeds", 1),
        quick=Quick(quick.count("seeds", 1), _assignments(quick, "set")),
        keep_records=table.flag("keep_records", False),
        hops=hops,
        alone=scenarios.load(table.file.parent / alone) if alone else None,
    )
    quick.finish()
    table.finish()
    _check_assignments(experiment, table)
    _check_metrics(experiment, table)
    return experiment


def _points(table: Table, ids: tuple[str, ...], sweep: Mapping[str, Parameter]) -> dict[str, At]:
    found: dict[str, At] = {}
    for id_ in table.content:
        if id_ not in ids:
            table.refuse(id_, unknown(id_, ids))
        found[id_] = table.mapping(id_)
        for name, value in found[id_].items():
            if name not in sweep:
                table.refuse(f"{id_}.{name}", unknown(name, sweep))
            cases = sweep[name].cases
            if value != EACH and cases and value not in cases:
                accepted = ", ".join(map(str, (EACH, *cases)))
                table.refuse(f"{id_}.{name}", f"found {quoted(value)}; accepted: {accepted}")
    return found


def _check_metrics(experiment: Experiment, table: Table) -> None:
    """Refuse a metric that refers to what the experiment does not have."""
    for name, metric in experiment.metrics.items():
        if metric.to == ALONE and experiment.alone is None:
            table.refuse(f"metrics.{name}.to", "the experiment has no scenario `alone`; accepted: with one")
        if isinstance(metric.to, str) and metric.to not in ("", ALONE, *experiment.qdiscs):
            table.refuse(f"metrics.{name}.to", unknown(metric.to, (ALONE, *experiment.qdiscs)))
        if metric.pooled_as == "correlation" and len(metric.pooled) != 1:
            table.refuse(f"metrics.{name}.pooled", f"found {quoted(list(metric.pooled))}; accepted: one parameter")
        swept: list[tuple[str, Iterable[str]]] = [("pooled", metric.pooled), ("pooled_at", metric.pooled_at)]
        swept.append(("spread", metric.spread))
        swept.append(("to", () if isinstance(metric.to, str) else metric.to))
        swept.append(("distance_from", [metric.distance_from] if metric.distance_from else ()))
        for key, parameters in swept:
            for parameter in parameters:
                if parameter not in experiment.sweep:
                    table.refuse(f"metrics.{name}.{key}", unknown(parameter, experiment.sweep))


def _parameter(name: str, table: Table) -> Parameter:
    values = table.raw("values")
    if values is not None and not isinstance(values, list):
        table.refuse("values", f"found {quoted(values)}; accepted: a list")
    cases = {}
    for case in table.tables("cases"):
        value = case.raw("value")
        if not isinstance(value, str | int | float):
            case.refuse("value", f"found {quoted(value)}; accepted: a text, a number, true or false")
        cases[value] = _assignments(case, "set")
        case.finish()
    if cases and values is None:
        values = list(cases)
    parameter = Parameter(name, _assignments(table, "set"), None if values is None else tuple(values), cases)
    if bool(parameter.set) == bool(cases):
        found = "both" if cases else "neither"
        accepted = 'set = { "path.rtt" = "{}ms" }, or cases = [{ value = …, set = {…} }]'
        table.refuse("set", f"found {found} of set and cases; accepted: {accepted}")
    for key, template in parameter.set.items():
        if template.count("{}") != 1:
            table.refuse(f"set.{key}", f"found {quoted(template)}; accepted: a text with one {{}} for the value")
    table.finish()
    return parameter


def _assignments(table: Table, key: str) -> dict[str, str]:
    inner = table.table(key)
    return {name: inner.text(name) for name in inner.content}


def _check_assignments(experiment: Experiment, table: Table) -> None:
    """Refuse a key that the scenario cannot take at all; its values are checked when the runs are planned."""
    places = [(f"quick.set.{key}", f"{key}={value}") for key, value in experiment.quick.set.items()]
    for parameter in experiment.sweep.values():
        for value in parameter.cases or (1,):
            for key, text in parameter.assignments(value).items():
                places.append((f"sweep.{parameter.name}.set.{key}", f"{key}={text}"))
    _check_sets(experiment, table, places)


def _check_sets(experiment: Experiment, table: Table, places: list[tuple[str, str]]) -> None:
    """Refuse those of ``places``, keys of the study with what they assign, that the scenario cannot take."""
    for place, assignment in places:
        try:
            scenarios.apply_set(copy.deepcopy(experiment.scenario), assignment)
        except UserError as error:
            table.refuse(place, str(error).removeprefix(f"--set {assignment}: "))


def _metric(key: str, table: Table, facts: Published, ids: tuple[str, ...]) -> Metric:
    name = table.text("metric", key)
    published_here = sorted({value.metric for value in facts.values if value.scenario in ids})
    claimed = {metric for claim in facts.claims for term in (claim.left, claim.right, *claim.items) if term
               for metric in term.metrics or ()}  # fmt: skip
    if name not in published_here and name not in claimed:
        table.refuse("", f"no published value or claim has this metric; {unknown(name, published_here)}")
    record, compute = _path(table, "record"), table.text("compute", "")
    if bool(record) == bool(compute):
        table.refuse("", "found " + ("both" if record else "neither") + " of record and compute; accepted: one of them")
    metric = Metric(
        name=name,
        record=record,
        compute=compute,
        options=_options(compute, table) if compute else {},
        over_seeds=table.choice("over_seeds", ("mean", "sd"), "mean"),
        scale=table.number("scale", 1.0),
        at=table.mapping("at"),
        to=table.mapping("to") if isinstance(table.raw("to"), dict) else table.text("to", ""),
        to_record=_path(table, "to_record"),
        form=table.choice("as", FORMS, "ratio"),
        distance_from=table.text("distance_from", ""),
        pooled=table.texts("pooled", (), lone=True),
        pooled_at={name: tuple(values) for name, values in table.mapping("pooled_at").items()},
        pooled_as=table.choice("pooled_as", POOLS, "mean"),
        spread=table.texts("spread", (), lone=True),
    )
    table.finish()
    return metric


def _path(table: Table, key: str) -> str:
    """Return a dotted path into a record; empty where it is missing."""
    path = table.text(key, "")
    if path and (why := check_path(path)):
        table.refuse(key, why)
    return path


def _options(compute: str, table: Table) -> dict[str, str | float]:
    if compute not in COMPUTATIONS:
        table.refuse("compute", unknown(compute, COMPUTATIONS))
    options: dict[str, str | float] = {}
    for name, option in COMPUTATIONS[compute].options.items():
        if option.kind == "text":
            options[name] = table.text(name, None if option.default is None else str(option.default))
        else:
            options[name] = table.number(name, None if option.default is None else float(option.default), least=-1.0)
    rise, target = options.get("rise_ms"), options.get("target_ms")
    if isinstance(rise, float) and isinstance(target, float) and 0 < rise < target:
        table.refuse("rise_ms", f"found {rise:g}; accepted: at least target_ms, {target:g} (or 0, for the same)")
    return options


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


def _words(names: Table, places: Table, facts: Published, experiments: tuple[Experiment, ...]) -> Words:
    terms = [term for claim in facts.claims for term in (claim.left, claim.right, *claim.items) if term]
    points = [*(value.at for value in facts.values), *(term.at for term in terms)]
    points += [point for claim in facts.claims for point in claim.points]
    parameters = {name for point in points for name in point} | {term.param for term in terms if term.param}
    parameters.update(*(one.sweep for one in facts.scenarios.values()), *(one.sweep for one in experiments))
    known = parameters | {name for value in facts.values for name in (value.algorithm, value.metric)}
    known.update(name for term in terms for name in (*(term.algorithms or ()), *(term.metrics or ())))
    for table, accepted in ((names, known), (places, parameters)):
        for name in table.content:
            if name not in accepted:
                table.refuse(name, unknown(name, sorted(accepted)))
    found: dict[str, str | dict[str, str]] = {}
    for name, content in places.content.items():
        inner = places.table(name) if isinstance(content, dict) else None
        found[name] = {value: inner.text(value) for value in inner.content} if inner else places.text(name)
    return Words({name: names.text(name) for name in names.content}, found)


def _decision(table: Table) -> Decision:
    decision = Decision(table.text("about"), table.text("choice"), table.text("why"))
    table.finish()
    return decision


def _reconstruction(table: Table, experiments: tuple[Experiment, ...]) -> Reconstruction:
    ids = [experiment.id for experiment in experiments]
    found = Reconstruction(
        id=table.text("id"),
        title=table.text("title"),
        evidence=table.text("evidence"),
        experiments=table.texts("experiments", tuple(ids)),
        qdiscs=_qdiscs(table.table("qdiscs")),
        append=_assignments(table, "append"),
        replace=_assignments(table, "replace"),
        set=_assignments(table, "set"),
    )
    table.finish()
    for id_ in found.experiments:
        if id_ not in ids:
            table.refuse("experiments", unknown(id_, ids))
    own = [experiment for experiment in experiments if experiment.id in found.experiments]
    known = {algorithm for experiment in own for algorithm in experiment.qdiscs}
    for key, algorithms in (("qdiscs", found.qdiscs), ("append", found.append)):
        for algorithm in algorithms:
            if algorithm not in known:
                table.refuse(f"{key}.{algorithm}", unknown(algorithm, sorted(known)))
    lines = [line for experiment in own for line in experiment.qdiscs.values()]
    for words in found.replace:
        if not any(words in text for line in lines for text in ([line] if isinstance(line, str) else line.values())):
            table.refuse(f"replace.{words}", "found in no line; accepted: words of a qdisc line of these experiments")
    if not (found.qdiscs or found.append or found.replace or found.set):
        table.refuse("", "changes nothing; accepted: with qdiscs, append, replace or set")
    for experiment in own:
        _check_sets(experiment, table, [(f"set.{key}", f"{key}={text}") for key, text in found.set.items()])
    return found


def _tolerance(table: Table) -> Tolerance:
    tolerance = Tolerance(table.number("reproduced", least=0.0), table.number("close", least=0.0))
    if tolerance.close < tolerance.reproduced:
        table.refuse("close", f"found {tolerance.close:g}; accepted: at least reproduced, {tolerance.reproduced:g}")
    table.finish()
    return tolerance
