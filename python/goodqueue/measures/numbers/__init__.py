"""Every number of a record that has a name: one list, which all verbs use.

An entry is a `Metric`: its key, its unit, which values are better, what it needs of a scenario, how it is taken from a
record, and what it means. `metrics` has those of queues, flows and applications, which each table and each store has.
The modules beside this one have the others, which are computed only if somebody asks for them. A number that takes
options of its own, or that one study alone needs, is a computation of `studies`.
"""

from collections.abc import Mapping, Sequence
from functools import cache

from goodqueue.errors import Option, Place, UserError, quoted
from goodqueue.measures import metrics, scores
from goodqueue.measures.metrics import Metric
from goodqueue.measures.numbers import changes, counts, queues, shares, trips
from goodqueue.record import Record, Scenario
from goodqueue.record.dotted import check_path, walk

METRIC = Option("metric")
"""The option that names numbers, unless the caller has another one."""


@cache
def by_key() -> Mapping[str, Metric]:
    """Return all numbers by key. The `metrics.METRICS` stand first."""
    others = (module.NUMBERS for module in (queues, shares, changes, trips, counts))
    every = (*metrics.METRICS, *scores.metrics(), *(number for numbers in others for number in numbers))
    entries = {number.key: number for number in every}
    assert len(entries) == len(every), "a key has one entry"
    return entries


def find(keys: Sequence[str], where: Place = METRIC) -> list[Metric]:
    """Return the numbers with these ``keys``, in that order. Raises UserError that begins with ``where``.

    A number is one of `by_key` (``delay_p95_ms``, ``recovery_ms``), or a dotted path into the record
    (``apps.0.rtt_ms.p99``).
    """
    entries = by_key()
    metrics = []
    for key in keys:
        if key not in entries and "." not in key:
            accepted = f"{', '.join(entries)}, or a path in the record as flows.0.goodput_mbps"
            raise UserError(where, f"found {quoted(key)}; accepted: {accepted}")
        if key not in entries and (why := check_path(key)):
            raise UserError(_with(where, key), why)
        metrics.append(entries.get(key) or _of_path(key))
    if twice := [key for key in keys if keys.count(key) > 1]:
        raise UserError(where, f"found {quoted(twice[0])} twice; accepted: each once")
    return metrics


def check(metrics: Sequence[Metric], scenarios: Sequence[Scenario], where: Place = METRIC) -> None:
    """Refuse a number that no run of the resolved ``scenarios`` would show, and say what they lack.

    Raises UserError that begins with ``where``.
    """
    for metric in metrics:
        for need in metric.needs:
            if scenarios and not any(need.is_met(scenario) for scenario in scenarios):
                raise UserError(
                    _with(where, metric.key), f"no run of this scenario shows it; accepted: with {need.words}"
                )


def _with(where: Place, key: str) -> Place:
    """Return ``where`` with the number that it names, if it names none yet."""
    return Option(where.name, key) if isinstance(where, Option) and not where.value else where


def _of_path(path: str) -> Metric:
    def pick(record: Record) -> float | None:
        return walk(record, path)

    units = {"ms": "ms", "mbps": "Mbit/s", "percent": "%", "s": "s"}
    ends = [word for part in reversed(path.split(".")) if (word := part.rpartition("_")[2]) in units]
    return Metric(path, path, units[ends[0]] if ends else "", "", pick)
