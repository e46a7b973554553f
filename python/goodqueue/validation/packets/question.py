"""What ``goodqueue validate same-packets`` asks."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from goodqueue.ask import shared
from goodqueue.ask.fields import argument, option, scenario_options
from goodqueue.ask.question import Question, Work, question
from goodqueue.ask.readers import SCENARIO, TEXTS, Source
from goodqueue.errors import Option, UserError

if TYPE_CHECKING:
    from goodqueue.record import Scenario
    from goodqueue.validation.packets import matrix


@question
class SamePackets(Question):
    """Run a scenario on the simulator and on Linux, and find the first packet that differs.

    Examples:
      goodqueue validate same-packets one-flow.toml --kernel 7.3
      goodqueue validate same-packets one-flow.toml --kernel 6.1 --qdisc codel --set traffic.0.cc=reno
      goodqueue validate same-packets one-flow.toml --kernel 7.3 --out difference
      goodqueue validate same-packets --kernel 7.3 --store packets --out matrix
      goodqueue validate same-packets --kernel 7.3 --only reno --only "jitter at a router"

    Packets are compared where they arrive at the bottleneck's queues, and where they leave them. Two packets are the
    same if sequence number, payload, flags, ACK, SACK blocks and ECN bits are the same, in the same order, and if their
    arrivals are at most 2 µs apart. The answer has the packets around the difference, and the state of each sender just
    before it: both runs are made a second time for that.

    Without a scenario the cells of a matrix are compared: Reno and CUBIC, alone and in fours, through seven
    disciplines, and one case each of short transfers, both directions, delayed ACKs, lost tails, timeouts, pacing, BBR,
    DCTCP, AccECN and reordering. --store keeps Linux's runs, so that only the simulator runs again after a change.

    It needs Linux as a process, whose computing takes no time (`goodqueue kernel image --machine process`). The status
    is 1 if runs differ.
    """

    verb = "validate same-packets"
    report = "Write the tables, the figure and the data."
    opens_store = True

    scenario: Source | None = argument(
        "SCENARIO.toml", "The scenario file; without it, the matrix.", reader=SCENARIO, is_optional=True
    )
    kernel: str | None = shared.kernel()
    described: dict[str, Any] = scenario_options(seed="the file's", qdisc="the file's", up_qdisc="the file's")
    keys: Sequence[str] | Mapping[str, Any] = shared.keys()
    only: tuple[str, ...] = option("TEXT", "Cells of the matrix with TEXT in their names; repeatable.", reader=TEXTS)
    store: str | None = shared.store()
    workers: int | None = shared.workers()

    def work(self) -> Work:
        """Return the runs and their comparison. Raises UserError."""
        from goodqueue import engines
        from goodqueue.scenario import asked
        from goodqueue.validation.packets import answer, matrix_answer

        engines.need_linux(self.verb)
        on = engines.parse("sim,kernel", linux=self.kernel, machine_name="process")
        folder = None if self.store is None else Path(self.store)
        if self.scenario is None:
            cells = self._cells()
            for cell in cells:
                self._check(cell.scenario, on)
            return Work(
                f"{len(cells)} cells x 2 engines",
                lambda progress, _: matrix_answer.of(cells, self.kernel, on, progress, folder, self.workers),
            )
        if self.only:
            raise UserError(Option("only"), "found with a scenario; accepted: without, for cells of the matrix")
        base, _ = asked.base(self.scenario, self.described, self.keys)
        self._check(base, on)
        name = shared.name_of(self.scenario)
        return Work("both runs", lambda progress, _: answer.of(name, base, self.kernel, on, progress, folder))

    def _cells(self) -> "Sequence[matrix.Cell]":
        """Return the cells that are asked for. Raises UserError."""
        from goodqueue.validation.packets import matrix

        if any(self.described.values()) or self.keys:
            raise UserError(self.verb, "found a change of a scenario without one; accepted: SCENARIO.toml")
        every = matrix.cells(self.kernel)
        chosen = [cell for cell in every if not self.only or any(text in cell.name for text in self.only)]
        if not chosen:
            names = "; ".join(cell.name for cell in every)
            raise UserError(Option("only"), f"found in no cell's name; accepted: a part of one of these: {names}")
        return chosen

    def _check(self, scenario: "Scenario", on: Sequence[str]) -> None:
        """Refuse a scenario that one of the engines cannot run. Raises UserError."""
        from goodqueue import engines
        from goodqueue.validation.packets import runs

        resolved = runs.resolved(scenario, self.kernel)
        for name in on:
            engines.check(name, resolved)
