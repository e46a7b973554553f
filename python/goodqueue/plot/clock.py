"""The axis of time: in seconds of the run, or in hours of the evening that the runs stand for (``[evening]``)."""

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, MultipleLocator

from goodqueue.plot import wishes
from goodqueue.record import Record
from goodqueue.scenario import seconds

STEPS = (0.25, 0.5, 1, 2, 3, 4, 6)
"""The hours between two numbers at the axis."""

MOST = 8
"""The maximum number of steps along the axis."""


def name(ax: Axes, records: Sequence[Record]) -> str:
    """Return the label of the axis of time below ``ax``, whose limits must be final. Seconds have ``(s)`` after it.

    If all ``records`` stand for the same hours, the axis has these: a run of 24 s may be the time from 18 to 24
    o'clock.
    """
    hours = {_hours(record) for record in records}
    known = hours.pop() if len(hours) == 1 else None
    if known is None:
        return f"{wishes.written('time')} (s)"
    begin, per_second = known
    left, right = ax.get_xlim()
    span = (right - left) * per_second
    step = next((step for step in STEPS if span / step <= MOST), STEPS[-1])
    ax.xaxis.set_major_locator(MultipleLocator(step / per_second, offset=-(begin % step) / per_second))
    ax.xaxis.set_major_formatter(FuncFormatter(lambda at, _: _clock(begin + at * per_second)))
    return wishes.written("time of day")


def _hours(record: Record) -> tuple[float, float] | None:
    """Return the hour at which the run begins, and the hours that a second stands for. None without an evening."""
    scenario = record["scenario"]
    evening = scenario.get("evening")
    if not evening:
        return None
    return evening["from"], (evening["to"] - evening["from"]) / seconds(scenario["duration"])


def _clock(hour: float) -> str:
    minutes = round(hour * 60)
    return f"{minutes // 60 % 24}:{minutes % 60:02d}" if minutes != 24 * 60 else "24:00"
