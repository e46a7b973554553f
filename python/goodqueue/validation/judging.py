"""Computes the errors of the simulator against the kernel, for one cell and for groups of cells.

Errors are computed seed by seed, then averaged: ln(sim / kernel) of delays, sim − kernel of utilisation and Jain's
index.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from statistics import median

from goodqueue.measures.stats import Estimate, estimate
from goodqueue.validation.result import Result

FLOOR_MS = 0.1
"""Smaller delays count as this much in a ratio. If most packets find the queue empty, the mean delay is only noise, and
nobody feels 0.1 ms."""

FACTOR = 1.25
"""Counts of drops or marks agree if neither is more than this many times the other."""

FEW = 20
"""If both engines have fewer drops (or marks) in all seeds together, their ratio is not judged: it means nothing."""


@dataclass(frozen=True, slots=True)
class Errors:
    """The errors of one cell. None if there is nothing to compare."""

    delay_mean_ln: Estimate | None
    delay_p95_ln: Estimate | None
    utilisation_points: Estimate | None
    jain: Estimate | None
    flow_goodput_percent: Estimate | None
    """The sum of the differences of the flows' goodputs, in percent of the kernel's sum. Both are sorted by goodput."""
    drops_ln: float | None
    marks_ln: float | None
    """ln of the ratio of the median counts. Infinite if one of them is 0, None if all counts are small."""
    cwnd_area: Estimate | None
    """The area between the two curves of the congestion window, divided by the area under the kernel's curve."""
    recovery_s: Estimate | None
    """The difference (sim − kernel) of the time until the window is back at its value before a burst."""
    completion_ln: Mapping[str, Estimate]
    """ln(sim / kernel) of the completion time of each transfer."""


def errors(result: Result) -> Errors:
    """Return the errors of one cell."""
    return Errors(
        delay_mean_ln=_by_seed(result, "delay_mean_ms", log_ratio),
        delay_p95_ln=_by_seed(result, "delay_p95_ms", log_ratio),
        utilisation_points=_by_seed(result, "utilisation_percent", lambda sim, kernel: sim - kernel),
        jain=_by_seed(result, "jain_goodput", lambda sim, kernel: sim - kernel),
        flow_goodput_percent=_estimate(map(shares_apart, result.sim.flows_mbps, result.kernel.flows_mbps)),
        drops_ln=_counts(result, "dropped"),
        marks_ln=_counts(result, "marked"),
        cwnd_area=_estimate(map(area_between, result.sim.cwnd, result.kernel.cwnd)),
        recovery_s=_by_seed(result, "recovery_s", lambda sim, kernel: sim - kernel),
        completion_ln={
            name: difference
            for name, times in result.kernel.completions_ms.items()
            if (difference := _paired(result.sim.completions_ms[name], times, log_ratio))
        },
    )


def _by_seed(result: Result, key: str, error: Callable[[float, float], float]) -> Estimate | None:
    return _paired(result.sim.values[key], result.kernel.values[key], error)


def _paired(
    ours: Sequence[float | None], theirs: Sequence[float | None], error: Callable[[float, float], float]
) -> Estimate | None:
    pairs = zip(ours, theirs, strict=True)
    return _estimate(None if sim is None or kernel is None else error(sim, kernel) for sim, kernel in pairs)


def _estimate(values: Iterable[float | None]) -> Estimate | None:
    return estimate([value for value in values if value is not None])


def log_ratio(sim_ms: float, kernel_ms: float) -> float:
    """Return ln(sim / kernel), after raising both to at least `FLOOR_MS`."""
    return math.log(max(sim_ms, FLOOR_MS) / max(kernel_ms, FLOOR_MS))


def shares_apart(sim_mbps: Sequence[float], kernel_mbps: Sequence[float]) -> float | None:
    """Return Σ|sim − kernel| / Σ kernel in percent over the flows. Both lists are sorted from the greatest goodput.

    Equal flows change places from run to run, so the best is compared with the best. Returns None if there are no
    flows, or the kernel's goodput is 0.
    """
    whole = math.fsum(kernel_mbps)
    apart = math.fsum(abs(sim - kernel) for sim, kernel in zip(sim_mbps, kernel_mbps, strict=True))
    return 100 * apart / whole if whole > 0 else None


def _counts(result: Result, key: str) -> float | None:
    sides = [[value for value in side.values[key] if value is not None] for side in (result.sim, result.kernel)]
    return count_ratio(*sides) if all(sides) else None


def count_ratio(sim: Sequence[float], kernel: Sequence[float]) -> float | None:
    """Return ln(sim / kernel) of the medians of two counts per seed: ±infinity if one is 0, None if both have few.

    The median is what the tables show. A single run of a long tail would decide a sum.
    """
    if max(math.fsum(sim), math.fsum(kernel)) < FEW:
        return None
    ours, theirs = median(sim), median(kernel)
    if min(ours, theirs) == 0:
        return math.copysign(math.inf, ours - theirs) if ours != theirs else 0.0
    return math.log(ours / theirs)


FEW_CELLS = 10
"""With fewer cells, percentiles mean nothing."""

Curve = tuple[Sequence[float], Sequence[float | None]]
"""Times, and the value at each. None if the value is not known."""


def area_between(sim: Curve, kernel: Curve) -> float | None:
    """Return ∫|sim − kernel| dt / ∫ kernel dt over the times that both have. Values hold until the next time.

    0 means the same curve. Two sawteeth of the same shape that are out of phase have some tenths. Returns None if the
    curves share no time.
    """
    ours = {round(time, 6): value for time, value in zip(*sim, strict=True)}
    samples = [
        (time, other, value)
        for time, value in zip(*kernel, strict=True)
        if value is not None and (other := ours.get(round(time, 6))) is not None
    ]
    apart = math.fsum((after[0] - time) * abs(other - value) for (time, other, value), after in pairwise(samples))
    whole = math.fsum((after[0] - time) * value for (time, _, value), after in pairwise(samples))
    return apart / whole if whole > 0 else None


@dataclass(frozen=True, slots=True)
class Summary:
    """The errors of a group of cells, condensed."""

    cells: int
    delay_mean_ln: float | None
    """Median of the cells' |ln(sim / kernel)|."""
    delay_spread_ln: Mapping[str, float]
    """The same at other ranks: p75, p90, and the worst cell. Empty if there are fewer than `FEW_CELLS`."""
    delay_half_width_ln: float | None
    """Median half-width of the cells' 95 % intervals: the uncertainty of one cell with this number of seeds."""
    delay_p95_ln: float | None
    utilisation_points: float | None
    """Mean of the cells' |sim − kernel|."""
    jain: float | None
    flow_goodput_percent: float | None
    """Mean over the cells."""
    cwnd_area: float | None
    recovery_s: float | None
    completion_ln: float | None
    """Median of all transfers' |ln(sim / kernel)|."""
    drops_agree: int
    """The number of judged cells whose drops agree within `FACTOR`."""
    drops_judged: int
    marks_agree: int
    marks_judged: int


def summarise(cells: Sequence[Errors]) -> Summary:
    """Condense the errors of several cells."""
    drops = [cell.drops_ln for cell in cells if cell.drops_ln is not None]
    marks = [cell.marks_ln for cell in cells if cell.marks_ln is not None]
    widths = [width for cell in cells if cell.delay_mean_ln and (width := cell.delay_mean_ln.half_width) is not None]
    return Summary(
        cells=len(cells),
        delay_mean_ln=_condense(median, [cell.delay_mean_ln for cell in cells]),
        delay_spread_ln=_spread([abs(cell.delay_mean_ln.mean) for cell in cells if cell.delay_mean_ln]),
        delay_half_width_ln=median(widths) if widths else None,
        delay_p95_ln=_condense(median, [cell.delay_p95_ln for cell in cells]),
        utilisation_points=_condense(_mean, [cell.utilisation_points for cell in cells]),
        jain=_condense(_mean, [cell.jain for cell in cells]),
        flow_goodput_percent=_condense(_mean, [cell.flow_goodput_percent for cell in cells]),
        cwnd_area=_condense(_mean, [cell.cwnd_area for cell in cells]),
        recovery_s=_condense(_mean, [cell.recovery_s for cell in cells]),
        completion_ln=_condense(median, [error for cell in cells for error in cell.completion_ln.values()]),
        drops_agree=sum(map(agree, drops)),
        drops_judged=len(drops),
        marks_agree=sum(map(agree, marks)),
        marks_judged=len(marks),
    )


def _spread(sizes: Sequence[float]) -> dict[str, float]:
    """Return p75, p90 and the worst, by the nearest rank. Empty if there are few."""
    if len(sizes) < FEW_CELLS:
        return {}
    ranks = (("p75", 75), ("p90", 90), ("worst", 100))
    return {name: sorted(sizes)[max(1, -(-percent * len(sizes) // 100)) - 1] for name, percent in ranks}


def agree(ratio_ln: float) -> bool:
    """Return whether two counts, whose ratio has this logarithm, agree within `FACTOR`."""
    return abs(ratio_ln) <= math.log(FACTOR) + 1e-12


def _condense(how: Callable[[Sequence[float]], float], estimates: Sequence[Estimate | None]) -> float | None:
    sizes = [abs(estimate.mean) for estimate in estimates if estimate is not None]
    return how(sizes) if sizes else None


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)


@dataclass(frozen=True, slots=True)
class Judgement:
    """Everything that is computed from a validation's results."""

    cells: Sequence[Errors]
    """In the order of the results."""
    overall: Summary
    by_qdisc: dict[str, Summary]
    by_change: dict[str, Summary]
    chance: Summary | None
    """The same for the simulator against itself with other seeds. None if those were not run."""


def judge(results: Sequence[Result]) -> Judgement:
    """Judge each cell, all cells together, and each group that shares a qdisc or a change."""
    cells = [errors(result) for result in results]

    def split(name: Callable[[Result], str]) -> dict[str, Summary]:
        groups: dict[str, list[Errors]] = {}
        for result, cell in zip(results, cells, strict=True):
            groups.setdefault(name(result), []).append(cell)
        return {key: summarise(group) for key, group in groups.items()}

    by_qdisc, by_change = split(lambda result: result.qdisc), split(lambda result: result.change)
    again = [errors(replace(result, kernel=result.again)) for result in results if result.again]
    chance = summarise(again) if again and len(again) == len(cells) else None
    return Judgement(cells, summarise(cells), by_qdisc, by_change, chance)
