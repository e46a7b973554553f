"""Makes the plan of a figure, and refuses what cannot be drawn before anything is written."""

from dataclasses import dataclass
from pathlib import Path

from goodqueue.errors import UserError, quoted
from goodqueue.files import inputs, output
from goodqueue.plot import KINDS, selection, wishes
from goodqueue.plot.law import Window
from goodqueue.plot.question import Plot
from goodqueue.plot.selection import Runs
from goodqueue.scenario.quantity import quantity
from goodqueue.store import results

FLENTS = {
    "all_scaled": "time --metric goodput_mbps --metric ping_rtt_ms",
    "bar_combine": "bar --metric goodput_mbps",
    "box_combine": "box --metric ping_rtt_ms",
    "cdf_combine": "cdf --metric ping_rtt_ms",
    "ellipsis_combine": "ellipse",
    "ping_cdf": "cdf --metric ping_rtt_ms",
}
"""The nearest plots of ours, by Flent's names."""

FORMATS = ("svg", "pdf", "png")


@dataclass(frozen=True, slots=True)
class Plan:
    """A figure to draw."""

    question: Plot
    form: str
    """svg, pdf or png."""
    window: Window
    wished: wishes.Asked
    runs: Runs
    """The runs that the figure shows."""


def of(plot: Plot) -> Plan:
    """Return the plan. Raises UserError."""
    kind, out = plot.kind, plot.out
    if kind in FLENTS:
        raise UserError("plot", f"found {quoted(kind)}, a plot of Flent's; accepted here: {FLENTS[kind]}")
    if kind not in KINDS:
        raise UserError("plot", f"found {quoted(kind)}; accepted: {', '.join(KINDS)}")
    form = Path(out).suffix.lower().removeprefix(".")
    if form not in FORMATS:
        raise UserError(f"--out {out}", f"found no such format; accepted: {', '.join('.' + name for name in FORMATS)}")
    window = _window(kind, plot.begin, plot.end)
    if plot.x is not None and kind != "lines":
        raise UserError("--x", f"found with {kind}; accepted: with lines")
    asked = plot.metric
    if kind in ("ellipse", "jain", "air", "law", "tree") and asked:
        raise UserError("--metric", f"found with {kind}, which leaves no choice; accepted: no --metric")
    if len(asked) > 1 and kind != "time":
        raise UserError("--metric", f"found {len(asked)} with {kind}; accepted: one, or several with time")
    wished = wishes.of(plot.width, plot.font, plot.style, plot.label, not plot.no_note)
    output.check_file(out, plot.force)
    with inputs.noted() as read:
        loose = results.records(plot.paths)
    output.spare(out, read)
    runs = selection.runs([run.record for run in loose], [run.mix for run in loose])
    return Plan(plot, form, window, wished, selection.where(runs, plot.where))


def _window(kind: str, begin: str | None, end: str | None) -> Window:
    """Return the time to draw, in seconds of the run. Raises UserError."""
    found: list[float | None] = []
    for option, text in (("--from", begin), ("--to", end)):
        if text is None:
            found.append(None)
            continue
        if kind not in ("time", "law"):
            raise UserError(option, f"found with {kind}; accepted: with time and law")
        number = quantity(text)
        if number is None or number[1] not in ("ms", "") or number[0] < 0:
            raise UserError(option, f"found {quoted(text)}; accepted: a time of the run, such as 9s")
        found.append(number[0] / 1e3 if number[1] else number[0])
    first, last = found
    if first is not None and last is not None and first >= last:
        raise UserError("--to", f"found {quoted(end)}, not after --from {begin}; accepted: a later time")
    return first, last
