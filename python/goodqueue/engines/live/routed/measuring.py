"""The record of a link across Linux's own path, from the captures at its queues and the counters of ``tc``.

The flows are what the captures show. Their measures are those of a link across goodqueue's path
(``crates/gateway/src/flows.rs``).
"""

from dataclasses import replace
from pathlib import Path
from socket import IPPROTO_ICMP, IPPROTO_TCP, IPPROTO_UDP
from typing import Any

import numpy as np

from goodqueue._goodqueue import VERSION, percent, rounded, summary
from goodqueue.engines.kernel.lab.clock import nanoseconds
from goodqueue.engines.kernel.lab.plan import Flow as Planned
from goodqueue.engines.kernel.lab.plan import Plan
from goodqueue.engines.kernel.routers import Routers
from goodqueue.engines.kernel.sightings import Sightings, read
from goodqueue.errors import UserError
from goodqueue.record import Fairness, Flow, Live, Record, Scenario, Series
from goodqueue.scenario import seconds

_KINDS = {IPPROTO_TCP: "tcp", IPPROTO_UDP: "udp", IPPROTO_ICMP: "icmp"}
_HEADERS = {"udp": 42, "icmp": 42}
"""Bytes before a packet's payload: those of Ethernet and of IP, and of what IP carries."""
_IP_HEADERS = 34


def record(scenario: Scenario, plan: Plan, folder: Path, lab: dict[str, Any], engine: str) -> Record:
    """Return the record of a link whose laboratory left ``lab`` and captures in ``folder``.

    Raises UserError if captures and `tc`'s own counters disagree.
    """
    if plan.duration_s < lab["ended_s"] and (plan.down.changes or plan.up.changes):
        problem = f"found a link of {lab['ended_s']:.0f} s with a file of rates or changes"
        raise UserError("link", f"{problem}; accepted with --engine kernel: {plan.duration_s:g} s")
    plan = replace(plan, duration_s=lab["ended_s"])
    numbering = _ByEnds(plan)
    seen = read(folder, plan, lab, numbering)
    routers = Routers(scenario, plan, lab, seen, "process")
    flows = [_flow(index, flow, seen, plan) for index, flow in enumerate(numbering.flows)]
    made = Record(
        schema=1,
        engine=engine,
        version=VERSION,
        seed=plan.seed,
        scenario=scenario,
        queues=routers.queues(),
        flows=flows,
        fairness=Fairness(jain_goodput=None, jain_drops=None),
        apps=[],
    )
    routers.add_to(made)
    made["live"] = _live(plan, numbering)
    if (series := _series(scenario, plan, routers)) is not None:
        made["series"] = series
    return made


class _ByEnds:
    """The flows that captures show, in the order in which they were first seen (`sightings.Numbering`)."""

    def __init__(self, plan: Plan) -> None:
        self.flows: list[Planned] = []
        self.ends: list[tuple[Any, ...]] = []
        self._plan = plan
        self._places: dict[tuple[Any, ...], int] = {}

    def places(self, captured: Any) -> list[int]:
        """Return the places of the flows of ``captured``. Flows that are new get the next ones."""
        firsts = {way: _firsts(captured["queues"][way]) for way in ("down", "up")}
        places = []
        for index, flow in enumerate(captured["flows"]):
            ends = flow["protocol"], tuple(flow["server"]), tuple(flow["client"])
            if ends not in self._places:
                self._places[ends] = len(self.flows)
                self.ends.append(ends)
                self.flows.append(self._flow(flow, {way: known.get(index) for way, known in firsts.items()}))
            places.append(self._places[ends])
        return places

    def _flow(self, flow: Any, seen: dict[str, tuple[int, int] | None]) -> Planned:
        """Return a flow of the captures. ``seen`` has for each way its first packet's time, and all its bytes."""
        kind = _KINDS.get(flow["protocol"], "ip")
        began = min((first[0], way) for way, first in seen.items() if first is not None)[1]
        amounts = {way: of_way[1] if of_way else 0 for way, of_way in seen.items()}
        if kind == "tcp":
            amounts = {way: _last(transfer["delivered_bytes"]) for way, transfer in flow["transfers"].items()}
        direction = max(amounts, key=lambda way: (amounts[way], way == began))
        client, server = ("{}:{}".format(*flow[side]) for side in ("client", "server"))
        sent = f"{client} > {server}" if began == "up" else f"{server} > {client}"
        return Planned(
            name=f"{kind} {sent}",
            kind=kind,
            is_tcp=kind == "tcp",
            direction=direction,
            start_s=0.0,
            stop_s=self._plan.duration_s,
            rtt_s=self._plan.routes[0].rtt_s,
            ecn=False,
            cc=None,
            dscp=0,
            pacing=False,
            interval_s=None,
            user=0,
            server=0,
        )


def _firsts(queue: Any) -> dict[int, tuple[int, int]]:
    """Return for each flow in a captured queue the time of its first packet, and the bytes of all."""
    flow, arrival = np.frombuffer(queue["flow"], "<u4"), np.frombuffer(queue["arrival_ns"], "<i8")
    amounts = np.bincount(flow, np.frombuffer(queue["length"], "<u4"))
    numbers, at = np.unique(flow, return_index=True)
    return {int(number): (int(arrival[index]), int(amounts[number])) for number, index in zip(numbers, at, strict=True)}


def _last(column: bytes) -> int:
    return int(np.frombuffer(column, "<i8")[-1]) if column else 0


def _flow(index: int, flow: Planned, seen: Sightings, plan: Plan) -> Flow:
    packets, journey = seen.paths[flow.direction], seen.journeys[index]
    end = nanoseconds(plan.duration_s)
    offered = (packets.flow == index) & packets.arrived(-(2**62), end)
    sent, lost = int(np.sum(offered)), int(np.sum(offered & ~packets.left))
    begin = int(packets.arrival[offered].min(initial=end))
    delivered = journey.delivered(end + 1)
    arrivals = journey.delivered_at[journey.delivered_at <= end]
    if not flow.is_tcp:
        delivered -= _HEADERS.get(flow.kind, _IP_HEADERS) * len(arrivals)
    lasted_s = (int(arrivals[-1]) - begin) / 1e9 if len(arrivals) else 0.0
    return Flow(
        name=flow.name,
        kind=flow.kind,
        direction=flow.direction,
        cc=None,
        start_s=rounded(begin / 1e9),
        goodput_mbps=rounded(delivered * 8e-6 / lasted_s if lasted_s > 0 else 0.0),
        rtt_ms=summary(journey.rtt[journey.rtt_at <= end]),
        bytes_sent=None,
        bytes_retrans=None,
        retransmitted=int(np.sum(journey.resent_at <= end)) if flow.is_tcp else None,
        timeouts=None,
        tlp_probes=None,
        spurious_retransmissions=None,
        undos=None,
        loss_percent=percent(lost, sent) if sent else None,
        completion_ms=None,
        goodput_5s_mbps=None,
    )


def _live(plan: Plan, numbering: _ByEnds) -> Live:
    """Return what a link adds to a record. Linux holds the packets, so none is late and none has a buffer of ours."""
    servers, clients = ({ends[side][0] for ends in numbering.ends} for side in (1, 2))
    return Live(
        elapsed_s=rounded(plan.duration_s),
        late_us=None,
        packets={"not_ip": 0, "not_cut": 0, "refused": 0},
        hosts={"client": len(clients), "server": len(servers)},
        slots=0,
        slots_in_use=0,
    )


def _series(scenario: Scenario, plan: Plan, routers: Routers) -> Series | None:
    asked = scenario.get("series")
    if asked is None:
        return None
    every = None if asked.get("interval") is None else nanoseconds(seconds(asked["interval"]))
    ends = [] if every is None else list(range(every, nanoseconds(plan.duration_s) + 1, every))
    series = Series(
        interval_s=None if every is None else every / 1e9, time_s=[end / 1e9 for end in ends], queues={}, flows=[]
    )
    routers.add_series(series, ends)
    return series
