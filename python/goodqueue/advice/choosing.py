"""Chooses a candidate: the rule, and the numbers that it uses.

A point is a tenth of the time of a ping, of a call's packet or of a page, a tenth of the goodput in each direction, or
0.1 of a call's MOS. A candidate's points are the sum over the uses of the link.

The simplest candidate wins ties. Another one takes its place only if the seeds tell the two apart, and if somebody
feels the gain (`gain.NOTICED`). Among equally simple candidates the one with the most goodput wins.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from goodqueue.advice import playout
from goodqueue.advice.answer import Change, Tried
from goodqueue.advice.gain import difference, gain, total
from goodqueue.measures import metrics, stats
from goodqueue.measures.base import path_ms
from goodqueue.measures.stats import Estimate
from goodqueue.record import Record

TENTH = math.log(1.1)

MOS_POINT = 0.1

SINGLE = "single"
"""The name of the flow, and of the host, of the user who has one download."""

SINGLE_KEY = "single_goodput_mbps"
"""The key of this flow's goodput, which only these scenarios have."""

CALL_KEY = "call_mos"
"""The key of a call's quality behind a play-out buffer. A record's ``mos`` has none (`playout`)."""

PING = next(metric.app for metric in metrics.METRICS if metric.key == "ping_rtt_p95_ms")

ADDED_KEY = "bufferbloat_ms"
"""The key of the latency that the load adds per direction. It has a letter and no points: a ping has them."""


@dataclass(frozen=True, slots=True)
class Felt:
    """A metric that counts."""

    key: str
    what: str
    column: str
    """Its heading in a table."""
    unit: str
    uses: tuple[str, ...]
    """The uses for which it counts."""
    better: str = "low"


FELT = (
    Felt(CALL_KEY, "A call: its quality (MOS, 1 to 4.5)", "call\nMOS", "", ("calls",), "high"),
    Felt("voip_delay_p95_ms", "A call: 95 % of its packets arrive within", "call\np95 ms", "ms", ("calls",)),
    Felt("ping_rtt_p95_ms", "A game: 95 % of its round trips within", "ping\np95 ms", "ms", ("games",)),
    Felt("page_load_mean_ms", "The web: a small page is there after", "page\nmean ms", "ms", ("web",)),
    Felt(SINGLE_KEY, "A lone download beside a user with three", "single\nMbit/s", "Mbit/s", ("downloads",), "high"),
    Felt("goodput_mbps", "Downloads together", "down\nMbit/s", "Mbit/s", ("downloads",), "high"),
    Felt("up_goodput_mbps", "Uploads together", "up\nMbit/s", "Mbit/s", ("downloads",), "high"),
)
"""The metrics that count. The delays include the base RTT, since people feel the whole delay."""

ALWAYS = ("ping_rtt_p95_ms", "goodput_mbps", "up_goodput_mbps")
"""The metrics that are shown for every use of the link: the gain and its cost."""

Values = Mapping[str, Sequence[float]]
"""The numbers of each metric, one per seed."""


def numbers(records: Sequence[Record]) -> Values:
    """Return the felt numbers of ``records`` by metric, one number per run.

    A page that never came counts as one that took as long as the run. So does a ping or a call without an answer.
    """
    felt_numbers = [{SINGLE_KEY: _single(record), CALL_KEY: _call(record)} for record in records]
    each = [{**metrics.numbers(record), **extra} for record, extra in zip(records, felt_numbers, strict=True)]
    complete = {}
    for felt in FELT:
        values = [run_numbers[felt.key] for run_numbers in each]
        kinds = {metric.app for metric in metrics.METRICS if metric.key == felt.key}
        kinds |= {playout.KIND} if felt.key == CALL_KEY else set()
        if any(app["kind"] in kinds for app in records[0]["apps"]) or kinds <= {""}:
            worst = (
                playout.WORST if felt.key == CALL_KEY else 1e-3 if felt.better == "high" else _measured_ms(records[0])
            )
            complete[felt.key] = [worst if value is None else value for value in values]
    return complete | {ADDED_KEY: [_added_ms(record) for record in records]}


def _added_ms(record: Record) -> float:
    """Return half of what the pings take longer than the base RTT, since the load is in both directions."""
    medians = [app["rtt_ms"]["p50"] or 0.0 for app in record["apps"] if app["kind"] == PING and app["rtt_ms"]]
    return max(fmean(medians) - path_ms(record["scenario"]), 0.0) / 2 if medians else _measured_ms(record)


def _call(record: Record) -> float | None:
    """Return the mean of the calls of both directions."""
    scores = [playout.mos(app) for app in record["apps"] if app["kind"] == playout.KIND]
    return fmean(scores) if scores else None


def _single(record: Record) -> float | None:
    return next((flow["goodput_mbps"] for flow in record["flows"] if flow["name"].startswith(f"{SINGLE}/")), None)


def _measured_ms(record: Record) -> float:
    from goodqueue.scenario import seconds

    return 1e3 * (seconds(record["scenario"]["duration"]) - seconds(record["scenario"]["warmup"]))


def points(values: Values, uses: Sequence[str]) -> dict[str, list[float]]:
    """Return the points of each of ``uses``, one number per seed. Only differences of points have a meaning."""
    return {
        use: [sum(each) for each in zip(*(_points(felt, values) for felt in FELT if use in felt.uses), strict=True)]
        for use in uses
    }


def _points(felt: Felt, values: Values) -> list[float]:
    run_values = values[felt.key]
    if felt.key == CALL_KEY:
        return [value / MOS_POINT for value in run_values]
    return [(1 if felt.better == "high" else -1) * math.log(max(value, 1e-3)) / TENTH for value in run_values]


Row = tuple[str, tuple[str, str], int, Values]
"""A candidate: its label, its lines, its level (the effort it takes), and its measurements."""


def rank(tried: Sequence[Row], uses: Sequence[str], chosen: int | None = None) -> list[Tried]:
    """Return the candidates with their points. The choice is ``chosen``, or the one that the rule picks."""
    all_points = [points(values, uses) for *_, values in tried]
    whole = [total(gained) for gained in all_points]
    best = max(whole, key=sum)
    choice = pick(tried, uses) if chosen is None else chosen
    return [
        Tried(
            label,
            *lines,
            {key: _estimate(run_values) for key, run_values in values.items()},
            difference(whole[at], whole[0]),
            difference(best, whole[at]),
            gain(all_points[at], all_points[choice]),
            at == choice,
        )
        for at, (label, lines, _, values) in enumerate(tried)
    ]


def pick(tried: Sequence[Row], uses: Sequence[str]) -> int:
    """Return the index of the simplest candidate in whose place no other one is worth it."""
    all_points = [points(values, uses) for *_, values in tried]
    stay = [
        at for at, gained in enumerate(all_points) if not any(gain(other, gained).is_worth_it for other in all_points)
    ]
    goodput = [sum(total(points(values, ("downloads",)))) for *_, values in tried]
    return min(stay, key=lambda at: (tried[at][2], -goodput[at]))


def changes(now: Values, then: Values, uses: Sequence[str]) -> list[Change]:
    """Return the changes of the metrics that matter for the uses of the link."""
    return [
        Change(
            felt.key,
            felt.what,
            felt.unit,
            _estimate(now[felt.key]),
            _estimate(then[felt.key]),
            difference(then[felt.key], now[felt.key]),
        )
        for felt in FELT
        if felt.key in now and (felt.key in ALWAYS or set(felt.uses) & set(uses))
    ]


def _estimate(values: Sequence[float]) -> Estimate:
    estimate = stats.estimate(values)
    assert estimate is not None, "there is a seed"
    return estimate
