"""Many flows of a kind in one row: the median of what each measured, the worst tenth, and Jain's index."""

from collections.abc import Iterator, Sequence
from typing import Any, cast

from goodqueue import traffic
from goodqueue._goodqueue import jain
from goodqueue.record import App, Record, dotted
from goodqueue.show import undone
from goodqueue.show.table import Column, Table, decimals, number, short

TENTH = "worst tenth: a tenth have this or worse"
"""The note on the column of that name."""


def median(values: Sequence[float]) -> float | None:
    """Return the median of ``values``, or None for no values."""
    import statistics  # which takes its time, as does its module of fractions

    return statistics.median(values) if values else None


def worst_tenth(values: Sequence[float], better: str) -> float | None:
    """Return the number that a tenth of ``values`` reach or are beyond, on the side that is not ``better``."""
    import statistics

    tenths = statistics.quantiles(values, n=10, method="inclusive") if len(values) > 1 else values
    return (tenths[0] if better == "high" else tenths[-1]) if tenths else None


def applications(kind: traffic.Kind, apps: Sequence[App], notes: Sequence[str]) -> Table:
    """Return one row for all of ``apps``, which are of one kind."""
    columns = [Column("kind", False), Column(kind.plural)]
    row = [kind.name, str(len(apps))]
    for heading, counts in undone.columns(apps):
        columns.append(Column(heading))
        row.append(str(sum(counts)))
    fairness: tuple[str, float | None] = ("", None)
    for heading, values, places, better in _measured_columns(kind, apps):
        columns += [Column(f"{heading}\nmedian"), Column("worst\ntenth")]
        row += [number(median(values), places), number(worst_tenth(values, better), places)]
        if not fairness[0]:
            fairness = heading, jain(values)
    columns.append(Column("Jain"))
    row.append(number(fairness[1], 3))
    title = f"{kind.plural[:1].upper()}{kind.plural[1:]} ({len(apps)})"
    jain_note = [f"{TENTH}; Jain's index of {fairness[0]}; --json shows each"]
    return Table(title, columns, [row], [*jain_note, *notes])


def summary(record: Record) -> Table:
    """Return one row per metric by which the kinds of applications are judged."""
    rows = []
    for kind in traffic.probes_first():
        apps = [app for app in record["apps"] if app["kind"] == kind.name]
        main = {measure.label for measure in kind.measures if measure.is_main}
        for measure, values in _values(kind, apps):
            if measure.label in main:
                tenth = worst_tenth(values, measure.better or "high")
                unit = "ms" if measure.sum == "share_of_time" else measure.unit
                rows.append(
                    {
                        "what": f"{measure.label} {unit}".rstrip(),
                        "of": f"{len(values)} {kind.plural}",
                        "median": short(median(values)),
                        "worst\ntenth": short(tenth),
                    }
                )
    return Table.of("Applications", rows, [TENTH], ("what", "of"), names=2)


def _values(kind: traffic.Kind, apps: Sequence[App]) -> Iterator[tuple[traffic.Measure, list[float]]]:
    """Yield each number that flows of the kind measure, with its values."""
    for measure in kind.measures:
        if measure.hides_zero:
            continue  # what was not done has columns of its own
        picked: list[float | None] = [dotted.walk(cast("Any", app), measure.path) for app in apps]
        if values := [value for value in picked if value is not None]:
            yield measure, values


def _measured_columns(kind: traffic.Kind, apps: Sequence[App]) -> list[tuple[str, list[float], int, str]]:
    """Return heading, values, decimals and the better direction of each number that flows of the kind measure."""
    columns = []
    for measure, values in _values(kind, apps):
        unit = f" {measure.unit}" if measure.sum == "mean" and measure.unit else ""
        unit = " ms" if measure.sum == "share_of_time" else unit
        places = decimals(values) if measure.decimals is None else measure.decimals
        columns.append((f"{measure.label}{unit}", values, places, measure.better or "high"))
    return columns
