"""Writes the tables of docs/results/same-packets.md, and `cells.csv` in this folder, from what the commands wrote.

The folder has `before.csv` (packets that agreed before TCP was mended), `causes.csv` (what was found of a difference),
and for each release of Linux `matrix-RELEASE.csv` and `linux-RELEASE.csv.gz`, the files `matrix.csv` and `linux.csv.gz`
of ``goodqueue validate same-packets --kernel RELEASE --out DIR``. `drawn-RELEASE.csv` is `drawn.csv` of ``goodqueue
validate drawn N --kernel RELEASE --out DIR``.
"""

import csv
from collections.abc import Iterator
from pathlib import Path

from experiments import kept
from goodqueue.engines.releases import RELEASES
from goodqueue.show import markdown
from goodqueue.validation.packets import drawn_answer, matrix

HERE = Path(__file__).parent
PAGE, FILE = kept.PAGES / "same-packets.md", HERE / "cells.csv"
COLUMNS = ("release", "cell", "before", "agreeing", "packets", "at_s", "point", "packet", "what", "cause")


def rows(name: str) -> list[dict[str, str]]:
    """Return the rows of a file in this folder; none if there is no such file."""
    path = HERE / name
    if not path.exists():
        return []
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def joined() -> Iterator[dict[str, str]]:
    """Yield each cell of each release, with what was before and the cause."""
    before = {(row["release"], row["cell"]): row["agreeing"] for row in rows("before.csv")}
    causes = {(row["release"], row["cell"]): row["cause"] for row in rows("causes.csv")}
    for release in RELEASES:
        for row in rows(f"matrix-{release}.csv"):
            key = release, row["cell"]
            cause = "" if not row["at_s"] else causes.get(key, "")
            yield {**row, "release": release, "before": before.get(key, ""), "cause": cause}


def cells_table(found: list[dict[str, str]]) -> Iterator[str]:
    """Yield the lines of the table of cells."""
    releases = [release for release in RELEASES if any(row["release"] == release for row in found)]
    heads = [f"{release} {what}" for release in releases for what in ("before", "now", "of")]
    yield f"| cell | {' | '.join(heads)} |"
    yield f"| --- {'| ---: ' * len(heads)}|"
    by_cell = {(row["release"], row["cell"]): row for row in found}
    for cell in matrix.cells(list(RELEASES)[-1]):
        numbers = []
        for release in releases:
            row = by_cell.get((release, cell.name))
            if row is None:
                numbers += ["–"] * 3
            else:
                now = row["agreeing"] if row["at_s"] else f"**{row['agreeing']}**"
                numbers += [row["before"] or "–", now, row["packets"]]
        yield f"| {cell.name} | {' | '.join(numbers)} |"


def causes_table(found: list[dict[str, str]]) -> Iterator[str]:
    """Yield the lines of the list of differences that remain."""
    yield "| Linux | cell | packet | at s | differs in | cause |"
    yield "| --- | --- | --- | ---: | --- | --- |"
    for row in found:
        if row["at_s"]:
            packet = f"{row['packet']} of {row['point']}"
            yield f"| {row['release']} | {row['cell']} | {packet} | {row['at_s']} | {row['what']} | {row['cause']} |"


def drawn_tables() -> Iterator[str]:
    """Yield the lines about the runs that were drawn at random."""
    for release in RELEASES:
        file = HERE / f"drawn-{release}.csv"
        if file.exists():
            drawn = drawn_answer.read(file)
            yield f"### Linux {release}, {len(drawn)} runs"
            yield from ("", " ".join(drawn_answer.sentences(drawn)), "")
            for table in drawn_answer.tables(drawn):
                yield from (f"*{table.title}*", "", *markdown.table(table).splitlines(), "")


def main() -> None:
    """Write the page and the file."""
    found = list(joined())
    with FILE.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(found)
    lines = ["## Packets until the first difference", "", *cells_table(found), ""]
    lines += ["## What remains", "", *causes_table(found), ""]
    lines += ["## Whole runs drawn at random", "", *drawn_tables()]
    kept.below(PAGE, HERE, lines)


if __name__ == "__main__":
    main()
