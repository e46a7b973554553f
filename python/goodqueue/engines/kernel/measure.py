"""Turns the laboratory's results into a record like the simulator's.

The definitions are those of ``crates/netsim/src/record.rs``. Values that the kernel does not report are None: the
reason of a drop, and a law's drop probability. Timeouts, probes and undos are counted per namespace, so they are None
if several senders share one.

The captures do not show when a packet was dropped, only that it never left. A drop counts at the packet's arrival.
"""

import json
from itertools import pairwise
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from goodqueue._goodqueue import VERSION, goodput_quantiles, jain, percent, rounded, summary
from goodqueue.engines.kernel import tcpinfo
from goodqueue.engines.kernel.lab.clock import nanoseconds
from goodqueue.engines.kernel.lab.plan import Flow as Planned
from goodqueue.engines.kernel.lab.plan import Plan
from goodqueue.engines.kernel.routers import Routers, span
from goodqueue.engines.kernel.sightings import Journey, Sightings, read
from goodqueue.record import Fairness, Flow, FlowSeries, Host, Quantiles, Queue, Record, Scenario, Series, TcpSeries
from goodqueue.scenario import seconds
from goodqueue.traffic import BULK, kinds

BIN_NS = 5_000_000_000
_NONE = np.array([], dtype=np.int64)
UNDOS = ("TCPFullUndo", "TCPPartialUndo", "TCPDSACKUndo", "TCPLossUndo")
"""Linux's counters of undone window reductions, by the signal that caused the undo."""


class Middle(Protocol):
    """The path between the hosts, as its engine measured it."""

    engine: str

    def queues(self) -> dict[str, Queue]:
        """Return the bottleneck's queues."""

    def add_to(self, record: Record) -> None:
        """Add the path's other parts to the record."""

    def add_series(self, series: Series, ends: list[int]) -> None:
        """Add the path's part of the time series, whose intervals end at ``ends``."""


def record(scenario: Scenario, plan: Plan, folder: Path, where: str) -> Record:
    """Return the record of the run of ``plan``, made from the resolved ``scenario``, whose results are in ``folder``.

    ``where`` is ``host``, ``vm`` or ``process``. Raises UserError if captures and `tc`'s own counters disagree.
    """
    lab = results(folder)
    seen = read(folder, plan, lab)
    return around(Routers(scenario, plan, lab, seen, where), scenario, plan, lab, seen)


def results(folder: Path) -> dict[str, Any]:
    """Return the laboratory's notes in ``folder``."""
    lab: dict[str, Any] = json.loads((folder / "lab.json").read_bytes())
    return lab


def around(middle: Middle, scenario: Scenario, plan: Plan, lab: dict[str, Any], seen: Sightings) -> Record:
    """Return the record of a run with ``middle`` between the hosts."""
    return _Measuring(middle, scenario, plan, lab, seen).record()


class _Measuring:
    """One run's results."""

    def __init__(self, middle: Middle, scenario: Scenario, plan: Plan, lab: dict[str, Any], seen: Sightings) -> None:
        self.middle, self.scenario, self.plan, self.lab, self.seen = middle, scenario, plan, lab, seen
        self.begin, self.end = span(plan)

    def record(self) -> Record:
        flows = list(enumerate(self.plan.flows))
        result = Record(
            schema=1,
            engine=self.middle.engine,
            version=VERSION,
            seed=self.plan.seed,
            scenario=self.scenario,
            queues=self.middle.queues(),
            flows=[self._flow(index, flow) for index, flow in flows if not kinds()[flow.kind].is_probe],
            fairness=self._fairness(),
            apps=[flow_result["app"] for flow_result in self._flow_reports() if flow_result["app"] is not None],
        )
        if hosts := [*self._hosts("host"), *self._hosts("server")]:
            result["hosts"] = hosts
            self._add_jain_of(hosts, result["fairness"])
        self.middle.add_to(result)
        if (series := self._series()) is not None:
            result["series"] = series
        return result

    def _flow_reports(self) -> list[dict[str, Any]]:
        """Return what the hosts measured of each flow."""
        return [self.lab["flows"][flow.name] for flow in self.plan.flows]

    def _measured_s(self, *flows: Planned) -> float:
        """Return how much of the measured time lies between the first start and the last stop of ``flows``."""
        begin = max(min(nanoseconds(flow.start_s) for flow in flows), self.begin)
        end = min(max(nanoseconds(flow.stop_s) for flow in flows), self.end)
        return max(0, end - begin) / 1e9

    def _goodput_mbps(self, *places: int) -> float:
        """Return the goodput of the flows at ``places`` together."""
        delivered = 0
        for index in places:
            journey = self.seen.journeys[index]
            # Data that arrive after the stop were sent before it, and count in no rate.
            after = journey.delivered(min(nanoseconds(self.plan.flows[index].stop_s), self.end) + 1)
            delivered += max(0, after - journey.delivered(self.begin))
        measured_s = self._measured_s(*(self.plan.flows[index] for index in places))
        return rounded(delivered * 8e-6 / measured_s) if measured_s else 0.0

    def _fates(self, index: int) -> tuple[int, int]:
        """Return how many packets the flow's sender sent, and how many of them were dropped or lost on their way."""
        packets = self.seen.paths[self.plan.flows[index].direction]
        offered = packets.arrived(self.begin, self.end) & (packets.flow == index)
        return int(np.sum(offered)), int(np.sum(offered & ~packets.left))

    def _flow(self, index: int, flow: Planned) -> Flow:
        journey = self.seen.journeys[index]
        tcp = flow.is_tcp
        sent, retransmitted, spurious = self._sent(flow) if tcp else (None, None, None)
        offered, dropped = self._fates(index)
        return Flow(
            name=flow.name,
            kind=flow.kind,
            direction=flow.direction,
            cc=flow.cc if tcp else None,
            start_s=rounded(flow.start_s),
            goodput_mbps=self._goodput_mbps(index),
            rtt_ms=summary(journey.rtt[self._within(journey.rtt_at)]),
            bytes_sent=sent,
            bytes_retrans=retransmitted,
            retransmitted=int(np.sum(self._within(journey.resent_at))) if tcp else None,
            timeouts=self._counted_by_host(flow, "TCPTimeouts") if tcp else None,
            tlp_probes=self._counted_by_host(flow, "TCPLossProbes") if tcp else None,
            spurious_retransmissions=spurious,
            undos=self._counted_by_host(flow, *UNDOS) if tcp else None,
            loss_percent=percent(dropped, offered) if offered else None,
            completion_ms=self.lab["flows"][flow.name]["completion_ms"],
            goodput_5s_mbps=self._bins(flow, journey),
        )

    def _hosts(self, role: str) -> list[Host]:
        """Return the hosts that the key ``role`` of the scenario's traffic names, in its order."""
        by_host: dict[str, list[int]] = {}
        traffic = [source for source in self.scenario["traffic"] for _ in range(source["count"])]
        for index, source in enumerate(traffic):
            if role in source:
                indices = [] if kinds()[source["kind"]].is_probe else [index]
                by_host.setdefault(source[role], []).extend(indices)
        return [self._host(name, role, places) for name, places in by_host.items()]

    def _host(self, name: str, role: str, places: list[int]) -> Host:
        flows, fates = self.plan.flows, [self._fates(index) for index in places]
        goodput: dict[str, float | None] = {}
        for direction in ("down", "up"):
            of_direction = [index for index in places if flows[index].direction == direction]
            goodput[direction] = self._goodput_mbps(*of_direction) if of_direction else None
        rtts = [self.seen.journeys[index] for index in places]
        offered = sum(packets for packets, _ in fates)
        return Host(
            name=name,
            role=role,
            flows=len(places),
            goodput_mbps=goodput,
            rtt_ms=summary(np.concatenate([_NONE, *(journey.rtt[self._within(journey.rtt_at)] for journey in rtts)])),
            loss_percent=percent(sum(lost for _, lost in fates), offered) if offered else None,
        )

    def _add_jain_of(self, hosts: list[Host], fairness: Fairness) -> None:
        """Add the index of the users' hosts, in the direction of the first bulk flow."""
        direction = next((flow.direction for flow in self.plan.flows if flow.kind == BULK), "")
        goodputs = [host["goodput_mbps"].get(direction) for host in hosts if host["role"] == "host"]
        index = jain([goodput for goodput in goodputs if goodput is not None])
        if index is not None:
            fairness["jain_hosts"] = index

    def _within(self, times: Any) -> Any:
        return (times >= self.begin) & (times <= self.end)

    def _counted_by_host(self, flow: Planned, *names: str) -> int | None:
        """Return the sum of the counters ``names`` of the sender's host, or None if the host has other senders, too."""
        senders = [other for other in self.plan.flows if other.is_tcp]
        if sum(other.direction == flow.direction or kinds()[other.kind].asks for other in senders) > 1:
            return None
        side = "server" if flow.direction == "down" else "client"
        counters: dict[str, int] = self.lab["netstat"][side]
        return sum(counters.get(f"TcpExt.{name}", 0) for name in names)

    def _bins(self, flow: Planned, journey: Journey) -> Quantiles | None:
        """Return quantiles of the goodput in bins of five seconds. Only bins that the flow covers entirely count."""
        ends = range(self.begin + BIN_NS, self.end + 1, BIN_NS)
        whole = [end for end in ends if nanoseconds(flow.start_s) + BIN_NS <= end <= nanoseconds(flow.stop_s)]
        counts = [journey.delivered(end) - journey.delivered(end - BIN_NS) for end in whole]
        return goodput_quantiles([count * 8e-6 / (BIN_NS / 1e9) for count in counts])

    def _fairness(self) -> Fairness:
        bulk = [index for index, flow in enumerate(self.plan.flows) if flow.kind == BULK]
        direction = self.plan.flows[bulk[0]].direction if bulk else None
        sharing = [
            index
            for index in bulk
            if self.plan.flows[index].direction == direction and self._measured_s(self.plan.flows[index]) > 0
        ]
        fates = [self._fates(index) for index in sharing]
        losses = [dropped / offered if offered else 0.0 for offered, dropped in fates]
        return Fairness(jain_goodput=jain([self._goodput_mbps(index) for index in sharing]), jain_drops=jain(losses))

    def _sent(self, flow: Planned) -> tuple[int | None, int | None, int | None]:
        """Return the bytes that the flow's sender sent, the bytes sent again, and the needless segments among these.

        All three count the measured time, by the sender's TCP_INFO.
        """
        counts: list[tuple[float, list[int]]] = self.lab["flows"][flow.name]["sent"]
        if not counts:
            return None, None, None
        # If the flow had started already, the first reading in the measured time is the one at its begin.
        since = [count for at, count in counts if at >= self.plan.warmup_s > flow.start_s] or [[0, 0, 0]]
        sent, again, needless = (last - first for last, first in zip(counts[-1][1], since[0], strict=True))
        return sent, again, needless

    def _series(self) -> Series | None:
        wanted_series = self.scenario.get("series")
        if wanted_series is None:
            return None
        interval = wanted_series.get("interval")
        every = None if interval is None else nanoseconds(seconds(interval))
        ends = [] if every is None else list(range(every, self.end + 1, every))
        result = Series(
            interval_s=None if every is None else every / 1e9,
            time_s=[end / 1e9 for end in ends],
            queues={},
            flows=[]
            if every is None
            else [self._flow_series(index, ends, every) for index in range(len(self.plan.flows))],
        )
        self.middle.add_series(result, ends)

        for flow, flow_result in zip(self.plan.flows, self._flow_reports(), strict=True):
            if every is not None and flow_result["series"] is not None:
                result.setdefault(kinds()[flow.kind].series, []).append(flow_result["series"])  # type: ignore[misc]
        return result

    def _flow_series(self, index: int, ends: list[int], every: int) -> FlowSeries:
        flow, journey = self.plan.flows[index], self.seen.journeys[index]
        delivered = [journey.delivered(time) for time in [0, *ends]]
        samples = [(at, tcpinfo.decode(digits)) for at, digits in self.lab["flows"][flow.name]["tcp_info"]]
        times = np.array([nanoseconds(at) for at, _ in samples], dtype=np.int64)

        def sample(end: int) -> dict[str, Any] | None:
            """Return the sample nearest to ``end``, or None if none is nearer than half an interval."""
            if not len(times):
                return None
            nearest = int(np.argmin(np.abs(times - end)))
            return samples[nearest][1] if 2 * abs(int(times[nearest]) - end) < every else None

        by_time = [sample(end) for end in ends]

        def column(name: str, unit: float = 1.0) -> list[float | None]:
            values = [None if sampled is None else sampled[name] for sampled in by_time]
            return [value if value is None or unit == 1.0 else rounded(value * unit) for value in values]

        rates: list[float | None] = [
            rounded((after - before) * 8e-6 / (every / 1e9)) for before, after in pairwise(delivered)
        ]
        series = FlowSeries(name=flow.name, cwnd_packets=column("cwnd"), goodput_mbps=rates)
        if flow.is_tcp and self.scenario["series"].get("tcp"):
            series["tcp"] = TcpSeries(
                ssthresh_packets=column("ssthresh"),
                rtt_ms=column("rtt_us", 1e-3),
                rttvar_ms=column("rttvar_us", 1e-3),
                rto_ms=column("rto_us", 1e-3),
                unacked_packets=column("unacked"),
                pacing_rate_mbps=column("pacing_rate", 8e-6),
                delivery_rate_mbps=column("delivery_rate", 8e-6),
            )
        return series
