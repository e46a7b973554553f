"""Scores that people read, as metrics of every record: QoO, AIM, and the latency behind the bufferbloat letter.

Each score is one file with its source. They are computed only if somebody asks for them: ``--metric qoo_web_browsing``.
"""

from collections.abc import Callable
from functools import cache, partial

from goodqueue.measures.base import base_ms
from goodqueue.measures.metrics import DIRECTIONS, Metric, delay, goodput, mean, of_direction, queue_number
from goodqueue.measures.scores import aim, felt, qoo
from goodqueue.record import Record

LEAST_USED_PERCENT = 1.0
"""A direction whose link is used less carries no load."""


@cache
def metrics() -> tuple[Metric, ...]:
    """Return all scores."""
    entries = []
    for direction in DIRECTIONS:
        for name in qoo.profiles():
            entries.append(
                _score(of_direction(f"qoo_{name}", direction), f"QoO {_words(name)}", partial(_qoo, name, direction),
                       direction, (0, 100), "QoO: 100 is perfect, 0 unacceptable (draft-ietf-ippm-qoo-11)")
            )  # fmt: skip
    for use in aim.USES:
        entries.append(
            _score(f"aim_{use}", f"AIM {use}", partial(_aim, use), "", None, "AIM: points of Cloudflare's speed test")
        )
    entries.append(
        Metric("bufferbloat_ms", "bufferbloat", "ms", "low", bufferbloat_ms,
               note="bufferbloat: mean added latency down and up; A+ < 5 ms, A < 30, B < 60, C < 200, D < 400, else F")
    )  # fmt: skip
    return tuple(entries)


def _score(
    key: str,
    label: str,
    pick: Callable[[Record], float | None],
    direction: str,
    scale: tuple[float, float] | None,
    note: str,
) -> Metric:
    return Metric(key, label, "", "high", pick, decimals=0, direction=direction, scale=scale, note=note)


def _words(name: str) -> str:
    return name.replace("_", " ")


def _qoo(name: str, direction: str, record: Record) -> float | None:
    trips = felt.round_trips_ms(record, direction)
    if trips is None or len(trips) < len(felt.PERCENTS):
        return None
    latency = {float(percent): trips[percent] for percent in felt.PERCENTS}
    return qoo.score(qoo.profiles()[name], qoo.Path(latency, queue_number(direction, "drop_percent")(record)))


def _aim(use: str, record: Record) -> float | None:
    added = [delay(direction, "p50")(record) for direction in DIRECTIONS]
    lost = [loss for side in DIRECTIONS if (loss := queue_number(side, "drop_percent")(record)) is not None]
    path = aim.Measured(
        latency=base_ms(record),
        increase=max((delay for delay in added if delay is not None), default=None),
        jitter=felt.jitter_ms(record),
        loss=max(lost) / 100 if lost else None,
        download=goodput("down")(record) or 0.0,
    )
    return aim.total(use, path)


def bufferbloat_ms(record: Record) -> float | None:
    """Return the mean of the latency that the load adds in the directions that have one."""
    loaded = [
        direction
        for direction in DIRECTIONS
        if (record["queues"][direction]["utilisation_percent"] or 0.0) >= LEAST_USED_PERCENT
    ]
    return mean(delay(direction, "p50")(record) for direction in loaded)
