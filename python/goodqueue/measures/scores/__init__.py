"""Scores that people read, as numbers of a record: QoO, AIM, and the latency behind the bufferbloat letter.

Each score is one file with its source. They are computed only if somebody asks for them: ``--metric qoo_web_browsing``.
"""

from collections.abc import Callable
from functools import cache, partial

from goodqueue import traffic
from goodqueue.measures.base import base_ms
from goodqueue.measures.metrics import DIRECTIONS, Metric, delay, goodput, mean, of_direction, queue_number
from goodqueue.measures.needs import SERIES, Need, application, packets
from goodqueue.measures.scores import aim, felt, qoo
from goodqueue.record import Record

LEAST_USED_PERCENT = 1.0
"""A direction whose link is used less carries no load."""


@cache
def metrics() -> tuple[Metric, ...]:
    """Return all scores."""
    found = []
    for direction in DIRECTIONS:
        for name in qoo.profiles():
            found.append(
                _score(of_direction(f"qoo_{name}", direction), f"QoO {_words(name)}", partial(_qoo, name, direction),
                       (packets(direction),), "QoO: 100 is perfect, 0 unacceptable (draft-ietf-ippm-qoo-11)",
                       direction=direction, scale=(0, 100))
            )  # fmt: skip
    jitter = (SERIES, application(traffic.probe().name))
    for use, (quantities, _) in aim.USES.items():
        needs = jitter if "jitter" in quantities else ()
        note = "AIM: points of Cloudflare's speed test"
        found.append(_score(f"aim_{use}", f"AIM {use}", partial(_aim, use), needs, note))
    found.append(
        Metric("bufferbloat_ms", "bufferbloat", "ms", "low", bufferbloat_ms,
               note="bufferbloat: mean added latency down and up; A+ < 5 ms, A < 30, B < 60, C < 200, D < 400, else F")
    )  # fmt: skip
    return tuple(found)


def _score(
    key: str,
    label: str,
    pick: Callable[[Record], float | None],
    needs: tuple[Need, ...],
    note: str,
    *,
    direction: str = "",
    scale: tuple[float, float] | None = None,
) -> Metric:
    return Metric(
        key, label, "", "high", pick, decimals=0, direction=direction, scale=scale, note=note, needs=needs
    )  # fmt: skip


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
    lost = [loss for direction in DIRECTIONS if (loss := queue_number(direction, "drop_percent")(record)) is not None]
    measured = aim.Measured(
        latency=base_ms(record),
        increase=max((one for one in added if one is not None), default=None),
        jitter=felt.jitter_ms(record),
        loss=max(lost) / 100 if lost else None,
        download=goodput("down")(record) or 0.0,
    )
    return aim.total(use, measured)


def bufferbloat_ms(record: Record) -> float | None:
    """Return the mean of the latency that the load adds in the directions that have one."""
    loaded = [
        direction
        for direction in DIRECTIONS
        if (record["queues"][direction]["utilisation_percent"] or 0.0) >= LEAST_USED_PERCENT
    ]
    return mean(delay(direction, "p50")(record) for direction in loaded)
