"""iperf3's JSON (`iperf3 --json`, of the client or of the server) as a record: one flow per stream.

Streams of TCP and SCTP are `bulk`, those of UDP `cbr`. The goodput is what the receiver counted. The end of the
file says it, if the test was not interrupted; otherwise the receiver's own intervals do. Intervals of the warm-up
(``--omit``) are left out. Versions before 3.7 do not say which end of a stream sends; ``reverse`` does.
"""

from collections.abc import Mapping, Sequence
from itertools import accumulate
from typing import Any

from goodqueue._goodqueue import percent, rounded, summary
from goodqueue.errors import UserError, bounded
from goodqueue.neighbours import iperf3_streams, opening, parts
from goodqueue.neighbours.iperf3_streams import WRAPPED, Stream, Table, count
from goodqueue.record import Delay, Flow, FlowSeries, Record, Scenario, SourceFile
from goodqueue.traffic import BULK

ACCEPTED = "iperf3's JSON (iperf3 --json)"

SENT = "nothing says what arrived; the goodput is what was sent"

_MSS = 1448
"""Bytes of a segment if the file does not say it: a full frame with timestamps."""


def record(data: Mapping[str, Any], where: str, scenario: Scenario | None, number: int) -> Record:
    """Return the record of the file ``where`` with the content ``data``. Raises UserError."""
    start = opening.table_or_none(data, "start", where)
    test = opening.table_or_none(start, "test_start", f"{where}: start")
    error = opening.text(data, "error")
    measured_streams = [stream for stream in iperf3_streams.of(data, test, where) if stream.seconds() > 0]
    if not measured_streams:
        problem = f"iperf3 says: {bounded(error, 200)}" if error else "found no interval and no result"
        raise UserError(where, f"{problem}; accepted: {ACCEPTED} of a test that ran")
    is_server = "accepted_connection" in start
    protocol = opening.text(test, "protocol") or _protocol(measured_streams)
    steps = max(measured_streams, key=lambda stream: len(stream.steps)).lengths_s()
    grid = [rounded(end_s) for end_s in accumulate(steps)]
    notes: list[str] = []
    if error:
        notes.append(f"iperf3 says: {bounded(error, 200)}; what was measured until then is read")
    names = _names(measured_streams, is_server)
    flows = [
        _flow(stream, name, protocol, direction, data, notes)
        for stream, (name, direction) in zip(measured_streams, names, strict=True)
    ]
    end_s = max(grid[-1:] + [stream.seconds() for stream in measured_streams])
    left_out = {}
    if "server_output_json" in data or "server_output_text" in data:
        left_out["server_output"] = "the server's own file can be imported beside this one"
    source = SourceFile(
        file=where,
        test=f"{protocol}, {len(flows)} stream{'s' * (len(flows) > 1)}, {'server' if is_server else 'client'}",
        title=opening.text(start, "connecting_to", "host") or opening.text(start, "accepted_connection", "host"),
        time=opening.text(start, "timestamp", "time") or "unknown",
        version=opening.text(start, "version").removeprefix("iperf ") or "unknown",
        measured_s=[0.0, rounded(end_s)],
        left_out=sorted(left_out),
        reasons=left_out,
        notes=notes,
    )
    kind = flows[0]["kind"]
    scenario_used = scenario or parts.unknown("", _traffic(kind, flows), 0.0, end_s)
    mss = opening.number(start, "tcp_mss", f"{where}: start") or opening.number(
        start, "tcp_mss_default", f"{where}: start"
    )
    rows = [
        _flow_series(stream, flow["name"], len(grid), mss if mss and mss > 0 else _MSS)
        for stream, flow in zip(measured_streams, flows, strict=True)
    ]
    return parts.record(
        "iperf3", source, scenario_used, number, flows, [], parts.series(steps[0] if steps else end_s, grid, rows, [])
    )


def has_test(data: Mapping[str, Any]) -> bool:
    """Return whether a test ran. A server that is stopped writes a last table without one."""
    return bool(data.get("intervals")) or bool(data.get("end"))


def _protocol(streams: Sequence[Stream]) -> str:
    return "UDP" if any("udp" in stream.end for stream in streams) else "TCP"


def _names(streams: Sequence[Stream], is_server: bool) -> list[tuple[str, str]]:
    """Return name and direction of each stream. What the client sends goes up."""
    counts = {"up": 0, "down": 0}
    names = []
    for stream in streams:
        direction = "up" if stream.sends != is_server else "down"
        names.append((f"{direction}/{counts[direction]}", direction))
        counts[direction] += 1
    return names


def _traffic(kind: str, flows: Sequence[Flow]) -> list[dict[str, Any]]:
    directions = [flow["direction"] for flow in flows]
    return [
        {"kind": kind, "count": directions.count(direction), "direction": direction} for direction in ("down", "up")
    ]


def _flow(stream: Stream, name: str, protocol: str, direction: str, data: Mapping[str, Any], notes: list[str]) -> Flow:
    if protocol == "UDP":
        return _datagrams(stream, name, direction, data, notes)
    received, sent = _received_mbps(stream), stream.rate_mbps()
    goodput = sent if received is None and not stream.sends else received
    if goodput is None:
        notes.append(f"{name}: {SENT}")
        goodput = sent or (stream.result("sender", "bits_per_second") or 0.0) / 1e6
    of_all = None if stream.warmed_up else count(stream.result("sender", "retransmits"), WRAPPED)
    sent_again = stream.total("retransmits", WRAPPED) if of_all is None else of_all
    flow = parts.flow(name, BULK, direction, 0.0, goodput)
    flow["cc"], flow["rtt_ms"] = _congestion_control(direction, data), _rtt_ms(stream)
    flow["retransmitted"] = None if sent_again is None else round(sent_again)
    return flow


def _received_mbps(stream: Stream) -> float | None:
    """Return the rate at which the receiver's bytes arrived, or None if they are not known.

    An interrupted client has no word from its server, and writes 0 bytes.
    """
    rate, size = (count(stream.result("receiver", key), opening.MOST) for key in ("bits_per_second", "bytes"))
    if rate is None or (not size and stream.result("sender", "bytes")):
        return None
    return rate / 1e6


def _congestion_control(direction: str, data: Mapping[str, Any]) -> str | None:
    """Return the sender's congestion control.

    iperf3 gives that of both ends, as the sender's and the receiver's. With ``--bidir`` both ends send, and both files
    name the server's ``sender_…`` and the client's ``receiver_…``: print_results in iperf_api.c names them for the last
    direction that it prints, in which the server sends.
    """
    end = opening.table_or_none(data, "end", "end")
    is_both = any("bidir_reverse" in key for key in end)
    which = "receiver" if is_both and direction == "up" else "sender"
    return opening.text(end, f"{which}_tcp_congestion") or None


def _rtt_ms(stream: Stream) -> Delay | None:
    """Return the distribution of the RTTs at the intervals' ends; mean, least and most as iperf3 summed them up.

    An end that receives writes its own RTT in the place of the sender's: that of the handshake, before any queue.
    """
    if not stream.sends:
        return None
    rtts = summary(parts.nanoseconds([us / 1e3 for us in stream.counts("rtt", WRAPPED) if us]))
    if stream.warmed_up and rtts:
        return rtts  # the sums include the warm-up
    least, mean, most = (count(stream.result("sender", f"{key}_rtt"), WRAPPED) for key in ("min", "mean", "max"))
    if not least or not mean or not most or not least <= mean <= most:
        return rtts
    blank = Delay(mean=None, stddev=None, min=None, p10=None, p50=None, p90=None, p95=None, p99=None, max=None)
    sums = Delay(**(rtts or blank))
    sums["min"], sums["mean"], sums["max"] = (rounded(us / 1e3) for us in (least, mean, most))
    return sums


def _datagrams(stream: Stream, name: str, direction: str, data: Mapping[str, Any], notes: list[str]) -> Flow:
    """Return a flow of UDP. Its receiver counts packets by their numbers, and tells the client of that at the end.

    The result ``udp`` has the sender's bytes, whichever end wrote it. A server that sends never learns what arrived.
    """
    lost, packets, jitter = (stream.result("udp", key) for key in ("lost_packets", "packets", "jitter_ms"))
    goodput = stream.rate_mbps()
    if not stream.sends and (counted := stream.total("packets")):
        losses = [opening.number(step, "lost_packets", stream.place) for step in stream.steps]
        # A packet that comes late makes the losses of its own interval fewer, so that they may be less than 0.
        lost, packets = None if None in losses else sum(one for one in losses if one is not None), counted
        jitters = [one for one in stream.counts("jitter_ms") if one is not None]
        jitter = jitters[-1] if jitter is None and jitters else jitter
    elif stream.sends:
        told = _told_mbps(stream, data)
        if told is None:
            notes.append(f"{name}: {SENT}")
        else:
            goodput = told
        if not told:
            lost = packets = jitter = None
    if goodput is None:
        goodput = (stream.result("udp", "bits_per_second") or 0.0) / 1e6
    app = parts.flow(name, parts.DATAGRAMS, direction, 0.0, goodput)
    is_counted = lost is not None and packets is not None and 0 <= lost <= packets and packets > 0
    app["loss_percent"] = percent(round(lost or 0), round(packets or 0)) if is_counted else None
    jitter = count(jitter, opening.MOST)
    app["jitter_rfc3550_ms"] = None if jitter is None else rounded(jitter)
    return app


def _told_mbps(stream: Stream, data: Mapping[str, Any]) -> float | None:
    """Return what arrived of a stream of UDP that this client sent, or None if its server did not say.

    iperf3 gives the rate of all streams together. Each has the share of its packets that were not lost. A client that
    was interrupted has no word from its server, and writes that 0 bytes came.
    """
    end = opening.table_or_none(data, "end", "end")
    if "accepted_connection" in opening.table_or_none(data, "start", "start") or not _arrived(stream.end):
        return None
    sums = opening.table_or_none(end, "sum_received", "end")
    rate = opening.number(sums, "bits_per_second", "end.sum_received")
    of_all = sum(_arrived(row) for row in opening.tables(end, "streams", "end") if _is_sent(row))
    if rate is not None:
        return rate * _arrived(stream.end) / max(of_all, 1.0) / 1e6 if rate > 0 or "error" not in data else None
    packets, sent = stream.result("udp", "packets"), stream.result("udp", "bits_per_second")
    return None if not packets or sent is None else sent * _arrived(stream.end) / packets / 1e6


def _is_sent(end: Table) -> bool:
    """Return whether this end sent the stream with the result ``end``. Old versions have no ``--bidir``."""
    return opening.table_or_none(end, "udp", "end.streams").get("sender") is not False


def _arrived(end: Table) -> float:
    """Return how many packets of UDP arrived."""
    udp = opening.table_or_none(end, "udp", "end.streams")
    lost, packets = (opening.number(udp, key, "end.streams.udp") or 0.0 for key in ("lost_packets", "packets"))
    return max(0.0, packets - max(0.0, lost))


def _flow_series(stream: Stream, name: str, length: int, mss: float) -> FlowSeries:
    rates: parts.Numbers = [
        rounded(size * 8e-6 / seconds) if seconds and size is not None else None
        for size, seconds in zip(stream.counts("bytes"), stream.lengths_s(), strict=True)
    ]
    rates += [None] * (length - len(rates))
    flow_series = FlowSeries(
        name=name,
        cwnd_packets=stream.column("snd_cwnd", 1 / mss, length),
        goodput_mbps=rates,
    )
    if stream.sends and any(stream.counts("rtt", WRAPPED)):
        nothing: parts.Numbers = [None] * length
        flow_series["tcp"] = parts.tcp_series(
            stream.column("rtt", 1e-3, length), stream.column("rttvar", 1e-3, length), nothing, nothing
        )
    return flow_series
