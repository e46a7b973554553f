"""What ``goodqueue validate drawn`` asks."""

from pathlib import Path

from goodqueue.ask import shared
from goodqueue.ask.fields import argument, option
from goodqueue.ask.question import Question, Work, question
from goodqueue.ask.readers import whole


@question
class DrawnRuns(Question):
    """Compare whole runs that are drawn at random with Linux, packet by packet.

    Examples:
      goodqueue validate drawn 20 --kernel 7.3
      goodqueue validate drawn 1000 --seed 7 --kernel 7.3 --store packets --out drawn

    Each run draws a rate (1 to 50 Mbit/s), an RTT (5 to 200 ms), a discipline or a tree of classes, congestion
    controls, ECN, pacing, both directions, transfers, requests, hops, a host with an interface, and a change of the
    rate. The answer says how many runs are equal to the end (`validate same-packets` says what equal means), and how
    far goodput, delays and drops are apart beside what chance does: Linux makes each run again with another seed. With
    --store the same command continues what was interrupted, and after a change only the simulator runs again.

    It needs Linux as a process (`goodqueue kernel image --machine process`).
    """

    verb = "validate drawn"
    report = "Write the tables and a line of each run."
    opens_store = True

    count: int = argument("N", "Runs to draw.", reader=whole(1, 100_000))
    seed: int = option("S", "Seed of the draws.", 1, reader=whole(1))
    kernel: str | None = shared.kernel()
    store: str | None = shared.store()
    workers: int | None = shared.workers()

    def work(self) -> Work:
        """Return the runs. Raises UserError."""
        from goodqueue import engines
        from goodqueue.validation.packets import drawing, drawn, drawn_answer

        engines.need_linux(self.verb)
        on = engines.parse("sim,kernel", linux=self.kernel, machine_name="process")
        folder = None if self.store is None else Path(self.store)
        cells = drawing.cells(self.count, self.seed, self.kernel, on)
        return Work(
            f"{self.count} runs x 3",
            lambda progress, _: drawn_answer.of(
                drawn.carry_out(cells, self.kernel, on, progress, folder, self.workers), self.seed, on
            ),
        )
