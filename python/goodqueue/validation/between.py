"""One release of Linux beside another: what an upgrade of the kernel changes, from the kernel's side of validations."""

import math
from collections.abc import Mapping, Sequence

from goodqueue.measures.stats import Estimate, median
from goodqueue.show import markdown as markdowns
from goodqueue.show.table import Column, Table, number
from goodqueue.validation import judging
from goodqueue.validation.result import Result, Side, Validation

NOTE = (
    "Medians of the seeds. Changed: the newest release against the oldest, seed by seed. By chance: the simulator's "
    "delay against its own under other seeds. A change that is not larger may be chance. Drops and marks count one run."
)


def markdown(validations: Mapping[str, Validation]) -> str:
    """Return what changed between the releases in ``validations``, the oldest first, as Markdown.

    All have the same seeds. Cells that one of them lacks are left out.
    """
    by_release = {
        release: {result.id: result for result in validation.results} for release, validation in validations.items()
    }
    ids = [cell for cell in next(iter(by_release.values())) if all(cell in cells for cells in by_release.values())]
    sides = {cell: {release: cells[cell].kernel for release, cells in by_release.items()} for cell in ids}
    oldest, newest = (by_release[release] for release in (next(iter(validations)), list(validations)[-1]))
    chance = [_errors(again, oldest[cell].sim).delay_mean_ln if (again := oldest[cell].again) else None for cell in ids]
    changed = [_errors(newest[cell].kernel, oldest[cell].kernel).delay_mean_ln for cell in ids]
    runs = ", ".join(
        f"{release}: Linux {validation.kernel['release'].split()[0]}, {validation.date}"
        for release, validation in validations.items()
    )
    parts = [
        f"{len(ids)} cell{'s' * (len(ids) != 1)}, {_seeds(len(next(iter(validations.values())).seeds))} each ({runs})."
    ]
    rows = [
        [
            cell,
            *(_median(side, "delay_mean_ms", 1) for side in sides[cell].values()),
            _percent(change, "+.1f"),
            _percent(noise, ".1f"),
            *(_median(side, "utilisation_percent", 1) for side in sides[cell].values()),
            *(_median(side, "dropped", 0) for side in sides[cell].values()),
            *(_median(side, "marked", 0) for side in sides[cell].values()),
        ]
        for cell, change, noise in zip(ids, changed, chance, strict=True)
    ]
    headings = [*_of("delay mean ms", validations), "changed %", "by chance %"]
    headings += [text for what in ("used %", "drops", "marks") for text in _of(what, validations)]
    parts += [markdowns.table(Table("", [Column("cell", False), *map(Column, headings)], rows, [])), NOTE]
    transfers = [
        [cell, name, *(_middle(side.completions_ms[name], 0) for side in sides[cell].values())]
        for cell in ids
        for name in sides[cell][next(iter(validations))].completions_ms
    ]
    if transfers:
        columns = [Column("cell", False), Column("of", False), *map(Column, _of("mean time ms", validations))]
        parts.append(markdowns.table(Table("", columns, transfers, [])))
    return "\n\n".join(parts)


def _seeds(count: int) -> str:
    return "one seed" if count == 1 else f"{count} seeds"


def _errors(side: Side, against: Side) -> judging.Errors:
    return judging.errors(Result("", "", "", sim=side, kernel=against))


def _of(what: str, validations: Mapping[str, Validation]) -> list[str]:
    """Return the headings of a measure: its name above the first release, then the others."""
    return [f"{what if at == 0 else ''}\n{release}" for at, release in enumerate(validations)]


def _median(side: Side, key: str, digits: int) -> str:
    return _middle(side.values[key], digits)


def _middle(values: Sequence[float | None], digits: int) -> str:
    middle = median([value for value in values if value is not None])
    return number(middle.value if middle else None, digits)


def _percent(ratio_ln: Estimate | None, form: str) -> str:
    """Return a ratio as the percent that it differs from 1. Without a sign in ``form`` it is the size alone."""
    if ratio_ln is None:
        return "–"
    return f"{100 * math.expm1(ratio_ln.mean if '+' in form else abs(ratio_ln.mean)):{form}}"
