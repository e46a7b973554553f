"""A metric as a column of a table, for comparisons and for sweeps: heading, digits, cells and notes."""

from collections.abc import Iterable, Sequence

from goodqueue.measures import metrics
from goodqueue.measures.metrics import Metric
from goodqueue.measures.stats import Estimate
from goodqueue.show.tables import Column, decimals, plus_minus


def heading(metric: Metric, shown: Iterable[Metric]) -> Column:
    """Return the column of ``metric`` in a table of the metrics ``shown``."""
    return Column(f"{metrics.label(metric, metrics.ways_of(shown))}\n{metric.unit}")


def fill(
    rows: Sequence[list[str]], metric: Metric, found: Sequence[Estimate | None], differences: bool = False
) -> None:
    """Add a cell to each of ``rows``: the estimate with its interval, and a star if a difference excludes 0."""
    decimal_places = _difference_digits(found) if differences else digits(metric, found)
    for row, one in zip(rows, found, strict=True):
        row.append(plus_minus(one, decimal_places, mark=differences))


def digits(metric: Metric, found: Sequence[Estimate | None]) -> int:
    """Return the number of decimals for the estimates ``found`` of ``metric``."""
    return metric.decimals if metric.decimals is not None else decimals(one.mean for one in found if one)


def _difference_digits(found: Sequence[Estimate | None]) -> int:
    """Return the number of decimals for differences, from the largest: small differences do not decide the digits."""
    largest = max((abs(one.mean) for one in found if one), default=1.0)
    return 1 if largest >= 20 else 2 if largest >= 0.2 else 3


def notes(shown: Sequence[Metric]) -> list[str]:
    """Return the meaning of the columns of the metrics ``shown``, in one line."""
    found = list(dict.fromkeys(one.note for one in shown if one.note))
    return ["; ".join(found) + "."] if found else []


def difference_note(count: int) -> str:
    """Return the meaning of the star beside one of ``count`` differences."""
    return f"* the 95 % interval excludes 0 ({count} comparisons, each on its own at 5 %)"


def nil_note(who: str) -> str:
    """Return why there is no interval although there are several seeds. ``who`` begins the sentence."""
    return (
        f"{who} gave the same numbers: the scenario draws nothing at random, so n is really 1. "
        'Traffic that starts or draws at random lets seeds differ, as bulk flows with start_spread = "1s" do.'
    )
