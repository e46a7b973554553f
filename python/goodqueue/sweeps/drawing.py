"""A metric along an axis of a sweep: one line per qdisc, one panel per combination of the other axes."""

from matplotlib.figure import Figure

from goodqueue.measures.metrics import Metric, directions_of, label
from goodqueue.plot import along as drawing
from goodqueue.show import labels as naming
from goodqueue.sweeps.figures import PANELS, panels_of
from goodqueue.sweeps.grid import QDISC, Axis
from goodqueue.sweeps.result import Sweep, Values


def along_axis(sweep: Sweep, metric: Metric, title: str = "") -> Figure:
    """Draw the mean of ``metric`` and its 95 % confidence interval.

    Values that are numbers stand at their place, others at equal distances.
    """
    along, lines, places = panels_of(sweep)
    names = _names(lines) if lines else {"": ""}
    drawn = {
        ", ".join(f"{key.rpartition('.')[2]} {value}" for key, value in at.items()): {
            names[value]: {
                across: _cell(sweep, {**at, **({lines.key: value} if lines else {}), along.key: across}).estimate(
                    metric.key
                )
                for across in along.values
            }
            for value in names
        }
        for at in places[:PANELS]
    }
    called = label(metric, directions_of([metric, *sweep.shown()]))
    if along.key == QDISC:
        return drawing.figure(drawn, naming.short(along.values), "", metric, called, title)
    values = dict(zip(along.values, along.values, strict=True))
    return drawing.figure(drawn, values, _word(along), metric, called, title)


def _names(lines: Axis) -> dict[str, str]:
    """Return the name of each line: a qdisc's own name, or a value with the last word of its key."""
    if lines.key == QDISC:
        return naming.short(lines.values)
    return {value: f"{_word(lines)} {value}" for value in lines.values}


def _word(axis: Axis) -> str:
    return axis.key.rpartition(".")[2]


def _cell(sweep: Sweep, at: dict[str, str]) -> Values:
    return next(cell for cell in sweep.cells if cell.cell.at == at)
