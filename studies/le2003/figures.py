"""Figures 21 to 24 and 26: how long responses take, by discipline, and one by one against their sizes."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from goodqueue.measures import stats
from goodqueue.plot import style
from goodqueue.plot.delay import cdf
from goodqueue.plot.looks import looks
from goodqueue.studies.execution import Measured
from goodqueue.studies.figures import Drawn
from goodqueue.studies.outcome import Outcome

PAPER = "le2003"
LOADS = {"21": 90, "22": 98, "23": 105}


def figures(outcome: Outcome) -> Iterator[Drawn]:
    """Yield each figure whose runs were made."""
    for number, load in LOADS.items():
        runs, cells = _pooled(outcome, f"{PAPER}/fig{number}", load)
        if runs:
            figure = cdf(runs, what="response time", of="responses that take at most this")
            caption = (
                f"Times of responses at {load} % load, all disciplines with ECN, {len(cells[0].seeds)} runs each; drop "
                "tail has none, and 1 Gbit/s is the same users on a link on which nobody queues. Marks: the median and "
                "the 95th percentile."
            )
            yield Drawn(f"figure{number}", f"Figure {number}: all schemes with ECN, {load} % load", caption, figure)
    with style.look():
        yield from _tails(outcome)
        yield from _scatter(outcome)


def _pooled(outcome: Outcome, scenario: str, load: int) -> tuple[list[tuple[str, list[float]]], list[Measured]]:
    """Return each discipline's percentiles over all runs, and the cells; the link of 1 Gbit/s comes last."""
    cells = outcome.measured(scenario)
    if not cells:
        return [], []
    fast = [
        cell
        for cell in outcome.measured(f"{PAPER}/ecn")
        if cell.cell.algorithm == "uncongested" and cell.cell.at.get("load_percent") == load
    ]
    runs = []
    for cell in [*cells, *fast]:
        heard = [_times(app) for record in cell.records for app in record["apps"]]
        if pooled := stats.pool_percentiles(heard):
            runs.append((outcome.study.words.algorithm(cell.cell.algorithm), pooled))
    return runs, cells


def _times(app: Mapping[str, Any]) -> list[float]:
    """Return the percentiles of what an application's responses took."""
    times: list[float] = app["response_percentiles_ms"]
    return times


def _tails(outcome: Outcome) -> Iterator[Drawn]:
    runs, cells = _pooled(outcome, f"{PAPER}/fig24", 98)
    if not runs:
        return
    figure = style.new_figure(4.2)
    ax = figure.subplots()
    curves = []
    for (name, percentiles), look in zip(runs, looks([name for name, _ in runs]), strict=True):
        slower = [1 - percent / 100 for percent in range(100)]
        (line,) = ax.plot(percentiles[:100], slower, color=look.colour, ls=look.line, lw=1.6)
        curves.append((name, line))
    ax.set_xscale("log")
    ax.set_yscale("log")
    style.plain_numbers(ax.xaxis)
    style.plain_numbers(ax.yaxis)
    ax.set_xlabel("response time (ms)")
    ax.set_ylabel("share of responses that take longer")
    ax.legend([line for _, line in curves], [name for name, _ in curves], loc="lower left")
    caption = (
        f"The tails at 98 % load, all disciplines with ECN: the share of responses that take longer, down to 1 %. "
        f"{len(cells[0].seeds)} runs each."
    )
    yield Drawn("figure24", "Figure 24: the tails at 98 % load", caption, figure)


def _scatter(outcome: Outcome) -> Iterator[Drawn]:
    cells = outcome.measured(f"{PAPER}/fig26")
    if not cells:
        return
    figure = style.new_figure(4.2)
    ax = figure.subplots()
    record = next(cells[0].records)
    for sample in record["series"]["web_users"]:
        for had, colour, words in ((False, "#3b6ea5", "no timeout"), (True, "#b5452c", "with a timeout")):
            points = _points(sample["bytes"], sample["response_ms"], sample["timeout"], had)
            ax.plot(*points, ".", ms=2, color=colour, label=words, rasterized=True)
    ax.set_xlim(0, 1e5)
    ax.set_ylim(0, 6000)
    ax.set_xlabel("bytes of the response")
    ax.set_ylabel("response time (ms)")
    ax.legend(loc="upper right")
    caption = (
        "Single responses of one run of PI with ECN at 98 % load, a sample of 5000 of all: size against time. The "
        "paper speaks of a triangle from the origin to (100,000, 6,000) and (100,000, 500), and of copies of it "
        "multiples of 1 s above, the time of a retransmission timer."
    )
    yield Drawn("figure26", "Figure 26: size against time, PI with ECN", caption, figure)


def _points(
    sizes: Sequence[int], times: Sequence[float], timeouts: Sequence[bool | None], had: bool
) -> tuple[list[int], list[float]]:
    chosen = [(size, time) for size, time, one in zip(sizes, times, timeouts, strict=True) if one == had]
    return [size for size, _ in chosen], [time for _, time in chosen]
