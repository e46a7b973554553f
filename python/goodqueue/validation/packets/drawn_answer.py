"""The answer of ``validate drawn``: how many runs are equal to the end, and how far their numbers are apart."""

import csv
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from goodqueue.show.answer import Answer, Findings
from goodqueue.show.table import Column, Table, number
from goodqueue.validation.packets import kept, many
from goodqueue.validation.packets.drawn import METRICS, Run, middle, ninth
from goodqueue.validation.packets.many import Row
from goodqueue.validation.packets.matrix_answer import LINUX

TABLE = "drawn.csv"
SIDES = ("simulator", "linux", "linux_other_seed")
OUTLIERS, AT_LEAST = 10, 0.1
"""How many outliers are listed, and how far off in mean delay a run is that counts as one."""


def of(drawn: Sequence[Run], seed: int, on: Sequence[str]) -> Answer:
    """Return the answer."""
    rows = list(_rows(drawn))
    return Answer(
        "Whole runs drawn at random",
        [Findings(list(sentences(drawn))), *tables(drawn)],
        lambda: {"engines": list(on), "seed": seed, "equal": sum(run.row.is_equal for run in drawn), "runs": rows},
        drawn,
        made_files=lambda: {
            TABLE: many.text(rows),
            LINUX: kept.write({run.row.cell: run.blocks for run in drawn}),
        },
        beside=(TABLE, LINUX),
    )


def read(file: Path) -> list[Run]:
    """Return the runs in ``file``, which is `TABLE` of an earlier answer."""
    with file.open(encoding="utf-8", newline="") as text:
        return [_run(row) for row in csv.DictReader(text)]


def _run(row: Mapping[str, str]) -> Run:
    at_s, packet = row["at_s"], row["packet"]
    line = Row(
        row["cell"],
        int(row["agreeing"]),
        int(row["packets"]),
        float(at_s) if at_s else None,
        row["point"] or None,
        int(packet) if packet else None,
        row["what"] or None,
    )
    texts = {metric.key: [row[f"{metric.key} {side}"] for side in SIDES] for metric in METRICS}
    return Run(line, {key: [float(text) if text else None for text in sides] for key, sides in texts.items()}, {})


def sentences(drawn: Sequence[Run]) -> Iterator[str]:
    """Yield what came out in a sentence or two."""
    equal = sum(run.row.is_equal for run in drawn)
    yield f"{equal} of {len(drawn)} runs are equal to the end ({100 * equal / len(drawn):.0f} %)."
    agreeing = middle([run.row.agreeing for run in drawn if not run.row.is_equal])
    if agreeing is not None:
        yield f"The others part after {agreeing:.0f} packets in the median."


def _rows(drawn: Sequence[Run]) -> Iterator[dict[str, Any]]:
    """Yield what the CSV file has of each run."""
    for run in drawn:
        values = {
            f"{metric.key} {side}": value
            for metric in METRICS
            for side, value in zip(SIDES, run.values[metric.key], strict=True)
        }
        yield {**many.as_rows([run.row])[0], **values}


def tables(drawn: Sequence[Run]) -> Iterator[Table]:
    """Yield the tables: the numbers, what is in the runs, and the outliers if there are some."""
    yield _numbers(drawn)
    yield _kinds(drawn)
    outliers = sorted((run for run in drawn if _beyond(run)), key=lambda run: -(run.off("delay_mean_ms") or 0))
    if outliers:
        yield _outliers(outliers[:OUTLIERS])


def _beyond(run: Run) -> bool:
    off, chance = run.off("delay_mean_ms"), run.chance("delay_mean_ms")
    return off is not None and off > max(AT_LEAST, chance or 0.0)


def _numbers(drawn: Sequence[Run]) -> Table:
    rows = []
    for metric in METRICS:
        off, chance = (
            [side(run) for run in drawn] for side in (partial(_off, metric.key), partial(_by_chance, metric.key))
        )
        rows.append([metric.label, *(_percent(each(values)) for values in (off, chance) for each in (middle, ninth))])
    headings = ("number", "off, median %", "off, 90th %", "by chance, median %", "by chance, 90th %")
    notes = [
        "Off: the simulator beside Linux. By chance: Linux beside itself with another seed. 100 times |ln(a / b)|."
    ]
    return Table("How far the numbers are apart", [Column(name, name != "number") for name in headings], rows, notes)


def _off(key: str, run: Run) -> float | None:
    return run.off(key)


def _by_chance(key: str, run: Run) -> float | None:
    return run.chance(key)


def kinds(run: Run) -> list[str]:
    """Return what is in a run, by the words of its name without numbers of flows: ``cubic``, ``hops``, ``tree``."""
    words = run.row.cell.partition(": ")[2].split(", ")[2:]
    return list(
        dict.fromkeys(
            word.lstrip("0123456789 ").split(" ")[0] if at == 0 else _kind(word) for at, word in enumerate(words)
        )
    )


def _kind(word: str) -> str:
    count, _, control = word.partition(" ")
    return control if count.isdigit() else word


def _kinds(drawn: Sequence[Run]) -> Table:
    by_kind: dict[str, list[Run]] = {}
    for run in drawn:
        for kind in kinds(run):
            by_kind.setdefault(kind, []).append(run)
    rows = []
    for kind, found in sorted(by_kind.items(), key=lambda item: (-len(item[1]), item[0])):
        equal, agreeing = sum(run.row.is_equal for run in found), middle([run.row.agreeing for run in found])
        row = [kind, str(len(found)), str(equal), f"{agreeing or 0:.0f}"]
        for metric in METRICS:
            row += [_both([side(metric.key, run) for run in found]) for side in (_off, _by_chance)]
        rows.append(row)
    headings = ["runs with", "runs", "equal", "packets, median"]
    headings += [f"{metric.label} {side} %" for metric in METRICS for side in ("off", "by chance")]
    notes = ["Median and, in parentheses, 90th percentile of the runs."]
    return Table("By what is in a run", [Column(name, name != "runs with") for name in headings], rows, notes)


def _both(values: Sequence[float | None]) -> str:
    """Return the median and the 90th percentile."""
    return f"{_percent(middle(values))} ({_percent(ninth(values))})"


def _outliers(drawn: Sequence[Run]) -> Table:
    rows = []
    for run in drawn:
        ours, linux, again = run.values["delay_mean_ms"]
        rows.append([run.row.cell, *(number(value, 2) for value in (ours, linux, again)), str(run.row.agreeing)])
    headings = ("run", "simulator ms", "Linux ms", "Linux, other seed", "packets")
    return Table(
        "Farthest off in mean delay, beyond what chance does there",
        [Column(name, name != "run") for name in headings],
        rows,
    )


def _percent(value: float | None) -> str:
    return number(None if value is None else 100 * value, 2)
