"""What ``goodqueue import`` and ``goodqueue export`` ask."""

from goodqueue.ask import shared
from goodqueue.ask.fields import argument, flag, option
from goodqueue.ask.question import Question, Work, question
from goodqueue.ask.readers import PATH, PATHS, whole


@question
class Import(Question):
    """Read measurements of a real network by Flent, irtt or iperf3.

    \b
    Examples:
      goodqueue import rrul-*.flent.gz
      irtt client -i 20ms -d 1m -o irtt.json.gz HOST; goodqueue import irtt.json.gz
      iperf3 -c HOST --json --bidir -P 2 > iperf.json; goodqueue import iperf.json
      goodqueue import real.flent.gz --scenario link.toml --json > real.json
      goodqueue run link.toml --json > sim.json; goodqueue report sim.json real.json
      goodqueue import real-*.flent.gz --scenario link.toml --set bottleneck.qdisc=fq_codel --store runs
      goodqueue plot ellipse runs --out ellipse.svg

    The content of a file says which program wrote it; the file may be compressed by gzip or bzip2. Each test becomes a
    record, whose engine is the program. The programs see the ends of the path: goodput, window and RTT of TCP, pings,
    calls, fetches of pages. A queue's fields stay empty, unless Flent asked tc for its statistics. A record of Flent's
    covers the time during which all TCP flows of the test ran. With --scenario the record says what the path was, and a
    report compares it with runs of the same scenario. Without --scenario the link is unknown. --json prints one record
    per line.
    """

    verb = "import"

    files: tuple[str, ...] = argument("FILE...", "Data files of Flent, or JSON of irtt or iperf3.", reader=PATHS)
    scenario: str | None = option("SCENARIO.toml", "What the path was like: link, qdisc, RTT, traffic.", reader=PATH)
    keys: tuple[str, ...] = shared.keys()
    seed: int = option(
        "N", "The seed that the first record gets. Each further one has the next.", 1, reader=whole(0, 2**62)
    )
    store: str | None = option("DIR", "Keeps each record, beside runs.", reader=PATH)

    def work(self) -> Work:
        """Return the records, to be kept in the store if there is one. Raises UserError."""
        from pathlib import Path

        from goodqueue import store as stores
        from goodqueue.engines import loads
        from goodqueue.errors import UserError
        from goodqueue.flent import answer, programs
        from goodqueue.record import Record

        if self.keys and self.scenario is None:
            raise UserError("--set", "found without --scenario; accepted: with --scenario SCENARIO.toml")
        resolved = None if self.scenario is None else loads.from_file(self.scenario, self.keys)
        if self.store is not None:
            stores.check(Path(self.store), f"--store {self.store}")
        records: list[Record] = []
        for file in self.files:
            records += programs.records(file, resolved, self.seed + len(records))
        return Work(f"{len(records)} records", lambda _, store: answer.of_import(self, records, store))


@question
class Export(Question):
    """Write stored runs as Flent's files, or subscribers as tables.

    \b
    Examples:
      goodqueue run link.toml --set series.interval=200ms --set series.tcp=true --json > record.json
      goodqueue export --flent record.json --out flent
      flent -i flent/*.flent.gz -p all_scaled -o plot.svg
      goodqueue sweep link.toml --set bottleneck.qdisc=pfifo,fq_codel --set series.interval=200ms --out store
      goodqueue export --flent store --out flent; flent -i flent/*.flent.gz -p box_combine
      goodqueue export --subscribers isp.json --out tables

    A run becomes the Flent test whose TCP flows without end (kind bulk) are nearest:

    \b
      rrul            four each way, with dscp CS0, CS1, CS5 and EF
      rrul_be         four each way, all best effort
      rrul_be_nflows  any others both ways
      tcp_nup, tcp_ndown  one way alone
      ping            none

    Pings become Flent's pings; the first one is its ICMP ping. The command leaves out what has no series in Flent, and
    names it. A run of the simulator without time series is run again with them, since it repeats to the byte. Other
    records need time series. Seeds become repeats of a test, which Flent's combining plots take together: see
    docs/guides/flent.md.
    """

    verb = "export"

    paths: tuple[str, ...] = argument("PATH...", "A store, a record in JSON, or a folder of compare.", reader=PATHS)
    out: str = option("DIR", "The folder for the files.", reader=PATH, is_required=True)
    flent: bool = flag("Write Flent's data files, *.flent.gz.")
    subscribers: bool = flag("Write Parquet tables: a row per subscriber, and one per node.")
    force: bool = flag(shared.FORCE)

    def work(self) -> Work:
        """Return the files, to be written. Raises UserError."""
        from goodqueue import extras
        from goodqueue.errors import UserError
        from goodqueue.files import inputs, output
        from goodqueue.flent import again, answer
        from goodqueue.store import results, subscribers

        if self.flent == self.subscribers:
            formats = "two formats" if self.flent else "no format"
            raise UserError("export", f"{formats}; accepted: --flent or --subscribers")
        output.check(self.out, self.force)
        with inputs.noted() as read:
            runs = results.records(self.paths)
        output.spare(self.out, read)
        if self.subscribers:
            extras.needed("pyarrow", "export --subscribers")
            subscribers.check(runs)
            return Work("tables", lambda *_: answer.of_subscribers(self, runs))
        count = len(again.lacking(runs))
        return Work(f"{count} runs again, with time series", lambda progress, _: answer.of_flent(self, runs, progress))
