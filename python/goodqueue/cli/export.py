"""``goodqueue export``: writes stored results in other programs' formats."""

from typing import TYPE_CHECKING, Annotated

import typer

from goodqueue.cli.options import Force, Json
from goodqueue.errors import warn

if TYPE_CHECKING:
    from pathlib import Path

    from goodqueue.store.results import Loose


def export(
    paths: Annotated[
        list[str], typer.Argument(metavar="PATH...", help="A store, a record in JSON, or a folder of compare.")
    ],
    out: Annotated[str, typer.Option(metavar="DIR", help="The folder for the files.")],
    flent: Annotated[bool, typer.Option("--flent", help="Write Flent's data files, *.flent.gz.")] = False,
    subscribers: Annotated[
        bool, typer.Option("--subscribers", help="Write Parquet tables: a row per subscriber, and one per node.")
    ] = False,
    force: Force = False,
    json: Json = False,
) -> None:
    """Write stored runs as Flent's files, or subscribers as tables.

    \b
    Examples:
      goodqueue run link.toml --set series.interval=200ms --set series.tcp=true --json > record.json
      goodqueue export --flent record.json --out flent
      flent -i flent/*.flent.gz -p all_scaled -o plot.svg
      goodqueue sweep link.toml --set bottleneck.qdisc=pfifo,fq_codel --set series.interval=200ms --out store
      goodqueue export --flent store --out flent; flent -i flent/*.flent.gz -p box_combine
      goodqueue export --subscribers isp.json --out tables

    A run becomes the Flent test whose TCP flows without end (kind bulk) are nearest:

    \b
      rrul            four each way, with dscp CS0, CS1, CS5 and EF
      rrul_be         four each way, all best effort
      rrul_be_nflows  any others both ways
      tcp_nup, tcp_ndown  one way alone
      ping            none

    Pings become Flent's pings; the first one is its ICMP ping. The command leaves out what has no series in Flent, and
    names it. A run of the simulator without time series is run again with them, since it repeats to the byte. Other
    records need time series. Seeds become repeats of a test, which Flent's combining plots take together: see
    docs/guides/flent.md.
    """
    from goodqueue.errors import UserError
    from goodqueue.files import inputs, output
    from goodqueue.flent import again, exporting
    from goodqueue.show import terminal
    from goodqueue.store.results import records

    if flent == subscribers:
        found_formats = "two formats" if flent else "no format"
        raise UserError("export", f"{found_formats}; accepted: --flent or --subscribers")
    output.check(out, force)
    with inputs.noted() as read:
        found = records(paths)
    if subscribers:
        _subscribers(found, out, read, force, json)
        return
    if lacking := again.lacking(found):
        with terminal.progress(f"{len(lacking)} runs again, with time series") as progress:
            found = again.with_series(found, progress)
        warn(f"{len(lacking)} runs had no time series: run again, same numbers, series.interval={again.INTERVAL}")
    files = exporting.files(found)
    output.spare(out, read)
    written, _ = output.write(out, force, lambda folder: exporting.fill(folder, files))
    for line in exporting.notes(files):
        warn(line)
    if json:
        terminal.emit_json(exporting.as_json(files))
    else:
        for one in files:
            terminal.say(f"{written}/{one.name}: {one.choice.test}, {one.title}, seed {one.seed}")
    if written != out:
        raise output.appeared(out, written, force=force)


def _subscribers(found: "list[Loose]", out: str, read: "list[Path]", force: bool, json: bool) -> None:
    """Write the tables of the subscribers and the nodes."""
    from goodqueue import extras
    from goodqueue.files import output
    from goodqueue.show import terminal
    from goodqueue.store import subscribers

    extras.needed("pyarrow", "export --subscribers")
    subscribers.check(found)
    output.spare(out, read)
    written, _ = output.write(out, force, lambda folder: subscribers.fill(folder, found))
    if json:
        terminal.emit_json(subscribers.as_json(found))
    else:
        for name, part in subscribers.FILES.items():
            rows = sum(1 for _ in subscribers.rows(found, part))
            terminal.say(f"{written}/{name}: {rows} rows, {len(found)} runs")
    if written != out:
        raise output.appeared(out, written, force=force)
