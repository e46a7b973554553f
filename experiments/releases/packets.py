"""Finds the first packet that differs between releases of Linux: ``.venv/bin/python -m experiments.releases.packets``.

``6.1 6.12 7.3 --store DIR`` runs the cells of ``validate same-packets`` and the cases of `packets.toml` on each release
as a process, and compares each release with the next one. ``--only TEXT`` takes the cells with TEXT in their names.
The draws, the clock and the phase of timers are the same on all releases, so what differs is Linux. Writes
`packets.csv`, and with `behaviours.csv`, which says what was found of each difference, the table of
docs/results/release-packets.md.
"""

import argparse
import csv
import threading
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

from experiments import kept
from goodqueue import engines
from goodqueue.engines.releases import RELEASES
from goodqueue.scenario import seconds
from goodqueue.show import terminal
from goodqueue.validation.packets import answer, captured, differing, matrix, runs
from goodqueue.validation.packets.captured import Captured
from goodqueue.validation.packets.matrix import Cell
from goodqueue.validation.packets.reading import Seen

HERE = Path(__file__).parent
PAGE, FILE, BEHAVIOURS = kept.PAGES / "release-packets.md", HERE / "packets.csv", HERE / "behaviours.csv"
COLUMNS = ("cell", "older", "newer", "agreeing", "packets", "at_s", "point", "packet", "what", "was", "is", "window")

Row = dict[str, str]


def cells(release: str) -> list[Cell]:
    """Return the cells that ``release`` can run: those of the matrix, and those of this experiment."""
    cases = tomllib.loads((HERE / "packets.toml").read_text(encoding="utf-8"))["case"]
    return matrix.cells(release) + [Cell(case["name"], case["scenario"]) for case in cases]


def seen(run: Captured, first: Captured, end_ns: int) -> Mapping[str, Seen]:
    """Return the packets of ``run`` until ``end_ns``, with the connections' numbers that ``first`` has."""
    numbers = {number: first.flows.number(pair, nth) for (pair, nth), number in run.flows.numbers.items()}
    found = {}
    for point, packets in run.seen.items():
        content = packets.content.copy()
        content[:, 0] = [numbers[number] for number in content[:, 0].tolist()]
        found[point] = replace(packets, content=content).until(end_ns)
    return found


def compare(cell: Cell, releases: tuple[str, str], both: tuple[Captured, Captured]) -> Row:
    """Return the line of a cell on two releases."""
    end_ns = round(seconds(runs.resolved(cell.scenario, releases[0])["duration"]) * 1e9)
    first, second = (seen(run, both[0], end_ns) for run in both)
    comparison = differing.compare(first, second, end_ns)
    row = dict.fromkeys(COLUMNS, "") | {"cell": cell.name, "older": releases[0], "newer": releases[1]}
    row |= {"agreeing": str(comparison.agreeing), "packets": str(comparison.packets[1])}
    difference, window = comparison.difference, differing.first_window(first, second)
    if difference is not None:
        at, place = difference.point, difference.place
        was, now = (text(side[at], place) for side in (first, second))
        row |= {"at_s": f"{difference.time_ns / 1e9:.6f}", "point": at, "packet": str(place + 1)}
        row |= {"what": difference.what, "was": was, "is": now}
    if window is not None:
        at, place = window
        packets = [side[at].packet(place) for side in (first, second)]
        if difference is None or packets[0].time_ns < difference.time_ns:
            row["window"] = f"{packets[0].window} and {packets[1].window} from packet {place + 1} of {at} on"
    return row


def text(packets: Seen, place: int) -> str:
    """Return a packet in short, as tcpdump writes it."""
    if place >= len(packets):
        return "none"
    packet = packets.packet(place)
    words = [f"{packet.time_ns / 1e9:.6f} s, flow {packet.flow}: {answer.flags(packet.flags)}"]
    words += [f"seq {packet.seq}:{packet.seq + packet.length}" if packet.length else f"ACK {packet.ack}"]
    words += [f"SACK {' '.join(f'{start}-{end}' for start, end in packet.sack)}"] * bool(packet.sack)
    return " ".join(words)


def rows(releases: Sequence[str], only: Sequence[str], store: Path) -> Iterator[Row]:
    """Run the cells, and yield a line for each cell and each two releases."""
    listed = {release: {cell.name: cell for cell in cells(release)} for release in releases}
    for name in listed[releases[-1]]:
        if only and not any(word in name for word in only):
            continue
        made: dict[str, Captured] = {}
        with terminal.progress(name) as progress:
            for release in (release for release in releases if name in listed[release]):
                (engine,) = engines.parse("kernel", linux=release, machine_name="process")
                scenario = runs.resolved(listed[release][name].scenario, release)
                made[release] = captured.kept(engine, scenario, store, progress, threading.Event())
        for older, newer in pairwise(made):
            yield compare(listed[older][name], (older, newer), (made[older], made[newer]))


def table(found: Sequence[Row]) -> Iterator[str]:
    """Yield the lines of the page: each behaviour with the packet where it shows, and all cells."""
    by_key = {(row["cell"], row["older"], row["newer"]): row for row in found}
    yield from ("## What changed, and where it shows", "")
    with BEHAVIOURS.open(encoding="utf-8", newline="") as file:
        for known in csv.DictReader(file):
            row = by_key.get((known["cell"], known["older"], known["newer"]))
            if row is None:
                continue
            yield f"**{known['behaviour']}** Since Linux {known['since']}, `{known['function']}`. It shows in"
            yield f"*{row['cell']}*:"
            yield ""
            if row["at_s"]:
                yield f"- packet {row['packet']} of {row['point']}, {row['what']}. {row['older']}: {row['was']}"
                yield f"- {row['newer']}: {row['is']}"
            if row["window"]:
                yield f"- the offered window: {row['window']}"
            yield ""
    yield from ("## All cells", "", "Packets until the first difference, of all that the newer release sent.", "")
    yield from ("| cell | releases | agree | of | at s | differs in |", "| --- | --- | ---: | ---: | ---: | --- |")
    for row in found:
        releases = f"{row['older']}, {row['newer']}"
        what = row["what"] or ("the offered window alone" if row["window"] else "equal")
        words = [row["cell"], releases, row["agreeing"], row["packets"], row["at_s"] or "–", what]
        yield f"| {' | '.join(words)} |"


def main() -> None:
    """Compare the releases that the command names, print each line, and write the file and the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("release", nargs="*", help="at least two, from the oldest; none: write the page alone")
    parser.add_argument("--only", action="append", default=[], metavar="TEXT")
    parser.add_argument("--store", type=Path)
    asked = parser.parse_args()
    old: list[Row] = []
    if FILE.exists():
        with FILE.open(encoding="utf-8", newline="") as file:
            old = list(csv.DictReader(file))
    by_key = {(row["cell"], row["older"], row["newer"]): row for row in old}
    if asked.release:
        for row in rows(asked.release, asked.only, asked.store):
            by_key[row["cell"], row["older"], row["newer"]] = row
            print("; ".join(f"{key} {value}" for key, value in row.items() if value), flush=True)
    order = [cell.name for cell in cells("7.3")]
    found = sorted(by_key.values(), key=lambda row: (order.index(row["cell"]), list(RELEASES).index(row["newer"])))
    with FILE.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(found)
    kept.below(PAGE, HERE, list(table(found)))


if __name__ == "__main__":
    main()
