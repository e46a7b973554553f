"""The captures as columns: each packet's arrival and departure at each queue and wire, and each flow's data.

Times are whole nanoseconds of the run: 0 is when its traffic began.
"""

import struct
from dataclasses import dataclass, fields
from operator import itemgetter
from pathlib import Path
from socket import IPPROTO_TCP
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from goodqueue.engines.kernel.lab import addresses, cards, chain
from goodqueue.engines.kernel.lab.plan import Flow, Plan
from goodqueue.errors import UserError

Nanoseconds = NDArray[np.int64]
CE = 3


@dataclass(frozen=True, slots=True)
class Packets:
    """One direction's packets in the order of their arrival at the queue."""

    arrival: Nanoseconds
    departure: Nanoseconds
    """Meaningless for packets that did not leave."""
    left: NDArray[np.bool_]
    """Whether the packet left. Otherwise it was dropped."""
    length: NDArray[np.int64]
    """Bytes of the frame."""
    flow: NDArray[np.int64]
    """The flow's place in the plan, or -1 for packets of no flow."""
    marked: NDArray[np.bool_]
    """Whether the packet was set to CE here."""
    copy_arrival: Nanoseconds
    """The arrival of each packet that left a second time."""
    copy_departure: Nanoseconds
    """The time of the second departure."""
    copy_length: NDArray[np.int64]
    """Like `length`."""
    copy_flow: NDArray[np.int64]
    """Like `flow`."""

    def departed(self, begin: int, end: int) -> NDArray[np.bool_]:
        """Return which packets left between two times, both included."""
        return self.left & (self.departure >= begin) & (self.departure <= end)

    def arrived(self, begin: int, end: int) -> NDArray[np.bool_]:
        """Return which packets arrived between two times, both included."""
        return (self.arrival >= begin) & (self.arrival <= end)

    def without(self, flows: list[int]) -> "Packets":
        """Return the packets of all flows except those at the places ``flows`` of the plan."""
        stays, copies = ~np.isin(self.flow, flows), ~np.isin(self.copy_flow, flows)
        return Packets(
            **{
                field.name: getattr(self, field.name)[copies if field.name.startswith("copy_") else stays]
                for field in fields(self)
            }
        )


@dataclass(frozen=True, slots=True)
class Journey:
    """What became of one flow's data."""

    delivered_at: Nanoseconds
    """The times when the receiver had more data."""
    delivered_bytes: NDArray[np.int64]
    """The receiver's total bytes at those times: TCP data in order and without headers, but whole frames of datagrams.
    """
    rtt_at: Nanoseconds
    """The times when the sender could take a sample of the round-trip time."""
    rtt: Nanoseconds
    resent_at: Nanoseconds
    """The times when the sender sent data again."""

    def delivered(self, time: int) -> int:
        """Return how many bytes the receiver had before ``time``."""
        count = int(np.searchsorted(self.delivered_at, time, side="left"))
        return int(self.delivered_bytes[count - 1]) if count else 0


@dataclass(frozen=True, slots=True)
class Sightings:
    """The contents of a run's captures."""

    queues: dict[str, Packets]
    """Packets at the bottleneck, by direction. With goodqueue's own path, this and `hops` are empty."""
    hops: dict[str, Packets]
    """Packets at the hops, by name."""
    paths: dict[str, Packets]
    """Packets from host to host, by direction. If the path is the bottleneck alone, the packets at the bottleneck."""
    journeys: list[Journey]
    """By the flow's place in the plan."""


class Numbering(Protocol):
    """Which flow a captured packet belongs to."""

    flows: list[Flow]
    """The flows by their places, at the latest after the last call of `places`."""

    def places(self, captured: Any) -> list[int]:
        """Return the place of each flow of ``captured`` (`_goodqueue.read_captures`), or -1."""


class ByPort:
    """A plan's flows, whose listening ports have their places."""

    def __init__(self, plan: Plan) -> None:
        """Take the flows of ``plan``."""
        self.flows = plan.flows

    def places(self, captured: Any) -> list[int]:
        """Return the place that the ports of each flow have."""
        of_ports = [addresses.place_of((flow["server"][1], flow["client"][1])) for flow in captured["flows"]]
        return [-1 if index is None or index >= len(self.flows) else index for index in of_ports]


def read(folder: Path, plan: Plan, lab: dict[str, Any], numbering: Numbering | None = None) -> Sightings:
    """Read the laboratory's captures in ``folder``. Without a ``numbering`` it is `ByPort`. Raises UserError."""
    numbering = numbering or ByPort(plan)
    origin: int = lab["start_ns"]
    pairs: dict[tuple[str, str], _Pair] = {}
    queues, hops = {}, {}
    for step, node in chain.measured(plan):
        files = node.captures()
        if files not in pairs:
            pairs[files] = _pair(folder, files, plan, numbering)
        packets = pairs[files].packets(step.direction, origin)
        around = [index for index, flow in enumerate(plan.flows) if step.place in plan.routes[flow.route].skips]
        packets = packets.without(around) if around else packets
        if step.place is None:
            queues[step.direction] = packets
        else:
            hops[plan.hops[step.place].name] = packets
    for card in cards.cards(plan):
        if card.stack.link:
            pair = _pair(folder, card.captures(), plan, numbering)
            hops[card.stack.name] = pair.packets(card.stack.direction, origin)
    if plan.captures_ends:
        between = _pair(folder, chain.ends(plan), plan, numbering)
        paths = {direction: between.packets(direction, origin) for direction in ("down", "up")}
        wires = {direction: _Wire(packets, None) for direction, packets in paths.items()}
    else:
        (between,), paths = pairs.values(), queues
        wires = {"down": _Wire(queues["down"], plan.down.rate_bps), "up": _Wire(queues["up"], plan.up.rate_bps)}
    connections = between.connections()
    journeys = []
    for index, flow in enumerate(numbering.flows):
        if flow.is_tcp:
            back = wires["up" if flow.direction == "down" else "down"].arrivals(index, flow)
            parts = [_tcp(transfers[flow.direction], back, origin) for transfers in connections.get(index, [])]
            journeys.append(_joined(parts))
        else:
            journeys.append(_datagrams(wires[flow.direction].arrivals(index, flow)))
    return Sightings(queues, hops, paths, journeys)


@dataclass(frozen=True, slots=True)
class _Pair:
    """Two captures of packets that pass the first point and then the second."""

    captured: Any
    places: list[int]
    """For each captured flow its place in the plan, or -1."""

    def packets(self, direction: str, origin: int) -> Packets:
        return _packets(self.captured["queues"][direction], np.array([*self.places, -1], dtype=np.int64), origin)

    def connections(self) -> dict[int, list[Any]]:
        """Return the transfers of each connection, by the flow's place in the plan."""
        by_flow: dict[int, list[Any]] = {}
        for index, flow in zip(self.places, self.captured["flows"], strict=True):
            if index >= 0 and flow["protocol"] == IPPROTO_TCP:
                by_flow.setdefault(index, []).append(flow["transfers"])
        return by_flow


def _pair(folder: Path, files: tuple[str, str], plan: Plan, numbering: Numbering) -> _Pair:
    from goodqueue import _goodqueue

    both = [_whole(folder, file, cards.joined(plan).get(file, [])) for file in files]
    try:
        captured = _goodqueue.read_captures(*map(str, both))
    except ValueError as error:
        raise UserError(str(error)) from None
    return _Pair(captured, numbering.places(captured))


_FILE_BYTES, _PACKET = 24, struct.Struct("<IIII")
"""A pcap file's header, and a packet's: seconds, nanoseconds, bytes in the file, bytes of the packet."""


def _whole(folder: Path, file: str, others: list[str]) -> Path:
    """Return the capture ``file`` with the packets of ``others``, which came to the same place by another device."""
    if not others:
        return folder / file
    packets: list[tuple[int, int, bytes]] = []
    texts = [(folder / name).read_bytes() for name in (file, *others)]
    for text in texts:
        at = _FILE_BYTES
        while at + _PACKET.size <= len(text):
            seconds, nanoseconds, length, _ = _PACKET.unpack_from(text, at)
            end = at + _PACKET.size + length
            packets.append((seconds, nanoseconds, text[at:end]))
            at = end
    packets.sort(key=itemgetter(0, 1))
    whole = folder / f"whole-{file}"
    whole.write_bytes(texts[0][:_FILE_BYTES] + b"".join(data for *_, data in packets))
    return whole


def _column(data: bytes, kind: str) -> NDArray[np.int64]:
    return np.frombuffer(data, dtype=kind).astype(np.int64)


def _packets(queue: Any, place_of: NDArray[np.int64], origin: int) -> Packets:
    departure = _column(queue["departure_ns"], "<i8")
    ecn_in, ecn_out = _column(queue["ecn_in"], "u1"), _column(queue["ecn_out"], "u1")
    arrival, flow = _column(queue["arrival_ns"], "<i8") - origin, place_of[_column(queue["flow"], "<u4")]
    length, again = _column(queue["length"], "<u4"), _column(queue["copy_of"], "<u4")
    return Packets(
        arrival=arrival,
        departure=departure - origin,
        left=departure >= 0,
        length=length,
        flow=flow,
        marked=(departure >= 0) & (ecn_in != CE) & (ecn_out == CE),
        copy_arrival=arrival[again],
        copy_departure=_column(queue["copy_ns"], "<i8") - origin,
        copy_length=length[again],
        copy_flow=flow[again],
    )


@dataclass(frozen=True, slots=True)
class _Arrivals:
    """A flow's packets that left one queue, in the order of their departures."""

    departure: Nanoseconds
    at: Nanoseconds
    """The packet's arrival at its host: its transmission, which begins at the departure, and half an RTT later."""
    length: NDArray[np.int64]

    def of(self, departure: Nanoseconds) -> Nanoseconds:
        """Return when the packets that left at ``departure`` arrived."""
        return self.at[np.searchsorted(self.departure, departure)]


@dataclass(frozen=True, slots=True)
class _Wire:
    """The wire between a queue and the hosts."""

    packets: Packets
    rate_bps: int | None
    """None: no wire, since the packets were captured at the host."""

    def arrivals(self, index: int, flow: Flow) -> _Arrivals:
        packets, chosen = self.packets, self.packets.left & (self.packets.flow == index)
        again = packets.copy_flow == index
        departure = np.concatenate([packets.departure[chosen], packets.copy_departure[again]])
        length = np.concatenate([packets.length[chosen], packets.copy_length[again]])
        order = np.argsort(departure, kind="stable")
        departure, length = departure[order], length[order]
        if self.rate_bps is None:
            return _Arrivals(departure, departure, length)
        transmission = np.rint(length * (8e9 / self.rate_bps)).astype(np.int64)
        return _Arrivals(departure, departure + transmission + round(flow.rtt_s * 1e9 / 2), length)


def _tcp(transfer: Any, back: _Arrivals, origin: int) -> Journey:
    """Return the journey of one transfer. Sent packets are captured at once, but received ones still cross the wire."""
    times = {name: _column(data, "<i8") for name, data in transfer.items()}
    acknowledged = times["rtt_at_ns"] - origin
    heard = back.of(acknowledged)
    return Journey(
        delivered_at=times["delivered_at_ns"] - origin,
        delivered_bytes=times["delivered_bytes"],
        rtt_at=heard,
        rtt=times["rtt_ns"] + heard - acknowledged,
        resent_at=times["resent_at_ns"] - origin,
    )


def _joined(parts: list[Journey]) -> Journey:
    """Return the journey of a flow with several connections, or with none that got as far as the router."""
    none = np.array([], dtype=np.int64)

    def joined(columns: list[NDArray[np.int64]]) -> NDArray[np.int64]:
        return np.concatenate([none, *columns])

    at = joined([part.delivered_at for part in parts])
    more = joined([np.diff(part.delivered_bytes, prepend=0) for part in parts])
    delivered, rtt_at = np.argsort(at, kind="stable"), joined([part.rtt_at for part in parts])
    heard = np.argsort(rtt_at, kind="stable")
    return Journey(
        delivered_at=at[delivered],
        delivered_bytes=np.cumsum(more[delivered]),
        rtt_at=rtt_at[heard],
        rtt=joined([part.rtt for part in parts])[heard],
        resent_at=np.sort(joined([part.resent_at for part in parts])),
    )


def _datagrams(arrivals: _Arrivals) -> Journey:
    none = np.array([], dtype=np.int64)
    return Journey(
        delivered_at=arrivals.at,
        delivered_bytes=np.cumsum(arrivals.length),
        rtt_at=none,
        rtt=none,
        resent_at=none,
    )
