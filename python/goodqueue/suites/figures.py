"""Draws the figures of a pass sheet, as ``goodqueue plot`` does."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from goodqueue.measures import stats

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Drawing

    from goodqueue.plot.stored import Group
    from goodqueue.suites.model import Figure
    from goodqueue.suites.sheet import RowResult, Sheet

OF_RECORDS = ("ellipse", "cdf", "box", "bar", "time", "jain")
"""Kinds that are drawn from whole records, which the row's experiments must keep."""
KINDS = (*OF_RECORDS, "lines")
"""``ellipse`` is the graph of RFC 7928, 2.7. ``lines`` is a metric along a swept parameter."""


def of_row(sheet: "Sheet", found: "RowResult") -> list[tuple[str, str, "Drawing"]]:
    """Return the row's figures: name, caption and figure of each."""
    drawn = []
    for index, figure in enumerate(found.row.figures, 1):
        name = f"{found.row.section.replace('.', '-').replace(' ', '-')}-{index}-{figure.kind}"
        drawing = _lines(sheet, found, figure) if figure.kind == "lines" else _of_records(sheet, found, figure)
        drawn.append((name, f"{found.row.section} {found.row.title}", drawing))
    return drawn


def _of_records(sheet: "Sheet", found: "RowResult", figure: "Figure") -> "Drawing":
    from goodqueue.plot import drawing

    return drawing.draw(figure.kind, _groups(sheet, found, figure), list(figure.metrics), "")


def _groups(sheet: "Sheet", found: "RowResult", figure: "Figure") -> list["Group"]:
    """Return the runs behind the row, by line. If there are several points, each has its own panel."""
    from goodqueue.plot.stored import Group

    wanted = {**found.row.at, **figure.at}
    scenarios = sheet.suite.scenarios_of(found.row)
    cells = [
        cell
        for cell in sheet.outcome.cells
        if cell.packed
        and cell.cell.scenario in scenarios
        and all(cell.cell.at.get(name, value) == value for name, value in wanted.items())
    ]
    words = sheet.words
    places = [words.point({k: v for k, v in cell.cell.at.items() if k not in wanted}) for cell in cells]
    several = len(set(places)) > 1
    return [
        Group(words.algorithm(cell.cell.algorithm), list(cell.records), place if several else "")
        for cell, place in zip(cells, places, strict=True)
    ]


def _lines(sheet: "Sheet", found: "RowResult", figure: "Figure") -> "Drawing":
    from goodqueue.measures.metrics import Metric
    from goodqueue.plot import along

    words = sheet.words
    (name,) = figure.metrics
    own = [one for one in found.numbers if one.metric == name and figure.along in one.at]
    panels: dict[str, dict[str, dict[str, stats.Estimate | None]]] = {}
    for one in own:
        rest = {key: value for key, value in one.at.items() if key != figure.along}
        lines = panels.setdefault(words.point(rest), {})
        known = [value for value in one.measured.runs if value is not None]
        lines.setdefault(words.algorithm(one.algorithm), {})[str(one.at[figure.along])] = stats.estimate(known)
    values = _ascending(list(dict.fromkeys(str(one.at[figure.along]) for one in own)))
    called = words.name(name)
    metric = Metric(name, called.words, called.unit, "", lambda _: None)
    return along.figure(
        panels, dict(zip(values, values, strict=True)), str(words.name(figure.along)), metric, called.words
    )


def _ascending(values: Sequence[str]) -> list[str]:
    from goodqueue.scenario.quantity import order

    return list(order(values))
