"""Chooses a candidate: the rule, and the numbers that it uses.

A point is a tenth of the time of a ping, of a call's packet or of a page, a tenth of the goodput in each direction, or
0.1 of a call's MOS. A candidate's points are the sum over the uses of the link.

The simplest candidate wins ties. Another one takes its place only if the seeds tell the two apart, and if somebody
feels the gain (`gain.NOTICED`). Among equally simple candidates the one with the most goodput wins.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean

from goodqueue import traffic
from goodqueue.advice.gain import difference, gain, total
from goodqueue.advice.result import Change, Tried
from goodqueue.measures import calls, stats
from goodqueue.measures import numbers as measures
from goodqueue.measures.base import path_ms
from goodqueue.measures.metrics import Metric
from goodqueue.measures.ratios import ratio
from goodqueue.measures.stats import Estimate
from goodqueue.record import Record

TENTH = math.log(1.1)

MOS_POINT = 0.1

SINGLE = "single"
"""The name of the flow, and of the host, of the user who has one download."""

PING = traffic.probe().name

ADDED_KEY = "bufferbloat_ms"
"""The key of the latency that the load adds per direction. It has a letter and no points: a ping has them.

The number `bufferbloat_ms` of `measures.numbers` is what one queue per direction adds. Here several queues may add:
those of the shaper, the modem and the radio. So it is taken from the pings, which cross all of them.
"""


def _single(record: Record) -> float | None:
    """Return the goodput of the lone download."""
    return next((flow["goodput_mbps"] for flow in record["flows"] if flow["name"].startswith(f"{SINGLE}/")), None)


_SINGLE = Metric(f"{SINGLE}_goodput_mbps", SINGLE, "Mbit/s", "high", _single)
"""A number of these scenarios alone, since it goes by the name of a flow of theirs. `measures.numbers` has the others.
"""

SINGLE_KEY = _SINGLE.key

CALL, _VOIP, _PING, _PAGE, _DOWN, _UP = measures.find(
    ["call_mos", "voip_delay_p95_ms", "ping_rtt_p95_ms", "page_load_mean_ms", "goodput_mbps", "up_goodput_mbps"]
)


@dataclass(frozen=True, slots=True)
class Felt:
    """A number that counts for uses of the link."""

    number: Metric
    what: str
    """Its name for a person, without its unit."""
    says: str
    """The beginning of a sentence about its value, ``{}``."""
    column: str
    """Its heading in a table of many."""
    uses: tuple[str, ...]
    """The uses for which it counts."""

    @property
    def key(self) -> str:
        """The number's key."""
        return self.number.key

    @property
    def unit(self) -> str:
        """The number's unit."""
        return self.number.unit


FELT = (
    Felt(CALL, "Call: quality, MOS 1 to 4.5", "a call has a MOS of {}", "call\nMOS", ("calls",)),
    Felt(_VOIP, "Call packets: 95 % within", "95 % of call packets arrive within {}", "call\np95 ms", ("calls",)),
    Felt(_PING, "Ping: 95 % within", "95 % of pings return within {}", "ping\np95 ms", ("games",)),
    Felt(_PAGE, "Small web page: after", "a small web page is there after {}", "page\nmean ms", ("web",)),
    Felt(_SINGLE, "A lone download", "a lone download gets {}", "single\nMbit/s", ("downloads",)),
    Felt(_DOWN, "Downloads together", "downloads together get {}", "down\nMbit/s", ("downloads",)),
    Felt(_UP, "Uploads together", "uploads together get {}", "up\nMbit/s", ("downloads",)),
)
"""The numbers that count. The delays include the base RTT, since people feel the whole delay."""

FELT_BY_KEY = {felt.key: felt for felt in FELT}

PING_KEY, PAGE_KEY, DOWN_KEY, UP_KEY = (number.key for number in (_PING, _PAGE, _DOWN, _UP))

OF_USE = {"calls": _VOIP.key, "games": PING_KEY, "web": PAGE_KEY, "downloads": DOWN_KEY}
"""The number that a sentence has for a use."""

ALWAYS = (_PING, _DOWN, _UP)
"""The numbers that are shown for every use of the link: the gain and its cost."""

Values = Mapping[str, Sequence[float]]
"""The numbers of each metric, one per seed."""


def numbers(records: Sequence[Record]) -> Values:
    """Return the felt numbers of ``records`` by metric, one number per run.

    A page that never came counts as one that took as long as the run. So does a ping or a call without an answer.
    """
    kinds = {app["kind"] for app in records[0]["apps"]}
    felt = {}
    for number in (one.number for one in FELT):
        if number.app in {"", *kinds}:
            values = [number.pick(record) for record in records]
            felt[number.key] = [_worst(number, records[0]) if value is None else value for value in values]
    return felt | {ADDED_KEY: [_added_ms(record) for record in records]}


def _worst(number: Metric, record: Record) -> float:
    """Return the value of ``number`` in a run like ``record`` that does not show it."""
    if number is CALL:
        return calls.WORST
    return 1e-3 if number.better == "high" else _measured_ms(record)


def _added_ms(record: Record) -> float:
    """Return half of what the pings take longer than the base RTT, since the load is in both directions."""
    medians = [app["rtt_ms"]["p50"] or 0.0 for app in record["apps"] if app["kind"] == PING and app["rtt_ms"]]
    return max(fmean(medians) - path_ms(record["scenario"]), 0.0) / 2 if medians else _measured_ms(record)


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
    found = values[felt.key]
    if felt.number is CALL:
        return [value / MOS_POINT for value in found]
    return [(1 if felt.number.better == "high" else -1) * math.log(max(value, 1e-3)) / TENTH for value in found]


Row = tuple[str, tuple[str, str], int, Values]
"""A candidate: its label, its lines, its level (the effort it takes), and its measurements."""


def rank(tried: Sequence[Row], uses: Sequence[str], chosen: int | None = None) -> list[Tried]:
    """Return the candidates with their points. The choice is ``chosen``, or the one that the rule picks."""
    own = [points(values, uses) for *_, values in tried]
    whole = [total(one) for one in own]
    best = max(whole, key=sum)
    choice = pick(tried, uses) if chosen is None else chosen
    return [
        Tried(
            label,
            *lines,
            {key: _estimate(found) for key, found in values.items()},
            difference(whole[at], whole[0]),
            difference(best, whole[at]),
            gain(own[at], own[choice]),
            at == choice,
        )
        for at, (label, lines, _, values) in enumerate(tried)
    ]


def longer(ranked: Sequence[Tried], at: int, now: Values, then: Values, uses: Sequence[str]) -> list[Tried]:
    """Return ``ranked`` with the numbers of longer runs: ``now`` of the first row, and ``then`` of the choice ``at``.

    What it has more than the other rows stays that of the runs that all rows have.
    """
    rows = list(ranked)
    for index, values in ((0, now), (at, then)):
        means = {key: _estimate(found) for key, found in values.items()}
        more = difference(*(total(points(one, uses)) for one in (values, now)))
        rows[index] = replace(rows[index], means=means, points=more)
    return rows


def pick(tried: Sequence[Row], uses: Sequence[str]) -> int:
    """Return the index of the simplest candidate in whose place no other one is worth it."""
    own = [points(values, uses) for *_, values in tried]
    stay = [at for at, one in enumerate(own) if not any(gain(other, one).is_worth_it for other in own)]
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
            ratio(then[felt.key], now[felt.key]),
        )
        for felt in FELT
        if felt.key in now and (felt.number in ALWAYS or set(felt.uses) & set(uses))
    ]


def _estimate(values: Sequence[float]) -> Estimate:
    found = stats.estimate(values)
    assert found is not None, "there is a seed"
    return found
