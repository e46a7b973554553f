"""Flent's measurements as goodqueue's records: engine ``flent``, which sees the ends of a path.

It sees a queue only if the test asked `tc` for its statistics.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from goodqueue._goodqueue import goodput_quantiles, rounded, summary
from goodqueue.errors import UserError
from goodqueue.files.inputs import is_finite
from goodqueue.flent import HTTP, PING, VOIP, queues, series
from goodqueue.flent.queues import nearest
from goodqueue.flent.reading import DataFile, Sample
from goodqueue.neighbours import parts
from goodqueue.record import (
    App,
    CallSeries,
    Flow,
    FlowSeries,
    PageSeries,
    PingSeries,
    Record,
    Scenario,
    Series,
    SourceFile,
)
from goodqueue.traffic import BULK

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

BIN_S = 5.0

NEAR_S = 1e-6
"""Tolerance for rounding of times since 1970."""

CLOCKS = (
    "found a one-way delay that is negative or longer than its round trip, so the clocks of both ends differ; "
    "the delay is left out, the jitter is not"
)

SHORT = 0.5
"""If all flows ran together for a smaller share of the time in which any ran, each is measured over its own time."""


@dataclass(frozen=True, slots=True)
class Transfer:
    """The data that a flow had delivered, over time."""

    name: str
    kind: str
    direction: str
    times_s: "Floats"
    megabits: "Floats"

    def delivered(self, at_s: float) -> float:
        """Return the megabits delivered up to a time of the run."""
        import numpy as np

        return float(np.interp(at_s, self.times_s, self.megabits))

    def rate_mbps(self, begin_s: float, end_s: float) -> float:
        """Return the mean goodput between two times."""
        return (self.delivered(end_s) - self.delivered(begin_s)) / (end_s - begin_s)


@dataclass(frozen=True, slots=True)
class Window:
    """The time that a record describes."""

    begin_s: float
    end_s: float
    is_own: bool
    """Whether each flow is measured over its own time, and not over the time in which all flows ran."""
    note: str = ""

    def rate_mbps(self, flow: Transfer) -> float:
        """Return the goodput of ``flow``."""
        if self.is_own:
            return flow.rate_mbps(float(flow.times_s[0]), float(flow.times_s[-1]))
        return flow.rate_mbps(self.begin_s, self.end_s)

    def has(self, sample: Sample) -> bool:
        """Return whether what took the value of ``sample`` in ms began within the window."""
        return self.begin_s - NEAR_S <= _begun_s(sample) <= self.end_s + NEAR_S


def _begun_s(sample: Sample) -> float:
    """Return when what took the value of ``sample`` in ms began. The echo of a packet takes longer than the packet."""
    return sample["t"] - sample.get("took", sample["val"]) / 1e3


def record(file: DataFile, scenario: Scenario | None, number: int) -> Record:
    """Return the record of the measurements in ``file``, for the time in which all of its TCP flows ran.

    ``scenario`` describes the path, if it is known. ``number`` distinguishes repeats, as a seed does. Raises
    UserError for a file without anything that a record has.
    """
    series_found = series.find(file)
    flows = [transfer for name in series_found.flows if (transfer := _transfer(file, name))]
    if (
        not flows
        and not series_found.pings
        and not series_found.calls
        and not series_found.pages
        and not series_found.queues
    ):
        accepted = f"series such as TCP upload, TCP download, {PING} ICMP, {VOIP}, {HTTP} and qdisc_stats"
        raise UserError(file.place, f"test {file.test} has nothing that is read here; accepted: {accepted}")
    window = _window(file, flows)
    ours = file.ours
    scenario_used = scenario or (ours["scenario"] if ours else _unknown(file, flows, series_found, window))
    goodputs = {
        direction: sum(window.rate_mbps(flow) for flow in flows if flow.direction == direction)
        for direction in ("down", "up")
    }
    placed, second, assumed = queues.placed(
        [queues.read(file, name) for name in series_found.queues], goodputs, window.begin_s, window.end_s
    )
    left_out = series_found.left_out | dict.fromkeys(second, "a record has one queue in each direction")
    notes = [window.note] if window.note else []
    notes += [f"{name}: nothing says in which direction this queue was; it is taken as {direction}"
              for direction, statistics in placed.items() for name in assumed if statistics.name == name]  # fmt: skip
    differing = [name for name in series_found.calls if not series.are_possible(series.packets(file, name))]
    notes += [f"{name}: {CLOCKS}" for name in differing]
    source = SourceFile(
        file=file.place,
        test=file.test,
        title=file.title,
        time=file.time,
        version=file.flent,
        measured_s=[rounded(window.begin_s), rounded(window.end_s)],
        left_out=sorted(left_out),
        reasons=dict(sorted(left_out.items())),
        notes=notes,
    )
    return parts.record(
        "flent",
        source,
        scenario_used,
        ours["seed"] if ours and scenario is None else number,
        [_flow(file, flow, window) for flow in flows],
        [
            *(_ping(file, name, window) for name in series_found.pings),
            *(_call(file, name, window, name not in differing) for name in series_found.calls),
            *(_page(file, name, window) for name in series_found.pages),
        ],
        _series(file, flows, series_found, placed, differing),
        {
            direction: queues.queue(statistics, parts.line(scenario_used, direction), window.begin_s, window.end_s)
            for direction, statistics in placed.items()
        },
    )


def _transfer(file: DataFile, name: str) -> Transfer | None:
    """Return the data that the flow ``name`` delivered. Each sample is a mean rate over the time before it.

    What a sample says of the time before the test's own 0 is left out: a record begins there.
    """
    import numpy as np

    samples = series.values(file, name)
    times, megabits = [], []
    last, total = float("-inf"), 0.0
    for sample in samples:
        if sample["t"] < 0:
            continue
        begin = max(0.0, sample["t"] - (sample.get("dur") or min(file.step_s, sample["t"] - last)))
        if begin > last:
            times.append(begin)
            megabits.append(total)
        total += sample["val"] * max(0.0, sample["t"] - max(begin, last))
        times.append(sample["t"])
        megabits.append(total)
        last = sample["t"]
    if not times or times[0] == times[-1]:
        return None
    kind = parts.DATAGRAMS if name.startswith("UDP") else BULK
    return Transfer(name, kind, _direction(file, name), np.array(times), np.array(megabits))


def _direction(file: DataFile, name: str) -> str:
    """Return the direction of a flow: as its name says, or else as netperf said. Without either it is an upload."""
    about = file.about.get(name, {})
    received, sent = (float(about[key]) if is_finite(about.get(key)) else 0.0 for key in ("BYTES_RECVD", "BYTES_SENT"))
    is_down = "MAERTS" in str(about.get("COMMAND")) or received > sent
    return "down" if "download" in name.lower() or ("upload" not in name.lower() and is_down) else "up"


def _window(file: DataFile, flows: Sequence[Transfer]) -> Window:
    """Return the time in which all of ``flows`` ran, or without flows the whole time.

    If the flows ran together for a small part of the time only, that part says little of them. Each flow then has its
    mean over its own time, as Flent's own tables of a series have it.
    """
    if not flows:
        begin, end = (max(0.0, most(file.grid_s, default=0.0)) for most in (min, max))
        return Window(begin, end, is_own=False)
    judged = [flow for flow in flows if flow.kind == BULK] or flows
    begins, ends = ([float(flow.times_s[end]) for flow in judged] for end in (0, -1))
    begin, end, first, last = max(begins), min(ends), min(begins), max(ends)
    if end - begin >= SHORT * (last - first):
        return Window(begin, end, is_own=False)
    together = "never ran together" if end <= begin else f"ran together for {end - begin:.1f} s of {last - first:.1f} s"
    totals = []
    if end > begin:
        totals.append(f"together they had {sum(flow.rate_mbps(begin, end) for flow in judged):.1f} Mbit/s in that time")
    totals.append(f"{sum(flow.rate_mbps(first, last) for flow in judged):.1f} Mbit/s in the whole time")
    note = f"the {len(judged)} flows {together}, so each is measured over its own time; {', and '.join(totals)}"
    return Window(first, last, is_own=True, note=note)


def _unknown(file: DataFile, flows: Sequence[Transfer], series_found: series.Found, window: Window) -> Scenario:
    """Return the known part of the scenario, without the link."""
    sources: list[dict[str, Any]] = [
        {
            "kind": kind,
            "count": sum((flow.kind, flow.direction) == (kind, direction) for flow in flows),
            "direction": direction,
        }
        for kind in (BULK, parts.DATAGRAMS)
        for direction in ("down", "up")
    ]
    apps = (("ping", series_found.pings), ("voip", series_found.calls), ("page", series_found.pages))
    sources += [{"kind": kind, "count": len(names)} for kind, names in apps]
    return parts.unknown(file.title, sources, window.begin_s, window.end_s)


def _flow(file: DataFile, flow: Transfer, window: Window) -> Flow:
    import numpy as np

    first, last = float(flow.times_s[0]), float(flow.times_s[-1])
    begin, end = (first, last) if window.is_own else (window.begin_s, window.end_s)
    bins = [flow.rate_mbps(at - BIN_S, at) for at in np.arange(begin + BIN_S, end + 1e-9, BIN_S)]
    control = file.about.get(flow.name, {}).get("CONG_CONTROL")
    rtts = [
        sample["tcp_rtt"] for sample in series.part(file, flow.name, "tcp_rtt") if begin <= sample["t"] <= end + NEAR_S
    ]
    flow_made = parts.flow(flow.name, flow.kind, flow.direction, first, window.rate_mbps(flow))
    flow_made["cc"] = str(control) if control else None
    flow_made["rtt_ms"] = summary(parts.nanoseconds(rtts))
    flow_made["goodput_5s_mbps"] = goodput_quantiles(bins)
    return flow_made


def _ping(file: DataFile, name: str, window: Window) -> App:
    """Return the ping ``name``: the round trips that began within the window."""
    replies = [reply for reply in series.values(file, name) if window.has(reply)]
    numbers = [int(reply["seq"]) for reply in replies if "seq" in reply]
    is_numbered = bool(numbers) and len(numbers) == len(replies)
    sent, received = (max(numbers) - min(numbers) + 1, len(set(numbers))) if is_numbered else (None, None)
    return parts.ping(name, [reply["val"] for reply in replies], sent, received)


def _call(file: DataFile, name: str, window: Window, has_delay: bool) -> App:
    """Return the call ``name``: the packets that were sent within the window.

    The delays are unknown without ``has_delay``. Their differences are not, since both clocks run alike. A file without
    single packets has means of each step: the loss is known only if there was none.
    """
    heard = [packet for packet in series.packets(file, name) if window.has(packet)]
    if heard:
        numbers = [int(packet["seq"]) for packet in heard]
        delays = [packet["val"] for packet in heard]
        sent, jitters = max(numbers) - min(numbers) + 1, parts.jitters(delays)
        return parts.call(name, delays if has_delay else None, jitters, sent, len(set(numbers)))
    means = {
        key: [sample[key] for sample in series.part(file, name, key) if window.begin_s <= sample["t"] <= window.end_s]
        for key in ("delay", "jitter", "loss")
    }
    jitter = rounded(sum(means["jitter"]) / len(means["jitter"])) if means["jitter"] else None
    delays = means["delay"] if min(means["delay"], default=0.0) >= 0 else []
    app = parts.call(name, delays, (jitter, None), 0, 0)
    if means["loss"] and not any(means["loss"]):
        app["loss_percent"] = 0.0
        app["mos"] = parts.score(delays, 0.0)
    del app["sent"], app["received"]
    return app


def _page(file: DataFile, name: str, window: Window) -> App:
    """Return the page ``name``: the fetches that began within the window."""
    loads = [load["val"] for load in series.values(file, name) if window.has(load)]
    return App(
        name=name, kind="page", load_ms=summary(parts.nanoseconds(loads)), count=len(loads), completed=len(loads)
    )


def _series(
    file: DataFile,
    flows: Sequence[Transfer],
    series_found: series.Found,
    placed: dict[str, queues.Statistics],
    differing: Sequence[str],
) -> Series:
    """Return the time series, without the calls of clocks that differ."""
    grid, step = file.grid_s, file.step_s
    series_made = parts.series(
        step,
        grid,
        [_flow_series(file, flow) for flow in flows],
        [_ping_series(name, series.values(file, name)) for name in series_found.pings],
    )
    series_made["queues"] |= {
        direction: queues.series(statistics, grid, step) for direction, statistics in placed.items()
    }
    if calls := [name for name in series_found.calls if name not in differing]:
        heard = [_ping_series(name, series.packets(file, name)) for name in calls]
        series_made["calls"] = [
            CallSeries(name=ping["name"], seq=ping["seq"], sent_s=ping["sent_s"], delay_ms=ping["rtt_ms"])
            for ping in heard
        ]
    if series_found.pages:
        fetched = [_ping_series(name, series.values(file, name)) for name in series_found.pages]
        series_made["pages"] = [
            PageSeries(name=ping["name"], begun_s=ping["sent_s"], load_ms=ping["rtt_ms"]) for ping in fetched
        ]
    return series_made


def _flow_series(file: DataFile, flow: Transfer) -> FlowSeries:
    grid, step = file.grid_s, file.step_s
    first, last = flow.times_s[0], flow.times_s[-1]
    rates = [rounded(flow.rate_mbps(end - step, end)) if first < end and end - step < last else None for end in grid]

    def polled(key: str) -> parts.Numbers:
        return nearest(series.part(file, flow.name, key), key, grid, step)

    flow_series = FlowSeries(name=flow.name, cwnd_packets=polled("tcp_cwnd"), goodput_mbps=rates)
    if series.part(file, flow.name, "tcp_rtt"):
        keys = ("tcp_rtt", "tcp_rtt_var", "tcp_pacing_rate", "tcp_delivery_rate")
        flow_series["tcp"] = parts.tcp_series(*map(polled, keys))
    return flow_series


def _ping_series(name: str, replies: Sequence[Sample]) -> PingSeries:
    return PingSeries(
        name=name,
        seq=[int(reply["seq"]) - 1 if "seq" in reply else index for index, reply in enumerate(replies)],
        sent_s=[rounded(_begun_s(reply)) for reply in replies],
        rtt_ms=[reply["val"] for reply in replies],
    )
