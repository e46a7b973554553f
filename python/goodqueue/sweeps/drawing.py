"""A metric along an axis of a sweep: one line per qdisc, one panel per combination of the other axes."""

import itertools

from matplotlib.figure import Figure

from goodqueue.measures.metrics import Metric, directions_of, label
from goodqueue.plot import along as drawing
from goodqueue.show import labels as naming
from goodqueue.sweeps.grid import QDISC, Axis
from goodqueue.sweeps.result import Sweep, Values

PANELS = 6
"""The maximum number of panels. The table has everything."""


def panels(sweep: Sweep) -> tuple[Axis, Axis | None, list[dict[str, str]]]:
    """Return the axis to draw along, the axis whose values are lines, and each panel's values on the other axes.

    The lines are the qdiscs if these are swept. The axis to draw along is the longest of the others. Raises
    ValueError for a sweep with no axis.
    """
    swept = sorted(sweep.swept(), key=lambda axis: -len(axis.values))
    along = max(swept, key=lambda axis: (axis.key != QDISC, len(axis.values)))
    others = [axis for axis in swept if axis is not along]
    lines = next((axis for axis in others if axis.key == QDISC), others[0] if others else None)
    rest = [axis for axis in others if axis is not lines]
    places = [
        dict(zip((axis.key for axis in rest), values, strict=True))
        for values in itertools.product(*(axis.values for axis in rest))
    ]
    return along, lines, places


def along_axis(sweep: Sweep, metric: Metric, title: str = "") -> Figure:
    """Draw the mean of ``metric`` and its 95 % confidence interval.

    Values that are numbers stand at their place, others at equal distances.
    """
    along, lines, places = panels(sweep)
    names = {axis.key: naming.of_values(axis.key, axis.values) for axis in sweep.swept()}
    of_lines = names[lines.key] if lines else {"": ""}
    drawn = {
        ", ".join(names[key][value] for key, value in at.items()): {
            name: {
                across: _cell(sweep, {**at, **({lines.key: value} if lines else {}), along.key: across}).estimate(
                    metric.key
                )
                for across in along.values
            }
            for value, name in of_lines.items()
        }
        for at in places[:PANELS]
    }
    called = label(metric, directions_of([metric, *sweep.shown()]))
    across, word = naming.along(along.key, along.values)
    return drawing.figure(drawn, across, word, metric, called, title)


def _cell(sweep: Sweep, at: dict[str, str]) -> Values:
    return next(cell for cell in sweep.cells if cell.cell.at == at)
