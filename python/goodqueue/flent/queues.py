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
        times = [sample["t"] for sample in _within(self.sent_bytes, begin_s, end_s)]
        sent = _grown(self.sent_bytes, "sent_bytes", begin_s, end_s)
        return None if sent is None else rounded(sent * 8e-6 / (times[-1] - times[0]))


def read(file: DataFile, name: str) -> Statistics:
    """Return the statistics in the series ``name``."""
    delay = part(file, name, "delay") or [
        {"t": sample["t"], "delay": delay_ms}
        for sample in file.samples.get(name, [])
        if (delay_ms := _of_cake(sample)) is not None
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
    listed: Sequence[Statistics], goodput_mbps: Mapping[str, float], begin_s: float, end_s: float
) -> tuple[dict[str, Statistics], list[str], list[str]]:
    """Return the statistics by direction, those that have no place, and those whose direction is only assumed.

    The name says the direction where goodqueue wrote the file. Otherwise the loaded direction has the queue. If both
    directions are loaded, the rate at which bytes left says which one it is.
    """
    by_direction: dict[str, Statistics] = {}
    second, assumed = [], []
    loaded = [direction for direction, rate in goodput_mbps.items() if rate > 0]
    for statistics in listed:
        rate = statistics.rate_mbps(begin_s, end_s)
        named_direction = next(
            (direction for direction in ("down", "up") if statistics.name.endswith(f"_{direction}")), None
        )
        if named_direction or len(loaded) == 1:
            direction = named_direction or loaded[0]
        elif loaded and rate:
            direction = min(loaded, key=lambda direction: abs(goodput_mbps[direction] - rate))
        else:
            direction = "up" if "down" in by_direction else "down"
            assumed.append(statistics.name)
        if direction in by_direction:
            second.append(statistics.name)
        else:
            by_direction[direction] = statistics
    return by_direction, second, [name for name in assumed if name not in second]


def queue(statistics: Statistics, line: str, begin_s: float, end_s: float) -> Queue:
    """Return the queue with the line ``line``, for the time from ``begin_s`` to ``end_s``."""
    delays = parts.nanoseconds([sample["delay"] for sample in _within(statistics.delay, begin_s, end_s)])
    packets = _packets(statistics, begin_s, end_s)
    dropped, marked = (
        _events(samples, key, begin_s, end_s)
        for samples, key in ((statistics.dropped, "dropped"), (statistics.marked, "ecn_mark"))
    )
    queue_made = parts.queue(line)
    queue_made |= {
        "throughput_mbps": statistics.rate_mbps(begin_s, end_s),
        "delay_ms": summary(delays),
        "delay_percentiles_ms": percentiles_ms(delays),
        "packets": packets,
    }
    if packets is not None and packets["offered"] > 0:
        queue_made["drop_percent"] = None if dropped is None else percent(dropped, packets["offered"])
        queue_made["mark_percent"] = None if marked is None else percent(marked, packets["offered"])
    return queue_made


def series(statistics: Statistics, grid_s: Sequence[float], step_s: float) -> QueueSeries:
    """Return the statistics at the times of the grid."""
    return QueueSeries(
        delay_ms=nearest(statistics.delay, "delay", grid_s, step_s),
        backlog_packets=nearest(statistics.backlog, "backlog_pkts", grid_s, step_s),
        drop_probability=nearest(statistics.probability, "prob", grid_s, step_s),
    )


def nearest(samples: Sequence[Sample], key: str, grid_s: Sequence[float], step_s: float) -> list[float | None]:
    """Return for each time of the grid the nearest sample, or None if it is more than half a step away."""
    import numpy as np

    with_key = [sample for sample in samples if key in sample]
    if not with_key:
        return [None] * len(grid_s)
    times, at = np.array([sample["t"] for sample in with_key]), np.array(grid_s, dtype=float)
    after = np.clip(np.searchsorted(times, at), 0, len(with_key) - 1)
    before = np.maximum(after - 1, 0)
    places = np.where(np.abs(times[before] - at) <= np.abs(times[after] - at), before, after)
    return [
        with_key[index][key] if abs(with_key[index]["t"] - when) <= step_s / 2 else None
        for index, when in zip(places.tolist(), grid_s, strict=True)
    ]


def _within(samples: Sequence[Sample], begin_s: float, end_s: float) -> list[Sample]:
    return [sample for sample in samples if begin_s <= sample["t"] <= end_s]


def _grown(samples: Sequence[Sample], key: str, begin_s: float, end_s: float) -> float | None:
    """Return how much a counter grew, or None if it did not count."""
    within = _within(samples, begin_s, end_s)
    grown = within[-1][key] - within[0][key] if len(within) > 1 and within[-1]["t"] > within[0]["t"] else -1.0
    return grown if grown >= 0 else None


def _events(samples: Sequence[Sample], key: str, begin_s: float, end_s: float) -> int | None:
    """Return the number of drops or marks, from numbers per step or, if they never fall, from a counter."""
    numbers = [sample[key] for sample in samples]
    within = _within(samples, begin_s, end_s)
    if not within or min(numbers) < 0:
        return None
    if numbers == sorted(numbers) and len(set(numbers)) > 2:
        grown = _grown(samples, key, begin_s, end_s)
        return None if grown is None else round(grown)
    return round(sum(sample[key] for sample in within[1:]))


def _packets(statistics: Statistics, begin_s: float, end_s: float) -> Packets | None:
    """Return the counts of packets, or None if not all of them are known."""
    forwarded = _grown(statistics.sent_packets, "sent_pkts", begin_s, end_s)
    dropped = _events(statistics.dropped, "dropped", begin_s, end_s)
    backlog = [round(sample["backlog_pkts"]) for sample in _within(statistics.backlog, begin_s, end_s)]
    if forwarded is None or dropped is None or not backlog:
        return None
    return Packets(
        offered=max(0, round(forwarded) + dropped + backlog[-1] - backlog[0]),
        forwarded=round(forwarded),
        dropped=dropped,
        marked=_events(statistics.marked, "ecn_mark", begin_s, end_s) or 0,
        queued_at_start=backlog[0],
        queued_at_end=backlog[-1],
    )
