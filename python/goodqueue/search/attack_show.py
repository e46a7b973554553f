"""Shows the result of an attack: sentences, a table of each find, and JSON."""

from collections.abc import Iterator, Sequence
from typing import Any

from goodqueue.scenario import toml
from goodqueue.search.attack import REPEATS, Attack, Confirmed, Find
from goodqueue.search.facts import Facts
from goodqueue.search.worlds import NUMBERS
from goodqueue.show.tables import Table

Values = Sequence[tuple[float | None, float | None]]


def parts(found: Attack) -> Iterator[str | Table]:
    """Yield what a person sees."""
    yield describe(found)
    for number, one in enumerate(found.finds, 1):
        yield ""
        yield f"Find {number}, scenario {one.after}: {sentence(one.differing)}"
        yield table(found, one)
        yield how_often(one)
        if one.confirmed is not None:
            yield in_linux(one.confirmed)
        yield ""
        yield toml.to_toml(one.scenario).rstrip()
    if not found.finds and found.best is not None and found.best.values:
        yield ""
        yield f"The nearest: {sentence(found.best_facts)}"
        yield _values("", [one.text for one in found.plan.broken.conditions], [found.best.values])


def describe(found: Attack) -> str:
    """Return what was searched, and what came of it."""
    plan = found.plan
    asked = " and ".join(one.text for one in plan.broken.conditions)
    many = f"{found.evaluations} scenarios ({found.runs} runs, {plan.method}, seed {plan.seed})"
    if not found.finds:
        passing = f" {found.passing} held with one seed and not with three more." if found.passing else ""
        return f"{plan.subject.line}: no scenario with {asked} among {many}.{passing}"
    count = "1 scenario" if len(found.finds) == 1 else f"{len(found.finds)} scenarios"
    return f"{plan.subject.line}: {count} with {asked}, among {many}."


def sentence(facts: Facts) -> str:
    """Return facts in words: ``rate 20mbit, flows 8, second bulk``."""
    if not facts:
        return "the simplest scenario of all."
    words = []
    for name, value in facts.items():
        fact = NUMBERS.get(name)
        shown = f"{value:g}" if isinstance(value, int | float) else value
        unit = (" " if fact.unit == "bdp" else "") + fact.unit if fact else ""
        words.append(f"{name.replace('.', ' ')} {shown}{unit}")
    return f"{', '.join(words)}."


def table(found: Attack, one: Find) -> Table:
    """Return the numbers of the conditions of a find, and of its runs on Linux."""
    texts = [condition.text for condition in found.plan.broken.conditions]
    rows: list[Values] = [one.judged.values]
    return _values("simulator", texts, rows, one.confirmed)


def _values(where: str, texts: Sequence[str], rows: Sequence[Values], confirmed: Confirmed | None = None) -> Table:
    every = [(where, values) for values in rows]
    if confirmed is not None:
        every += [(f"{confirmed.engine}, seed {seed}", values) for seed, values in enumerate(confirmed.values, 1)]
    lines = [
        {"condition": text, "run": run, "number": _number(value), "bound": _number(bound)}
        for run, values in every
        for text, (value, bound) in zip(texts, values, strict=False)
    ]
    return Table.of("", lines, texts=("condition", "run"))


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.4g}"


def how_often(one: Find) -> str:
    """Return for how many seeds a find holds."""
    if one.of == 1:
        return "No seed changes this run."
    low, high = one.interval
    return f"It holds with {one.holds} of {one.of} other seeds (95 % interval {100 * low:.0f} to {100 * high:.0f} %)."


def in_linux(confirmed: Confirmed) -> str:
    """Return what a kernel says."""
    if confirmed.refusal:
        return f"{confirmed.engine} cannot say: {confirmed.refusal}."
    return f"{confirmed.engine}: it holds with {confirmed.holds} of {len(confirmed.values)} seeds."


def as_json(found: Attack, version: str) -> dict[str, Any]:
    """Return the result as JSON."""
    plan = found.plan
    return {
        "made_by": "goodqueue attack",
        "version": version,
        "subject": plan.subject.line,
        "conditions": [one.text for one in plan.broken.conditions],
        "bounds": {name: [one.low, one.high] for name, one in plan.world.bounds.items()},
        "without": sorted(plan.world.without),
        "method": plan.method,
        "seed": plan.seed,
        "evaluations": found.evaluations,
        "runs": found.runs,
        "held_with_one_seed_only": found.passing,
        "finds": [_find(one) for one in found.finds],
        "nearest": None if found.finds or found.best is None else _nearest(found),
    }


def _nearest(found: Attack) -> dict[str, Any]:
    assert found.best is not None
    return {"facts": dict(found.best_facts), "score": found.best.score, "values": _pairs(found.best.values)}


def _find(one: Find) -> dict[str, Any]:
    low, high = one.interval
    return {
        "after": one.after,
        "facts": dict(one.differing),
        "drawn": dict(one.first),
        "scenario": one.scenario,
        "values": _pairs(one.judged.values),
        "holds": one.holds,
        "of": one.of,
        "interval": [low, high] if one.of == len(REPEATS) else None,
        "kernel": None if one.confirmed is None else confirmed(one.confirmed),
    }


def confirmed(one: Confirmed) -> dict[str, Any]:
    """Return what a kernel says of a find, as JSON."""
    return {
        "engine": one.engine,
        "refusal": one.refusal or None,
        "holds": one.holds,
        "of": len(one.values),
        "values": [_pairs(values) for values in one.values],
    }


def _pairs(values: Values) -> list[list[float | None]]:
    return [[value, bound] for value, bound in values]
