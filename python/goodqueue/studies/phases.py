"""Queues and flows in the phases of a run whose load or capacity alternates.

Phases of ``each_s`` seconds follow each other from ``from_s`` on. After ``phases`` phases the first one comes again.
``phase`` counts from 1. All functions need `[series] interval`. An interval belongs to the phase in which it ends.
"""

import math
from collections.abc import Iterator
from statistics import fmean

from goodqueue.record import Record
from goodqueue.studies.computing import Options


def _within(record: Record, options: Options) -> Iterator[int]:
    """Yield the indices of the intervals in the phase."""
    begin, each, phases, phase = (float(options[name]) for name in ("from_s", "each_s", "phases", "phase"))
    for index, end in enumerate(record["series"]["time_s"]):
        if end > begin and math.ceil((end - begin) / each - 1e-9) % phases == phase % phases:
            yield index


def delay_ms(record: Record, options: Options) -> float | None:
    """Return the mean of the intervals' mean delays down in the phase. None if no packet left."""
    delays = record["series"]["queues"]["down"]["delay_ms"]
    values = [delay for index in _within(record, options) if (delay := delays[index]) is not None]
    return fmean(values) if values else None


def delay_max_ms(record: Record, options: Options) -> float | None:
    """Return the largest of the intervals' mean delays down in the phase. None if no packet left."""
    delays = record["series"]["queues"]["down"]["delay_ms"]
    return max((delay for index in _within(record, options) if (delay := delays[index]) is not None), default=None)


def goodput_mbps(record: Record, options: Options) -> float | None:
    """Return the mean total goodput of all flows down in the phase."""
    down = [flow["direction"] == "down" for flow in record["flows"]]
    flows = [flow for flow, is_down in zip(record["series"]["flows"], down, strict=True) if is_down]
    sums = [math.fsum(flow["goodput_mbps"][index] or 0.0 for flow in flows) for index in _within(record, options)]
    return fmean(sums) if sums else None
