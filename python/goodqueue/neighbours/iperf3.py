"""iperf3's JSON (`iperf3 --json`, of the client or of the server) as a record: one flow per stream.

Streams of TCP and SCTP are `bulk`, those of UDP `cbr`. The goodput is what the receiver counted. The end of the
file says it, if the test was not interrupted; otherwise the receiver's own intervals do. Intervals of the warm-up
(``--omit``) are left out. Versions before 3.7 do not say which end of a stream sends; ``reverse`` does.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from goodqueue._goodqueue import percent, rounded, summary
from goodqueue.errors import UserError, bounded
from goodqueue.neighbours import opening, parts
from goodqueue.record import Delay, Flow, FlowSeries, Record, Scenario, SourceFile
from goodqueue.traffic import BULK

ACCEPTED = "iperf3's JSON (iperf3 --json)"

SENT = "nothing says what arrived; the goodput is what was sent"

_MSS = 1448
"""Bytes of a segment if the file does not say it: a full frame with timestamps."""

Table = Mapping[str, Any]


@dataclass(slots=True)
class Stream:
    """One stream, as one end saw it."""

    socket: int
    place: str
    sends: bool
    """Whether this end sends."""
    steps: list[Table] = field(default_factory=list)
    """Its intervals without the omitted ones."""
    warmed_up: bool = False
    """Whether there were intervals that were omitted."""
    end: Table = field(default_factory=dict)
    """Its result: ``sender`` and ``receiver``, or ``udp``."""

    def numbers(self, key: str) -> list[float]:
        """Return the numbers at ``key`` of all intervals that have it."""
        values = (opening.number(step, key, self.place) for step in self.steps)
        return [value for value in values if value is not None]

    def column(self, key: str, scale: float, length: int) -> parts.Numbers:
        """Return the numbers at ``key`` times ``scale``, one per interval of the record. 0 means unknown."""
        values = [opening.number(step, key, self.place) for step in self.steps[:length]]
        values += [None] * (length - len(values))
        return [None if not value else rounded(value * scale) for value in values]

    def result(self, end: str, key: str) -> float | None:
        """Return a number of the result: of the end ``sender``, ``receiver`` or ``udp``."""
        inner = opening.table_or_none(self.end, end, self.place)
        return opening.number(inner, key, f"{self.place}.{end}")

    def rate_mbps(self) -> float | None:
        """Return the rate of the bytes in the intervals, which this end sent or received, or None without intervals."""
        seconds = sum(self.lengths_s())
        return sum(self.numbers("bytes")) * 8e-6 / seconds if seconds else None

    def lengths_s(self) -> list[float]:
        """Return the lengths of the intervals, from end to end.

        The time begins anew after a warm-up, and the start and the length of the interval that follows still have the
        warm-up in them.
        """
        ends = self.numbers("end")
        first = 0.0 if self.warmed_up or not self.steps else opening.number(self.steps[0], "start", self.place) or 0.0
        lengths = [end - begin for begin, end in zip([first, *ends], ends, strict=False)]
        if len(lengths) != len(self.steps) or min(lengths, default=1.0) <= 0:
            return [max(0.0, length_s) for length_s in self.numbers("seconds")]
        return lengths


def record(data: Mapping[str, Any], where: str, scenario: Scenario | None, number: int) -> Record:
    """Return the record of the file ``where`` with the content ``data``. Raises UserError."""
    start = opening.table_or_none(data, "start", where)
    test = opening.table_or_none(start, "test_start", f"{where}: start")
    error = opening.text(data, "error", where)
    measured_streams = [stream for stream in _streams(data, test, where) if _seconds(stream) > 0]
    if not measured_streams:
        problem = f"iperf3 says: {bounded(error, 200)}" if error else "found no interval and no result"
        raise UserError(where, f"{problem}; accepted: {ACCEPTED} of a test that ran")
    is_server = "accepted_connection" in start
    protocol = opening.text(test, "protocol", f"{where}: start.test_start") or _protocol(measured_streams)
    steps = max(measured_streams, key=lambda stream: len(stream.steps)).lengths_s()
    grid = [rounded(sum(steps[: index + 1])) for index in range(len(steps))]
    notes: list[str] = []
    if error:
        notes.append(f"iperf3 says: {bounded(error, 200)}; what was measured until then is read")
    names = _names(measured_streams, is_server)
    flows = [
        _flow(stream, name, protocol, direction, data, notes)
        for stream, (name, direction) in zip(measured_streams, names, strict=True)
    ]
    end_s = max(grid[-1:] + [_seconds(stream) for stream in measured_streams])
    left_out = {}
    if "server_output_json" in data or "server_output_text" in data:
        left_out["server_output"] = "the server's own file can be imported beside this one"
    peer = opening.table_or_none(start, "connecting_to", f"{where}: start") or opening.table_or_none(
        start, "accepted_connection", f"{where}: start"
    )
    at = opening.table_or_none(start, "timestamp", f"{where}: start")
    source = SourceFile(
        file=where,
        test=f"{protocol}, {len(flows)} stream{'s' * (len(flows) > 1)}, {'server' if is_server else 'client'}",
        title=opening.text(peer, "host", f"{where}: start"),
        time=opening.text(at, "time", f"{where}: start.timestamp") or "unknown",
        version=opening.text(start, "version", f"{where}: start").removeprefix("iperf ") or "unknown",
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


def _streams(data: Mapping[str, Any], test: Table, where: str) -> list[Stream]:
    """Return the streams in the order in which they first appear."""
    reverse = bool(opening.number(test, "reverse", f"{where}: start.test_start"))
    is_server = "accepted_connection" in opening.table_or_none(data, "start", where)
    streams: dict[int, Stream] = {}

    def of(socket: object, sends: object, here: str) -> Stream:
        key = round(opening.finite(socket, f"{here}.socket"))
        by_default = reverse == is_server
        return streams.setdefault(key, Stream(key, here, sends if isinstance(sends, bool) else by_default))

    for index, interval in enumerate(opening.tables(data, "intervals", where)):
        here = f"{where}: intervals.{index}"
        for row in opening.tables(interval, "streams", here):
            stream = of(row.get("socket"), row.get("sender"), f"{here}.streams")
            if row.get("omitted") is True:
                stream.warmed_up = True
            else:
                stream.steps.append(row)
    end = opening.table_or_none(data, "end", where)
    for index, row in enumerate(opening.tables(end, "streams", f"{where}: end")):
        here = f"{where}: end.streams.{index}"
        for name in ("sender", "receiver", "udp"):
            if inner := opening.table_or_none(row, name, here):
                of(inner.get("socket"), inner.get("sender"), here).end = row
                break
    return list(streams.values())


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
    sent_again = None if stream.warmed_up else stream.result("sender", "retransmits")
    if sent_again is None and (steps := stream.numbers("retransmits")):
        sent_again = sum(steps)
    is_known = sent_again is not None and sent_again >= 0
    flow = parts.flow(name, BULK, direction, 0.0, goodput)
    flow["cc"], flow["rtt_ms"] = _congestion_control(stream, data), _rtt_ms(stream)
    flow["retransmitted"] = round(sent_again) if sent_again is not None and is_known else None
    return flow


def _received_mbps(stream: Stream) -> float | None:
    """Return the rate at which the receiver's bytes arrived, or None if they are not known.

    An interrupted client has no word from its server, and writes 0 bytes.
    """
    rate, size = (stream.result("receiver", key) for key in ("bits_per_second", "bytes"))
    if rate is None or (not size and stream.result("sender", "bytes")):
        return None
    return rate / 1e6


def _congestion_control(stream: Stream, data: Mapping[str, Any]) -> str | None:
    """Return the sender's congestion control.

    iperf3 gives that of this end and of the other one. With ``--bidir`` both ends send, and ``sender_…`` is this end's.
    """
    end = opening.table_or_none(data, "end", "end")
    is_both = any("bidir_reverse" in key for key in end)
    which = "receiver" if is_both and not stream.sends else "sender"
    return opening.text(end, f"{which}_tcp_congestion", "end") or None


def _rtt_ms(stream: Stream) -> Delay | None:
    """Return the distribution of the RTTs at the intervals' ends; mean, least and most as iperf3 summed them up."""
    rtts = summary(parts.nanoseconds([us / 1e3 for us in stream.numbers("rtt") if us > 0]))
    if stream.warmed_up and rtts:
        return rtts  # the sums include the warm-up
    least, mean, most = (stream.result("sender", f"{key}_rtt") for key in ("min", "mean", "max"))
    if not least or not mean or not most:
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
    if not stream.sends and (counted := sum(stream.numbers("packets"))):
        lost, packets, jitters = sum(stream.numbers("lost_packets")), counted, stream.numbers("jitter_ms")
        jitter = jitters[-1] if jitter is None and jitters else jitter
    elif stream.sends and (reported := _told_mbps(stream, data)) is not None:
        goodput = reported
    elif stream.sends:
        notes.append(f"{name}: {SENT}")
        lost = packets = jitter = None
    if goodput is None:
        goodput = (stream.result("udp", "bits_per_second") or 0.0) / 1e6
    app = parts.flow(name, parts.DATAGRAMS, direction, 0.0, goodput)
    app["loss_percent"] = percent(round(max(0.0, lost)), round(packets)) if lost is not None and packets else None
    app["jitter_rfc3550_ms"] = None if jitter is None else rounded(jitter)
    return app


def _told_mbps(stream: Stream, data: Mapping[str, Any]) -> float | None:
    """Return what arrived of a stream of UDP that this client sent, or None if its server did not say.

    iperf3 gives the rate of all streams together. Each has the share of its packets that were not lost.
    """
    end = opening.table_or_none(data, "end", "end")
    if "accepted_connection" in opening.table_or_none(data, "start", "start") or not _arrived(stream.end):
        return None
    sums = opening.table_or_none(end, "sum_received", "end")
    rate = opening.number(sums, "bits_per_second", "end.sum_received")
    of_all = sum(_arrived(row) for row in opening.tables(end, "streams", "end") if _is_sent(row))
    if rate:
        return rate * _arrived(stream.end) / max(of_all, 1.0) / 1e6
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


def _seconds(stream: Stream) -> float:
    """Return how long the stream was measured."""
    if seconds := sum(stream.lengths_s()):
        return seconds
    ends_s = [stream.result(end, "seconds") for end in ("sender", "receiver", "udp")]
    return max((end_s for end_s in ends_s if end_s is not None), default=0.0)


def _flow_series(stream: Stream, name: str, length: int, mss: float) -> FlowSeries:
    rates: parts.Numbers = [
        rounded(size * 8e-6 / seconds) if seconds else None
        for size, seconds in zip(stream.numbers("bytes"), stream.lengths_s(), strict=False)
    ]
    rates += [None] * (length - len(rates))
    flow_series = FlowSeries(
        name=name,
        cwnd_packets=stream.column("snd_cwnd", 1 / mss, length),
        goodput_mbps=rates,
    )
    if stream.numbers("rtt"):
        nothing: parts.Numbers = [None] * length
        flow_series["tcp"] = parts.tcp_series(
            stream.column("rtt", 1e-3, length), stream.column("rttvar", 1e-3, length), nothing, nothing
        )
    return flow_series
