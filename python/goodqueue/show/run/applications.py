"""The table of the applications of a run that are of one kind, one by one. `many` has them in one row."""

from collections.abc import Sequence
from typing import Any

from goodqueue import traffic
from goodqueue.measures import calls
from goodqueue.record import App
from goodqueue.record.reading import statistic
from goodqueue.show import layout, undone
from goodqueue.show.table import Column, Table, count, number, short


def table(kind: traffic.Kind, apps: Sequence[App], notes: Sequence[str]) -> Table:
    """Return one row per application of ``apps``, all of ``kind``. The columns are the kind's record fields."""
    columns = [Column("application", False)]
    rows = [[app["name"]] for app in apps]
    for heading, counts in undone.columns(apps):
        columns.append(Column(heading))
        for row, number_undone in zip(rows, counts, strict=True):
            row.append(str(number_undone))
    means = []
    for part in kind.fields:
        if (column := part.column) is None:
            continue
        found: list[Any] = [app.get(part.key) for app in apps]
        if part.type == "times":
            for place, name in enumerate(column.detail.split()):
                columns.append(Column(f"{'' if place else column.heading}\n{name} ms"))
                for row, times in zip(rows, found, strict=False):
                    row.append(short(statistic(times, name)))
            means.append(f"{column.heading}: {kind.times_are}")
        else:
            columns.append(Column(f"{column.heading}\n{column.detail}".rstrip("\n"), part.type != "text"))
            is_heard = (kind.name, part.key) == (calls.KIND, calls.FIELD)
            if is_heard and any(heard := [calls.mos(app) for app in apps]):
                found = heard
                means.append(calls.NOTE)
            elif is_heard:
                columns[-1] = Column("MOS of\nmean delay")
                means.append(calls.NOTE_OF_MEAN)
            for row, value in zip(rows, found, strict=False):
                row.append(_of_field(part, value))
            plain = (one for one in kind.measures if one.path == part.key and one.is_plain and not is_heard)
            means += [f"{one.label}: {one.note}" for one in plain]
    table = Table(kind.plural[:1].upper() + kind.plural[1:], columns, rows, ["; ".join(means), *notes])
    return layout.fitted(table, [column.heading for column in _least_first(kind, columns)])


def _least_first(kind: traffic.Kind, columns: Sequence[Column]) -> list[Column]:
    """Return the columns after the first one, the least important first: those of no metric, from the last."""
    spoken = {measure.path.rpartition(".")[2] for measure in kind.measures} | {"mean"}
    main = {field.column for field in kind.fields for measure in kind.measures if measure.path == field.key}
    kept = {f"{column.heading}\n{column.detail}".rstrip("\n") for column in main if column}

    def is_spoken(column: Column) -> bool:
        return column.heading in kept or column.heading.partition("\n")[2].partition(" ")[0] in spoken

    return sorted(columns[:0:-1], key=is_spoken)


def _of_field(part: traffic.Field, value: Any) -> str:
    """Return a value of a field that has one column."""
    if part.type == "text":
        return value or "–"
    return count(value) if part.type == "count" else number(value, part.column.decimals if part.column else 1)
