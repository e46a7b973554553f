"""Reads measured cells: CSV files that ``study.toml`` names, each row a cell with its runs' means and deviations.

The columns are `algorithm`, those of the point, `n` (the number of runs; without it 1), and for each metric its mean
and, as ``METRIC_sd``, the standard deviation over the runs. An empty field is a number or a part of the point that the
cell does not have. Lines that begin with ``#`` are comments.
"""

import csv
import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from goodqueue.errors import quoted
from goodqueue.files import inputs
from goodqueue.studies.keys import MOST_BYTES, Table
from goodqueue.studies.model import View
from goodqueue.studies.published import At, Value

DEVIATIONS = 2
"""A number is inside a cell of several runs if it is within this many standard deviations of the runs' mean."""
SHARE = 0.1
POINTS = 5.0
"""It is inside a cell of one run, whose spread is not known, if it is within this share of it, or within these points
if the unit is per cent."""

ACCEPTED = "a table of cells in CSV"
DEVIATION = "_sd"
"""How the name of a column of deviations ends."""


def read(table: Table, key: str, known: Mapping[str, object]) -> tuple[list[Value], View | None]:
    """Return the values of one ``[[cells]]``: of the file, of a published scenario, at points of named parameters.

    With them comes the figure that it asks for.

    ``key`` is the paper's, and ``known`` has the published scenarios. Raises UserError.
    """
    path = table.file.parent / table.text("file")
    scenario = table.choice("scenario", known)
    parameters = table.texts("at")
    units = {name: table.table("units").text(name) for name in table.mapping("units")}
    view = _view(table, scenario, parameters, units) if "figure" in table else None
    table.finish()
    values = []
    for number, row in _rows(path, ("algorithm", *parameters, *units), table):
        at: At = {name: _plain(row[name]) for name in parameters if row[name]}
        place = ":".join([row["algorithm"], *(row[name] for name in parameters if row[name])])
        for metric, unit in units.items():
            if row[metric]:
                mean = _number(row, metric, number, path, table)
                band = _band(row, metric, unit, mean, number, path, table)
                id_ = f"{key}/{scenario.rpartition('/')[2]}:{place}:{metric}"
                values.append(Value(id_, scenario, row["algorithm"], metric, at, unit, mean, mean, band=band))
    return values, view


def _view(table: Table, scenario: str, parameters: Sequence[str], units: Mapping[str, str]) -> View:
    figure = table.table("figure")
    places = ["", *parameters]
    view = View(
        scenario,
        figure.choice("metric", units),
        figure.choice("x", parameters),
        figure.choice("by", places, ""),
        figure.choice("panel", places, ""),
    )
    figure.finish()
    return view


def _band(row: Mapping[str, str], metric: str, unit: str, mean: float, number: int, path: Path, table: Table) -> float:
    if row.get(column := f"{metric}{DEVIATION}"):
        return DEVIATIONS * _number(row, column, number, path, table)
    return POINTS if unit == "percent" else SHARE * abs(mean)


def _rows(path: Path, columns: Sequence[str], table: Table) -> Iterator[tuple[int, dict[str, str]]]:
    """Yield the number of each line with its fields, by column. Raises UserError."""
    data = inputs.read(path, MOST_BYTES, ACCEPTED, pipes=False)
    try:
        lines = inputs.decoded(data).splitlines()
    except UnicodeDecodeError:
        table.refuse("file", f"{path.name}: not UTF-8; accepted: {ACCEPTED}")
    numbered = [(number, line) for number, line in enumerate(lines, 1) if line and not line.startswith("#")]
    head = numbered[0][1].split(",") if numbered else []
    if missing := [name for name in columns if name not in head]:
        table.refuse("file", f"{path.name}: no column {missing[0]}; accepted: {', '.join(columns)}")
    if not numbered[1:]:
        table.refuse("file", f"{path.name}: no cell below its columns; accepted: a line for each cell")
    for number, line in numbered[1:]:
        try:
            fields = next(csv.reader([line], strict=True))
        except csv.Error as error:
            table.refuse("file", f"{path.name}: line {number}: not CSV: {error}; accepted: {ACCEPTED}")
        if len(fields) != len(head):
            table.refuse("file", f"{path.name}: line {number}: {len(fields)} fields; accepted: {len(head)}")
        yield number, dict(zip(head, fields, strict=True))


def _number(row: Mapping[str, str], column: str, number: int, path: Path, table: Table) -> float:
    value = _plain(row[column])
    least = 0.0 if column.endswith(DEVIATION) else -math.inf
    if isinstance(value, bool | str) or value < least:
        accepted = "a number from 0" if least == 0 else "a number"
        found = quoted(row[column])
        table.refuse("file", f"{path.name}: line {number}: {column}: found {found}; accepted: {accepted}")
    return float(value)


def _plain(text: str) -> float | str | bool:
    """Return the value that ``text`` stands for: true or false, a finite number, or itself."""
    if text in ("true", "false"):
        return text == "true"
    try:
        value = inputs.number(text)
    except ValueError:
        return text
    if not inputs.is_finite(value):
        return text
    return int(text) if text.lstrip("+-").isdecimal() else value
