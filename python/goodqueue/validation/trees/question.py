"""What ``goodqueue validate trees`` asks."""

from goodqueue.ask import shared
from goodqueue.ask.fields import argument, flag, option
from goodqueue.ask.question import Question, Work, question
from goodqueue.ask.readers import whole
from goodqueue.errors import UserError


@question
class Trees(Question):
    """Compare trees of tc commands with Linux, packet by packet.

    Examples:
      goodqueue validate trees 100 --kernel 7.3
      goodqueue validate trees 2000 --seed 7 --kernel 6.1 --store answers
      goodqueue validate trees 100 --seed 7 --kernel 6.1 --shrink --json

    Trees, filters and the packets that come are drawn at random. Linux runs as a process, in virtual time, with the tc
    of its release, and each discipline here runs by its own timers. Every packet that leaves must be the same one, at
    the same nanosecond, with the same codepoints; the others were dropped. Random numbers are the same in both. The
    exit status is 1 if a tree differs. With --store the same command continues where it was interrupted, and Linux is
    not asked again after a change of the simulator. --shrink looks for the smallest tree that still differs.
    """

    verb = "validate trees"
    opens_store = True

    trees: int = argument("N", "Trees to draw.", reader=whole(1, 1_000_000))
    seed: int = option("S", "Seed of the draws.", 1, reader=whole(0))
    shrink: bool = flag("Make the first three trees that differ small.")
    kernel: str | None = shared.kernel()
    store: str | None = shared.store()

    def work(self) -> Work:
        """Return the comparison of all trees. Raises UserError."""
        from pathlib import Path
        from threading import Event

        from goodqueue import engines

        engines.need_linux(self.verb)
        from goodqueue.engines.kernel import process_build
        from goodqueue.validation.trees import answer, running

        if (lacking := process_build.why_not(self.kernel)) is not None:
            raise UserError(self.verb, f"Linux as a process: {lacking}")
        store = Path(self.store) if self.store is not None else None
        stop = Event()
        return Work(
            f"{self.trees} trees of seed {self.seed}",
            lambda progress, _: answer.of(
                running.carry_out(self.trees, self.seed, self.kernel, store, progress, stop), self.shrink
            ),
        )
