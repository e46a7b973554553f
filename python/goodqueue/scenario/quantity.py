"""Values of a scenario as numbers, for numeric axes."""

import re
from collections.abc import Sequence

UNITS = {
    "": (1.0, ""),
    "ns": (1e-6, "ms"), "us": (1e-3, "ms"), "ms": (1.0, "ms"), "s": (1e3, "ms"), "min": (6e4, "ms"),
    "bit": (1e-6, "Mbit/s"), "kbit": (1e-3, "Mbit/s"), "mbit": (1.0, "Mbit/s"), "gbit": (1e3, "Mbit/s"),
    "b": (1e-3, "kB"), "kb": (1.0, "kB"), "mb": (1e3, "kB"), "gb": (1e6, "kB"),
    "%": (1.0, "%"),
    "bdp": (1.0, "BDP"),
}  # fmt: skip
"""The factor from each unit to the unit of its kind, and that unit."""


def quantity(text: str) -> tuple[float, str] | None:
    """Return a value such as ``5ms``, ``10mbit``, ``4`` or ``1.5`` as a number and its unit, or None for other text.

    Times are in ms, rates in Mbit/s, sizes in kB.
    """
    match = re.fullmatch(r"([+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?)\s*([a-z%]*)", text.strip().lower())
    if match is None or match[2] not in UNITS:
        return None
    factor, unit = UNITS[match[2]]
    return float(f"{float(match[1]) * factor:.12g}"), unit


def quantities(texts: Sequence[str]) -> tuple[list[float], str] | None:
    """Return several values as numbers and their common unit, or None without a common unit or if one is no number."""
    numbers = [quantity(text) for text in texts]
    units = {number[1] for number in numbers if number}
    if None in numbers or len(units) != 1:
        return None
    return [number[0] for number in numbers if number], units.pop()


def order(texts: Sequence[str]) -> list[str]:
    """Return ``texts`` sorted by size if all are numbers of one kind, otherwise unchanged."""
    numbers = quantities(texts)
    if numbers is None:
        return list(texts)
    return [text for _, text in sorted(zip(numbers[0], texts, strict=True), key=lambda pair: pair[0])]


def same(text: str, other: str) -> bool:
    """Return whether both are the same text or the same number. For example, ``0.01s`` is ``10ms``."""
    number = quantity(text)
    return text == other or (number is not None and number == quantity(other))
