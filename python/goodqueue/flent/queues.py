"""Queue statistics in a data file: what `tc -s` said of a discipline at each step.

Flent writes the numbers of dropped and marked packets per step, but those of sent packets and bytes since the
discipline began. Older files count drops and marks in that way too; such numbers never fall.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from goodqueue._goodqueue import percent, percentiles_ms, rounded, summary
from goodqueue.flent.reading import BETWEEN, DataFile, Sample
from goodqueue.flent.series import part
from goodqueue.neighbours import parts
from goodqueue.record import Packets, Queue, QueueSeries

_CAKE_DELAY, _CAKE_PACKETS = (f"cake_{key}{BETWEEN}" for key in ("av_delay", "pkts"))


@dataclass(frozen=True, slots=True)
class Statistics:
    """The samples of one discipline, by what they have. Those of delay are in ms."""

    name: str
    delay: list[Sample]
    backlog: list[Sample]
    dropped: list[Sample]
    marked: list[Sample]
    sent_packets: list[Sample]
    sent_bytes: list[Sample]
    probability: list[Sample]

    def rate_mbps(self, begin_s: float, end_s: float) -> float | None:
        """Return the rate of the bytes that left between two times."""
        times = [one["t"] for one in _within(self.sent_bytes, begin_s, end_s)]
        sent = _grown(self.sent_bytes, "sent_bytes", begin_s, end_s)
        return None if sent is None else rounded(sent * 8e-6 / (times[-1] - times[0]))


def read(file: DataFile, name: str) -> Statistics:
    """Return the statistics in the series ``name``."""
    delay = part(file, name, "delay") or [
        {"t": one["t"], "delay": found} for one in file.samples.get(name, []) if (found := _of_cake(one)) is not None
    ]
    backlog, dropped, marked, sent, sent_bytes, probability = (
        part(file, name, key) for key in ("backlog_pkts", "dropped", "ecn_mark", "sent_pkts", "sent_bytes", "prob")
    )
    return Statistics(name, delay, backlog, dropped, marked, sent, sent_bytes, probability)


def _of_cake(sample: Sample) -> float | None:
    """Return the delay of cake's tin that has had most packets."""
    tins = [key.removeprefix(_CAKE_DELAY) for key in sample if key.startswith(_CAKE_DELAY)]
    busiest = max(tins, key=lambda tin: sample.get(_CAKE_PACKETS + tin, 0.0), default=None)
    return None if busiest is None else sample[_CAKE_DELAY + busiest]


def placed(
    found: Sequence[Statistics], goodput_mbps: Mapping[str, float], begin_s: float, end_s: float
) -> tuple[dict[str, Statistics], list[str], list[str]]:
    """Return the statistics by direction, those that have no place, and those whose direction is only assumed.

    The name says the direction where goodqueue wrote the file. Otherwise the loaded direction has the queue. If both
    directions are loaded, the rate at which bytes left says which one it is.
    """
    by_direction: dict[str, Statistics] = {}
    second, assumed = [], []
    loaded = [direction for direction, rate in goodput_mbps.items() if rate > 0]
    for one in found:
        rate = one.rate_mbps(begin_s, end_s)
        named = next((direction for direction in ("down", "up") if one.name.endswith(f"_{direction}")), None)
        if named or len(loaded) == 1:
            direction = named or loaded[0]
        elif loaded and rate:
            direction = min(loaded, key=lambda direction: abs(goodput_mbps[direction] - rate))
        else:
            direction = "up" if "down" in by_direction else "down"
            assumed.append(one.name)
        if direction in by_direction:
            second.append(one.name)
        else:
            by_direction[direction] = one
    return by_direction, second, [name for name in assumed if name not in second]


def queue(one: Statistics, line: str, begin_s: float, end_s: float) -> Queue:
    """Return the queue with the line ``line``, for the time from ``begin_s`` to ``end_s``."""
    delays = parts.nanoseconds([sample["delay"] for sample in _within(one.delay, begin_s, end_s)])
    packets = _packets(one, begin_s, end_s)
    dropped, marked = (
        _events(own, key, begin_s, end_s) for own, key in ((one.dropped, "dropped"), (one.marked, "ecn_mark"))
    )
    made = parts.queue(line)
    made |= {
        "throughput_mbps": one.rate_mbps(begin_s, end_s),
        "delay_ms": summary(delays),
        "delay_percentiles_ms": percentiles_ms(delays),
        "packets": packets,
    }
    if packets is not None and packets["offered"] > 0:
        made["drop_percent"] = None if dropped is None else percent(dropped, packets["offered"])
        made["mark_percent"] = None if marked is None else percent(marked, packets["offered"])
    return made


def series(one: Statistics, grid_s: Sequence[float], step_s: float) -> QueueSeries:
    """Return the statistics at the times of the grid."""
    return QueueSeries(
        delay_ms=nearest(one.delay, "delay", grid_s, step_s),
        backlog_packets=nearest(one.backlog, "backlog_pkts", grid_s, step_s),
        drop_probability=nearest(one.probability, "prob", grid_s, step_s),
    )


def nearest(samples: Sequence[Sample], key: str, grid_s: Sequence[float], step_s: float) -> list[float | None]:
    """Return for each time of the grid the nearest sample, or None if it is more than half a step away."""
    import numpy as np

    own = [sample for sample in samples if key in sample]
    if not own:
        return [None] * len(grid_s)
    times, at = np.array([sample["t"] for sample in own]), np.array(grid_s, dtype=float)
    after = np.clip(np.searchsorted(times, at), 0, len(own) - 1)
    before = np.maximum(after - 1, 0)
    places = np.where(np.abs(times[before] - at) <= np.abs(times[after] - at), before, after)
    return [
        own[place][key] if abs(own[place]["t"] - when) <= step_s / 2 else None
        for place, when in zip(places.tolist(), grid_s, strict=True)
    ]


def _within(samples: Sequence[Sample], begin_s: float, end_s: float) -> list[Sample]:
    return [sample for sample in samples if begin_s <= sample["t"] <= end_s]


def _grown(samples: Sequence[Sample], key: str, begin_s: float, end_s: float) -> float | None:
    """Return how much a counter grew, or None if it did not count."""
    own = _within(samples, begin_s, end_s)
    grown = own[-1][key] - own[0][key] if len(own) > 1 and own[-1]["t"] > own[0]["t"] else -1.0
    return grown if grown >= 0 else None


def _events(samples: Sequence[Sample], key: str, begin_s: float, end_s: float) -> int | None:
    """Return the number of drops or marks, from numbers per step or, if they never fall, from a counter."""
    numbers = [sample[key] for sample in samples]
    own = _within(samples, begin_s, end_s)
    if not own or min(numbers) < 0:
        return None
    if numbers == sorted(numbers) and len(set(numbers)) > 2:
        grown = _grown(samples, key, begin_s, end_s)
        return None if grown is None else round(grown)
    return round(sum(sample[key] for sample in own[1:]))


def _packets(one: Statistics, begin_s: float, end_s: float) -> Packets | None:
    """Return the counts of packets, or None if not all of them are known."""
    forwarded = _grown(one.sent_packets, "sent_pkts", begin_s, end_s)
    dropped = _events(one.dropped, "dropped", begin_s, end_s)
    backlog = [round(sample["backlog_pkts"]) for sample in _within(one.backlog, begin_s, end_s)]
    if forwarded is None or dropped is None or not backlog:
        return None
    return Packets(
        offered=max(0, round(forwarded) + dropped + backlog[-1] - backlog[0]),
        forwarded=round(forwarded),
        dropped=dropped,
        marked=_events(one.marked, "ecn_mark", begin_s, end_s) or 0,
        queued_at_start=backlog[0],
        queued_at_end=backlog[-1],
    )
