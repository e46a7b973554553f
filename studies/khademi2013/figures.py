"""Figures of the paper: boxes of round trips and goodputs (2 to 11, 13, 14), a flow's round trips over time (12)."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from statistics import fmean

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from goodqueue.measures import stats
from goodqueue.measures.base import path_ms
from goodqueue.plot import style
from goodqueue.plot.looks import Look, looks
from goodqueue.record import Record
from goodqueue.studies.execution import Measured
from goodqueue.studies.figures import Drawn
from goodqueue.studies.outcome import Outcome
from goodqueue.studies.wording import bounds

from .numbers import captured_rtt_ms, course, flow_rtts_ms, sending_ms, spans_mbps

PAPER = "khademi2013"
LOADS = {4: "light", 16: "moderate", 64: "heavy"}
WHISKERS = "Boxes: quartiles and median; whiskers: 10th and 90th percentiles."
BOXES = "Boxes of round trips: 10th percentile, median and 90th."
IP_SHARE = 1500 / 1448
"""Goodput counts IP datagrams: see study.toml."""
SHOWN_S = (10.0, 40.0)

Five = list[float]
"""Percentiles 10, 25, 50, 75 and 90."""


@dataclass(frozen=True, slots=True)
class Measure:
    """What a box is of."""

    of: Callable[[Sequence[Record]], Five | None]
    label: str
    told: str
    boxes: str = WHISKERS


def figures(outcome: Outcome) -> Iterator[Drawn]:
    """Yield each figure whose runs were made."""
    with style.look():
        yield from _over(outcome, "2a", "target_ms", RTT, "one flow")
        yield from _over(outcome, "2b", "target_ms", GOODPUT, "one flow")
        for panel, load in zip("abc", LOADS.values(), strict=True):
            yield from _over(outcome, f"3{panel}", "target_ms", RTT, f"{load} load")
            yield from _over(outcome, f"4{panel}", "target_ms", GOODPUT, f"{load} load")
        for number, parameter, of in (("5", "interval_ms", "CoDel's interval"), ("6", "tupdate_ms", "PIE's update")):
            for panel, measure in (("a", RTT), ("b", GOODPUT)):
                yield from _over(outcome, f"{number}{panel}", parameter, measure, of, by="flows")
        yield from _by_load(outcome, "7", "rtt_ms", DELAY)
        yield from _by_load(outcome, "8", "rtt_ms", GOODPUT)
        yield from _over(outcome, "9a", "flows", AIR_RTT["down"], "802.11g, downloads")
        yield from _over(outcome, "9b", "flows", GOODPUT, "802.11g, downloads")
        yield from _mixed(outcome)
        for panel, target in (("a", 5), ("b", 20)):
            yield from _over(outcome, f"11{panel}", "flows", RTT, f"CoDel and FQ_CoDel, target {target} ms")
        yield from _one_flow(outcome)
        for number, measure in (("13", RTT), ("14", GOODPUT)):
            yield from _ecn(outcome, number, measure)


def _rtt(records: Sequence[Record]) -> Five | None:
    delays = _delay(records)
    return None if delays is None else [value + path_ms(records[0]["scenario"]) for value in delays]


def _delay(records: Sequence[Record]) -> Five | None:
    pooled = stats.pool_percentiles([record["queues"]["down"]["delay_percentiles_ms"] for record in records])
    return None if pooled is None else [pooled[at] + sending_ms(records[0]) for at in (10, 25, 50, 75, 90)]


def _air_rtt(records: Sequence[Record], direction: str) -> Five | None:
    """Return the study's round trips, of which a record has no quartiles: the box ends with the 10th and the 90th."""
    asked = [{"direction": direction, "percentile": percentile} for percentile in (10, 10, 50, 90, 90)]
    of_record = captured_rtt_ms if direction == "up" else flow_rtts_ms
    found = [[value for record in records if (value := of_record(record, one)) is not None] for one in asked]
    return [fmean(values) for values in found] if all(found) else None


def _goodput(records: Sequence[Record], direction: str = "down") -> Five | None:
    spans = [value for record in records for value in spans_mbps(record, direction)]
    return [IP_SHARE * float(value) for value in np.percentile(spans, (10, 25, 50, 75, 90))]


RTT = Measure(_rtt, "round trip (ms)", "Round trips of all packets")
DELAY = Measure(_delay, "queueing delay (ms)", "Round trips of all packets, less the base RTT")
GOODPUT = Measure(_goodput, "goodput (Mbit/s)", "Goodput of all flows together, by 5 s")
GOODPUT_UP = Measure(partial(_goodput, direction="up"), "goodput up (Mbit/s)", "Goodput of all uploads, by 5 s")
AIR_RTT = {
    way: Measure(partial(_air_rtt, direction=way), "round trip (ms)", f"Round trips as {where}", BOXES)
    for way, where in (("down", "senders measured them"), ("up", "captures at the senders show them"))
}


def _cells(outcome: Outcome, figure: str) -> list[Measured]:
    return [cell for cell in outcome.measured(f"{PAPER}/fig{figure}") if cell.packed]  # what is pooled has no records


def _over(
    outcome: Outcome, figure: str, across: str, measure: Measure, what: str, by: str = "algorithm"
) -> Iterator[Drawn]:
    """Draw boxes over the parameter ``across``: an algorithm each, or a value of ``by``."""
    cells = _cells(outcome, figure)
    if not cells:
        return
    drawn = style.new_figure(2.6)
    _boxes(outcome, drawn.subplots(), cells, across, by, measure)
    yield _captioned(outcome, figure, drawn, measure, what, cells)


def _by_load(outcome: Outcome, figure: str, across: str, measure: Measure) -> Iterator[Drawn]:
    """Draw a panel a load."""
    cells = _cells(outcome, figure)
    loads = [flows for flows in LOADS if any(cell.cell.at.get("flows") == flows for cell in cells)]
    if not loads:
        return
    drawn = style.new_figure(2.8)
    panels = drawn.subplots(1, len(loads), sharey=measure is GOODPUT, squeeze=False)[0]
    for ax, flows in zip(panels, loads, strict=True):
        own = [cell for cell in cells if cell.cell.at["flows"] == flows]
        _boxes(outcome, ax, own, across, "algorithm", measure, legend=flows == loads[0])
        ax.set_title(f"{flows} flows", fontsize=9)
        ax.set_ylabel(measure.label if flows == loads[0] else "")
    yield _captioned(outcome, figure, drawn, measure, "base RTTs", cells)


def _mixed(outcome: Outcome) -> Iterator[Drawn]:
    """Draw figure 10: two panels, of round trips and of goodput."""
    cells = _cells(outcome, "10")
    if not cells:
        return
    drawn = style.new_figure(2.8)
    for ax, measure in zip(drawn.subplots(1, 2), (AIR_RTT["up"], GOODPUT_UP), strict=True):
        _boxes(outcome, ax, cells, "flows", "algorithm", measure, legend=measure is not GOODPUT_UP)
    words = "The uploads: left round trips as senders measured them, right goodput of all together, by 5 s"
    told = replace(GOODPUT_UP, told=words, boxes=f"{BOXES} {WHISKERS.replace('Boxes', 'Boxes of goodput')}")
    yield _captioned(outcome, "10", drawn, told, "802.11g, as many uploads as downloads", cells)


def _ecn(outcome: Outcome, figure: str, measure: Measure) -> Iterator[Drawn]:
    """Draw a panel an algorithm; the right box of each pair is with ECN."""
    cells = _cells(outcome, figure)
    algorithms = list(dict.fromkeys(cell.cell.algorithm for cell in cells))
    if not algorithms:
        return
    drawn = style.new_figure(2.8)
    panels = drawn.subplots(1, len(algorithms), sharey=True, squeeze=False)[0]
    for ax, algorithm in zip(panels, algorithms, strict=True):
        own = [cell for cell in cells if cell.cell.algorithm == algorithm]
        _boxes(outcome, ax, own, "flows_per_sender", "ecn", measure, legend=algorithm == algorithms[0])
        ax.set_title(outcome.study.words.algorithm(algorithm), fontsize=9)
        ax.set_ylabel(measure.label if algorithm == algorithms[0] else "")
    yield _captioned(outcome, figure, drawn, measure, "ECN off and on", cells)


def _boxes(
    outcome: Outcome,
    ax: Axes,
    cells: Sequence[Measured],
    across: str,
    by: str,
    measure: Measure,
    legend: bool = True,
) -> None:
    words = outcome.study.words
    series = list(dict.fromkeys(_key(cell, by) for cell in cells))
    places = sorted({cell.cell.at[across] for cell in cells}, key=float)
    own = dict(zip(series, _looks(outcome, series, by), strict=True))
    width = 0.8 / len(series)
    for cell in cells:
        five = measure.of(list(cell.records))
        if five is None:
            continue
        key = _key(cell, by)
        middle = places.index(cell.cell.at[across]) + width * (series.index(key) - (len(series) - 1) / 2)
        low, q1, median, q3, high = five
        look = own[key]
        line = {"color": look.ink, "lw": 0.9}
        ax.bxp(
            [{"whislo": low, "q1": q1, "med": median, "q3": q3, "whishi": high, "fliers": []}],
            positions=[middle],
            widths=0.85 * width,
            patch_artist=True,
            showfliers=False,
            boxprops={"facecolor": f"{look.colour}88", "edgecolor": look.ink, "lw": 0.8},
            medianprops={**line, "lw": 1.6},
            whiskerprops=line,
            capprops=line,
        )
    ax.set_xticks(range(len(places)), [str(place) for place in places])
    ax.set_xlim(-0.6, len(places) - 0.4)
    ax.grid(axis="x", visible=False)
    ax.set_xlabel(str(words.name(across)))
    ax.set_ylabel(measure.label)
    if legend and len(series) > 1:
        handles = [Patch(facecolor=f"{look.colour}88", edgecolor=look.ink) for look in own.values()]
        names = [words.algorithm(key) if by == "algorithm" else words.place(by, key) for key in series]
        ax.legend(handles, names, fontsize=7, frameon=False)


def _key(cell: Measured, by: str) -> str:
    """Return what a box's series is called."""
    if by == "algorithm":
        return cell.cell.algorithm
    value = cell.cell.at[by]
    return str(value).lower() if isinstance(value, bool) else str(value)


def _looks(outcome: Outcome, series: Sequence[str], by: str) -> Sequence[Look]:
    return looks([outcome.study.words.algorithm(key) for key in series] if by == "algorithm" else series)


def _captioned(
    outcome: Outcome, figure: str, drawn: Figure, measure: Measure, what: str, cells: Sequence[Measured]
) -> Drawn:
    number = f"{figure[:-1]}({figure[-1]})" if figure[-1].isalpha() else figure
    runs = len(cells[0].seeds)
    caption = (
        f"{measure.told}, {f'{runs} runs' if runs > 1 else 'one run'}. {measure.boxes} {_printed(outcome, figure)}"
    )
    return Drawn(f"figure{figure}", f"Figure {number}: {what}", caption.rstrip(), drawn)


def _printed(outcome: Outcome, figure: str) -> str:
    """Return the numbers that the paper prints of the figure, each with ours."""
    words = outcome.study.words
    said = []
    for judged in outcome.values:
        value, found = judged.value, judged.measured
        if value.scenario == f"{PAPER}/fig{figure}" and found is not None and found.value is not None:
            name = words.name(value.metric)
            about = f"{words.algorithm(value.algorithm)}'s {name.words} {words.point(value.at)}".rstrip()
            paper = bounds(value.low, value.high) if value.number is None else f"{value.number:g}"
            said.append(f"{about} {paper} {name.unit}".rstrip() + f", here {found.value:.3g}")
    return f"Printed: {'; '.join(said)}." if said else "No number of it is printed."


def _one_flow(outcome: Outcome) -> Iterator[Drawn]:
    cells = _cells(outcome, "12")
    loads = sorted({int(cell.cell.at["flows"]) for cell in cells})
    if not loads:
        return
    figure = style.new_figure(0.7 + 1.5 * len(loads))
    for ax, flows in zip(figure.subplots(len(loads), 1, sharex=True, squeeze=False)[:, 0], loads, strict=True):
        own = [cell for cell in cells if cell.cell.at["flows"] == flows]
        names = [outcome.study.words.algorithm(cell.cell.algorithm) for cell in own]
        for cell, name, look in zip(own, names, looks(names), strict=True):
            times, found = course(next(cell.records), 0)
            ax.plot(times, found, ".", ms=1.5, color=look.colour, rasterized=True, label=name)
        ax.set_title(f"{flows} flows", fontsize=9)
        ax.set_xlim(*SHOWN_S)
        ax.legend(fontsize=7, frameon=False, markerscale=5, loc="upper right")
    figure.axes[-1].set_xlabel("time (s)")
    figure.supylabel("round trip (ms)", fontsize=10.5, color="#444444")
    caption = "Each packet of the first flow. One run (seed 1), as in the paper, whose figure prints no number."
    yield Drawn("figure12", "Figure 12: round trips of one flow", caption, figure)
