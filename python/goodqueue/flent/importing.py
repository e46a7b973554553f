"""Flent's measurements as goodqueue's records: engine ``flent``, which sees the ends of a path but no queues."""

import json
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from goodqueue.engines.identity import Maker, Run, digest
from goodqueue.errors import UserError
from goodqueue.flent import HTTP, PING, VOIP
from goodqueue.flent.reading import DataFile, Sample
from goodqueue.measures.distribution import jain, jitter_ms, percent, percentiles_ms, rounded, summary
from goodqueue.record import UNKNOWN, App, Flow, Queue, Record, Scenario
from goodqueue.record.series import CallSeries, FlowSeries, PageSeries, PingSeries, QueueSeries, Series, TcpSeries
from goodqueue.store import Store
from goodqueue.traffic import BULK

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

FLOW = re.compile(r"TCP (upload|download)(?! (?:avg|sum|fairness)\b)[^:]*(::\d+)?$")

VOIP_SERIES = re.compile(rf"{VOIP}(::\d+)?$")
HTTP_SERIES = re.compile(rf"{HTTP}(::\d+)?$")

BIN_S = 5.0

NEAR_S = 1e-6
"""Tolerance for rounding of times since 1970."""


@dataclass(frozen=True, slots=True)
class Transfer:
    """The data that a TCP flow had delivered, over time."""

    name: str
    way: str
    times_s: "Floats"
    megabits: "Floats"

    def delivered(self, at_s: float) -> float:
        """Return the megabits delivered up to a time of the run."""
        import numpy as np

        return float(np.interp(at_s, self.times_s, self.megabits))

    def rate_mbps(self, begin_s: float, end_s: float) -> float:
        """Return the mean goodput between two times."""
        return (self.delivered(end_s) - self.delivered(begin_s)) / (end_s - begin_s)


def record(file: DataFile, scenario: Scenario | None, number: int) -> Record:
    """Return the record of the measurements in ``file``, for the time in which all of its TCP flows ran.

    ``scenario`` describes the path, if it is known. ``number`` distinguishes repeats, as a seed does. Raises
    UserError for a file without a flow or a ping.
    """
    from goodqueue._goodqueue import VERSION

    flows = [one for name in sorted(file.results) if FLOW.match(name) and (one := _transfer(file, name))]
    pings = [
        name
        for name in sorted(file.results)
        if name.startswith(PING) and not re.search(r" (avg|mean)$", name) and _replies(file, name)
    ]
    calls = [name for name in sorted(file.results) if VOIP_SERIES.match(name) and _packets(file, name)]
    pages = [name for name in sorted(file.results) if HTTP_SERIES.match(name) and _replies(file, name)]
    if not flows and not pings and not calls and not pages:
        accepted = f"series such as TCP upload, TCP download, {PING} ICMP, {VOIP} and {HTTP}"
        raise UserError(file.place, f"test {file.test} has nothing that is read here; accepted: {accepted}")
    begin, end = _loaded(file, flows)
    ours = file.ours
    found = scenario or (ours["scenario"] if ours else _unknown(file, flows, [pings, calls, pages], begin, end))
    seed = ours["seed"] if ours and scenario is None else number
    goodputs = [rounded(flow.rate_mbps(begin, end)) for flow in flows]
    first = [rate for flow, rate in zip(flows, goodputs, strict=True) if flow.way == flows[0].way]
    return Record(
        schema=1,
        engine="flent",
        version=VERSION,
        seed=seed,
        scenario={**found, "seed": seed},
        queues={way: _queue(found, way) for way in ("down", "up")},
        flows=[_flow(file, flow, rate, begin, end) for flow, rate in zip(flows, goodputs, strict=True)],
        fairness={"jain_goodput": jain(first), "jain_drops": None},
        apps=[
            *(_app(file, name, begin, end) for name in pings),
            *(_call(file, name, begin, end) for name in calls),
            *(_page(file, name, begin, end) for name in pages),
        ],
        series=_series(file, flows, pings, calls, pages),
        flent={
            "file": file.place,
            "test": file.test,
            "title": file.title,
            "time": file.time,
            "version": file.flent,
            "measured_s": [rounded(begin), rounded(end)],
            "left_out": _left_out(file, [*(flow.name for flow in flows), *pings, *calls, *pages]),
        },
    )


def _transfer(file: DataFile, name: str) -> Transfer | None:
    """Return the data that the flow ``name`` delivered. Each sample is a mean rate over the time before it."""
    import numpy as np

    samples = [sample for sample in file.samples.get(name, []) if "val" in sample]
    if not samples:  # version 1 had none
        points = zip(file.grid_s, file.results[name], strict=True)
        samples = [{"t": x, "val": value} for x, value in points if value is not None]
    if not samples:
        return None
    times, megabits = [], []
    last, total = -math.inf, 0.0
    for sample in samples:
        begin = sample["t"] - (sample.get("dur") or min(file.step_s, sample["t"] - last))
        if begin > last:
            times.append(begin)
            megabits.append(total)
        total += sample["val"] * max(0.0, sample["t"] - max(begin, last))
        times.append(sample["t"])
        megabits.append(total)
        last = sample["t"]
    way = "up" if name.startswith("TCP upload") else "down"
    return Transfer(name, way, np.array(times), np.array(megabits))


def _replies(file: DataFile, name: str) -> list[Sample]:
    """Return the round trips of the ping ``name`` in ms: the raw samples or, without them, the values of the plot."""
    if samples := file.samples.get(name, []):
        return [sample for sample in samples if "val" in sample]
    points = zip(file.grid_s, file.results[name], strict=True)
    return [{"t": x, "val": value} for x, value in points if value is not None]


def _loaded(file: DataFile, flows: Sequence[Transfer]) -> tuple[float, float]:
    """Return the time in which all of ``flows`` ran, or the whole time if there is no such time."""
    whole = (min(file.grid_s, default=0.0), max(file.grid_s, default=0.0))
    if not flows:
        return whole
    begin, end = max(float(flow.times_s[0]) for flow in flows), min(float(flow.times_s[-1]) for flow in flows)
    return (
        (begin, end)
        if begin < end
        else (min(flow.times_s[0] for flow in flows), max(flow.times_s[-1] for flow in flows))
    )


def _unknown(
    file: DataFile, flows: Sequence[Transfer], apps: Sequence[Sequence[str]], begin: float, end: float
) -> Scenario:
    """Return the known part of the scenario, without the link. ``apps`` are the names of its pings, calls and pages."""
    qdisc = file.title or UNKNOWN
    traffic: list[dict[str, Any]] = [
        {"kind": BULK, "count": count, "direction": way}
        for way in ("down", "up")
        if (count := sum(flow.way == way for flow in flows))
    ]
    kinds = zip(("ping", "voip", "page"), apps, strict=True)
    traffic += [{"kind": kind, "count": len(names)} for kind, names in kinds if names]
    return {
        "duration": f"{end:g}s",
        "warmup": f"{begin:g}s",
        "bottleneck": {"rate": UNKNOWN, "qdisc": qdisc, "up": {"rate": UNKNOWN, "qdisc": qdisc}},
        "path": {"rtt": UNKNOWN},
        "traffic": traffic,
    }


def _queue(scenario: Scenario, way: str) -> Queue:
    bottleneck = scenario["bottleneck"]
    own = (bottleneck.get("up") or {}).get("qdisc") if way == "up" else None
    return Queue(
        qdisc=str(own or bottleneck["qdisc"]),
        utilisation_percent=None,
        throughput_mbps=None,
        delay_ms=None,
        delay_percentiles_ms=None,
        packets=None,
        drops_by_reason=None,
        marks_by_reason=None,
        drop_percent=None,
        mark_percent=None,
    )


def _flow(file: DataFile, flow: Transfer, goodput: float, begin: float, end: float) -> Flow:
    import numpy as np

    ends = np.arange(begin + BIN_S, end + 1e-9, BIN_S)
    bins = [flow.rate_mbps(at - BIN_S, at) for at in ends]
    control = file.about.get(flow.name, {}).get("CONG_CONTROL")
    quantiles: dict[str, float | None] | None = (
        {f"p{p}": rounded(float(np.percentile(bins, p, method="inverted_cdf"))) for p in (10, 50, 90)} if bins else None
    )
    return Flow(
        name=flow.name,
        kind=BULK,
        direction=flow.way,
        cc=str(control) if control else None,
        start_s=rounded(float(flow.times_s[0])),
        goodput_mbps=goodput,
        rtt_ms=None,
        retransmitted=None,
        timeouts=None,
        loss_percent=None,
        goodput_5s_mbps=quantiles,
    )


def _app(file: DataFile, name: str, begin: float, end: float) -> App:
    """Return the ping ``name``: the round trips that began while the flows ran."""
    replies = [one for one in _replies(file, name) if begin - NEAR_S <= one["t"] - one["val"] / 1e3 <= end + NEAR_S]
    found = App(name=name, kind="ping", rtt_ms=summary(_ns(replies)), loss_percent=None)
    numbers = [int(one["seq"]) for one in replies if "seq" in one]
    if numbers and len(numbers) == len(replies):
        sent = max(numbers) - min(numbers) + 1
        received = len(set(numbers))
        found |= {"sent": sent, "received": received, "loss_percent": percent(sent - received, sent)}
    return found


def _packets(file: DataFile, name: str) -> list[Sample]:
    """Return the packets of the call ``name`` that arrived, with the one-way delay in ms as ``val``.

    D-ITG writes the delay so. irtt writes round trips there, and the one-way delay in ``owd_up``.
    """
    found = [{**one, "val": one.get("owd_up", one.get("val", math.nan))} for one in file.samples.get(name, [])]
    return [one for one in found if math.isfinite(one["val"]) and "seq" in one]


def _call(file: DataFile, name: str, begin: float, end: float) -> App:
    """Return the call ``name``: the packets that were sent while the flows ran."""
    from goodqueue import _goodqueue

    heard = [one for one in _packets(file, name) if begin - NEAR_S <= one["t"] - one["val"] / 1e3 <= end + NEAR_S]
    delays = _ns(heard)
    numbers = [int(one["seq"]) for one in heard]
    sent = max(numbers) - min(numbers) + 1 if numbers else 0
    lost = percent(sent - len(set(numbers)), sent) if sent else None
    jitter, jitter_rfc3550 = jitter_ms(delays)
    return App(
        name=name,
        kind="voip",
        delay_ms=summary(delays),
        delay_percentiles_ms=percentiles_ms(delays, range(101)),
        jitter_ms=jitter,
        jitter_rfc3550_ms=jitter_rfc3550,
        sent=sent,
        received=len(set(numbers)),
        loss_percent=lost,
        mos=None if lost is None else rounded(_goodqueue.mos(float(delays.mean()) / 1e6, lost)),
    )


def _page(file: DataFile, name: str, begin: float, end: float) -> App:
    """Return the page ``name``: the fetches that began while the flows ran."""
    found = [one for one in _replies(file, name) if begin - NEAR_S <= one["t"] - one["val"] / 1e3 <= end + NEAR_S]
    return App(
        name=name,
        kind="page",
        load_ms=summary(_ns(found)),
        count=len(found),
        completed=len(found),
    )


def _ns(samples: Sequence[Sample]) -> "NDArray[np.int64]":
    """Return the values of ``samples``, which are in ms, in nanoseconds."""
    import numpy as np

    return np.rint(np.array([one["val"] for one in samples], dtype=float) * 1e6).astype(np.int64)


def _series(
    file: DataFile, flows: Sequence[Transfer], pings: Sequence[str], calls: Sequence[str], pages: Sequence[str]
) -> Series:
    grid, step = file.grid_s, file.step_s
    nothing: list[float | None] = [None] * len(grid)
    queue = QueueSeries(delay_ms=nothing, backlog_packets=nothing, drop_probability=nothing)
    found = Series(
        interval_s=step,
        time_s=grid,
        queues={"down": queue, "up": queue},
        flows=[_flow_series(file, flow, grid, step) for flow in flows],
        pings=[_ping_series(name, _replies(file, name)) for name in pings],
    )
    if calls:
        heard = [_ping_series(name, _packets(file, name)) for name in calls]
        found["calls"] = [
            CallSeries(name=one["name"], seq=one["seq"], sent_s=one["sent_s"], delay_ms=one["rtt_ms"]) for one in heard
        ]
    if pages:
        fetched = [_ping_series(name, _replies(file, name)) for name in pages]
        found["pages"] = [PageSeries(name=one["name"], begun_s=one["sent_s"], load_ms=one["rtt_ms"]) for one in fetched]
    return found


def _flow_series(file: DataFile, flow: Transfer, grid: Sequence[float], step: float) -> FlowSeries:
    first, last = flow.times_s[0], flow.times_s[-1]
    rates = [rounded(flow.rate_mbps(end - step, end)) if first < end and end - step < last else None for end in grid]
    samples = file.samples.get(flow.name, [])
    found = FlowSeries(name=flow.name, cwnd_packets=_nearest(samples, "tcp_cwnd", grid, step), goodput_mbps=rates)
    if any("tcp_rtt" in sample for sample in samples):
        unknown: list[float | None] = [None] * len(grid)
        found["tcp"] = TcpSeries(
            ssthresh_packets=unknown,
            rtt_ms=_nearest(samples, "tcp_rtt", grid, step),
            rttvar_ms=_nearest(samples, "tcp_rtt_var", grid, step),
            rto_ms=unknown,
            unacked_packets=unknown,
            pacing_rate_mbps=_nearest(samples, "tcp_pacing_rate", grid, step),
            delivery_rate_mbps=_nearest(samples, "tcp_delivery_rate", grid, step),
        )
    return found


def _nearest(samples: Sequence[Sample], key: str, grid: Sequence[float], step: float) -> list[float | None]:
    """Return for each time of the ``grid`` the nearest sample, or None if it is more than half a step away."""
    import numpy as np

    own = [sample for sample in samples if key in sample]
    if not own:
        return [None] * len(grid)
    times = np.array([sample["t"] for sample in own])
    places = [int(np.argmin(np.abs(times - at))) for at in grid]
    return [
        own[place][key] if abs(times[place] - at) <= step / 2 else None for place, at in zip(places, grid, strict=True)
    ]


def _ping_series(name: str, replies: Sequence[Sample]) -> PingSeries:
    return PingSeries(
        name=name,
        seq=[int(one["seq"]) - 1 if "seq" in one else place for place, one in enumerate(replies)],
        sent_s=[rounded(one["t"] - one["val"] / 1e3) for one in replies],
        rtt_ms=[one["val"] for one in replies],
    )


def _left_out(file: DataFile, read: Sequence[str]) -> list[str]:
    """Return the measured series that have no place in a record. Series that Flent derives from others do not count."""
    derived = re.compile(r".* (avg|sum|mean|totals)$|TCP totals$|.*fairness.*")
    return [
        name
        for name in sorted(file.results)
        if name not in read
        and name.split("::tcp_")[0] not in read
        and not (VOIP in read and name.startswith(f"{VOIP}::"))
        and not derived.match(name)
    ]


def keep(store: Store, records: Sequence[Record], origin: str) -> None:
    """Put ``records`` into ``store``. A record that is there already stays. Raises UserError if writing fails."""
    for one in records:
        text = json.dumps(one, ensure_ascii=False)
        made_by = Maker(one["version"], None, None)
        unseeded = {key: value for key, value in one["scenario"].items() if key != "seed"}
        run = Run(one["engine"], one["scenario"], made_by, digest(text)[:32], digest(unseeded)[:16])
        try:
            store.put(run, text)
        except OSError as error:
            raise UserError(origin, f"cannot be written: {error.strerror or error}") from None
