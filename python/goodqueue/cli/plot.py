"""``goodqueue plot``: one figure of stored results."""

from typing import TYPE_CHECKING, Annotated

import typer

from goodqueue.errors import UserError, quoted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.figure import Figure

    from goodqueue.plot.stored import Group

KINDS = ("ellipse", "cdf", "box", "bar", "time", "jain")
FLENTS = {
    "all_scaled": "time --metric goodput_mbps, and time --metric ping_rtt_ms",
    "bar_combine": "bar --metric goodput_mbps",
    "box_combine": "box --metric ping_rtt_ms",
    "cdf_combine": "cdf --metric ping_rtt_ms",
    "ellipsis_combine": "ellipse",
    "ping_cdf": "cdf --metric ping_rtt_ms",
}
"""What is nearest to plots that go by other names in Flent."""

FORMATS = ("svg", "pdf", "png")


def plot(
    kind: Annotated[str, typer.Argument(metavar="KIND", help=f"One of: {', '.join(KINDS)}.")],
    paths: Annotated[
        list[str], typer.Argument(metavar="PATH...", help="A store, a record in JSON, or a folder of compare.")
    ],
    out: Annotated[str, typer.Option(metavar="FILE", help="The figure: .svg, .pdf or .png.")],
    metric: Annotated[
        str | None, typer.Option(metavar="NAME", help="What is drawn, where the kind leaves a choice.")
    ] = None,
    title: Annotated[str, typer.Option(metavar="TEXT", help="Stands above the figure.")] = "",
    force: Annotated[bool, typer.Option("--force", help="Replace --out.")] = False,
) -> None:
    """Draw a figure of stored results, in the forms that papers use. Nothing is run.

    \b
    Kinds:
      ellipse  latency against goodput, better up and to the right; 1 standard deviation of the runs
      cdf      a distribution: --metric delay_ms (packets in the queue) or ping_rtt_ms
      box      the same, whiskers at p5 and p95; or any metric over the runs: delay_p95_ms, apps.0.rtt_ms.p99
      bar      a metric's mean over the runs, with its standard deviation
      time     mean over the runs, with a band: --metric delay_ms, ping_rtt_ms, goodput_mbps, cwnd_packets
      jain     Jain's index of the flows' goodput

    \b
    Examples:
      goodqueue plot ellipse store --out ellipse.svg
      goodqueue plot cdf store real.json --metric ping_rtt_ms --out cdf.pdf
      goodqueue plot bar store --metric utilisation_percent --out bar.svg
      goodqueue plot time store --metric goodput_mbps --out goodput.svg

    Runs that differ in the seed alone are repeats, and one line, box or ellipse. Time series, and pings as a
    distribution, need records of runs with series.interval, as --set series.interval=200ms.
    """
    from pathlib import Path

    from goodqueue import output, results, terminal
    from goodqueue.plot import stored, style

    if kind in FLENTS:
        raise UserError("plot", f"found {quoted(kind)}, a plot of Flent's; accepted here: {FLENTS[kind]}")
    if kind not in KINDS:
        raise UserError("plot", f"found {quoted(kind)}; accepted: {', '.join(KINDS)}")
    form = Path(out).suffix.lower().removeprefix(".")
    if form not in FORMATS:
        raise UserError(f"--out {out}", f"found no such format; accepted: {', '.join('.' + name for name in FORMATS)}")
    output.check_file(out, force)
    records = [one.record for one in results.records(paths)]
    figure = _draw(kind, stored.groups(records, results.labels(records)), metric, title)
    written = output.write_file(out, force, style.encode(figure, form, kind))
    terminal.say(f"Written: {written}")
    if written != out:
        raise output.appeared(out, written)


def _draw(kind: str, groups: "Sequence[Group]", metric: str | None, title: str) -> "Figure":
    """Return the figure. Raises UserError where there is no such metric, or no record has it."""
    from goodqueue import metrics
    from goodqueue.plot import course, delay, ellipse, rows
    from goodqueue.plot.stored import DISTRIBUTIONS, SERIES, percentiles

    if kind in ("ellipse", "jain") and metric is not None:
        raise UserError("--metric", f"found with {kind}, which leaves no choice; accepted: no --metric")
    name = metric or ("delay_mean_ms" if kind == "bar" else "delay_ms")
    choice = {"cdf": tuple(DISTRIBUTIONS), "time": tuple(SERIES)}.get(kind)
    if choice and name not in choice:
        raise UserError("--metric", f"found {quoted(name)}; accepted: {', '.join(choice)}")
    drawn: Figure | None
    if kind == "ellipse":
        drawn, name = ellipse.figure(groups, title), "both goodput and latency (of pings, or of the queue)"
    elif kind == "jain":
        drawn, name = rows.jain(groups, title), "flows"
    elif kind == "time":
        drawn = course.figure(groups, name, title)
    elif kind == "bar":
        drawn = rows.bars(groups, metrics.find([name])[0], title)
    elif kind == "box" and name not in DISTRIBUTIONS:
        drawn = rows.boxes(groups, metrics.find([name])[0], title)
    elif kind == "box":
        drawn = rows.distribution_boxes(groups, name, title)
    else:
        of = "packets with at most this delay" if name == "delay_ms" else "round trips that took no longer"
        runs = [(group.label, found) for group in groups if (found := percentiles(group, name))]
        drawn = delay.cdf(runs, title, DISTRIBUTIONS[name], of) if runs else None
    if drawn is None:
        series = kind == "time" or name == "ping_rtt_ms"
        accepted = "runs with --set series.interval=200ms" if series else "records that have"
        raise UserError(f"plot {kind}", f"no record has {name}; accepted: {accepted}")
    return drawn
