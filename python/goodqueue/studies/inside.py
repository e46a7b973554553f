"""The share of measured cells within whose spread a study's numbers lie: of a set, by line, and by each parameter."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from goodqueue.show.table import Column, Table, number
from goodqueue.studies.cells import DEVIATIONS, POINTS, SHARE
from goodqueue.studies.judging import Judged
from goodqueue.studies.model import Study
from goodqueue.studies.outcome import Outcome
from goodqueue.studies.published import Value
from goodqueue.studies.wording import Words

MOST_VALUES = 12
"""The most values of a parameter by which cells are counted."""

INSIDE = "reproduced"
"""The verdict of a number that is inside a cell's spread."""

RULE = (
    f"inside of all: our mean is within {DEVIATIONS} standard deviations of the cell's runs; of one run, within "
    f"{100 * SHARE:g} %, or {POINTS:g} points of a share."
)


@dataclass(frozen=True, slots=True)
class Count:
    """How many cells of a group there are, and how many of our numbers are inside."""

    group: str
    """In words. Empty: all of them."""
    inside: Mapping[str, tuple[int, int]]
    """The number inside and of all, by metric."""


Cell = tuple[Value, bool]
"""A number of a measured cell, and whether ours is inside its spread."""


def judged_cells(outcome: Outcome) -> list[Judged]:
    """Return the values of measured cells that were compared."""
    return [judged for judged in outcome.values if judged.value.band is not None and judged.distance is not None]


def by_scenario(members: Iterable[Cell]) -> dict[str, list[Cell]]:
    """Return ``members`` by their published scenario."""
    groups: dict[str, list[Cell]] = {}
    for cell in members:
        groups.setdefault(cell[0].scenario, []).append(cell)
    return groups


def counts(words: Words, members: Sequence[Cell]) -> Iterator[Count]:
    """Yield the count of all ``members``, then those by line, then those by the values of each parameter."""
    yield _count("", members)
    for algorithm in dict.fromkeys(value.algorithm for value, _ in members):
        yield _count(words.algorithm(algorithm), [cell for cell in members if cell[0].algorithm == algorithm])
    for parameter in dict.fromkeys(name for value, _ in members for name in value.at):
        own = [cell for cell in members if parameter in cell[0].at]
        places = list(dict.fromkeys(value.at[parameter] for value, _ in own))
        if 1 < len(places) <= MOST_VALUES:
            for place in sorted(places, key=lambda place: (isinstance(place, str), place)):
                yield _count(words.place(parameter, place), [cell for cell in own if cell[0].at[parameter] == place])


def _count(group: str, members: Iterable[Cell]) -> Count:
    found: dict[str, tuple[int, int]] = {}
    for value, is_inside in members:
        inside, all_ = found.get(value.metric, (0, 0))
        found[value.metric] = (inside + is_inside, all_ + 1)
    return Count(group, found)


def first(members: Iterable[Cell]) -> tuple[int, int]:
    """Return how many of ``members`` are inside and how many there are, by the first number of each scenario."""
    found = [next(iter(_count("", group).inside.values())) for group in by_scenario(members).values()]
    return sum(inside for inside, _ in found), sum(all_ for _, all_ in found)


def sentence(outcome: Outcome) -> str:
    """Return how many cells are inside. Empty if the study has none."""
    inside, all_ = first(_cells(outcome))
    share = f"{number(100 * inside / all_, 0)} %" if all_ else ""
    return f"Cells: {inside} of {all_} inside the measured spread ({share}), by their first number." if all_ else ""


def _cells(outcome: Outcome) -> list[Cell]:
    return [(judged.value, judged.verdict == INSIDE) for judged in judged_cells(outcome)]


def tables(outcome: Outcome) -> Iterator[Table]:
    """Yield a table per published scenario that has measured cells."""
    for scenario, cells in by_scenario(_cells(outcome)).items():
        yield table(outcome.study, scenario, cells)


def table(study: Study, scenario: str, members: Sequence[Cell]) -> Table:
    """Return how many ``members`` of a published ``scenario`` are inside: all, by line, and by each parameter."""
    words = study.words
    metrics = list(dict.fromkeys(value.metric for value, _ in members))
    columns = [Column("cells", numeric=False), *(Column(words.name(metric).words) for metric in metrics)]
    rows = [
        [count.group or "all", *(_share(count.inside.get(metric)) for metric in metrics)]
        for count in counts(words, members)
    ]
    title = study.published.scenarios[scenario].title
    return Table(f"Inside the measured spread: {title}", columns, rows, [RULE], names=1)


def _share(pair: tuple[int, int] | None) -> str:
    return "" if pair is None else f"{pair[0]} of {pair[1]}"
