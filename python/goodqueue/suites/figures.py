"""The figures of a pass sheet, which are those of ``goodqueue plot``."""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING

from goodqueue.measures import stats
from goodqueue.show.answer import Picture

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Drawing

    from goodqueue.plot.stored import Group
    from goodqueue.suites.model import Figure
    from goodqueue.suites.sheet import RowResult, Sheet

OF_RECORDS = ("ellipse", "cdf", "box", "bar", "time", "jain")
"""Kinds that are drawn from whole records, which the row's experiments must keep."""
KINDS = (*OF_RECORDS, "lines")
"""``ellipse`` is the graph of RFC 7928, 2.7. ``lines`` is a metric along a swept parameter."""


def of_row(sheet: "Sheet", result: "RowResult") -> Iterator[Picture]:
    """Yield the row's figures."""
    for index, figure in enumerate(result.row.figures, 1):
        name = f"{result.row.section.replace('.', '-').replace(' ', '-')}-{index}-{figure.kind}"
        draw = _lines if figure.kind == "lines" else _of_records
        yield Picture(name, f"{result.row.section} {result.row.title}", partial(draw, sheet, result, figure))


def _of_records(sheet: "Sheet", result: "RowResult", figure: "Figure") -> "Drawing":
    from goodqueue.plot import drawing

    return drawing.draw(figure.kind, _groups(sheet, result, figure), list(figure.metrics), "")


def _groups(sheet: "Sheet", result: "RowResult", figure: "Figure") -> list["Group"]:
    """Return the runs behind the row, by line. If there are several points, each has its own panel."""
    from goodqueue.plot.stored import Group

    at = {**result.row.at, **figure.at}
    scenarios = sheet.suite.scenarios_of(result.row)
    cells = [
        cell
        for cell in sheet.outcome.cells
        if cell.packed
        and cell.cell.scenario in scenarios
        and all(cell.cell.at.get(name, value) == value for name, value in at.items())
    ]
    words = sheet.words
    places = [words.point({k: v for k, v in cell.cell.at.items() if k not in at}) for cell in cells]
    several = len(set(places)) > 1
    return [
        Group(words.algorithm(cell.cell.algorithm), list(cell.records), title if several else "")
        for cell, title in zip(cells, places, strict=True)
    ]


def _lines(sheet: "Sheet", result: "RowResult", figure: "Figure") -> "Drawing":
    from goodqueue.measures.metrics import Metric
    from goodqueue.plot import along

    words = sheet.words
    (name,) = figure.metrics
    numbers = [number for number in result.numbers if number.metric == name and figure.along in number.at]
    panels: dict[str, dict[str, dict[str, stats.Estimate | None]]] = {}
    for number in numbers:
        rest = {key: value for key, value in number.at.items() if key != figure.along}
        lines = panels.setdefault(words.point(rest), {})
        run_values = [value for value in number.measured.runs if value is not None]
        lines.setdefault(words.algorithm(number.algorithm), {})[str(number.at[figure.along])] = stats.estimate(
            run_values
        )
    values = _ascending(list(dict.fromkeys(str(number.at[figure.along]) for number in numbers)))
    called = words.name(name)
    metric = Metric(name, called.words, called.unit, "", lambda _: None)
    return along.figure(
        panels, dict(zip(values, values, strict=True)), str(words.name(figure.along)), metric, called.words
    )


def _ascending(values: Sequence[str]) -> list[str]:
    from goodqueue.scenario.quantity import order

    return list(order(values))
