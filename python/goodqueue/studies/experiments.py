"""Reads an ``[[experiment]]``: the runs of a scenario file, and the numbers computed from them.

Studies and suites share it. References within a table are checked here. Values for the scenario are checked when the
runs are planned.
"""

import copy
from collections.abc import Iterable, Mapping, Sequence

from goodqueue import scenario as scenarios
from goodqueue.errors import UserError, quoted
from goodqueue.record.dotted import check_path
from goodqueue.scenario.discipline import rebased
from goodqueue.studies import measuring, templates
from goodqueue.studies.computing import Computation
from goodqueue.studies.keys import Table, unknown
from goodqueue.studies.measuring import FORMS, POOLS
from goodqueue.studies.model import ALONE, EACH, Experiment, Lines, Metric, Parameter, Quick, Tolerance
from goodqueue.studies.published import At, Published
from goodqueue.studies.wording import Words


def read_lines(table: Table) -> dict[str, Lines]:
    """Return the qdisc lines of ``table``, by algorithm. A line may name a class of a file in the study's folder."""
    found: dict[str, Lines] = {}
    folder = table.file.parent
    for algorithm, content in table.content.items():
        if isinstance(content, dict):
            inner = table.table(algorithm)
            found[algorithm] = {rate: rebased(inner.text(rate), folder) for rate in inner.content}
        else:
            found[algorithm] = rebased(table.text(algorithm), folder)
    return found


def read_experiment(
    table: Table,
    facts: Published,
    common: Mapping[str, Lines],
    own: Mapping[str, Computation],
    own_scenario: bool = False,
) -> Experiment:
    """Return the experiment that ``table`` describes, which answers published scenarios of ``facts``.

    ``common`` are lines that it has beside its own, and ``own`` the computations of its folder. With ``own_scenario``
    it need not answer a published scenario: then it answers one of its own name, and its metrics need not be published.
    Raises UserError with the file and the key.
    """
    ids = table.texts("published", (table.text("id"),) if own_scenario else None, lone=True)
    for id_ in ids:
        if id_ not in facts.scenarios and not (own_scenario and id_ == table.text("id")):
            table.refuse("published", unknown(id_, facts.scenarios))
    file = table.file.parent / table.text("scenario")
    scenario = scenarios.load(file, pipes=False)
    sweep = {name: _parameter(name, inner) for name, inner in table.inner("sweep").items()}
    quick = table.table("quick")
    qdiscs = {**common, **read_lines(table.table("qdiscs"))}
    algorithms = table.texts("algorithms", tuple(qdiscs))
    for algorithm in algorithms:
        if algorithm not in qdiscs:
            table.refuse("algorithms", unknown(algorithm, qdiscs))
    checked = None if own_scenario else facts
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
        metrics={name: _metric(name, inner, checked, ids, own) for name, inner in table.inner("metrics").items()},
        seeds=table.count("seeds", 1),
        quick=Quick(quick.count("seeds", 1), read_assignments(quick, "set")),
        keep_records=table.flag("keep_records", False),
        seeds_apart=table.flag("seeds_apart", False),
        hops=hops,
        alone=scenarios.load(table.file.parent / alone, pipes=False) if alone else None,
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
    """Raise an error if a metric refers to something that the experiment does not have."""
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
        cases[value] = read_assignments(case, "set")
        case.finish()
    if cases and values is None:
        values = list(cases)
    parameter = Parameter(name, read_assignments(table, "set"), None if values is None else tuple(values), cases)
    if bool(parameter.set) == bool(cases):
        found = "both" if cases else "neither"
        accepted = 'set = { "path.rtt" = "{}ms" }, or cases = [{ value = …, set = {…} }]'
        table.refuse("set", f"found {found} of set and cases; accepted: {accepted}")
    for key, template in parameter.set.items():
        if template.count("{}") != 1:
            table.refuse(f"set.{key}", f"found {quoted(template)}; accepted: a text with one {{}} for the value")
    table.finish()
    return parameter


def read_assignments(table: Table, key: str) -> dict[str, str]:
    """Return the table ``key``: scenario keys with their values."""
    inner = table.table(key)
    return {name: inner.text(name) for name in inner.content}


def _check_assignments(experiment: Experiment, table: Table) -> None:
    """Raise an error for a key that the scenario never accepts. Its values are checked when the runs are planned."""
    places = [(f"quick.set.{key}", f"{key}={value}") for key, value in experiment.quick.set.items()]
    for parameter in experiment.sweep.values():
        for value in parameter.cases or (1,):
            for key, text in parameter.assignments(value).items():
                if other := next((name for name in templates.names(text) if name not in experiment.sweep), None):
                    table.refuse(f"sweep.{parameter.name}.set.{key}", unknown(other, experiment.sweep))
                places.append((f"sweep.{parameter.name}.set.{key}", f"{key}={text}"))
    check_sets(experiment, table, places)


def check_ids(top: Table, ids: Sequence[str]) -> None:
    """Raise UserError if there is no experiment, or if two have the same id."""
    if not ids:
        top.refuse("experiment", "missing; accepted: at least one [[experiment]]")
    if twice := {id_ for id_ in ids if ids.count(id_) > 1}:
        top.refuse("experiment", f"the id {quoted(min(twice))} is used twice; accepted: ids that differ")


def check_sets(experiment: Experiment, table: Table, places: list[tuple[str, str]]) -> None:
    """Raise an error if the scenario cannot take one of ``places``: pairs of a study's key and an assignment."""
    for place, assignment in places:
        try:
            scenarios.apply_set(copy.deepcopy(experiment.scenario), assignment)
        except UserError as error:
            table.refuse(place, str(error).removeprefix(f"--set {assignment}: "))


def _check_published(name: str, table: Table, facts: Published, ids: tuple[str, ...]) -> None:
    """Raise an error if no published value or claim has the metric."""
    published_here = sorted({value.metric for value in facts.values if value.scenario in ids})
    claimed = {metric for claim in facts.claims for term in (claim.left, claim.right, *claim.items) if term
               for metric in term.metrics or ()}  # fmt: skip
    if name not in published_here and name not in claimed:
        table.refuse("", f"no published value or claim has this metric; {unknown(name, published_here)}")


def _metric(
    key: str, table: Table, facts: Published | None, ids: tuple[str, ...], own: Mapping[str, Computation]
) -> Metric:
    name = table.text("metric", key)
    if facts:
        _check_published(name, table, facts, ids)
    record, compute = _path(table, "record"), table.text("compute", "")
    if bool(record) == bool(compute):
        table.refuse("", "found " + ("both" if record else "neither") + " of record and compute; accepted: one of them")
    computation = _computation(compute, table, own) if compute else None
    metric = Metric(
        name=name,
        record=record,
        compute=compute,
        computation=computation,
        options=_options(computation, table) if computation else {},
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
    """Return a dotted path into a record, or an empty text if it is missing."""
    path = table.text(key, "")
    if path and (why := check_path(path)):
        table.refuse(key, why)
    return path


def _computation(compute: str, table: Table, own: Mapping[str, Computation]) -> Computation:
    if (found := measuring.find(compute, own)) is None:
        table.refuse("compute", unknown(compute, measuring.names(own)))
    return found


def _options(computation: Computation, table: Table) -> dict[str, str | float]:
    options: dict[str, str | float] = {}
    for name, option in computation.options.items():
        if option.words:
            options[name] = table.choice(name, option.words)
        elif option.kind == "text":
            options[name] = table.text(name, None if option.default is None else str(option.default))
        else:
            options[name] = table.number(name, None if option.default is None else float(option.default), least=-1.0)
    rise, target = options.get("rise_ms"), options.get("target_ms")
    if isinstance(rise, float) and isinstance(target, float) and 0 < rise < target:
        table.refuse("rise_ms", f"found {rise:g}; accepted: at least target_ms, {target:g} (or 0, for the same)")
    return options


def read_words(names: Table, places: Table) -> Words:
    """Return the names of things (the table ``names``) and the words for points (``places``)."""
    found: dict[str, str | Mapping[str, str]] = {}
    for name, content in places.content.items():
        inner = places.table(name) if isinstance(content, dict) else None
        found[name] = {value: inner.text(value) for value in inner.content} if inner else places.text(name)
    return Words({name: names.text(name) for name in names.content}, found)


def read_tolerance(table: Table) -> Tolerance:
    """Return the accepted distances between a measured value and a published one."""
    tolerance = Tolerance(table.number("reproduced", least=0.0), table.number("close", least=0.0))
    if tolerance.close < tolerance.reproduced:
        table.refuse("close", f"found {tolerance.close:g}; accepted: at least reproduced, {tolerance.reproduced:g}")
    table.finish()
    return tolerance
