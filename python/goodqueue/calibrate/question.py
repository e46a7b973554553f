"""What ``goodqueue calibrate`` asks."""

from typing import TYPE_CHECKING

from goodqueue import options
from goodqueue.ask import shared
from goodqueue.ask.fields import flag, option
from goodqueue.ask.question import Question, Work, question
from goodqueue.ask.readers import TEXTS, whole
from goodqueue.errors import UserError, warn

if TYPE_CHECKING:
    from goodqueue.running import Progress
    from goodqueue.show.answer import Answer


@question
class Calibrate(Question):
    """Measure how far measuring programs are from the queue.

    Examples:
      goodqueue calibrate --quick
      goodqueue calibrate --store runs --out calibration --repeats 2
      goodqueue calibrate --only iperf3 --only fq_codel --store runs
      goodqueue calibrate --only 10mbit-20ms/pfifo --json

    iperf3, irtt, ping, Flent and mach run over `goodqueue link`, on 30 paths under each of five disciplines. The record
    of the link has the truth: each packet's delay in the queue, each drop, each flow's goodput. A table per program has
    the bias of each of its numbers, the interval of that bias, and the spread. A program that is not installed is left
    out, in one line that says how to get it. With --store the same command continues a calibration that was ended, and
    measures no run twice, unless the machine was busy. --out needs --store beside it. A repeat of all takes an hour
    with one worker. As root the links and the programs take precedence over all others.
    """

    verb = "calibrate"
    report = "Write the tables and all numbers."
    needs_store = True
    opens_store = True

    quick: bool = flag("Four cells, shorter: a look, in a minute.")
    only: tuple[str, ...] = option(
        "WORD", "A program, path, line or PATH/LINE: iperf3, 5mbit-20ms, codel; repeatable.", reader=TEXTS
    )
    repeats: int | None = option("N", "How often each cell is measured.", reader=whole(1, 100), otherwise="1")
    store: str | None = shared.store()
    workers: int | None = option(
        "N", "Links that run at the same time.", reader=whole(*options.BOUNDS["workers"]), otherwise="1"
    )

    def work(self) -> Work:
        """Return the runs of the programs that are installed. Raises UserError."""
        from goodqueue import engines

        engines.need_linux(self.verb)

        from goodqueue.calibrate import answer, cells, keeping, pages, programs, running
        from goodqueue.files import temporary

        plan = cells.load(self.quick)
        chosen, names = cells.pick(plan, self.only, [one.name for one in programs.PROGRAMS])
        there = running.installed(programs.wanted(names), warn)
        if not there:
            raise UserError(self.verb, "found none of its programs; accepted: one at least")
        kept = keeping.Kept(self.store) if self.store is not None else None
        versions = {one.name: one.version_in_words() for one in there}
        wanted = running.runs(plan, chosen, there, versions, self.repeats or 1)

        def carry_out(progress: "Progress", _: object) -> "Answer":
            with temporary.folder() as nowhere:
                keeps = kept or keeping.Kept(str(nowhere))
                results = running.carry_out(plan, wanted, keeps, self.workers or 1, progress)
            return answer.of(pages.Calibration(results, there, versions, pages.machine(plan)))

        return Work(f"{len(wanted)} runs over {len(chosen)} cells", carry_out)
