"""A metric as a column of a table, for comparisons and for sweeps: heading, digits, cells and notes."""

from collections.abc import Iterable, Sequence

from goodqueue.measures import metrics, stats
from goodqueue.measures.metrics import Metric
from goodqueue.measures.ratios import Ratio
from goodqueue.measures.stats import Estimate
from goodqueue.show import ratios as ratio_text
from goodqueue.show.table import Column, Table, decimals, number, plus_minus


def heading(metric: Metric, shown: Iterable[Metric]) -> Column:
    """Return the column of ``metric`` in a table of the metrics ``shown``."""
    return Column(f"{metrics.label(metric, metrics.directions_of(shown))}\n{metric.unit}")


def fill(rows: Sequence[list[str]], metric: Metric, estimates: Sequence[Estimate | None]) -> None:
    """Add a cell to each of ``rows``: the estimate with its interval."""
    for row, estimate in zip(rows, estimates, strict=True):
        row.append(plus_minus(estimate, digits(metric, estimates)))


Differences = Sequence[Sequence[Estimate | None]]
"""The differences in each row of a table, for each of its metrics."""


def differences(
    title: str,
    names: Sequence[Column],
    places: Sequence[Sequence[str]],
    shown: Sequence[Metric],
    differences: Differences,
    correct: str,
) -> Table:
    """Return the table of ``differences``, with a star where zero is excluded (`stats.starred`).

    ``places`` are the first cells of each row, below the columns ``names``.
    """  # fmt: skip
    rows = [[*place_cells] for place_cells in places]
    stars = iter(stats.starred([estimate for row in differences for estimate in row], correct))
    marked = [[(estimate, next(stars)) for estimate in row] for row in differences]
    for column in range(len(shown)):
        of_column = [row[column] for row in marked]
        decimal_places = _difference_digits([estimate for estimate, _ in of_column])
        for row, (estimate, star) in zip(rows, of_column, strict=True):
            row.append(plus_minus(estimate, decimal_places, star))
    columns = [*names, *(heading(metric, shown) for metric in shown)]
    return Table(title, columns, rows, [_star_note(differences, correct)], names=len(names))


def effects(
    title: str,
    names: Sequence[Column],
    places: Sequence[Sequence[str]],
    shown: Sequence[Metric],
    differences: Differences,
) -> Table:
    """Return the table of the effect sizes of differences."""
    rows = [
        [*row_names, *(number(estimate.effect if estimate else None, 2) for estimate in row)]
        for row_names, row in zip(places, differences, strict=True)
    ]
    columns = [*names, *(Column(metrics.label(metric, metrics.directions_of(shown))) for metric in shown)]
    notes = [f"{stats.EFFECT}. A dash: one seed, or the same difference in each."]
    return Table(title, columns, rows, notes, names=len(names))


def changes(
    title: str,
    names: Sequence[Column],
    places: Sequence[Sequence[str]],
    shown: Sequence[Metric],
    changes: Sequence[Sequence[Ratio | None]],
) -> Table:
    """Return the table of the changes in percent, each with the interval of a ratio."""
    rows = [
        [*row_names, *(ratio_text.change(ratio) for ratio in row)]
        for row_names, row in zip(places, changes, strict=True)
    ]
    columns = [*names, *(Column(metrics.label(metric, metrics.directions_of(shown))) for metric in shown)]
    notes = [f"The interval is Fieller's, for a ratio of means. {ratio_text.NOT_KNOWN}: the reference may be 0."]
    return Table(title, columns, rows, notes, names=len(names))


def digits(metric: Metric, estimates: Sequence[Estimate | None]) -> int:
    """Return the number of decimals for ``estimates`` of ``metric``."""
    return (
        metric.decimals
        if metric.decimals is not None
        else decimals(estimate.mean for estimate in estimates if estimate)
    )


def _difference_digits(estimates: Sequence[Estimate | None]) -> int:
    """Return the number of decimals for differences, from the largest: small differences do not decide the digits."""
    largest = max((abs(estimate.mean) for estimate in estimates if estimate), default=1.0)
    return 1 if largest >= 20 else 2 if largest >= 0.2 else 3


def notes(shown: Sequence[Metric]) -> list[str]:
    """Return the meaning of the columns of the metrics ``shown``, in one line."""
    texts = list(dict.fromkeys(metric.note for metric in shown if metric.note))
    return ["; ".join(texts) + "."] if texts else []


def _star_note(differences: Differences, correct: str) -> str:
    """Return the meaning of the star beside one of ``differences``."""
    every = [estimate for row in differences for estimate in row]
    most = max((estimate.n for estimate in every if estimate), default=0)
    if 1 < most < stats.LEAST_STARRED:
        return f"no stars: {most} seeds are too few for one, which needs {stats.LEAST_STARRED}"
    if correct:
        return f"* differs from 0 at 5 % over all {len(every)} comparisons (Holm's correction)"
    return f"* the 95 % interval excludes 0 ({len(every)} comparisons, each on its own at 5 %)"


def nil_note(who: str) -> str:
    """Return why there is no interval although there are several seeds. ``who`` begins the sentence."""
    return (
        f"{who} gave the same numbers: the scenario draws nothing at random, so n is really 1. "
        'Traffic that starts or draws at random lets seeds differ, as bulk flows with start_spread = "1s" do.'
    )
