"""What applications measured, from the times that their processes noted. The definitions are the simulator's.

``noted`` is the laboratory's result for a flow, in seconds of the run. ``begin`` and ``end`` enclose the measured
time, in nanoseconds.
"""

import random
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from goodqueue._goodqueue import jitter_ms, mos, percent, percentiles_ms, rounded, summary
from goodqueue.engines.kernel.lab.clock import nanoseconds
from goodqueue.engines.kernel.lab.plan import Flow
from goodqueue.record import App, CallSeries, PageSeries, PingSeries, WebUsersSeries
from goodqueue.traffic import kinds

Noted = dict[str, Any]

_SAMPLE = 5000
"""The maximum number of responses in a time series, as in the simulator."""


def app(flow: Flow, noted: Noted, begin: int, end: int) -> App:
    """Return what the application ``flow`` measured. Its kind is one of `MEASURED`."""
    return MEASURED[flow.kind](flow, noted, begin, end)


def _times(key: str, names: tuple[str, str]) -> Callable[[Flow, Noted, int, int], App]:
    """Return a function that measures the times from the first to the second of the two ``names`` in the notes."""

    def measured(flow: Flow, noted: Noted, begin: int, end: int) -> App:
        count, times = _spans(noted, names, begin, end)
        found = App(name=flow.name, kind=flow.kind)
        found[key] = summary(times)  # type: ignore[literal-required]
        found["count"], found["completed"] = count, len(times)
        return found

    return measured


def completion_ms(flow: Flow, noted: Noted, begin: int, end: int) -> float | None:
    """Return how long the flow's transfer took, or None unless the flow made exactly one transfer."""
    if kinds()[flow.kind].times != "completion_ms":
        return None
    count, times = _spans(noted, ("begun", "completed"), begin, end)
    return rounded(float(times[0]) / 1e6) if count == len(times) == 1 else None


def _spans(noted: Noted, names: tuple[str, str], begin: int, end: int) -> tuple[int, NDArray[np.int64]]:
    """Return how many of the flow's operations began in the measured time, and how long those took that ended in it."""
    starts, ends = ([nanoseconds(at) for at in noted[name]] for name in names)
    count = sum(begin <= at <= end for at in starts)
    spans = [last - first for first, last in zip(starts, ends, strict=False) if begin <= first and last <= end]
    return count, np.array(spans, dtype=np.int64)


def _stream(flow: Flow, noted: Noted, begin: int, end: int) -> App:
    """Return the stalls of a player at the receiver: the next chunk is not there (``netsim/src/traffic/stream.rs``)."""
    assert flow.interval_s is not None
    count, delays = _spans(noted, ("written", "arrived"), begin, end)
    arrived = [at for at in map(nanoseconds, noted["arrived"]) if at <= end]
    written = sum(nanoseconds(at) <= end for at in noted["written"])
    due: int | None = None
    waits = []
    for at in [*arrived, *([end] if written > len(arrived) and arrived else [])]:
        wanted = at if due is None else due
        waits.append(at - max(wanted, begin))
        due = max(wanted, at) + nanoseconds(flow.interval_s)
    stalled = [wait for wait in waits if wait > 0]
    return App(
        name=flow.name,
        kind=flow.kind,
        delay_ms=summary(delays),
        count=count,
        completed=len(delays),
        stalls=len(stalled),
        stalled_ms=rounded(sum(stalled) / 1e6),
    )


def _ping(flow: Flow, noted: Noted, begin: int, end: int) -> App:
    pings = [ping for ping in noted["pings"] if begin <= nanoseconds(ping[1]) <= end]
    home = [(number, rtt) for number, sent, rtt in pings if rtt is not None and nanoseconds(sent + rtt) <= end]
    # Pings that are still under way at the end are not lost.
    settled = max(number for number, _ in home) - pings[0][0] + 1 if home else len(pings)
    return App(
        name=flow.name,
        kind=flow.kind,
        rtt_ms=summary(np.array([nanoseconds(rtt) for _, rtt in home], dtype=np.int64)),
        sent=len(pings),
        received=len(home),
        loss_percent=percent(settled - len(home), settled),
    )


def heard(noted: Noted, end: int) -> list[tuple[int, float, int]]:
    """Return number, time of sending (s) and delay (ns) of each packet of a call that arrived up to ``end``.

    If a wire duplicated a packet, the first to arrive counts.
    """
    sent = noted.get("sent_s") or []
    first: dict[int, float] = {}
    for number, at in noted.get("heard") or []:
        first.setdefault(number, at)
    arrivals = [(number, sent[number], nanoseconds(at) - nanoseconds(sent[number])) for number, at in first.items()]
    return [one for one in arrivals if nanoseconds(one[1]) + one[2] <= end]


def _voip(flow: Flow, noted: Noted, begin: int, end: int) -> App:
    """Return what the call's listener measured (``netsim/src/traffic/voip.rs``)."""
    sent = [number for number, at in enumerate(noted.get("sent_s") or []) if begin <= nanoseconds(at) <= end]
    first = sent[0] if sent else 0
    came = [(number, delay) for number, at, delay in heard(noted, end) if nanoseconds(at) >= begin]
    delays = np.array([delay for _, delay in came], dtype=np.int64)
    jitter, jitter_rfc3550 = jitter_ms(delays)
    settled = max(number for number, _ in came) - first + 1 if came else len(sent)
    lost = percent(settled - len(came), settled)
    mean_ms = float(np.mean(delays)) / 1e6 if came else 0.0
    return App(
        name=flow.name,
        kind=flow.kind,
        delay_ms=summary(delays),
        delay_percentiles_ms=percentiles_ms(delays),
        jitter_ms=jitter,
        jitter_rfc3550_ms=jitter_rfc3550,
        sent=len(sent),
        received=len(came),
        loss_percent=lost,
        mos=rounded(mos(mean_ms, lost)) if sent else None,
    )


def ping_series(name: str, noted: Noted, end: int) -> PingSeries:
    """Return each round trip of the ping ``name`` that is complete, in the order of their ends."""
    pings = [ping for ping in noted["pings"] if ping[2] is not None]
    came = ((sent + rtt, number, sent, rtt) for number, sent, rtt in pings)
    home = [ping[1:] for ping in sorted(came) if nanoseconds(ping[0]) <= end]
    return PingSeries(
        name=name,
        seq=[number for number, _, _ in home],
        sent_s=[sent for _, sent, _ in home],
        rtt_ms=[rounded(rtt * 1e3) for _, _, rtt in home],
    )


def call_series(name: str, noted: Noted, end: int) -> CallSeries:
    """Return each packet of the call ``name`` that arrived."""
    found = heard(noted, end)
    return CallSeries(
        name=name,
        seq=[number for number, _, _ in found],
        sent_s=[sent for _, sent, _ in found],
        delay_ms=[rounded(delay_ns / 1e6) for _, _, delay_ns in found],
    )


def page_series(name: str, noted: Noted, end: int) -> PageSeries:
    """Return each fetch of the page ``name`` that is complete."""
    spans = [
        (begun, done)
        for begun, done in zip(noted["begun"], noted["completed"], strict=False)
        if nanoseconds(done) <= end
    ]
    return PageSeries(
        name=name,
        begun_s=[begun for begun, _ in spans],
        load_ms=[rounded((done - begun) * 1e3) for begun, done in spans],
    )


def _web_users(flow: Flow, noted: Noted, begin: int, end: int) -> App:
    """Return the responses requested in the measured time (``netsim/src/traffic/web_users/tally.rs``)."""
    came = [(bytes_, ns) for bytes_, ns, at in _responses(noted, end) if at >= begin]
    sizes = np.array([bytes_ for bytes_, _ in came], dtype=np.int64)
    times = np.array([ns for _, ns in came], dtype=np.int64)
    pages = [(nanoseconds(first), nanoseconds(last)) for first, last in noted["pages"]]
    loads = [last - first for first, last in pages if begin <= first and last <= end]
    small, large = 10_000, 100_000

    def since(name: str) -> int:
        return sum(begin <= nanoseconds(at) <= end for at in noted[name])

    return App(
        name=flow.name,
        kind=flow.kind,
        response_ms=summary(times),
        response_small_ms=summary(times[sizes < small]),
        response_medium_ms=summary(times[(sizes >= small) & (sizes < large)]),
        response_large_ms=summary(times[sizes >= large]),
        response_percentiles_ms=percentiles_ms(times),
        page_ms=summary(np.array(loads, dtype=np.int64)),
        count=since("begun"),
        completed=len(came),
        pages=since("page_begun"),
        connections=since("opened"),
        response_bytes=int(np.sum(sizes)),
        timeout_percent=None,  # Linux counts timeouts by host, not by connection
        lost_syn_percent=None,
    )


def _responses(noted: Noted, end: int) -> list[tuple[int, int, int]]:
    """Return size in bytes, duration and begin of each response that had arrived by ``end``."""
    spans = [(size, nanoseconds(first), nanoseconds(last)) for first, last, size in noted["responses"]]
    return [(size, last - first, first) for size, first, last in spans if last <= end]


def web_users_series(name: str, noted: Noted, end: int) -> WebUsersSeries:
    """Return a sample of the responses."""
    came = _responses(noted, end)
    if len(came) > _SAMPLE:
        came = random.Random(name).sample(came, _SAMPLE)
    return WebUsersSeries(
        name=name,
        bytes=[size for size, _, _ in came],
        response_ms=[rounded(ns / 1e6) for _, ns, _ in came],
        timeout=[None] * len(came),
    )


MEASURED: dict[str, Callable[[Flow, Noted, int, int], App]] = {
    "ping": _ping,
    "transfer": _times("completion_ms", ("begun", "completed")),
    "rr": _times("response_ms", ("asked", "heard")),
    "stream": _stream,
    "voip": _voip,
    "page": _times("load_ms", ("begun", "completed")),
    "web_users": _web_users,
}
"""The function that makes the application's part of the record, by kind."""

SERIES: dict[str, Callable[[str, Noted, int], PingSeries | CallSeries | PageSeries | WebUsersSeries]] = {
    "ping": ping_series,
    "voip": call_series,
    "page": page_series,
    "web_users": web_users_series,
}
"""The function that makes the application's part of the time series, by kind."""
