"""The answer to which keys matter: a figure, and a table per metric."""

from functools import partial
from typing import TYPE_CHECKING, Any

from goodqueue.search.sensitivity.work import Index, Indices
from goodqueue.show.answer import Answer, Picture, Text
from goodqueue.show.table import Table, number

if TYPE_CHECKING:
    from matplotlib.figure import Figure

HEADINGS = {"sobol": ("alone", "with interactions"), "morris": ("mean effect", "spread of effects")}
"""What the two numbers of a key are, by method."""


CAPTION = "Bars: {} (full) and {} (pale), with 95 % intervals."


def of(result: Indices) -> Answer:
    """Return the answer."""
    picture = Picture("sensitivity", CAPTION.format(*HEADINGS[result.plan.method]), partial(_figure, result))
    tables = [table(result, metric.key) for metric in result.plan.metrics]
    return Answer(
        "Which keys matter", [Text(describe(result), "lead"), picture, *tables], partial(_data, result), result
    )


def _figure(result: Indices) -> "Figure":
    from goodqueue.plot import sensitivity

    alone, total = HEADINGS[result.plan.method]
    pairs = {
        metric.key: [
            sensitivity.Pair(index.key, index.first, index.first_half, index.total, index.total_half)
            for index in ranked(result, metric.key)
        ]
        for metric in result.plan.metrics
    }
    axis = "of the variance" if result.plan.method == "sobol" else "effect"
    return sensitivity.figure(pairs, axis, f"Dark: {alone}. Pale: {total}. Lines: 95 % intervals.")


def describe(result: Indices) -> str:
    """Return what was run."""
    plan = result.plan
    keys = ", ".join(range_.said for range_ in plan.ranges)
    return f"{plan.name}: {keys}; {plan.method}, {len(plan.values)} points, {result.runs} runs."


def table(result: Indices, metric: str) -> Table:
    """Return the table of one metric: the key that matters most comes first."""
    alone, total = HEADINGS[result.plan.method]
    least, mean, most = result.spread[metric]
    rows = [
        {
            "key": of_range.key,
            alone: _with(of_range.first, of_range.first_half),
            total: _with(of_range.total, of_range.total_half),
        }
        for of_range in ranked(result, metric)
    ]
    note = f"{metric} is {least:.4g} to {most:.4g} over all points, {mean:.4g} on average. ± is the 95 % interval."
    return Table.of(metric, rows, [note], texts=("key",))


def ranked(result: Indices, metric: str) -> list[Index]:
    """Return the indices of a metric, the key that matters most first."""
    return sorted(
        result.indices[metric],
        key=lambda of_range: -(of_range.total if result.plan.method == "sobol" else of_range.first),
    )


def _with(value: float, half: float | None) -> str:
    return number(value, 3) + ("" if half is None else f" ± {number(half, 3)}")


def _data(result: Indices) -> dict[str, Any]:
    plan = result.plan
    first, total = ("S1", "ST") if plan.method == "sobol" else ("mu_star", "sigma")
    return {
        "scenario": plan.base,
        "ranges": [range_.said for range_ in plan.ranges],
        "method": plan.method,
        "samples": plan.samples,
        "seeds": list(plan.seeds),
        "runs": result.runs,
        "metrics": {
            metric: {
                "least": result.spread[metric][0],
                "mean": result.spread[metric][1],
                "most": result.spread[metric][2],
                "keys": {
                    of_range.key: {first: of_range.first, f"{first}_conf": of_range.first_half, total: of_range.total}
                    | ({} if of_range.total_half is None else {f"{total}_conf": of_range.total_half})
                    for of_range in indices
                },
            }
            for metric, indices in result.indices.items()
        },
    }
