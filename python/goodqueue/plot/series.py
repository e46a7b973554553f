"""Time series of a record by name: its queues, its flows, its pings, and the variables of its law.

A name is the record's name, for the down queue or the flows down. With the prefix ``up_`` it is for the other
direction. The variables of a law (`[series] law = true`) have their names in the record, and the unit may be left
out. A link beside the bottleneck has the series of a queue, such as ``hops.modem.delay_ms``. A station of a Wi-Fi
cell has the series of its airtime, such as ``stations.slow.rate_mbps``, and ``stations.slow.up_rate_mbps`` for its
own packets.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from goodqueue.measures.metrics import DIRECTIONS, of_direction, said, split
from goodqueue.plot.stored import Group, loaded
from goodqueue.record import Record

Values = list[float | None]

QUEUES = {
    "delay_ms": "queueing delay",
    "backlog_packets": "backlog",
    "drop_probability": "drop probability",
}
"""The series of a queue."""

FLOWS = {"goodput_mbps": "goodput of all flows", "cwnd_packets": "mean congestion window"}
"""The series of the flows in one direction."""

PINGS = {"ping_rtt_ms": "round-trip time of pings"}

STATIONS = {"airtime_percent": "airtime", "rate_mbps": "mean rate"}
"""The series of a station, in either direction."""

STATION = "stations."
"""The prefix of the names of a station's series."""

HOP = "hops."
"""The prefix of the names of a link's series."""

UNITS = {"_ms": "ms", "_bytes": "bytes", "_packets": "packets", "_mbps": "Mbit/s", "_percent": "%"}
"""The unit of a series, by the suffix of its name."""


def available(groups: Sequence[Group]) -> list[str]:
    """Return the names of all series for which some record has a value, in a fixed order."""
    records = [record for group in groups for record in group.records]
    names = [*QUEUES, *FLOWS, *PINGS]
    names += [of_direction(name, "up") for name in (*QUEUES, *FLOWS)]
    names += [f"{HOP}{hop}.{name}" for record in records for hop in _hops(record) for name in QUEUES]
    directions = [of_direction(name, direction) for direction in DIRECTIONS for name in STATIONS]
    names += [
        f"{STATION}{station}.{name}" for record in records for station in _stations(record) for name in directions
    ]
    laws = {
        of_direction(name, direction)
        for record in records
        for direction in DIRECTIONS
        for name in _law(record, direction)
    }
    return [name for name in dict.fromkeys((*names, *sorted(laws))) if any(series(record, name) for record in records)]


def hop_delays(groups: Sequence[Group]) -> list[str]:
    """Return the names of the delay series of the links beside the bottleneck."""
    names = (f"{HOP}{hop}.delay_ms" for group in groups for record in group.records for hop in _hops(record))
    return [
        name
        for name in dict.fromkeys(names)
        if any(series(record, name) for group in groups for record in group.records)
    ]


def described(what: str, groups: Sequence[Group]) -> tuple[str, str]:
    """Return an axis label for the series ``what``, and its unit: ``queueing delay, up``, ``ms``.

    The label names a queue's direction unless only the down queue is loaded, and that of flows unless all go down.
    """
    if what.startswith(HOP):
        hop, rest = _hop(what)
        suffix = next((end for end in UNITS if rest.endswith(end)), "")
        return f"{QUEUES.get(rest, rest)}, {hop}", UNITS.get(suffix, "")
    if what.startswith(STATION):
        station, direction, rest = _station(what)
        suffix = next((end for end in UNITS if rest.endswith(end)), "")
        return f"{STATIONS.get(rest, rest)} {'to' if direction == 'down' else 'from'} {station}", UNITS.get(suffix, "")
    what = next((name for group in groups for record in group.records if (name := _name(record, what))), what)
    direction, name = split(what)
    directions = {flow["direction"] for group in groups for record in group.records for flow in record["flows"]}
    suffix = next((end for end in UNITS if name.endswith(end)), "")
    words = {**QUEUES, **FLOWS, **PINGS}.get(name, name.removesuffix(suffix))
    unit = UNITS.get(suffix, "")
    if name in PINGS:
        return words, unit
    return f"{words}{said(direction, directions if name in FLOWS else loaded(groups))}", unit


def is_law(what: str) -> bool:
    """Return whether ``what`` can only be a variable of a law."""
    return split(what)[1] not in {**QUEUES, **FLOWS, **PINGS} and not what.startswith((HOP, STATION))


def series(record: Record, what: str) -> tuple[list[float], Values] | None:
    """Return times in s and values of the series ``what``, or None if the record has none."""
    sampled = record.get("series")
    exact = _name(record, what)
    if sampled is None or not sampled["time_s"] or exact is None:
        return None
    if what.startswith(HOP):
        hop, name = _hop(what)
        values: Values = list(_hops(record)[hop][name])
        return (sampled["time_s"], values) if any(value is not None for value in values) else None
    if what.startswith(STATION):
        station, direction, name = _station(what)
        values = list(_stations(record)[station][direction][name])
        return (sampled["time_s"], values) if any(value is not None for value in values) else None
    direction, name = split(exact)
    directions = {flow["name"]: flow["direction"] for flow in record["flows"]}
    # A ping has a series like a flow, but is none.
    flows = [flow for flow in sampled["flows"] if directions.get(flow["name"]) == direction]
    if name in QUEUES:
        queue: Mapping[str, Any] = sampled["queues"][direction]
        values = list(queue[name])
    elif name in PINGS:
        values = _ping_means(record, sampled["time_s"])
    elif name == "goodput_mbps":
        values = _over([flow["goodput_mbps"] for flow in flows], False)
    elif name == "cwnd_packets":
        values = _over([flow["cwnd_packets"] for flow in flows], True)
    else:
        values = _law(record, direction)[name]
    return (sampled["time_s"], values) if any(value is not None for value in values) else None


def _law(record: Record, direction: str) -> Mapping[str, Values]:
    queues: Mapping[str, Any] = record.get("series", {}).get("queues", {})
    law: Mapping[str, Values] = queues.get(direction, {}).get("law") or {}
    return law


def _name(record: Record, what: str) -> str | None:
    """Return the whole name of ``what``, since a law's variable may lack its unit, or None if the record has none."""
    if what.startswith(HOP):
        hop, name = _hop(what)
        return what if name in QUEUES and hop in _hops(record) else None
    if what.startswith(STATION):
        station, _, name = _station(what)
        return what if name in STATIONS and station in _stations(record) else None
    direction, name = split(what)
    if name in QUEUES or name in FLOWS or what in PINGS:
        return what
    law = _law(record, direction)
    return next((of_direction(f"{name}{end}", direction) for end in ("", *UNITS) if f"{name}{end}" in law), None)


def _hops(record: Record) -> Mapping[str, Any]:
    return record.get("series", {}).get("hops", {})


def _hop(what: str) -> tuple[str, str]:
    """Return the hop and the name of the series ``what``. The hop's name may contain dots."""
    hop, _, name = what.removeprefix(HOP).rpartition(".")
    return hop, name


def _stations(record: Record) -> Mapping[str, Any]:
    return {station["name"]: station for station in record.get("series", {}).get("stations", [])}


def _station(what: str) -> tuple[str, str, str]:
    """Return the station, the direction and the name of the series ``what``."""
    station, _, name = what.removeprefix(STATION).rpartition(".")
    direction, rest = split(name)
    return station, direction, rest


def _over(flows: Sequence[Sequence[float | None]], mean: bool) -> Values:
    """Return the sum, or with ``mean`` the mean, of the flows' values at each time."""
    points = ([value for value in point if value is not None] for point in zip(*flows, strict=True))
    return [sum(point) / (len(point) if mean else 1) if point else None for point in points]


def _ping_means(record: Record, ends: Sequence[float]) -> Values:
    """Return the mean of the round trips that ended within each interval."""
    import numpy as np

    pings = record.get("series", {}).get("pings", [])
    home = [(sent + rtt / 1e3, rtt) for ping in pings for sent, rtt in zip(ping["sent_s"], ping["rtt_ms"], strict=True)]
    places = np.searchsorted(np.asarray(ends), [at for at, _ in home])
    sums, counts = np.zeros(len(ends) + 1), np.zeros(len(ends) + 1)
    np.add.at(sums, places, [rtt for _, rtt in home])
    np.add.at(counts, places, 1)
    return [float(total / count) if count else None for total, count in zip(sums[:-1], counts[:-1], strict=True)]
