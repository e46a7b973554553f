"""What ``goodqueue validate same-packets`` asks."""

from collections.abc import Mapping, Sequence
from typing import Any

from goodqueue.ask import shared
from goodqueue.ask.fields import argument, scenario_options
from goodqueue.ask.question import Question, Work, question
from goodqueue.ask.readers import SCENARIO, Source


@question
class SamePackets(Question):
    """Run a scenario on the simulator and on Linux, and find the first packet that differs.

    Examples:
      goodqueue validate same-packets one-flow.toml --kernel 7.3
      goodqueue validate same-packets one-flow.toml --kernel 6.1 --qdisc codel --set traffic.0.cc=reno
      goodqueue validate same-packets one-flow.toml --kernel 7.3 --out difference

    Packets are compared where they arrive at the bottleneck's queues, and where they leave them. Two packets are the
    same if sequence number, payload, flags, ACK, SACK blocks and ECN bits are the same, in the same order, and if their
    arrivals are at most 2 µs apart. The answer has the packets around the difference, and the state of each sender just
    before it: both runs are made a second time for that. It needs Linux as a process, whose computing takes no time
    (`goodqueue kernel image --machine process`). The status is 1 if the runs differ.
    """

    verb = "validate same-packets"
    report = "Write the tables, the figure and the data."

    scenario: Source = argument("SCENARIO.toml", "The scenario file.", reader=SCENARIO)
    kernel: str | None = shared.kernel()
    described: dict[str, Any] = scenario_options(seed="the file's", qdisc="the file's", up_qdisc="the file's")
    keys: Sequence[str] | Mapping[str, Any] = shared.keys()

    def work(self) -> Work:
        """Return both runs and their comparison. Raises UserError."""
        from goodqueue import capture, engines
        from goodqueue.scenario import asked
        from goodqueue.validation.packets import answer, runs

        on = engines.parse("sim,kernel", linux=self.kernel, machine_name="process")
        base, _ = asked.base(self.scenario, self.described, self.keys)
        resolved = runs.resolved(base, self.kernel)
        for name in on:
            engines.check(name, resolved)
        capture.check(resolved, ())
        return Work(
            "both runs", lambda progress, _: answer.of(shared.name_of(self.scenario), base, self.kernel, on, progress)
        )
