"""``goodqueue plot``: draws one figure of stored results."""

from typing import Annotated

import typer

from goodqueue.cli import words
from goodqueue.cli.options import Force
from goodqueue.errors import UserError, quoted
from goodqueue.plot import KINDS

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


def plot(
    kind: Annotated[
        str, typer.Argument(metavar="KIND", help=f"One of: {', '.join(KINDS)}.", autocompletion=words.among(KINDS))
    ],
    paths: Annotated[
        list[str], typer.Argument(metavar="PATH...", help="A store, a record in JSON, or a folder of compare.")
    ],
    out: Annotated[str, typer.Option(metavar="FILE", help="The figure: .svg, .pdf or .png.")],
    metric: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="The metric to draw, if the kind leaves a choice; with time, repeatable.",
            autocompletion=words.drawn,
        ),
    ] = None,
    where: Annotated[
        list[str] | None,
        typer.Option(metavar="KEY=V1,V2,...", help="Only the runs that have one of these values; repeatable."),
    ] = None,
    by: Annotated[
        str | None,
        typer.Option(
            metavar="KEY,...", help="One line, box or ellipse per value; other differences become panels. [all]"
        ),
    ] = None,
    x: Annotated[
        str | None,
        typer.Option("--x", metavar="KEY", help="The horizontal axis, with lines.", autocompletion=words.key),
    ] = None,
    begin: Annotated[
        str | None, typer.Option("--from", metavar="TIME", help="Where time and law begin, in the run: 9s.")
    ] = None,
    end: Annotated[str | None, typer.Option("--to", metavar="TIME", help="Where they end.")] = None,
    title: Annotated[str, typer.Option(metavar="TEXT", help="The title above the figure.")] = "",
    width: Annotated[
        str | None,
        typer.Option(metavar="LENGTH", help="Width: 3.5in, 9cm, 252pt; or slide, for one of 16:9. [5.8in, or 7.8in]"),
    ] = None,
    font: Annotated[
        str | None, typer.Option(metavar="FONT", help='Font, size or both: "Times New Roman 9pt". [by the width]')
    ] = None,
    style: Annotated[
        str | None, typer.Option(metavar="STYLE", help="A style of matplotlib, or a file of its settings.")
    ] = None,
    label: Annotated[
        list[str] | None,
        typer.Option(metavar="KEY=TEXT", help="What the figure writes for a key, value or metric; repeatable."),
    ] = None,
    note: Annotated[
        bool, typer.Option("--note/--no-note", help="The grey line below, which explains the marks.")
    ] = True,
    force: Force = False,
) -> None:
    """Draw a figure of stored results, in forms that papers use. Nothing is run.

    \b
    Kinds:
      ellipse  latency against goodput, better up and to the
               right; 1 standard deviation of the runs
      cdf      a distribution: --metric delay_ms (packets in
               the queue), up_delay_ms or ping_rtt_ms
      box      the same, whiskers at p5 and p95; or a metric
               over the runs: delay_p95_ms, apps.0.rtt_ms.p99
      bar      a metric's mean over the runs, with its
               standard deviation
      time     mean over the runs, with a band; several
               metrics are rows
      jain     Jain's index of the flows' goodput
      lines    a metric along a key of the scenario: mean and
               95 % confidence interval
      law      one run as CoDel's article draws it: the
               delay, its target, each drop, the law's count
      air      who sent when on the air of a Wi-Fi cell, and
               what became of it: runs with [series.air]
      tree     which node of a provider's tree limited its
               subscribers, and when: a heat map

    \b
    Metrics of time: delay_ms, backlog_packets,
      drop_probability, goodput_mbps, cwnd_packets,
      ping_rtt_ms, hops.NAME.delay_ms, a variable of the law
      (count), stations.NAME.rate_mbps or .airtime_percent

    \b
    Examples:
      goodqueue plot ellipse store --out ellipse.svg
      goodqueue plot ellipse store --by qdisc --out panels.svg
      goodqueue plot cdf store --metric delay_ms --out cdf.pdf
      goodqueue plot lines store --x rtt --out along.svg
      goodqueue plot time store --width 3.5in --out time.pdf

    Runs that differ only in the seed are repeats: they make one line, box or ellipse. Qdiscs and values stand in the
    order in which a sweep, --where or the files name them. A KEY is a scenario's key, as in sweep --set: path.rtt,
    traffic.0.count, seed, engine. Its last word is enough if no other key ends with it. Queues, flows and metrics are
    those of the loaded direction; up_ before a name asks for the way up. Time series, and distributions of pings,
    need runs with series.interval, for example --set series.interval=200ms. A law's variables also need --set
    series.law=true. A figure follows your matplotlibrc; --style and --font come after it.
    """
    from pathlib import Path

    from goodqueue.files import inputs, output
    from goodqueue.plot import drawing, selection, wishes
    from goodqueue.plot.style import encode
    from goodqueue.show import terminal
    from goodqueue.store import results

    if kind in FLENTS:
        raise UserError("plot", f"found {quoted(kind)}, a plot of Flent's; accepted here: {FLENTS[kind]}")
    if kind not in KINDS:
        raise UserError("plot", f"found {quoted(kind)}; accepted: {', '.join(KINDS)}")
    form = Path(out).suffix.lower().removeprefix(".")
    if form not in FORMATS:
        raise UserError(f"--out {out}", f"found no such format; accepted: {', '.join('.' + name for name in FORMATS)}")
    window = _window(kind, begin, end)
    if x is not None and kind != "lines":
        raise UserError("--x", f"found with {kind}; accepted: with lines")
    asked = metric or []
    if kind in ("ellipse", "jain", "air", "law", "tree") and asked:
        raise UserError("--metric", f"found with {kind}, which leaves no choice; accepted: no --metric")
    if len(asked) > 1 and kind != "time":
        raise UserError("--metric", f"found {len(asked)} with {kind}; accepted: one, or several with time")
    wished = wishes.of(width, font, style, label or [], note)
    output.check_file(out, force)
    with inputs.noted() as read:
        loose = results.records(paths)
    output.spare(out, read)
    runs = selection.runs([one.record for one in loose], [one.mix for one in loose])
    found = selection.where(runs, where or [])
    with wishes.applied(wished):
        figure = drawing.of_runs(kind, found, asked, by, x, title, window)
    wished.labels.check()
    written = output.write_file(out, force, encode(figure, form, kind))
    terminal.say(f"Written: {written}")
    if written != out:
        raise output.appeared(out, written)


def _window(kind: str, begin: str | None, end: str | None) -> tuple[float | None, float | None]:
    """Return the time to draw, in seconds of the run. Raises UserError."""
    from goodqueue.scenario.quantity import quantity

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
