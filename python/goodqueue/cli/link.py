"""``goodqueue link``: runs real programs across the path of a scenario, in real time, without root."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any

import typer

from goodqueue.capture import LEAST_BYTES, WHOLE_BYTES
from goodqueue.cli.options import Force, Json, Said, Sets, described, whole
from goodqueue.errors import warn

if TYPE_CHECKING:
    from goodqueue.engines.live.outside import End, Task
    from goodqueue.record import Record

OPTIONS = ("rate", "rtt", "qdisc", "up_rate", "up_qdisc", "trace_down", "trace_up")
"""The options that describe the path."""

BETWEEN = "--"
"""Separates SERVER from CLIENT."""


def link(
    words: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="CMD", help="What runs: [SCENARIO.toml] -- CMD..., or two: -- SERVER... -- CLIENT...; or doctor."
        ),
    ] = None,
    *,
    said: Annotated[Said, described(*OPTIONS, qdisc="pfifo", up_qdisc="as --qdisc", seed="1, or the file's")],
    sets: Sets = None,
    trace: Annotated[
        str | None, typer.Option(metavar="FILE.pcapng", help="Capture the packets that cross the path.")
    ] = None,
    trace_at: Annotated[
        str | None,
        typer.Option(
            metavar="POINTS", help="Where: down-in, down-out, down-drop, up-in, up-out, up-drop. [down-in,up-out]"
        ),
    ] = None,
    trace_snap: Annotated[
        int | None,
        typer.Option(
            parser=whole("trace_snap", LEAST_BYTES, WHOLE_BYTES),
            metavar="BYTES",
            help="Keep only the first BYTES of each packet. [all]",
        ),
    ] = None,
    record: Annotated[str | None, typer.Option(metavar="FILE.json", help="Write the record there.")] = None,
    force: Force = False,
    metrics: Annotated[
        str | None, typer.Option(metavar="HOST:PORT", help="Serve Prometheus metrics there: 127.0.0.1:9100.")
    ] = None,
    live: Annotated[
        bool, typer.Option("--live", help="Show rate, queue and drops while it runs, below CMD's output.")
    ] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="Show neither the record nor the first line.")] = False,
    json: Json = False,
) -> None:
    """Run a program behind a bottleneck in real time, without root.

    \b
    Examples:
      goodqueue link --rate 10mbit --rtt 50ms --qdisc fq_codel -- ping -c 3 server
      goodqueue link --rate 100mbit --rtt 20ms -- iperf3 -s -1 -- iperf3 -c server -R
      goodqueue link --rate 5mbit --rtt 80ms -- curl -O https://example.com/file
      goodqueue link cell.toml --set bottleneck.qdisc=cake -- chromium
      goodqueue link --trace-down lte.mahimahi --rtt 40ms -- bash
      goodqueue link --rtt 10ms -- goodqueue link --rate 2mbit --rtt 30ms -- ping -c 3 server
      goodqueue link doctor

    CMD's packets are real. CMD runs in its own network namespace, and the path is the only way out. With two commands,
    SERVER runs at the far end of the path, and CLIENT starts when something listens there. The names of the two ends
    are `server` and `client`. If pasta or slirp4netns is installed, CMD also reaches the Internet, and this host's
    loopback by the name `host`. Traffic in SCENARIO.toml is simulated, and shares the path with CMD.

    The run ends when CMD ends (with two commands: when CLIENT ends). Then the record is shown: delays, drops and marks
    of the queue, goodput and RTT per flow, and how late packets left. That lateness is the emulator's own error. The
    exit status is CMD's; 2 if the link cannot start or breaks; 127 if CMD is not found.
    """
    from goodqueue import engines

    engines.need_linux("link")

    from goodqueue.capture import asked, check, settle
    from goodqueue.engines.live import outside, path
    from goodqueue.errors import UserError
    from goodqueue.files import inputs, output
    from goodqueue.show import terminal

    given = list(words or ())
    if given == ["doctor"]:
        _doctor(json)
        return
    scenario_file = given.pop(0) if given and given[0].endswith(".toml") else None
    server, client = _commands(given[1:] if given[:1] == [BETWEEN] else given)
    of_trace = {"--trace-at": trace_at, "--trace-snap": trace_snap}
    if trace is None and (at := next((option for option, value in of_trace.items() if value), None)):
        raise UserError(at, "found without --trace; accepted: with --trace FILE.pcapng")
    with inputs.noted() as read:
        scenario = path.read(scenario_file, said, sets or ())
    if trace is not None and record is not None and output.are_same(trace, record):
        raise UserError(f"--record {record}", "found the file of --trace; accepted: another one")
    written = {}
    with asked(trace, trace_at, trace_snap, "live", force, read) as capture:
        if capture is not None:
            check(scenario, capture.points)
        if record is not None:
            output.check_file(record, force, "--record")
            output.spare(record, read, "--record")
        task = outside.Task(scenario, client, server, capture, 2 if json else None)
        end = _run(task, _quiet if quiet else warn, metrics, live)
        if record is not None:
            written["--record", record] = output.write_file(record, force, f"{end.record}\n".encode(), "--record")
        if capture is not None and end.no_capture is None:
            written["--trace", capture.file] = settle(capture, force)
    if json:
        terminal.emit(end.record + "\n")
    elif not quiet:
        _show(end)
    if not quiet:
        _note(end)
    if capture is not None and end.no_capture is not None:
        raise capture.refusal(ValueError(end.no_capture))
    for (option, file), found in written.items():
        if found != file:
            raise output.appeared(file, found, option)
    raise typer.Exit(end.status)


def _run(task: "Task", note: Callable[[str], None], address: str | None, live: bool) -> "End":
    """Run ``task`` to its end. Serve metrics for Prometheus at ``address``; show the link to a person if ``live``."""
    from contextlib import ExitStack
    from dataclasses import replace

    from goodqueue.engines.live import outside, path

    lookers: list[Callable[[dict[str, Any]], None]] = []
    with outside.signals_held() as ignored, ExitStack() as looking:
        if address is not None:
            from goodqueue.engines.live.prometheus import Metrics

            served = Metrics()
            looking.enter_context(served.served(address))
            lookers.append(served.glance)
        if live:
            from goodqueue.engines.live.view import View

            view = View()
            shown = looking.enter_context(view.shown())
            task = replace(task, stdout=shown, stderr=shown)
            lookers.append(view.glance)
        note(path.in_words(task.scenario))  # here, since a refusal is one line
        end = outside.run(task, outside.Onlooker(note, lookers), ignored)
    return replace(end, record=_scored(end.record))


def _scored(text: str) -> str:
    """Return the record ``text`` with what a bufferbloat test would say of it, if the link carried a load."""
    from json import dumps, loads

    from goodqueue.measures.scores import bufferbloat_ms, letter

    record: Record = loads(text)
    if "live" not in record or (added := bufferbloat_ms(record)) is None:
        return text
    record["live"]["bufferbloat"] = {"added_ms": added, "letter": letter.letter(added)}
    return dumps(record, ensure_ascii=False)


def _doctor(json: bool) -> None:
    """Print the obstacles to a link. Exit status: 0 if a link is possible, 1 if not."""
    from goodqueue.engines.live import doctor
    from goodqueue.show import terminal
    from goodqueue.show.table import Column, Table

    findings = doctor.examine()
    if json:
        from json import dumps

        terminal.emit(dumps(doctor.as_json(findings)) + "\n")
    else:
        columns = [Column("", False), Column("found", False)]
        rows = [[finding.name, finding.found] for finding in findings]
        terminal.print_table(Table("A link on this machine", columns, rows))
        for finding in findings:
            if finding.remedy is not None:
                terminal.say(f"{finding.name}, what changes that:")
                terminal.emit(f"{finding.remedy}\n")
    if not doctor.runs(findings):
        raise typer.Exit(1)


def _quiet(_: str) -> None:
    pass


def _commands(given: list[str]) -> tuple[list[str] | None, list[str]]:
    """Return SERVER, if there is one, and CMD. Raises UserError if a command is missing or not found."""
    from shutil import which

    from goodqueue.errors import UserError, quoted

    found = [given]
    if BETWEEN in given:
        at = given.index(BETWEEN)
        if not _is_link(given[:at]):
            found = [given[:at], given[at + 1 :]]
    if not all(found):
        raise UserError("link", "found no CMD; accepted: -- CMD..., or -- SERVER... -- CLIENT...")
    for command in found:
        if which(command[0]) is None:
            warn(f"{quoted(command[0])}: command not found")
            raise typer.Exit(127)
    return (found[0] if found[1:] else None), found[-1]


def _is_link(command: list[str]) -> bool:
    """Return whether ``command`` is itself a link, whose own words may contain the separator."""
    from itertools import pairwise
    from pathlib import PurePath

    return any(PurePath(word).name == "goodqueue" and after == "link" for word, after in pairwise(command))


def _note(end: "End") -> None:
    """Note which words of the lines had no effect on the packets that crossed."""
    from json import loads

    from goodqueue.show import isolation

    record = loads(end.record)
    if not record["scenario"]["traffic"]:
        for note in isolation.of_link(record["scenario"], record["live"]["hosts"]):
            warn(note)


def _show(end: "End") -> None:
    from json import loads

    from goodqueue.record import Record
    from goodqueue.show import describe, terminal, undone
    from goodqueue.show.run import run_tables

    record: Record = loads(end.record)
    terminal.say()
    for sentence in undone.of_run(record):
        terminal.say(sentence)
    for table in run_tables(record):
        terminal.print_table(table)
    if "live" in record:
        for sentence in (*describe.bufferbloat(record["live"]), describe.lateness(record["live"])):
            terminal.say(sentence)
