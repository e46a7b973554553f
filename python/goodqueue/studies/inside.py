"""The share of measured cells within whose spread a study's numbers lie: of a set, by line, and by each parameter."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from goodqueue.show.table import Column, Table, number
from goodqueue.studies.cells import DEVIATIONS, POINTS, SHARE
from goodqueue.studies.judging import Judged
from goodqueue.studies.outcome import Outcome
from goodqueue.studies.wording import Words

MOST_VALUES = 12
"""The most values of a parameter by which cells are counted."""


@dataclass(frozen=True, slots=True)
class Count:
    """How many cells of a group there are, and how many of our numbers are inside."""

    group: str
    """In words. Empty: all of them."""
    inside: Mapping[str, tuple[int, int]]
    """The number inside and of all, by metric."""


def judged_cells(outcome: Outcome) -> list[Judged]:
    """Return the values of measured cells that were compared."""
    return [judged for judged in outcome.values if judged.value.band is not None and judged.distance is not None]


def counts(words: Words, cells: Sequence[Judged]) -> Iterator[Count]:
    """Yield the count of all ``cells``, then those by line, then those by the values of each parameter."""
    yield _count("", cells)
    for algorithm in dict.fromkeys(judged.value.algorithm for judged in cells):
        yield _count(words.algorithm(algorithm), [judged for judged in cells if judged.value.algorithm == algorithm])
    for parameter in dict.fromkeys(name for judged in cells for name in judged.value.at):
        own = [judged for judged in cells if parameter in judged.value.at]
        values = list(dict.fromkeys(judged.value.at[parameter] for judged in own))
        if 1 < len(values) <= MOST_VALUES:
            for value in sorted(values, key=lambda value: (isinstance(value, str), value)):
                group = [judged for judged in own if judged.value.at[parameter] == value]
                yield _count(words.place(parameter, value), group)


def _count(group: str, cells: Sequence[Judged]) -> Count:
    found: dict[str, tuple[int, int]] = {}
    for judged in cells:
        inside, all_ = found.get(judged.value.metric, (0, 0))
        found[judged.value.metric] = (inside + (judged.verdict == "reproduced"), all_ + 1)
    return Count(group, found)


def sentence(outcome: Outcome) -> str:
    """Return how many cells are inside, by the metric that is first of each scenario. Empty if there are no cells."""
    found = [_first(group) for group in _by_scenario(outcome).values()]
    if not found:
        return ""
    inside, all_ = sum(pair[0] for pair in found), sum(pair[1] for pair in found)
    return f"Cells: {inside} of {all_} inside the measured spread ({number(100 * inside / all_, 0)} %), by their first number."


def _first(cells: Sequence[Judged]) -> tuple[int, int]:
    metric = cells[0].value.metric
    return _count("", [judged for judged in cells if judged.value.metric == metric]).inside[metric]


def _by_scenario(outcome: Outcome) -> dict[str, list[Judged]]:
    groups: dict[str, list[Judged]] = {}
    for judged in judged_cells(outcome):
        groups.setdefault(judged.value.scenario, []).append(judged)
    return groups


def tables(outcome: Outcome) -> Iterator[Table]:
    """Yield a table per published scenario that has measured cells."""
    words = outcome.study.words
    for scenario, cells in _by_scenario(outcome).items():
        metrics = list(dict.fromkeys(judged.value.metric for judged in cells))
        columns = [Column("cells", numeric=False), *(Column(words.name(metric).words) for metric in metrics)]
        rows = [
            [count.group or "all", *(_share(count.inside.get(metric)) for metric in metrics)]
            for count in counts(words, cells)
        ]
        note = (
            f"inside of all: our mean is within {DEVIATIONS} standard deviations of the cell's runs; of one run, within "
            f"{100 * SHARE:g} %, or {POINTS:g} points of a share."
        )
        title = outcome.study.published.scenarios[scenario].title
        yield Table(f"Inside the measured spread: {title}", columns, rows, [note], names=1)


def _share(pair: tuple[int, int] | None) -> str:
    return "" if pair is None else f"{pair[0]} of {pair[1]}"
