"""What ``goodqueue run`` and ``gq.run`` ask."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from goodqueue import options
from goodqueue.ask import shared
from goodqueue.ask.fields import argument, flag, option, scenario_options
from goodqueue.ask.question import Question, Work, question
from goodqueue.ask.readers import SCENARIO, Source, whole

if TYPE_CHECKING:
    from goodqueue.running import Progress
    from goodqueue.show.answer import Answer
    from goodqueue.store import Store


@question
class Run(Question):
    """Run one scenario and show what it measured.

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

    verb = "run"
    has_latex = True

    scenario: Source | None = argument(
        "SCENARIO.toml", "The scenario file.", reader=SCENARIO, is_optional_in_python=True
    )
    engine: str = option("NAME", "sim; kernel: Linux's own; or live: its TCP on our path, in real time.", "sim")
    kernel: str | None = shared.kernel()
    machine: str | None = shared.machine()
    described: dict[str, Any] = scenario_options(seed="the file's", qdisc="the file's", up_qdisc="the file's")
    keys: Sequence[str] | Mapping[str, Any] = shared.keys()
    threads: int | None = option(
        "N",
        "Threads for this run. They do not change the result.",
        reader=whole(*options.BOUNDS["threads"]),
        otherwise="a long run: all idle cores, if that is faster",
    )
    trace: str | None = option("FILE.pcapng", "Capture the run, for Wireshark, tshark and tcptrace.", in_python=False)
    trace_at: str | None = option(
        "POINTS",
        "Where: sender, receiver, down-in, down-out, down-drop, up-in, up-out, up-drop, air.",
        otherwise="sender",
        in_python=False,
    )
    trace_snap: int | None = option(
        "BYTES",
        "Keep only the first BYTES of each packet.",
        reader=whole(*options.BOUNDS["trace_snap"]),
        otherwise="all, so that checksums can be checked",
        in_python=False,
    )
    qlog: str | None = option(
        "DIR", "Write the qlogs of QUIC stacks and of the queues (goodqueue-transports).", in_python=False
    )
    force: bool = flag(shared.FORCE, in_python=False)

    def work(self) -> Work:
        """Return the run. Raises UserError."""
        from threading import Event

        from goodqueue import engines
        from goodqueue.capture import asked as captured
        from goodqueue.capture import settle
        from goodqueue.engines import loads
        from goodqueue.files import inputs
        from goodqueue.runs import answer
        from goodqueue.scenario import asked
        from goodqueue.show import notes

        (name,) = engines.parse(self.engine, several=False, linux=self.kernel, machine_name=self.machine)
        self._check()
        file = self.scenario if isinstance(self.scenario, str) else ""
        with inputs.noted() as read:
            base, origins = asked.base(self.scenario, self.described, self.keys)
            resolved = loads.resolve(base, file, origins)
            notes.warn(base, origins)

        def carry_out(progress: "Progress", _: "Store | None") -> "Answer":
            written = None
            with captured(self.trace, self.trace_at, self.trace_snap, engines.kind(name), self.force, read) as capture:
                run = engines.threaded(name, self.threads) if capture is None else engines.traced(name, capture)
                if self.qlog is not None:
                    run = engines.logged(name, resolved, self.qlog, self.force)
                text = run(resolved, progress, Event())
                if capture is not None:
                    written = settle(capture, self.force)
            return answer.of(file or "run", text, self.trace, written)

        return Work("simulating" if name == "sim" else f"engine {name}", carry_out)

    def _check(self) -> None:
        """Refuse options that do not go together. Raises UserError."""
        from goodqueue.errors import Option, UserError

        of_trace = {"trace_at": self.trace_at, "trace_snap": self.trace_snap, "force": self.force}
        if self.trace is None and self.qlog is not None:
            del of_trace["force"]
        if self.trace is None and (name := next((name for name, value in of_trace.items() if value), None)):
            raise UserError(Option(name), "found without --trace; accepted: with --trace FILE.pcapng")
        if self.threads is not None and (self.trace is not None or self.qlog is not None):
            raise UserError(Option("threads"), "found with --trace or --qlog; accepted: without them")
        if self.trace is not None and self.qlog is not None:
            raise UserError(Option("qlog"), "found with --trace; accepted: one of them")
