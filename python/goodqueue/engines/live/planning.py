"""Turns a resolved scenario into the laboratory's plan around goodqueue's own path, which can run every path.

Traffic that the hosts cannot do is refused as by the kernel engine, since the hosts are the same.
"""

from dataclasses import replace
from typing import Any

from goodqueue.capture import Trace
from goodqueue.capture import check as check_traced
from goodqueue.engines.kernel import path as kernel
from goodqueue.engines.kernel import planning, tc
from goodqueue.engines.kernel.lab.plan import Hop, OwnPath, Plan, Route, Shaper
from goodqueue.errors import UserError
from goodqueue.hops import has_queue
from goodqueue.record import Scenario
from goodqueue.scenario import discipline, paths, to_json

_LIMIT_FRAMES = 1000
"""The assumed limit of a discipline written in Python, in frames."""


def plan(scenario: Scenario, trace: Trace | None = None) -> Plan:
    """Return the plan of the resolved ``scenario``, with a capture as ``trace`` describes.

    Raises UserError: the key, what was found, what is accepted.
    """
    for index, traffic in enumerate(scenario["traffic"]):
        planning.check_traffic(f"traffic[{index}]", traffic, "live")
    planning.check_series(scenario, "live")
    _check_cell(scenario["bottleneck"].get("wifi") or {})
    for key, link in paths.links(scenario):
        if link.get("gro"):
            raise UserError(
                f"{key}.gro", "found true; accepted by the live engine: false, as packets are real programs'"
            )
    planned = planning.lay_out(scenario, _path(scenario), "live")
    # The path must carry the packets that wait at the end. Its record is taken before that.
    table = {key: value for key, value in scenario.items() if key != "traffic"}
    table["duration"] = f"{planned.duration_s + planned.drain_s:.6f}s"
    capture = None
    if trace is not None:
        check_traced(scenario, trace.points)
        capture = {"path": trace.path, "points": list(trace.points), "snap_bytes": trace.snap_bytes}
    crossed = [_crossed(route, planned.hops) for route in planned.routes]
    mtu = scenario["path"].get("mtu") or planned.mtu
    return replace(planned, own=OwnPath(to_json(table), crossed, capture), mtu=mtu)


def _check_cell(cell: dict[str, Any]) -> None:
    """Refuse several stations, since all packets of a host would belong to the first station."""
    count = sum(station["count"] for station in cell.get("station", ()))
    if count > 1:
        raise UserError("bottleneck.wifi.station", f"found {count} stations; accepted by the live engine: one")


def _crossed(route: Route, hops: list[Hop]) -> list[str] | None:
    """Return the names of what packets of ``route`` cross, in terms of the scenario's ``hops``. None: everything."""
    if not route.skips:
        return None
    beside = [hop.name for index, hop in enumerate(hops) if index not in route.skips]
    return beside if None in route.skips else [kernel.BOTTLENECK, *beside]


def _path(scenario: Scenario) -> kernel.Path:
    """Return what the hosts must know of the path: its rates, and the maximum time of packets in it."""
    bottleneck, listed = scenario["bottleneck"], scenario.get("hop") or []
    changes = scenario.get("change") or []
    hops, waits = [], []
    for hop in listed:
        if has_queue(hop):
            changes_here = [change for change in changes if change.get("hop") == hop["name"]]
            hops.append(Hop(hop["name"], hop["direction"], _link(hop, changes_here)))
            waits.append(_drain_s(hop, changes_here))
        else:
            later = [change for change in changes if change.get("hop") == hop["name"]]
            hops.append(kernel.unqueued(hop))
            waits.append(max([hops[-1].delay_s, *(kernel.unqueued(hop | change).delay_s for change in later)]))
    ends, drains = {}, []
    rows = {direction: kernel.row_of(listed, direction) for direction in ("down", "up")}
    for direction, table in (("down", bottleneck), ("up", bottleneck["up"])):
        changes_here = [change for change in changes if "hop" not in change and change["direction"] == direction]
        ends[direction] = _link(table, changes_here)
        drains.append(
            sum(_drain_s(table, changes_here) if index is None else waits[index] for index in rows[direction])
        )
    return kernel.Path(ends["down"], ends["up"], hops, rows, min(kernel.LONGEST_DRAIN_S, max(drains)))


def _rates_bps(link: dict[str, Any], changes: list[dict[str, Any]]) -> list[int]:
    return [paths.busiest_bps(table) for table in (link, *(change for change in changes if "rate" in change))]


def _link(link: dict[str, Any], changes: list[dict[str, Any]]) -> Shaper:
    return Shaper(rate_bps=max(_rates_bps(link, changes)), shaper="", tc=[])


def _drain_s(link: dict[str, Any], changes: list[dict[str, Any]]) -> float:
    """Return approximately how long a full queue takes to drain."""
    slowest_bps = min(_rates_bps(link, changes))
    if discipline.is_python(link["qdisc"]):
        return _LIMIT_FRAMES * tc.FULL_FRAME * 8 / slowest_bps
    return kernel.drain_s(tc.parse(link["qdisc"]), slowest_bps)
