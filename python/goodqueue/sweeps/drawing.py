"""A metric along an axis of a sweep: one line per qdisc, one panel per combination of the other axes."""

from matplotlib.figure import Figure

from goodqueue.measures.metrics import Metric, directions_of, label
from goodqueue.plot import along as drawing
from goodqueue.show import labels as naming
from goodqueue.sweeps.figures import PANELS, panels_of
from goodqueue.sweeps.result import Sweep


def along_axis(sweep: Sweep, metric: Metric, title: str = "") -> Figure:
    """Draw the mean of ``metric`` and its 95 % confidence interval.

    Values that are numbers stand at their place, others at equal distances.
    """
    along, lines, places = panels_of(sweep)
    names = {axis.key: naming.of_values(axis.key, axis.values) for axis in sweep.swept()}
    of_lines = names[lines.key] if lines else {"": ""}
    drawn = {
        ", ".join(names[key][value] for key, value in at.items()): {
            name: {
                across: sweep.cell({**at, **({lines.key: value} if lines else {}), along.key: across}).estimate(
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
