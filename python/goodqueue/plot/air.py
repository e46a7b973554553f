"""The air of a Wi-Fi cell: the transmissions within a window of time and their outcomes, with one lane per sender."""

from collections.abc import Sequence
from dataclasses import dataclass

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from goodqueue.plot import panels, style, wishes
from goodqueue.plot.stored import Group, labels_of
from goodqueue.record import AirSeries, Record

OUTCOMES = {
    "came": ("#0072b2", "came"),
    "partly": ("#56b4e9", "came in part"),
    "unanswered": ("#e69f00", "nobody answered"),
    "collided": ("#b2182b", "collided"),
}
"""The outcomes of a transmission: colour, and name in the legend."""

ACCESS_POINT = "access point"
HATCH = "////"
"""The hatching of retries."""

HEIGHT = 0.66
"""The height of a bar, where a lane is 1."""

CHARACTER = 0.011
"""Width of a digit in a bar, as a share of the axis of a figure of the usual width."""

LANES = 40
"""The maximum number of lanes in a panel."""

PANELS = 4
"""The maximum number of panels below each other."""


@dataclass(frozen=True, slots=True)
class Bar:
    """A transmission as it is drawn, in ms from the window's start."""

    lane: int
    begins: float
    lasts: float
    outcome: str
    is_retry: bool
    label: str


def of(record: Record) -> AirSeries | None:
    """Return the log of the air in ``record``, or None if its scenario asks for none or it has no transmissions."""
    air = record.get("series", {}).get("air")
    is_logged = (record["scenario"].get("series") or {}).get("air")
    return air if air and is_logged and air["time_s"] else None


def lanes(record: Record) -> list[str]:
    """Return the senders of ``record``: the access point first, then the stations that sent within the window."""
    air, cell = of(record), record.get("wifi")
    assert air is not None
    assert cell is not None
    sent = {name for name, direction in zip(air["station"], air["direction"], strict=True) if direction == "up"}
    return [ACCESS_POINT, *(name for station in cell["stations"] if (name := station["name"]) in sent)]


def bars(record: Record) -> list[Bar]:
    """Return the bars of ``record``. An aggregate is labelled with the number of its frames."""
    air = of(record)
    assert air is not None
    places = {name: index for index, name in enumerate(lanes(record)) if index}
    begin = window_s(record)[0]
    columns = (air["station"], air["direction"], air["kind"], air["frames"], air["retry"], air["outcome"])
    return [
        Bar(
            lane=places[station] if direction == "up" else 0,
            begins=1e3 * (time_s - begin),
            lasts=duration_us / 1e3,
            outcome=outcome,
            is_retry=retry,
            label=str(frames) if kind == "aggregate" else "?" if kind == "question" else "",
        )
        for time_s, duration_us, (station, direction, kind, frames, retry, outcome) in zip(
            air["time_s"], air["duration_us"], zip(*columns, strict=True), strict=True
        )
    ]


def window_s(record: Record) -> tuple[float, float]:
    """Return begin and end of the window, in seconds of the run."""
    from goodqueue.scenario import seconds

    window = record["scenario"]["series"]["air"]
    return seconds(window["from"]), seconds(window["to"])


def figure(groups: Sequence[Group], title: str = "") -> Figure | None:
    """Draw the air of the first run of each group that logged it, one panel each. Returns None if no run did."""
    shown = [(group, record) for group in groups for record in group.records[:1] if of(record)]
    if not shown:
        return None
    senders = [lanes(record) for _, record in shown]
    heights = [0.55 + 0.27 * len(names) for names in senders]
    with style.look():
        drawn = style.new_figure(0.7 + sum(heights), panels.WIDE_IN)
        axes = drawn.subplots(len(shown), 1, squeeze=False, height_ratios=heights)[:, 0].tolist()
        for ax, (group, record), stations in zip(axes, shown, senders, strict=True):
            _panel(ax, record, stations)
            titles = [wishes.written(name) for name in (group.panel, group.label) if name]
            if len(shown) > 1:
                ax.set_title(panels.wrapped(", ".join(dict.fromkeys(titles)), 90), fontsize=style.size(9))
        axes[-1].set_xlabel(f"time (ms) from {window_s(shown[-1][1])[0]:g} s of the run on")
        seen = [bar for _, record in shown for bar in bars(record)]
        outcomes = [key for key in OUTCOMES if any(bar.outcome == key for bar in seen)]
        handles = [Patch(facecolor=OUTCOMES[key][0]) for key in outcomes]
        names = [OUTCOMES[key][1] for key in outcomes]
        if any(bar.is_retry for bar in seen):
            handles.append(Patch(facecolor="white", edgecolor="#333333", hatch=HATCH))
            names.append("sent again")
        panels.legend(drawn, handles, names, title)
        first = "; the first run of each" if any(len(group.records) > 1 for group, _ in shown) else ""
        words = "A bar is a transmission with its answer; numbers: frames in an aggregate; ?: BlockAckReq"
        style.note(drawn, f"{words}{first}.")
        panels.settle(drawn)
    return drawn


def check(groups: Sequence[Group]) -> str | None:
    """Return why the figure would be too full to read (what was found, and what is accepted), or None."""
    shown = [record for group in groups for record in group.records[:1] if of(record)]
    if len(shown) > PANELS:
        return f"found {len(shown)} panels for {len(labels_of(groups))} groups; accepted: at most {PANELS}, by --where"
    most = max((len(lanes(record)) for record in shown), default=0)
    if most > LANES:
        return f"found {most} senders; accepted: at most {LANES}, by a shorter window of series.air"
    return None


def _panel(ax: Axes, record: Record, senders: Sequence[str]) -> None:
    begin, end = window_s(record)
    length = 1e3 * (end - begin)
    ax.set_xlim(0, length)
    ax.set_yticks(range(len(senders)), panels.row_names(senders))
    ax.set_ylim(len(senders) - 0.5, -0.5)
    ax.grid(axis="y", visible=False)
    ax.tick_params(axis="y", length=0)
    drawn = bars(record)
    for outcome, (colour, _) in OUTCOMES.items():
        for is_retry in (False, True):
            some = [bar for bar in drawn if bar.outcome == outcome and bar.is_retry == is_retry]
            ax.barh(
                [bar.lane for bar in some], [bar.lasts for bar in some], HEIGHT, [bar.begins for bar in some],
                color=colour, edgecolor="white", linewidth=0.4, hatch=HATCH if is_retry else None, clip_on=True,
            )  # fmt: skip
    digit = CHARACTER * panels.WIDE_IN / style.width(panels.WIDE_IN) * style.size(7) / 7
    for bar in drawn:
        shown = min(bar.lasts, length - bar.begins)
        if bar.label and shown > length * digit * (len(bar.label) + 0.5):
            backing = {"facecolor": OUTCOMES[bar.outcome][0], "linewidth": 0, "pad": 1}  # hatching hides digits
            ax.text(
                bar.begins + shown / 2, bar.lane, bar.label, ha="center", va="center", color="white",
                fontsize=style.size(7), bbox=backing,
            )  # fmt: skip
