"""Distributions from CSV files: the inverse of a distribution function, a probability and a value in each line.

A key of a scenario's traffic that takes a distribution may name such a file (``object = "sizes.csv"``). Lines that
begin with ``#`` are comments, and so is a first line of words. Values are in seconds, bytes, or how many.
"""

import csv
from pathlib import Path
from typing import Any

from goodqueue.errors import UserError, quoted
from goodqueue.files import inputs

MOST_BYTES = 4 * inputs.MIB
ACCEPTED = "a CSV file with a probability and a value in each line"


def expand(traffic: Any, folder: Path) -> None:
    """Put the points of the files that tables of ``traffic`` name (relative to ``folder``) in their place.

    What is no list of tables is left to the core to refuse, and so are points that do not ascend. Raises UserError for
    a file that cannot be read.
    """
    for source in traffic if isinstance(traffic, list) else []:
        for key, value in source.items() if isinstance(source, dict) else ():
            if is_curve(value):
                source[key] = points(folder / value)


def is_curve(value: object) -> bool:
    """Return whether ``value`` names such a file."""
    return isinstance(value, str) and value.lower().endswith(".csv")


def points(file: Path) -> list[list[float]]:
    """Return the points in ``file``. Raises UserError: the file and the line, what was found, what is accepted."""
    lines = inputs.read_text(file, MOST_BYTES, ACCEPTED).splitlines()
    found: list[list[float]] = []
    for number, line in enumerate(lines, 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        words = next(csv.reader([line]))
        try:
            probability, value = (float(word) for word in words)
        except ValueError:
            if not found and number == 1:
                continue  # a heading
            raise UserError(
                f"{file}:{number}", f"found {quoted(line)}; accepted: two numbers, as in 0.5,1200"
            ) from None
        if not (inputs.is_finite(probability) and inputs.is_finite(value)):
            raise UserError(f"{file}:{number}", f"found {quoted(line)}; accepted: finite numbers")
        found.append([probability, value])
    if not found:
        raise UserError(str(file), f"found no points; accepted: {ACCEPTED}")
    return found
