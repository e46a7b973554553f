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
from goodqueue.measures.needs import Need
from goodqueue.measures.numbers import changes, counts, queues, shares, trips
from goodqueue.record import Record, Scenario
from goodqueue.record.dotted import check_path, walk

METRIC = Option("metric")
"""The option that names numbers, unless the caller has another one."""


@cache
def by_key() -> Mapping[str, Metric]:
    """Return all numbers by key. The `metrics.METRICS` stand first."""
    others = (module.NUMBERS for module in (queues, shares, changes, trips, counts))
    every = (*metrics.METRICS, *scores.metrics(), *(one for numbers in others for one in numbers))
    found = {one.key: one for one in every}
    assert len(found) == len(every), "a key has one entry"
    return found


def find(asked: Sequence[str], place: Place = METRIC) -> list[Metric]:
    """Return the numbers ``asked`` for, in that order. Raises UserError that begins with ``place``.

    A number is one of `by_key` (``delay_p95_ms``, ``recovery_ms``), or a dotted path into the record
    (``apps.0.rtt_ms.p99``).
    """
    known = by_key()
    found = []
    for key in asked:
        if key not in known and "." not in key:
            accepted = f"{', '.join(known)}, or a path in the record as flows.0.goodput_mbps"
            raise UserError(place, f"found {quoted(key)}; accepted: {accepted}")
        if key not in known and (why := check_path(key)):
            raise UserError(_with(place, key), why)
        found.append(known.get(key) or _of_path(key))
    if twice := [key for key in asked if asked.count(key) > 1]:
        raise UserError(place, f"found {quoted(twice[0])} twice; accepted: each once")
    return found


def check(asked: Sequence[Metric], scenarios: Sequence[Scenario], place: Place = METRIC) -> None:
    """Refuse a number that no run of the resolved ``scenarios`` would show, and say what they lack.

    Raises UserError that begins with ``place``.
    """
    for one in asked:
        if (lacking := lacks(one, scenarios)) is not None:
            raise UserError(_with(place, one.key), f"no run of this scenario shows it; accepted: with {lacking.words}")


def lacks(metric: Metric, scenarios: Sequence[Scenario]) -> Need | None:
    """Return the first need of ``metric`` that none of the resolved ``scenarios`` meets, or None."""
    unmet = (need for need in metric.needs if not any(need.is_met(scenario) for scenario in scenarios))
    return next(unmet, None) if scenarios else None


def _with(place: Place, key: str) -> Place:
    """Return ``place`` with the number that it names, if it names none yet."""
    return Option(place.name, key) if isinstance(place, Option) and not place.value else place


def _of_path(path: str) -> Metric:
    def pick(record: Record) -> float | None:
        return walk(record, path)

    units = {"ms": "ms", "mbps": "Mbit/s", "percent": "%", "s": "s"}
    ends = [word for part in reversed(path.split(".")) if (word := part.rpartition("_")[2]) in units]
    return Metric(path, path, units[ends[0]] if ends else "", "", pick)
