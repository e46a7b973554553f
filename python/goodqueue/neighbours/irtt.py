"""irtt's JSON (`irtt client -o FILE`) as a record: a ping, and a stream of packets in each direction.

A round trip is a ping. Its two ways are packets at a constant rate, as a call sends them, so each direction is a `voip`
with its delay, jitter and loss. One-way delays need clocks that agree. Where one is negative or longer than its round
trip, the clocks do not agree, and no delay of either direction is kept: what one gains, the other loses. Jitter and
loss are kept, which do not depend on the clocks' difference. Times are in nanoseconds.
"""

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from goodqueue._goodqueue import rounded
from goodqueue.errors import UserError, quoted
from goodqueue.files import inputs
from goodqueue.neighbours import opening, parts
from goodqueue.record import App, CallSeries, Delay, PingSeries, Record, Scenario, SourceFile

ACCEPTED = "irtt's JSON (irtt client -o FILE)"

PING = "irtt"
LONGEST_NS = opening.LONGEST_S * 1e9

CLOCKS = (
    f"{PING}: found a one-way delay that is negative or longer than its round trip, so the clocks of both ends differ; "
    "the delays of both directions are left out, their jitter is not"
)

_DIRECTIONS = {"up": ("send", "true_up"), "down": ("receive", "true_down")}
"""By direction, the name of its delay and the word for its losses."""


@dataclass(frozen=True, slots=True)
class Trip:
    """One packet, and its echo if it came. Times are in ms, and ``sent_s`` is from the first packet on."""

    number: int
    lost: str
    """``false``, ``true_up``, ``true_down``, or ``true`` if nobody knows where."""
    sent_s: float
    rtt_ms: float | None
    one_way_ms: Mapping[str, float]
    """The one-way delays that are known, by direction."""
    passed_ns: Mapping[str, int]
    """The monotonic time at the end of each way less that at its begin. The two clocks begin at different times."""


def record(data: Mapping[str, Any], where: str, scenario: Scenario | None, number: int) -> Record:
    """Return the record of the file ``where`` with the content ``data``. Raises UserError."""
    stats, config = (opening.table_or_none(data, key, where) for key in ("stats", "config"))
    params = opening.table_or_none(config, "params", f"{where}: config")
    interval_ns = opening.number(params, "interval", f"{where}: config.params", LONGEST_NS)
    interval_s = interval_ns / 1e9 if interval_ns and interval_ns > 0 else 1.0  # irtt's default
    trips = _trips(data, where, interval_s)
    stated = opening.number(stats, "packets_sent", f"{where}: stats")
    sent = max(len(trips), round(stated or 0))
    if not sent or (not trips and not stats.get("rtt")):
        raise UserError(where, f"found no round trip; accepted: {ACCEPTED} of a test in which packets were sent")
    end_s = max((trip.sent_s for trip in trips), default=sent * interval_s)
    notes: list[str] = []
    apps = [_ping(trips, stats, sent, where)]
    jitters = {direction: _jitters(trips, direction) for direction in _DIRECTIONS}
    if not all(_is_possible(trip) for trip in trips):
        notes.append(CLOCKS)
        trips = [replace(trip, one_way_ms={}) for trip in trips]
    if trips:
        counted = opening.number(stats, "server_packets_received", f"{where}: stats")
        apps += [
            _one_way(trips, direction, jitters[direction], interval_s, counted, notes) for direction in _DIRECTIONS
        ]
    left_out = {
        key: "a record has no count of late or doubled echoes"
        for key in ("late_packets", "duplicates")
        if stats.get(key)
    }
    source = SourceFile(
        file=where,
        test=f"a packet every {1e3 * interval_s:g} ms",
        title=opening.text(config, "remote_address"),
        time=_begun(stats.get("start_time")),
        version=opening.text(data, "version", "irtt") or "unknown",
        measured_s=[0.0, rounded(end_s)],
        left_out=sorted(left_out),
        reasons=left_out,
        notes=notes,
    )
    scenario_used = scenario or parts.unknown("", [{"kind": app["kind"], "count": 1} for app in apps], 0.0, end_s)
    series = parts.series(interval_s, [], [], [_ping_series(trips)])
    if calls := [_call_series(trips, app["name"]) for app in apps if app["kind"] == "voip" and app["delay_ms"]]:
        series["calls"] = calls
    return parts.record("irtt", source, scenario_used, number, [], apps, series)


def _trips(data: Mapping[str, Any], where: str, interval_s: float) -> list[Trip]:
    """Return the round trips in the order of their numbers."""
    trips: dict[int, Trip] = {}
    begun_ns: dict[str, float] = {}
    for index, row in enumerate(opening.tables(data, "round_trips", where)):
        here = f"{where}: round_trips.{index}"
        seq = opening.number(row, "seqno", here, most=1 << 32)
        number = index if seq is None else round(seq)
        lost = str(row.get("lost")).lower()
        if lost not in ("false", "true", "true_up", "true_down"):
            raise UserError(
                f"{here}.lost", f"found {quoted(row.get('lost'))}; accepted: false, true, true_up, true_down, as text"
            )
        at_s = number * interval_s
        stamps = opening.table_or_none(row, "timestamps", here)
        client, server = (opening.table_or_none(stamps, key, f"{here}.timestamps") for key in ("client", "server"))
        send = opening.table_or_none(client, "send", f"{here}.timestamps.client")
        for clock in ("monotonic", "wall"):  # a clock that is set during the test moves the wall's time alone
            if (at_ns := opening.number(send, clock, f"{here}.timestamps.client.send", most=1 << 63)) is not None:
                at_s = (at_ns - begun_ns.setdefault(clock, at_ns - 1e9 * number * interval_s)) / 1e9
                break
        if abs(at_s) > opening.LONGEST_S:
            raise UserError(here, f"found a time {at_s:g} s from the first; accepted: at most {opening.LONGEST_S:g} s")
        delays = opening.table_or_none(row, "delay", here)
        ms = {
            key: value / 1e6
            for key in ("rtt", "send", "receive")
            if (value := opening.number(delays, key, f"{here}.delay", LONGEST_NS * 1e4)) is not None
        }
        rtt = ms.get("rtt") if lost == "false" else None
        if rtt is not None and not 0 <= rtt <= 1e3 * opening.LONGEST_S:
            raise UserError(f"{here}.delay.rtt", f"found {quoted(delays['rtt'])}; accepted: nanoseconds, 0 or more")
        directions = {direction: ms[key] for direction, (key, _) in _DIRECTIONS.items() if key in ms}
        passed = _passed(client, server) if lost == "false" else {}
        trips[number] = Trip(number, lost, max(0.0, at_s), rtt, directions, passed)
    return [trips[number] for number in sorted(trips)]


def _passed(client: Mapping[str, Any], server: Mapping[str, Any]) -> dict[str, int]:
    """Return `Trip.passed_ns`. A server that stamps a packet once (``--tstamp=send``) has one time for both."""
    sent, back = (_monotonic(client, key) for key in ("send", "receive"))
    came, echoed = (_monotonic(server, key) for key in ("receive", "send"))
    came, echoed = (echoed if came is None else came), (came if echoed is None else echoed)
    ways = {"up": (sent, came), "down": (echoed, back)}
    return {way: end - begin for way, (begin, end) in ways.items() if begin is not None and end is not None}


def _monotonic(end: Mapping[str, Any], key: str) -> int | None:
    stamp: Any = end[key].get("monotonic") if isinstance(end.get(key), dict) else None
    return int(stamp) if inputs.is_finite(stamp) else None


def _is_possible(trip: Trip) -> bool:
    """Return whether the one-way delays can be true: each is 0 or more, and at most the round trip."""
    most = float("inf") if trip.rtt_ms is None else trip.rtt_ms
    return all(0 <= delay <= most for delay in trip.one_way_ms.values())


def _begun(start: Any) -> str:
    """Return when the test began. irtt 0.9.0 writes it as text, later versions as times of both clocks."""
    wall: Any = start.get("wall") if isinstance(start, dict) else None
    if not inputs.is_finite(wall):
        return opening.text({"start_time": start}, "start_time") or "unknown"
    try:
        begun = dt.datetime.fromtimestamp(int(wall) // 10**9, dt.UTC)
    except (ValueError, OverflowError, OSError):
        return "unknown"
    fraction = f".{int(wall) % 10**9:09d}".rstrip("0").rstrip(".")
    return f"{begun:%Y-%m-%dT%H:%M:%S}{fraction}Z"


def _jitters(trips: Sequence[Trip], direction: str) -> tuple[float | None, float | None]:
    """Return the jitters of the packets that arrived.

    The monotonic clocks tell them, whatever the time of day is at both ends, if the file has both.
    """
    passed = [trip.passed_ns[direction] for trip in trips if direction in trip.passed_ns]
    is_whole = len(passed) == sum(trip.rtt_ms is not None for trip in trips)
    if is_whole and all(abs(one - passed[0]) <= LONGEST_NS for one in passed):
        return parts.jitters([(one - passed[0]) / 1e6 for one in passed])
    return parts.jitters([trip.one_way_ms[direction] for trip in trips if direction in trip.one_way_ms])


def _ping(trips: Sequence[Trip], stats: Mapping[str, Any], sent: int, where: str) -> App:
    """Return the ping: from the round trips or, in a file without them, from irtt's own statistics."""
    if trips:
        rtts = [trip.rtt_ms for trip in trips if trip.rtt_ms is not None]
        return parts.ping(PING, rtts, sent, len(rtts))
    received = round(opening.number(stats, "packets_received", f"{where}: stats") or 0)
    rtt = opening.table_or_none(stats, "rtt", f"{where}: stats")

    def ms(key: str) -> float | None:
        value = opening.number(rtt, key, f"{where}: stats.rtt", LONGEST_NS)
        return None if value is None else rounded(value / 1e6)

    ping = parts.ping(PING, [], sent, min(sent, received))
    ping["rtt_ms"] = Delay(
        mean=ms("mean"), stddev=ms("stddev"), min=ms("min"), p10=None, p50=ms("median"),
        p90=None, p95=None, p99=None, max=ms("max"),
    )  # fmt: skip
    return ping


def _one_way(
    trips: Sequence[Trip],
    direction: str,
    jitters: tuple[float | None, float | None],
    interval_s: float,
    counted: float | None,
    notes: list[str],
) -> App:
    """Return the packets of one direction as a call.

    ``counted`` is how many packets the server received. It may say that (``--stats=count``) without saying which ones.
    """
    offered = [trip for trip in trips if direction == "up" or trip.lost != "true_up"]
    arrived = [trip for trip in offered if trip.lost != _DIRECTIONS[direction][1]]
    sent, received = len(offered), len(arrived)
    delays = [trip.one_way_ms[direction] for trip in arrived if direction in trip.one_way_ms]
    if any(trip.lost == "true" for trip in trips):
        came = sum(trip.rtt_ms is not None for trip in trips)
        middle = round(counted) if counted and came <= counted <= len(trips) else None
        if middle is None:
            notes.append(f"{PING} {direction}: the file does not say in which direction packets were lost")
            call = parts.call(f"{PING} {direction}", delays, jitters, 0, 0)
            del call["sent"], call["received"]
            return call
        sent, received = (len(trips), middle) if direction == "up" else (middle, came)
    call = parts.call(f"{PING} {direction}", delays, jitters, sent, received)
    if 1e3 * interval_s > parts.FURTHEST_MS:
        call["mos"] = None
    return call


def _ping_series(trips: Sequence[Trip]) -> PingSeries:
    came = [(trip, trip.rtt_ms) for trip in trips if trip.rtt_ms is not None]
    came.sort(key=lambda pair: pair[0].sent_s + pair[1] / 1e3)
    return PingSeries(
        name=PING,
        seq=[trip.number for trip, _ in came],
        sent_s=[rounded(trip.sent_s) for trip, _ in came],
        rtt_ms=[rtt for _, rtt in came],
    )


def _call_series(trips: Sequence[Trip], name: str) -> CallSeries:
    direction = name.removeprefix(f"{PING} ")
    came = sorted(
        (trip for trip in trips if direction in trip.one_way_ms),
        key=lambda trip: trip.sent_s + trip.one_way_ms[direction] / 1e3,
    )
    return CallSeries(
        name=name,
        seq=[trip.number for trip in came],
        sent_s=[rounded(trip.sent_s) for trip in came],
        delay_ms=[trip.one_way_ms[direction] for trip in came],
    )
