"""Results of several seeds: the mean of each metric, its interval, and differences seed by seed.

A scenario without random draws gives the same numbers for every seed. All its seeds count as one run, so an estimate
has n = 1 and no interval.
"""

from collections.abc import Mapping, Sequence

from goodqueue.measures import ratios, stats
from goodqueue.measures.metrics import Values
from goodqueue.measures.ratios import Ratio
from goodqueue.measures.stats import Estimate


def of(runs: Sequence[Mapping[str, float | None]]) -> dict[str, list[float | None]]:
    """Return the numbers of ``runs`` by key, one number per run. All runs have the same keys."""
    return {key: [run[key] for run in runs] for key in runs[0]}


def is_nil(values: Values) -> bool:
    """Return whether there are several seeds, and every seed gave the same number for every metric."""
    return any(len(value) > 1 for value in values.values()) and all(len(set(value)) <= 1 for value in values.values())


def estimate(values: Values, key: str, nil: bool) -> Estimate | None:
    """Return the mean of the metric ``key`` over the seeds with its interval, or None if no seed has a number.

    ``nil`` says that all seeds count as one run.
    """
    numbers = [value for value in values.get(key, ()) if value is not None]
    return stats.estimate(numbers[:1] if nil else numbers)


def difference(values: Values, reference: Values, key: str, nil: bool) -> Estimate | None:
    """Return the estimate of ``values - reference`` of the metric ``key``, over the seeds that both have.

    ``nil`` says that the seeds of both count as one run.
    """
    ours, theirs = values.get(key, ()), reference.get(key, ())
    both = 1 if nil else min(len(ours), len(theirs))
    return stats.paired(ours[:both], theirs[:both])


def ratio(values: Values, reference: Values, key: str, nil: bool) -> Ratio | None:
    """Return the ratio of the means of the metric ``key``, over the seeds that both have. None if it is not known.

    ``nil`` is that of `difference`.
    """
    each = zip(values.get(key, ()), reference.get(key, ()), strict=False)
    pairs = [(ours, theirs) for ours, theirs in each if ours is not None and theirs is not None]
    ours, theirs = ([pair[side] for pair in (pairs[:1] if nil else pairs)] for side in (0, 1))
    return ratios.ratio(ours, theirs) if ours else None
