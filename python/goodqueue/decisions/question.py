"""What ``goodqueue replay`` and ``goodqueue record`` ask."""

from goodqueue.ask import shared
from goodqueue.ask.fields import argument, flag, option
from goodqueue.ask.question import Question, Work, question
from goodqueue.ask.readers import NUMBER, PATH, PATHS, whole


@question
class Replay(Question):
    """Replay decision traces and compare every decision.

    A decision trace holds each call of a qdisc, and what the qdisc decided. goodqueue's qdisc gets the same calls and
    must decide the same, packet by packet. The exit status is 1 if a trace does not match, or if no trace could be
    replayed. A trace that could not be replayed is listed, and does not count as passed.

    For a mismatch the command shows the line, both decisions and both inner states. To check your own implementation,
    let it write a trace: golden/README.md says how.

    Examples:
      goodqueue replay                              # all that come with goodqueue
      goodqueue replay golden/codel golden/fq_codel
      goodqueue replay golden/pie --release 7.3     # what one release recorded, by the law of another
      goodqueue replay my-trace.csv.gz --json
    """

    verb = "replay"

    traces: tuple[str, ...] = argument(
        "TRACE|FOLDER...",
        ".csv, .csv.gz, or folders of them.",
        reader=PATHS,
        is_optional=True,
        otherwise="goodqueue's own traces",
    )
    release: str | None = option(
        "RELEASE", "The Linux release whose law decides.", otherwise="that of the trace's kernel, or 6.1"
    )
    workers: int | None = shared.workers()

    def work(self) -> Work:
        """Return the replay of all traces. Raises UserError."""
        from goodqueue.decisions import answer, replay

        found = replay.find(self.traces or [replay.GOLDEN])
        return Work(
            f"{len(found)} traces",
            lambda progress, _: answer.of_replay(replay.replay(found, self.release, self.workers, progress)),
        )


@question
class Record(Question):
    """Record a qdisc's decisions, packet by packet.

    The trace tests another implementation. It has the format of the kernel's traces (golden/README.md): each call, each
    decision, each random number, each tick of a timer. The same options give the same bytes. If the kernel lacks the
    qdisc, as with `pie variant rfc8033`, the header has goodqueue's line.

    \b
    Patterns:
      steady  gaps uniform around their mean
      burst   1 to 50 packets of one flow at the same moment, then a gap
      onoff   twice the load for 250 ms, nothing for 250 ms
      saw     the load climbs from 0 to twice its mean within a second, again and again
      aimd    flows with windows that answer drops and marks, 50 ms base RTT; --load has no effect

    Examples:
      goodqueue record "codel target 5ms" --out codel.csv.gz
      goodqueue record "fq_codel flows 64 limit 200" --pattern burst --flows 100 --sizes mix --out burst.csv.gz
      goodqueue record "pie ecn" --pattern aimd --ecn ect0 --packets 20000 --seed 7 --out pie.csv.gz
      goodqueue replay codel.csv.gz
    """

    verb = "record"

    qdisc: str = argument("QDISC", 'A qdisc\'s tc line, as "codel target 5ms".', completes="qdisc")
    out: str = option("FILE", "The trace: a new .csv or .csv.gz.", reader=PATH, is_required=True)
    pattern: str = option("WORD", "How packets arrive; see above.", "steady")
    load: float = option("X", "Packets offered, as a multiple of the rate.", 1.1, reader=NUMBER)
    rate: str = option("RATE", "The link's rate.", "10mbit")
    packets: int = option("N", "Number of packets that arrive.", 5000, reader=whole(1))
    sizes: str = option("BYTES|mix", "mix: half 1514, a quarter 64.", "1514")
    flows: int = option("N", "Number of flows.", 10, reader=whole(1))
    ecn: str = option("none|ect0|ect1|mix", "Codepoints; mix: all four.", "none")
    seed: int = option("N", "Seed of the draws.", 1, reader=whole(0, 2**64 - 1))
    force: bool = flag(shared.FORCE)

    def work(self) -> Work:
        """Return the recording. Raises UserError."""
        from goodqueue.decisions import answer, recording

        recording.check(self)
        return Work(f"{self.packets} packets", lambda *_: answer.of_record(self.out, recording.record(self)))
