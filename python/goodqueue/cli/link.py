"""``goodqueue link``: real programs across the path of a scenario, in real time, without root."""

from typing import TYPE_CHECKING, Annotated

import typer

from goodqueue.cli.options import Json, Sets, whole
from goodqueue.trace import LEAST_BYTES, WHOLE_BYTES

if TYPE_CHECKING:
    from goodqueue.engines.live.outside import End

BETWEEN = "--"
"""Between SERVER and CLIENT."""


def link(
    words: Annotated[
        list[str] | None,
        typer.Argument(metavar="[SCENARIO.toml] -- [SERVER... --] CMD...", help="What runs; or doctor."),
    ] = None,
    rate: Annotated[str | None, typer.Option(metavar="RATE", help="Bottleneck rate. [10mbit]")] = None,
    rtt: Annotated[str | None, typer.Option(metavar="TIME", help="Round trip without queueing. [50ms]")] = None,
    qdisc: Annotated[str | None, typer.Option(metavar="QDISC", help="Of the bottleneck. [pfifo]")] = None,
    up_rate: Annotated[str | None, typer.Option(metavar="RATE", help="Rate of the way up. [as --rate]")] = None,
    up_qdisc: Annotated[str | None, typer.Option(metavar="QDISC", help="Of the way up. [as --qdisc]")] = None,
    trace_down: Annotated[
        str | None, typer.Option(metavar="FILE", help="Rates of the way down: mahimahi's, or over time.")
    ] = None,
    trace_up: Annotated[str | None, typer.Option(metavar="FILE", help="Those of the way up.")] = None,
    sets: Sets = None,
    seed: Annotated[
        int | None, typer.Option(parser=whole("--seed", 0), metavar="N", help="Seed of the draws. [1, or the file's]")
    ] = None,
    trace: Annotated[
        str | None, typer.Option(metavar="FILE.pcapng", help="Capture the packets that cross the path.")
    ] = None,
    trace_at: Annotated[
        str | None, typer.Option(metavar="POINTS", help="Where, as in `goodqueue run --help`. [sender]")
    ] = None,
    trace_snap: Annotated[
        int | None,
        typer.Option(
            parser=whole("--trace-snap", LEAST_BYTES, WHOLE_BYTES),
            metavar="BYTES",
            help="Keep so much of each packet. [all]",
        ),
    ] = None,
    record: Annotated[str | None, typer.Option(metavar="FILE.json", help="Write the record there.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace the files of --trace and --record.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="Show no record, and no line before.")] = False,
    json: Json = False,
) -> None:
    """Run a program behind a bottleneck: real packets, real time, no root.

    \b
    Examples:
      goodqueue link --rate 10mbit --rtt 50ms --qdisc fq_codel -- ping -c 3 server
      goodqueue link --rate 100mbit --rtt 20ms -- iperf3 -s -1 -- iperf3 -c server -R
      goodqueue link --rate 5mbit --rtt 80ms -- curl -O https://example.com/file
      goodqueue link cell.toml --set bottleneck.qdisc=cake -- chromium
      goodqueue link --trace-down lte.mahimahi --rtt 40ms -- bash
      goodqueue link --rtt 10ms -- goodqueue link --rate 2mbit --rtt 30ms -- ping -c 3 server
      goodqueue link doctor

    CMD runs in a network of its own, whose only way out is the path. With two commands both do, SERVER
    at the far end; CLIENT starts when something listens there. By name the ends are `server` and
    `client`. The world outside is reached where pasta or slirp4netns is installed, and this host's
    loopback by the name `host`. Traffic in SCENARIO.toml is simulated, and shares the path with CMD.

    The run lasts as long as CMD (of two, CLIENT). Then the record is shown: delays, drops and marks of
    the queue, each flow's goodput and RTT, and how late packets left, which is the emulator's own doing.
    Exit status: CMD's; 2 where the link is refused, or breaks; 127 where CMD is not found.
    """
    from goodqueue.errors import UserError

    given = list(words or ())
    file = given.pop(0) if given and given[0].endswith(".toml") else None
    if given[:1] == [BETWEEN]:
        del given[0]
    server, client = _commands(given)
    options = {"rate": rate, "rtt": rtt, "qdisc": qdisc, "up_rate": up_rate, "up_qdisc": up_qdisc}
    options |= {"trace_down": trace_down, "trace_up": trace_up}
    if trace is None and (
        at := next((name for name, one in (("--trace-at", trace_at), ("--trace-snap", trace_snap)) if one), None)
    ):
        raise UserError(at, "found without --trace; accepted: with --trace FILE.pcapng")
    from goodqueue import output, terminal
    from goodqueue.engines.live import outside, path
    from goodqueue.trace import parse, settle

    scenario = path.read(file, options, sets or (), seed)
    capture = None if trace is None else parse(trace, trace_at, trace_snap, "sim", force)
    if record is not None:
        output.check_file(record, force, "--record")
    onlooker = outside.Onlooker(_quiet if quiet else terminal.warn)
    onlooker.note(path.in_words(scenario))
    asked_for = (
        None if capture is None else {"path": capture.path, "points": capture.points, "snap_bytes": capture.snap_bytes}
    )
    end = outside.run(outside.Task(scenario, client, server, asked_for, stdout=2 if json else None), onlooker)
    if json:
        terminal.emit(end.record + "\n")
    elif not quiet:
        _show(end)
    if record is not None:
        output.write_file(record, force, f"{end.record}\n".encode(), "--record")
    if capture is not None:
        if end.no_capture is not None:
            raise capture.refusal(ValueError(end.no_capture))
        settle(capture, force)
    raise typer.Exit(end.status)


def _quiet(_: str) -> None:
    pass


def _commands(given: list[str]) -> tuple[list[str] | None, list[str]]:
    """Return SERVER, if there is one, and CMD. Raises UserError where there is nothing, or not found."""
    from shutil import which

    from goodqueue.errors import UserError, quoted
    from goodqueue import terminal

    found = [given]
    if BETWEEN in given:
        at = given.index(BETWEEN)
        if not _is_link(given[:at]):
            found = [given[:at], given[at + 1 :]]
    if not all(found):
        raise UserError("link", "found no CMD; accepted: -- CMD..., or -- SERVER... -- CLIENT...")
    for command in found:
        if which(command[0]) is None:
            terminal.warn(f"{quoted(command[0])}: command not found")
            raise typer.Exit(127)
    return (found[0] if found[1:] else None), found[-1]


def _is_link(command: list[str]) -> bool:
    """Return whether ``command`` is a link of its own, whose words go on beyond what would end SERVER's."""
    from itertools import pairwise
    from pathlib import PurePath

    return any(PurePath(word).name == "goodqueue" and after == "link" for word, after in pairwise(command))


def _show(end: "End") -> None:
    from json import loads

    from goodqueue import describe, tables, terminal
    from goodqueue.record import Record

    record: Record = loads(end.record)
    terminal.say()
    for table in tables.run_tables(record):
        terminal.print_table(table)
    if "live" in record:
        terminal.say(describe.lateness(record["live"]))
