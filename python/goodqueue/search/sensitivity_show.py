"""Shows which keys matter: a table per metric, a figure, JSON and the report."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from goodqueue.errors import UserError
from goodqueue.files import output
from goodqueue.pages import Code, Figure, Section, Text, draw, render
from goodqueue.search.sensitivity import Index, Sensitivity
from goodqueue.show.tables import Table, number

HEADINGS = {"sobol": ("alone", "with interactions"), "morris": ("mean effect", "spread of effects")}
"""What the two numbers of a key are, by method."""


def parts(found: Sensitivity) -> Iterator[str | Table]:
    """Yield what a person sees."""
    yield describe(found)
    for metric in found.plan.metrics:
        yield ""
        yield table(found, metric.key)


def describe(found: Sensitivity) -> str:
    """Return what was run."""
    plan = found.plan
    keys = ", ".join(one.said for one in plan.ranges)
    return f"{plan.name}: {keys}; {plan.method}, {len(plan.values)} points, {found.runs} runs."


def table(found: Sensitivity, metric: str) -> Table:
    """Return the table of one metric: the key that matters most comes first."""
    alone, total = HEADINGS[found.plan.method]
    least, mean, most = found.spread[metric]
    rows = [
        {"key": one.key, alone: _with(one.first, one.first_half), total: _with(one.total, one.total_half)}
        for one in ranked(found, metric)
    ]
    note = f"{metric} is {least:.4g} to {most:.4g} over all points, {mean:.4g} on average. ± is the 95 % interval."
    return Table.of(metric, rows, [note], texts=("key",))


def ranked(found: Sensitivity, metric: str) -> list[Index]:
    """Return the indices of a metric, the key that matters most first."""
    return sorted(found.indices[metric], key=lambda one: -(one.total if found.plan.method == "sobol" else one.first))


def _with(value: float, half: float | None) -> str:
    return number(value, 3) + ("" if half is None else f" ± {number(half, 3)}")


def as_json(found: Sensitivity, version: str) -> dict[str, Any]:
    """Return the result as JSON."""
    plan = found.plan
    first, total = ("S1", "ST") if plan.method == "sobol" else ("mu_star", "sigma")
    return {
        "made_by": "goodqueue sensitivity",
        "version": version,
        "scenario": plan.base,
        "ranges": [one.said for one in plan.ranges],
        "method": plan.method,
        "samples": plan.samples,
        "seeds": list(plan.seeds),
        "runs": found.runs,
        "metrics": {
            metric: {
                "least": found.spread[metric][0],
                "mean": found.spread[metric][1],
                "most": found.spread[metric][2],
                "keys": {
                    one.key: {first: one.first, f"{first}_conf": one.first_half, total: one.total}
                    | ({} if one.total_half is None else {f"{total}_conf": one.total_half})
                    for one in indices
                },
            }
            for metric, indices in found.indices.items()
        },
    }


def write(folder: Path, found: Sensitivity, command: str) -> UserError | None:
    """Write report.html, the figure and results.json into ``folder``. Raises OSError.

    If the figure cannot be drawn, the error is returned.
    """
    from goodqueue._goodqueue import VERSION

    trouble = draw(folder, "results.json is", lambda: _page(folder, found, command))
    output.write_results(folder, as_json(found, VERSION), command)
    return trouble


def _page(folder: Path, found: Sensitivity, command: str) -> str:
    from goodqueue.plot import sensitivity, style

    alone, total = HEADINGS[found.plan.method]
    pairs = {
        metric.key: [
            sensitivity.Pair(one.key, one.first, one.first_half, one.total, one.total_half)
            for one in ranked(found, metric.key)
        ]
        for metric in found.plan.metrics
    }
    axis = "of the variance" if found.plan.method == "sobol" else "effect"
    figure = sensitivity.figure(pairs, axis, f"Dark: {alone}. Pale: {total}. Lines: 95 % intervals.")
    svg = style.save(figure, folder, "sensitivity")
    caption = f"Bars: {alone} (full) and {total} (pale), with 95 % intervals."
    tables = [table(found, metric.key) for metric in found.plan.metrics]
    return render(
        "Which keys matter",
        [
            Text(describe(found), "lead"),
            Figure("", caption, svg, "sensitivity"),
            *tables,
            Section("The experiment", [Code(command)]),
        ],
    )
