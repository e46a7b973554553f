"""What ``goodqueue validate`` and ``goodqueue validate lines`` ask. Other rooms have its further questions."""

from typing import TYPE_CHECKING

from goodqueue.ask import shared
from goodqueue.ask.fields import argument, flag, option
from goodqueue.ask.question import Question, Work, question
from goodqueue.ask.readers import PATH, TEXTS, whole
from goodqueue.errors import Option, UserError
from goodqueue.validation.packets.drawn_question import DrawnRuns
from goodqueue.validation.packets.question import SamePackets
from goodqueue.validation.trees.question import Trees

if TYPE_CHECKING:
    from collections.abc import Sequence

    from goodqueue.validation.cells import Set


@question
class Lines(Question):
    """Compare how goodqueue reads lines of tc with how tc reads them.

    The lines are made at random, and the tc of the kernel engine's machine reads them. The answer lists where goodqueue
    refuses another line, or understands another value.
    """

    verb = "validate lines"

    lines: int = argument("N", "Lines of tc to compare.", reader=whole(1, 200_000))
    draw_seed: int = option("S", "Which lines are drawn.", 1, reader=whole(1))
    kernel: str | None = shared.kernel()

    def work(self) -> Work:
        """Return the comparison of all lines. Raises UserError."""
        from threading import Event

        _machine(self.kernel)

        from goodqueue.validation import answer, lines

        return Work(
            f"{self.lines} lines, each read by tc",
            lambda progress, _: answer.of_lines(
                lines.as_json(
                    *lines.compare(self.lines, self.draw_seed, progress, Event(), self.kernel),
                    self.lines,
                    self.draw_seed,
                )
            ),
        )


@question
class Validate(Question):
    """Compare the simulator with Linux on a set of scenarios.

    Examples:
      goodqueue validate --quick
      goodqueue validate --store runs --out validation
      goodqueue validate --only fq_codel --only rtt=200ms --seeds 5 --store runs
      goodqueue validate --drawn 33 --draw-seed 3 --store runs --out drawn
      goodqueue validate lines 2000 --json
      goodqueue validate --drawn 33 --kernel 7.3
      goodqueue validate --again validation/results.json --store runs --out after

    The base scenario (10 Mbit/s, 50 ms, 4 CUBIC flows) runs under each of pfifo, red, pie, codel, sfq and fq_codel.
    Every other scenario changes one thing: flows, cc, rate, rtt, ecn, loaded. Bursts, transfers and paths with other
    hops come in addition. The whole set takes hours on the kernel. --drawn runs another set, for which the model was
    not made: 1 to 50 Mbit/s, 5 to 200 ms, 1 to 8 flows of CUBIC, Reno and BBR, and also the qdiscs cake, fq_pie and
    choke. The number in brackets is what chance alone gives: the simulator against itself with other seeds. With
    --store the same command continues a validation that was interrupted, and repeats no run. --out needs --store beside
    it. --kernel compares with another release of Linux; the simulator's TCP is then that release's. --again takes the
    cells, the seeds and the kernel's numbers of an earlier validation: it takes minutes, and shows what a change of the
    simulator does.
    """

    verb = "validate"
    further = (Lines, SamePackets, DrawnRuns, Trees)
    report = "Write the tables, figures and all numbers."
    needs_store = True

    quick: bool = flag("Eight cells, shorter, one seed: a look.")
    only: tuple[str, ...] = option(
        "ID", "QDISC, CHANGE or QDISC/CHANGE: codel, rtt=10ms, codel/base; repeatable.", reader=TEXTS
    )
    drawn: int | None = option("N", "N scenarios drawn at random instead.", reader=whole(1, 1000))
    draw_seed: int | None = option("S", "Which ones are drawn, with --drawn.", reader=whole(1), otherwise="1")
    again: str | None = option(
        "FILE", "A results.json: only the simulator runs, beside the kernel's numbers there.", reader=PATH
    )
    seeds: int | None = shared.seeds(None, "Seeds per cell.", "3")
    kernel: str | None = shared.kernel()
    machine: str | None = shared.machine()
    store: str | None = shared.store()
    workers: int | None = shared.workers()

    def work(self) -> Work:
        """Return the runs of all cells on both engines, or on the simulator alone. Raises UserError."""
        on = _machine(self.kernel, self.machine)

        from goodqueue.validation import again, answer, runs

        if self.again is not None:
            if any((self.quick, self.only, self.drawn, self.draw_seed, self.seeds, self.kernel, self.machine)):
                accepted = "accepted: alone, as its file says it"
                raise UserError(Option("again"), f"found with a choice of cells, seeds, kernel or machine; {accepted}")
            earlier = again.read(self.again)
            wanted = again.cells_of(earlier, self.again)
            return Work(
                _shape(wanted),
                lambda progress, store: answer.of(runs.carry_out_again(earlier, wanted, store, self.workers, progress)),
            )
        chosen = self._chosen()
        runs.check(chosen, on)
        return Work(
            f"{_shape(chosen)} engines",
            lambda progress, store: answer.of(runs.carry_out(chosen, store, self.workers, progress, on)),
        )

    def _chosen(self) -> "Set":
        """Return the set that is asked for. Raises UserError."""
        from goodqueue.validation import cells, drawing

        if self.drawn is not None and self.quick:
            raise UserError(Option("quick"), "found with --drawn; accepted: one of them")
        if self.drawn is None and self.draw_seed is not None:
            raise UserError(Option("draw_seed"), "found without --drawn; accepted: with --drawn N")
        if self.drawn is not None:
            chosen = drawing.load(cells.Draw(self.drawn, self.draw_seed or 1), self.only, self.seeds)
        else:
            chosen = cells.load(self.quick, self.only, self.seeds)
        return cells.on_release(chosen, self.kernel) if self.kernel is not None else chosen


def _machine(kernel: str | None, machine: str | None = None) -> "Sequence[str]":
    """Return the engines that are compared: the simulator, and Linux of the release ``kernel`` in ``machine``.

    Raises UserError if none can run here.
    """
    from goodqueue import engines
    from goodqueue.engines import releases

    engines.need_linux(Validate.verb)
    if kernel is not None:
        releases.parse(kernel, Option("kernel"), several=False)
    return engines.parse("sim,kernel", linux=kernel, machine_name=machine)


def _shape(cells: "Set") -> str:
    return f"{len(cells.cells)} cells x {len(cells.seeds)} seeds x 2"
