"""The answer to an attack: sentences, and a table, a figure and a scenario of each find."""

import json
from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from goodqueue import running
from goodqueue.engines import loads
from goodqueue.record import Record
from goodqueue.scenario import toml
from goodqueue.search.attack.words import sentence
from goodqueue.search.attack.work import FRESH, REPEATS, Confirmed, Find, Finds
from goodqueue.search.subjects import instead
from goodqueue.search.worlds import SERIES
from goodqueue.show.answer import Answer, Code, Part, Picture, Section, Text
from goodqueue.show.table import Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Values = Sequence[tuple[float | None, float | None]]

CAPTION = "The delay of the queue over time, with the first of the seeds that the search had not seen."


def of(result: Finds) -> Answer:
    """Return the answer."""
    files = {f"find-{number}.toml": _file(find) for number, find in enumerate(result.finds, 1)}
    return Answer(f"Attack on {result.plan.subject.line}", list(_parts(result)), partial(_data, result), result, files)


def _parts(result: Finds) -> Iterator[Part]:
    yield Text(describe(result), "lead")
    for number, find in enumerate(result.finds, 1):
        yield Section(f"Find {number}, scenario {find.after}", list(_find(result, find, number)))
    if not result.finds and result.best is not None and result.best.values:
        yield f"The nearest: {sentence(result.best_facts, result.best_facts)}"
        yield _table("", [condition.text for condition in result.plan.broken.conditions], [result.best.values])


def _find(result: Finds, find: Find, number: int) -> Iterator[Part]:
    yield sentence(find.differing, find.facts)
    texts = [condition.text for condition in result.plan.broken.conditions]
    yield _table("simulator", texts, [find.judged.values], find.confirmed)
    yield how_often(find)
    if find.confirmed is not None:
        yield in_linux(find.confirmed)
    yield Picture(f"find-{number}", CAPTION, partial(_figure, result, find))
    yield Code(toml.to_toml(find.scenario).rstrip())


def _file(find: Find) -> str:
    """Return the file of a find: a scenario, with what was found as a comment."""
    lead = "\n".join(f"# {line}" for line in (sentence(find.differing, find.facts), how_often(find)))
    return f"{lead}\n{toml.to_toml({**find.scenario, 'seed': FRESH[0]})}"


def describe(result: Finds) -> str:
    """Return what was searched, and what came of it."""
    plan = result.plan
    conditions = " and ".join(condition.text for condition in plan.broken.conditions)
    many = f"{result.evaluations} scenarios ({result.runs} runs, {plan.method}, seed {plan.seed})"
    if not result.finds:
        passing = f" {result.passing} held with one seed and not with three more." if result.passing else ""
        return f"{plan.subject.line}: no scenario with {conditions} among {many}.{passing}"
    count = "1 scenario" if len(result.finds) == 1 else f"{len(result.finds)} scenarios"
    return f"{plan.subject.line}: {count} with {conditions}, among {many}."


def _table(where: str, texts: Sequence[str], rows: Sequence[Values], confirmed: Confirmed | None = None) -> Table:
    """Return the numbers of the conditions, and those of the runs on Linux."""
    runs = [(where, values) for values in rows]
    if confirmed is not None:
        runs += [(f"{confirmed.engine}, seed {seed}", values) for seed, values in enumerate(confirmed.values, 1)]
    lines = [
        {"condition": text, "run": run, "number": _number(value), "bound": _number(bound)}
        for run, values in runs
        for text, (value, bound) in zip(texts, values, strict=False)
    ]
    return Table.of("", lines, texts=("condition", "run"))


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.4g}"


def how_often(find: Find) -> str:
    """Return for how many seeds a find holds."""
    if find.of == 1:
        return "No seed changes this run."
    low, high = find.interval
    share = f"{find.holds} of {find.of} other seeds"
    return f"It holds with {share} (95 % interval {100 * low:.0f} to {100 * high:.0f} %)."


def in_linux(confirmed: Confirmed) -> str:
    """Return what a kernel says."""
    if confirmed.refusal:
        return f"{confirmed.engine} cannot say: {confirmed.refusal}."
    return f"{confirmed.engine}: it holds with {confirmed.holds} of {len(confirmed.values)} seeds."


def _figure(result: Finds, find: Find) -> "Figure":
    """Draw the queue's delay over time, of the find and of what it is compared with."""
    from goodqueue.plot import course
    from goodqueue.plot.stored import groups

    others = dict.fromkeys(other for condition in result.plan.broken.conditions for other in condition.others)
    series = {**find.scenario, "seed": FRESH[0], "series": {"interval": SERIES}}
    series_of = {result.plan.subject.line: series}
    series_of |= {other: instead(series, result.plan.subject, other) for other in others}
    records: dict[str, Record] = {
        name: json.loads(running.one_text(loads.resolve(scenario))) for name, scenario in series_of.items()
    }
    figure = course.figure(groups(list(records.values()), list(records)), "delay_ms")
    assert figure is not None  # the runs have the series
    return figure


def _data(result: Finds) -> dict[str, Any]:
    plan = result.plan
    return {
        "subject": plan.subject.line,
        "conditions": [condition.text for condition in plan.broken.conditions],
        "bounds": {name: [number.low, number.high] for name, number in plan.world.bounds.items()},
        "without": sorted(plan.world.without),
        "method": plan.method,
        "seed": plan.seed,
        "evaluations": result.evaluations,
        "runs": result.runs,
        "held_with_one_seed_only": result.passing,
        "finds": [_find_data(find) for find in result.finds],
        "nearest": None if result.finds or result.best is None else _nearest(result),
    }


def _nearest(result: Finds) -> dict[str, Any]:
    assert result.best is not None
    return {"facts": dict(result.best_facts), "score": result.best.score, "values": _pairs(result.best.values)}


def _find_data(find: Find) -> dict[str, Any]:
    low, high = find.interval
    return {
        "after": find.after,
        "facts": dict(find.differing),
        "drawn": dict(find.first),
        "scenario": find.scenario,
        "values": _pairs(find.judged.values),
        "holds": find.holds,
        "of": find.of,
        "interval": [low, high] if find.of == len(REPEATS) else None,
        "kernel": None if find.confirmed is None else confirmed_data(find.confirmed),
    }


def confirmed_data(confirmed: Confirmed) -> dict[str, Any]:
    """Return what Linux says of a find, as `--json` has it."""
    return {
        "engine": confirmed.engine,
        "refusal": confirmed.refusal or None,
        "holds": confirmed.holds,
        "of": len(confirmed.values),
        "values": [_pairs(values) for values in confirmed.values],
    }


def _pairs(values: Values) -> list[list[float | None]]:
    return [[value, bound] for value, bound in values]
