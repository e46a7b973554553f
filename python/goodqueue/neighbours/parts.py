"""The parts of a record that programs at the ends of a path can fill. They are the same for all of these programs."""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from goodqueue._goodqueue import VERSION, jain, jitter_ms, mos, percent, percentiles_ms, rounded, summary
from goodqueue.engines.identity import Maker, Run, digest
from goodqueue.errors import UserError
from goodqueue.record import (
    App,
    Flow,
    FlowSeries,
    PingSeries,
    Queue,
    QueueSeries,
    Record,
    Scenario,
    Series,
    SourceFile,
    TcpSeries,
)
from goodqueue.record.reading import UNKNOWN
from goodqueue.store import Store
from goodqueue.traffic import BULK

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Numbers = list[float | None]

DATAGRAMS = "cbr"
"""The kind of a flow of UDP."""

FURTHEST_MS = 60.0
"""The longest time between two packets of a call. The score of a call (MOS) says nothing about rarer packets."""


def record(
    engine: Literal["flent", "irtt", "iperf3"],
    source: SourceFile,
    scenario: Scenario,
    seed: int,
    flows: Sequence[Flow],
    apps: Sequence[App],
    series: Series,
    queues: Mapping[str, Queue] | None = None,
) -> Record:
    """Return the record of the program ``engine``. Queues that nobody measured have only their line."""
    judged = [flow for flow in flows if flow["kind"] == BULK]
    first = [flow["goodput_mbps"] for flow in judged if flow["direction"] == judged[0]["direction"]]
    record_made = Record(
        schema=1,
        engine=engine,
        version=VERSION,
        seed=seed,
        scenario={**scenario, "seed": seed},
        queues={
            direction: (queues or {}).get(direction) or queue(line(scenario, direction)) for direction in ("down", "up")
        },
        flows=list(flows),
        fairness={"jain_goodput": jain(first), "jain_drops": None},
        apps=list(apps),
        series=series,
    )
    record_made[engine] = source
    return record_made


def unknown(qdisc: str, sources: Iterable[Mapping[str, Any]], begin_s: float, end_s: float) -> Scenario:
    """Return the known part of a scenario, without the link. ``sources`` are its traffic, with a ``count`` each.

    A run has no time before 0. A measurement may: Flent's first samples can have begun before its clock.
    """
    begin_s, end_s = max(0.0, begin_s), max(0.0, begin_s, end_s)
    line = qdisc.strip() or UNKNOWN
    return {
        "duration": _seconds(end_s),
        "warmup": _seconds(begin_s),
        "bottleneck": {"rate": UNKNOWN, "qdisc": line, "up": {"rate": UNKNOWN, "qdisc": line}},
        "path": {"rtt": UNKNOWN},
        "traffic": [dict(source) for source in sources if source["count"]],
    }


def _seconds(time_s: float) -> str:
    """Return a time as a scenario has it, which knows no exponents."""
    text = f"{time_s:g}"
    return f"{f'{time_s:.6f}'.rstrip('0').rstrip('.') if 'e' in text else text}s"


def line(scenario: Scenario, direction: str) -> str:
    """Return the line of the discipline in one direction."""
    bottleneck = scenario["bottleneck"]
    up_line = (bottleneck.get("up") or {}).get("qdisc") if direction == "up" else None
    return str(up_line or bottleneck["qdisc"])


def queue(qdisc: str) -> Queue:
    """Return a queue of which only the line is known."""
    return Queue(
        qdisc=qdisc,
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


def flow(name: str, kind: str, direction: str, start_s: float, goodput_mbps: float) -> Flow:
    """Return a flow of which only the goodput is known."""
    return Flow(
        name=name,
        kind=kind,
        direction=direction,
        cc=None,
        start_s=rounded(start_s),
        goodput_mbps=rounded(goodput_mbps),
        rtt_ms=None,
        retransmitted=None,
        timeouts=None,
        loss_percent=None,
        goodput_5s_mbps=None,
    )


def ping(name: str, rtts_ms: Sequence[float], sent: int | None, received: int | None) -> App:
    """Return a ping. ``sent`` and ``received`` are None if the program did not number its packets."""
    app = App(name=name, kind="ping", rtt_ms=summary(nanoseconds(rtts_ms)), loss_percent=None)
    if sent is not None and received is not None:
        app |= {"sent": sent, "received": received, "loss_percent": percent(sent - received, sent)}
    return app


def call(
    name: str, delays_ms: Sequence[float] | None, jitters: tuple[float | None, float | None], sent: int, received: int
) -> App:
    """Return a call. ``delays_ms`` is None if the delays are not known, as when the ends' clocks differ."""
    delays = nanoseconds(delays_ms or [])
    lost = percent(sent - received, sent) if sent else None
    return App(
        name=name,
        kind="voip",
        delay_ms=summary(delays),
        delay_percentiles_ms=percentiles_ms(delays),
        jitter_ms=jitters[0],
        jitter_rfc3550_ms=jitters[1],
        sent=sent,
        received=received,
        loss_percent=lost,
        mos=score(delays_ms or [], lost),
    )


def score(delays_ms: Sequence[float], loss_percent: float | None) -> float | None:
    """Return the score of a call (MOS) by its mean delay and its loss, or None if one of them is unknown."""
    if loss_percent is None or not len(delays_ms):
        return None
    return rounded(mos(float(nanoseconds(delays_ms).mean()) / 1e6, loss_percent))


def jitters(delays_ms: Sequence[float]) -> tuple[float | None, float | None]:
    """Return the mean difference of successive delays, and RFC 3550's jitter."""
    return jitter_ms(nanoseconds(delays_ms))


def nanoseconds(values_ms: Sequence[float]) -> "NDArray[np.int64]":
    """Return times in ms as whole nanoseconds."""
    import numpy as np

    return np.rint(np.array(values_ms, dtype=float) * 1e6).astype(np.int64)


def series(step_s: float, grid_s: Sequence[float], flows: Sequence[FlowSeries], pings: Sequence[PingSeries]) -> Series:
    """Return time series without a queue."""
    blank = blank_queue(len(grid_s))
    return Series(
        interval_s=step_s,
        time_s=list(grid_s),
        queues={"down": blank, "up": blank},
        flows=list(flows),
        pings=list(pings),
    )


def blank_queue(length: int) -> QueueSeries:
    """Return the series of a queue that nobody measured."""
    nothing: Numbers = [None] * length
    return QueueSeries(delay_ms=nothing, backlog_packets=nothing, drop_probability=nothing)


def tcp_series(rtt_ms: Numbers, rttvar_ms: Numbers, pacing_mbps: Numbers, delivery_mbps: Numbers) -> TcpSeries:
    """Return what is known of a TCP sender. These programs do not report the other variables."""
    nothing: Numbers = [None] * len(rtt_ms)
    return TcpSeries(
        ssthresh_packets=nothing,
        rtt_ms=rtt_ms,
        rttvar_ms=rttvar_ms,
        rto_ms=nothing,
        unacked_packets=nothing,
        pacing_rate_mbps=pacing_mbps,
        delivery_rate_mbps=delivery_mbps,
    )


def keep(store: Store, records: Sequence[Record], origin: str) -> None:
    """Put ``records`` into ``store``. A record that is there already stays. Raises UserError if writing fails."""
    for record in records:
        text = json.dumps(record, ensure_ascii=False)
        made_by = Maker(record["version"], None, None)
        unseeded = {key: value for key, value in record["scenario"].items() if key != "seed"}
        run = Run(record["engine"], record["scenario"], made_by, digest(text)[:32], digest(unseeded)[:16])
        try:
            store.put(run, text)
        except OSError as error:
            raise UserError(origin, f"cannot be written: {error.strerror or error}") from None
