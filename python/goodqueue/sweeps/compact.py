"""The numbers of a cell's runs in little memory: a sweep may have 100,000 cells, and a run has 80 numbers."""

import functools
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, TypeVar

NONE = float("nan")
"""What stands for a number that is missing."""

EXACT = 2**53
"""From this size on, a float does not tell a whole number from the next."""

Column = tuple[str, int]
"""The kind of a metric's values, and the place of the first one."""


class Numbers(Mapping[str, Sequence[float | None]]):
    """The values of each metric, one per run. They are kept in one array, and are lists to those who read them."""

    __slots__ = ("_columns", "_numbers", "_others", "_runs")

    def __init__(self, by_metric: Mapping[str, Sequence[float | None]]) -> None:
        """Keep the values ``by_metric``. All have the same length."""
        kinds = tuple((key, _kind(numbers)) for key, numbers in by_metric.items())
        self._runs = max(map(len, by_metric.values()), default=0)
        self._columns = _columns(kinds, self._runs)
        kept = (by_metric[key] for key, kind in kinds if kind in ("float", "whole"))
        self._numbers = array("d", [NONE if value is None else value for value in chain.from_iterable(kept)])
        self._others = {key: tuple(by_metric[key]) for key, kind in kinds if kind == "other"}

    @classmethod
    def joined(cls, parts: "Sequence[Numbers]") -> "Numbers":
        """Return the numbers of single runs, each of which is one of ``parts``, together."""
        first = parts[0]
        if any(part._columns is not first._columns or part._others for part in parts):
            return cls({key: [part[key][0] for part in parts] for key in first})
        whole = cls.__new__(cls)
        whole._runs, whole._others = len(parts), {}
        whole._columns = _columns(tuple((key, kind) for key, (kind, _) in first._columns.items()), len(parts))
        whole._numbers = array("d", chain.from_iterable(zip(*(part._numbers for part in parts), strict=True)))
        return whole

    def __getitem__(self, key: str) -> list[float | None]:
        """Return the values of the metric ``key``."""
        kind, place = self._columns[key]
        if kind == "none":
            return [None] * self._runs
        if kind == "other":
            return list(self._others[key])
        numbers = self._numbers[place : place + self._runs]
        if kind == "float":
            return [None if number != number else number for number in numbers]  # noqa: PLR0124 - it is no number
        return [None if number != number else int(number) for number in numbers]  # noqa: PLR0124 - as above

    def __contains__(self, key: object) -> bool:
        """Return whether ``key`` is a metric of these."""
        return key in self._columns

    def __iter__(self) -> Iterator[str]:
        """Yield the keys of the metrics."""
        return iter(self._columns)

    def __len__(self) -> int:
        """Return the number of metrics."""
        return len(self._columns)


def _kind(column: Iterable[float | None]) -> str:
    """Return which numbers a ``column`` has: float, whole, none of them, or other ones, which an array would change."""
    types = {*map(type, column)} - {type(None)}
    if not types:
        return "none"
    known = [value for value in column if value is not None]
    if types == {float}:
        return "float" if all(value == value for value in known) else "other"  # noqa: PLR0124 - NaN is not None
    return "whole" if types == {int} and max(map(abs, known)) < EXACT else "other"


@functools.lru_cache(maxsize=256)
def _columns(kinds: tuple[tuple[str, str], ...], length: int) -> Mapping[str, Column]:
    """Return where the values of each metric are. Cells whose runs have the same kinds of numbers share it."""
    columns, place = {}, 0
    for key, kind in kinds:
        columns[key] = kind, place
        place += length if kind in ("float", "whole") else 0
    return columns


Percentiles = TypeVar("Percentiles", Sequence[float] | None, Sequence[float | None] | None)


def percentiles(delays_ms: Percentiles) -> Percentiles:
    """Return ``delays_ms`` as an array if all are floats, which an array does not change."""
    floats: Any = delays_ms
    return array("d", floats) if delays_ms and {*map(type, floats)} == {float} else delays_ms
