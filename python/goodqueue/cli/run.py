"""``goodqueue run``: runs one scenario once."""

from typing import Annotated

import typer

from goodqueue.capture import LEAST_BYTES, WHOLE_BYTES
from goodqueue.cli.options import Force, Json, Kernel, Latex, Said, Sets, check_format, described, whole


def run(
    scenario: Annotated[str, typer.Argument(metavar="SCENARIO.toml", help="The scenario file.")],
    *,
    engine: Annotated[
        str, typer.Option(metavar="NAME", help="sim; kernel: Linux's own; or live: its TCP on our path, in real time.")
    ] = "sim",
    kernel: Kernel = None,
    said: Annotated[Said, described(seed="the file's", qdisc="the file's", up_qdisc="the file's")],
    sets: Sets = None,
    threads: Annotated[
        int | None,
        typer.Option(
            "--threads",
            parser=whole("threads"),
            metavar="N",
            help="Threads for this run. They do not change the result. [a long run: all cores]",
        ),
    ] = None,
    trace: Annotated[
        str | None, typer.Option(metavar="FILE.pcapng", help="Capture the run, for Wireshark, tshark and tcptrace.")
    ] = None,
    trace_at: Annotated[
        str | None,
        typer.Option(
            metavar="POINTS",
            help="Where: sender, receiver, down-in, down-out, down-drop, up-in, up-out, up-drop, air. [sender]",
        ),
    ] = None,
    trace_snap: Annotated[
        int | None,
        typer.Option(
            parser=whole("trace_snap", LEAST_BYTES, WHOLE_BYTES),
            metavar="BYTES",
            help="Keep only the first BYTES of each packet. [all, so that checksums can be checked]",
        ),
    ] = None,
    qlog: Annotated[
        str | None,
        typer.Option(metavar="DIR", help="Write the qlogs of QUIC stacks and of the queues (goodqueue-transports)."),
    ] = None,
    force: Force = False,
    latex: Latex = False,
    json: Json = False,
) -> None:
    """Run one scenario and show what it measured.

    \b
    Examples:
      goodqueue run one-flow.toml
      goodqueue run one-flow.toml --qdisc "pie target 20ms" --up-qdisc fq_codel --seed 7
      goodqueue run one-flow.toml --set traffic.0.count=4 --set traffic.0.cc=reno
      goodqueue run one-flow.toml --json > record.json
      goodqueue run evening.toml --threads 4           # the same bytes, sooner
      goodqueue run one-flow.toml --trace run.pcapng   # then: wireshark run.pcapng
      goodqueue run one-flow.toml --trace q.pcapng --trace-at down-in,down-drop --trace-snap 100
      goodqueue run one-flow.toml --engine kernel      # once before: goodqueue kernel doctor
      goodqueue run one-flow.toml --engine kernel --kernel 7.3
      goodqueue run one-flow.toml --engine live        # this host's TCP across our path, in real time

    \b
    A small scenario:
      duration = "70s"
      warmup = "10s"            # left out of the statistics
      [bottleneck]
      rate = "25mbit"
      qdisc = "codel target 5ms"   # the words after `tc qdisc add dev X root`
      [path]
      rtt = "50ms"              # without queueing
      [[traffic]]
      kind = "bulk"             # `goodqueue list traffic`
      start_spread = "1s"       # each seed draws its start: without it all seeds are the same

    \b
    --trace-at says where packets are captured: at the host that sends a flow's data (sender), at
    the host that receives the data (receiver), or at the queue of one direction. At a queue, -in is
    each packet that arrives, -out each packet whose transmission starts, and -drop each packet that
    is dropped, with the reason. Each point is an interface in the file. For an analysis choose
    points that see each packet once: down-in,up-out is the router's side to the servers. In a Wi-Fi
    cell, air is what a card in monitor mode would see: each frame and its answer with a radiotap
    header, and a comment if the frame collided or was lost. The run starts at 2000-01-01 00:00:00
    UTC.

    With --json the output is the run's record. The same scenario and seed give the same bytes in the simulator. Two
    runs on the kernel differ a little: see docs/decisions/009-kernel-in-virtual-time.md.
    """
    from threading import Event

    from goodqueue import engines
    from goodqueue.capture import asked, settle
    from goodqueue.engines.loads import resolve
    from goodqueue.errors import Option, UserError
    from goodqueue.files import inputs, output
    from goodqueue.scenario.asked import base as scenario_of
    from goodqueue.show import notes, terminal

    check_format(json, latex)
    (name,) = engines.parse(engine, several=False, linux=kernel)
    given = {"--trace-at": trace_at, "--trace-snap": trace_snap, "--force": force}
    if trace is None and qlog is not None:
        del given["--force"]
    if trace is None and (at := next((option for option, value in given.items() if value), None)):
        raise UserError(at, "found without --trace; accepted: with --trace FILE.pcapng")
    if threads is not None and (trace is not None or qlog is not None):
        raise UserError(Option("threads"), "found with --trace or --qlog; accepted: without them")
    if trace is not None and qlog is not None:
        raise UserError(Option("qlog"), "found with --trace; accepted: one of them")
    written = None
    with inputs.noted() as read:
        base, origins = scenario_of(scenario, said, sets or ())
        resolved = resolve(base, scenario, origins)
        notes.tell(base, origins)
    with asked(trace, trace_at, trace_snap, engines.kind(name), force, read) as capture:
        runs = engines.threaded(name, threads) if capture is None else engines.traced(name, capture)
        if qlog is not None:
            runs = engines.logged(name, resolved, qlog, force)
        with terminal.progress("simulating" if name == "sim" else f"engine {name}") as progress:
            text = runs(resolved, progress, Event())
        if capture is not None:
            written = settle(capture, force)
    if json:
        terminal.emit(text + "\n")
    else:
        _show(scenario, text, latex)
    if trace is not None and written is not None and written != trace:
        raise output.appeared(trace, written, "--trace")


def _show(name: str, text: str, as_latex: bool) -> None:
    from json import loads

    from goodqueue.record import Record
    from goodqueue.show import describe, latex, terminal
    from goodqueue.show.run import run_tables

    record: Record = loads(text)
    if as_latex:
        terminal.emit(latex.document(run_tables(record)))
        return
    terminal.say(describe.run(name, record))
    terminal.say()
    for table in run_tables(record):
        terminal.print_table(table)
    delays = [
        (direction, [value for value in queue["delay_percentiles_ms"] or () if value is not None])
        for direction, queue in record["queues"].items()
    ]
    shown = [(direction, delay) for direction, delay in delays if len(delay) == 101 and delay[-1] > 0]
    if shown:
        terminal.print_picture("Queueing delay", shown)
