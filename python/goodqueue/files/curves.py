"""Distributions from CSV files: the inverse of a distribution function, one probability and one value per line.

A key of a scenario's traffic that takes a distribution may name such a file (``object = "sizes.csv"``). Lines that
begin with ``#`` are comments. A first line of words is a heading. Values are seconds, bytes, or counts.
"""

from pathlib import Path
from typing import Any

from goodqueue.errors import UserError, quoted
from goodqueue.files import inputs

MOST_BYTES = 4 * inputs.MIB
ACCEPTED = "a CSV file with a probability and a value in each line"


def expand(traffic: Any, folder: Path, pipes: bool = True) -> None:
    """Replace the file names in tables of ``traffic`` (relative to ``folder``) by the points in the files.

    A malformed ``traffic`` is left for the core to refuse, and so are points that do not ascend. Raises UserError if a
    file cannot be read.
    """
    for source in traffic if isinstance(traffic, list) else []:
        for key, value in source.items() if isinstance(source, dict) else ():
            if is_curve(value):
                source[key] = points(folder / value, pipes)


def is_curve(value: object) -> bool:
    """Return whether ``value`` names such a file."""
    return isinstance(value, str) and value.lower().endswith(".csv")


def points(file: Path, pipes: bool = True) -> list[list[float]]:
    """Return the points in ``file``. Raises UserError with the file, the line, what was found and what is accepted."""
    import csv

    lines = inputs.read_text(file, MOST_BYTES, ACCEPTED, pipes).splitlines()
    points_read: list[list[float]] = []
    for number, line in enumerate(lines, 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        words = next(csv.reader([line]))
        try:
            probability, value = (inputs.number(word) for word in words)
        except ValueError:
            if not points_read and number == 1:
                continue  # a heading
            raise UserError(
                f"{file}:{number}", f"found {quoted(line)}; accepted: two numbers, as in 0.5,1200"
            ) from None
        if not (inputs.is_finite(probability) and inputs.is_finite(value)):
            raise UserError(f"{file}:{number}", f"found {quoted(line)}; accepted: finite numbers")
        points_read.append([probability, value])
    if not points_read:
        raise UserError(str(file), f"found no points; accepted: {ACCEPTED}")
    return points_read
