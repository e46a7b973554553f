"""What ``goodqueue link`` asks."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from goodqueue import options
from goodqueue.ask import shared
from goodqueue.ask.fields import argument, flag, option, scenario_options
from goodqueue.ask.question import Question, Work, question
from goodqueue.ask.readers import TEXTS, whole, word
from goodqueue.errors import Option, UserError

OPTIONS = ("rate", "rtt", "qdisc", "up_rate", "up_qdisc", "trace_down", "trace_up")
"""The options that describe the path."""

DOCTOR = "doctor"
"""The word that asks what prevents a link on this machine."""


LIVE, KERNEL = "live", "kernel"
"""The engines whose path a link can have."""


@question
class Link(Question):
    """Run a program behind a bottleneck, without root. With --virtual, what it computes takes no time.

    Examples:
      goodqueue link --rate 10mbit --rtt 50ms --qdisc fq_codel -- python3 -m http.server -- curl http://server:8000/
      goodqueue link --rate 100mbit --rtt 20ms -- iperf3 -s -1 -- iperf3 -c server -R
      goodqueue link --rate 5mbit --rtt 80ms -- curl -O https://example.com/file
      goodqueue link cell.toml --set bottleneck.qdisc=cake -- chromium
      goodqueue link --trace-down lte.mahimahi --rtt 40ms -- bash
      goodqueue link --rtt 10ms -- goodqueue link --rate 2mbit --rtt 30ms -- ping -c 3 server
      goodqueue link --virtual --rate 10mbit --rtt 50ms -- irtt server -- irtt client -d 10m server
      goodqueue link tree.toml --virtual --engine kernel -- iperf3 -s -1 -- iperf3 -c server -R
      goodqueue link doctor

    CMD's packets are real. CMD runs in its own network namespace, and the path is the only way out. With two commands,
    SERVER runs at the far end of the path, and CLIENT starts when something listens there. The names of the two ends
    are `server` and `client`. If pasta or slirp4netns is installed, CMD also reaches the Internet, and this host's
    loopback by the name `host`. Traffic in SCENARIO.toml is simulated, and shares the path with CMD.

    The run ends when CMD ends (with two commands: when CLIENT ends). Then the record is shown: delays, drops and marks
    of the queue, goodput and RTT per flow, and how late packets left. That lateness is the emulator's own error. The
    exit status is CMD's; 2 if the link cannot start or breaks; 127 if CMD is not found.

    --virtual runs both commands and the path in Linux as an ordinary process, whose clock jumps to the next timer when
    all programs wait: minutes take seconds, and two runs print the same. A program that waits in a loop without
    sleeping never ends there. CMD sees this machine's files, may change those of the working directory alone, and
    reaches no other network. `goodqueue kernel image --machine process` builds that Linux. With --engine kernel its own
    disciplines are the path: any `tc` line or tree of Linux's, at a third of the processor's time.
    """

    verb = "link"

    words: tuple[str, ...] = argument(
        "CMD",
        "What runs: [SCENARIO.toml] -- CMD..., or two: -- SERVER... -- CLIENT...; or doctor.",
        reader=TEXTS,
        is_optional=True,
    )
    described: dict[str, Any] = scenario_options(
        *OPTIONS, qdisc="pfifo", up_qdisc="as --qdisc", seed="1, or the file's"
    )
    keys: Sequence[str] = shared.keys()
    trace: str | None = option("FILE.pcapng", "Capture the packets that cross the path.")
    trace_at: str | None = option(
        "POINTS",
        "Where: down-in, down-out, down-drop, up-in, up-out, up-drop.",
        otherwise="down-in,up-out",
    )
    trace_snap: int | None = option(
        "BYTES",
        "Keep only the first BYTES of each packet.",
        reader=whole(*options.BOUNDS["trace_snap"]),
        otherwise="all",
    )
    host: tuple[str, ...] = option(
        "NAME[=END]",
        "One more host, with an address of its own. END is server or client. Repeatable.",
        (),
        reader=TEXTS,
        otherwise="server's end",
    )
    virtual: bool = flag("In virtual time, in Linux as a process: what programs compute takes no time there.")
    engine: str = option(
        "ENGINE",
        "Whose path: live (goodqueue's), or with --virtual kernel (Linux's own disciplines).",
        LIVE,
        reader=word(LIVE, KERNEL),
    )
    kernel: str | None = shared.kernel()
    record: str | None = option("FILE.json", "Write the record there.")
    force: bool = flag(shared.FORCE)
    metrics: str | None = option("HOST:PORT", "Serve Prometheus metrics there: 127.0.0.1:9100.")
    live: bool = flag("Show rate, queue and drops while it runs, below CMD's output.")
    quiet: bool = flag("Show neither the record nor the first line.")
    spares_output: bool = False
    """Whether what CMD prints goes to standard error, since standard output is for JSON."""
    keeps_output: bool = False
    """Whether what CMD prints is kept for a caller (`outside.End.printed`)."""

    def for_json(self) -> "Link":
        """Return the same question, whose CMD leaves standard output alone."""
        return replace(self, spares_output=True)

    def for_python(self) -> "Link":
        """Return the same question, whose CMD prints for the caller alone. Raises UserError for one in real time."""
        if not self.virtual or self.words == (DOCTOR,):
            accepted = "; accepted: virtual=True, as a link in real time is a command of its own: goodqueue link"
            raise UserError("link", f"found a link in real time{accepted}")
        return replace(self, keeps_output=True, quiet=True)

    def work(self) -> Work:
        """Return the run of CMD, or the examination of this machine. Raises UserError."""
        from goodqueue import engines
        from goodqueue.files import inputs, output

        engines.need_linux(self.verb)

        from goodqueue.engines.live import ends
        from goodqueue.engines.live.ordering import Task
        from goodqueue.linking import answer, carrying, commands, doctor, path

        if self.words == (DOCTOR,):
            return Work(DOCTOR, lambda *_: answer.of_doctor(doctor.examine()))
        file, server, client = commands.file_and_commands(self.words)
        self._check()
        with inputs.noted() as read:
            scenario = path.read(file, self.described, self.keys)
        if self.virtual:
            from goodqueue.engines.live.virtual import machine

            if (why := machine.why_not(self.kernel)) is not None:
                raise UserError(Option("virtual"), why)
        task = Task(scenario, client, server, hosts=ends.declared(self.host))
        if self.engine == KERNEL:
            from goodqueue.engines.live.routed import planning

            task = replace(task, plan=planning.plan(scenario, self.kernel).to_json())
        if self.record is not None:
            output.check_file(self.record, self.force, "--record")
            output.spare(self.record, read, "--record")
        return Work(self.verb, lambda *_: carrying.carry_out(self, task, read))

    def _check(self) -> None:
        """Refuse options that do not go together. Raises UserError."""
        from goodqueue.files import output

        for looking in ("live", "metrics"):
            if self.virtual and getattr(self, looking):
                raise UserError(
                    Option(looking),
                    ["found with ", Option("virtual"), "; accepted: without, as whoever looks has another time"],
                )
        if self.kernel is not None and not self.virtual:
            raise UserError(Option("kernel"), ["found without ", Option("virtual"), "; accepted: with it"])
        if self.engine == KERNEL and not self.virtual:
            raise UserError(
                Option("engine"), ["found kernel without ", Option("virtual"), "; accepted: live, or with it"]
            )
        of_trace = {"trace_at": self.trace_at, "trace_snap": self.trace_snap}
        if self.trace is None and (name := next((name for name, value in of_trace.items() if value), None)):
            raise UserError(Option(name), "found without --trace; accepted: with --trace FILE.pcapng")
        if self.trace is not None and self.record is not None and output.are_same(self.trace, self.record):
            raise UserError(Option("record", self.record), "found the file of --trace; accepted: another one")
