"""Small records of each origin, and the files of measurements that some of them come from."""

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import flent_files
import goodqueue as gq
from goodqueue import running
from goodqueue.flent import programs
from goodqueue.record import Record
from neighbour_files import measured, of_tcp, run, step, trip

Json = dict[str, Any]

BULK, PING = {"kind": "bulk"}, {"kind": "ping"}
BASE: Json = {
    "duration": "1500ms",
    "warmup": "500ms",
    "seed": 1,
    "bottleneck": {"rate": "4mbit", "qdisc": "codel"},
    "path": {"rtt": "20ms"},
    "series": {"interval": "100ms", "tcp": True},
}
T0 = 1_500_000_000.0

# Files of other programs, by origin.


def _irtt(**changes: Any) -> Json:
    return measured([trip(number, **changes) for number in range(30)])


def _without_delays() -> Json:
    data = _irtt()
    for one in data["round_trips"]:
        del one["delay"]["send"], one["delay"]["receive"]
    return data


def _iperf3(way: str) -> Json:
    """Return a test of six intervals by iperf3: ``up``, ``down``, ``bidir`` or ``udp``. ``whole`` has none."""
    sent = {"rtt": 40_000, "rttvar": 500, "snd_cwnd": 20_000, "retransmits": 1}
    up = [step(second, 125_000, **sent) for second in range(6)]
    down = [step(second, 125_000, sender=False, socket=7) for second in range(6)]
    udp = {"socket": 5, "seconds": 6.0, "bytes": 750_000, "bits_per_second": 1e6, "sender": True,
           "jitter_ms": 0.5, "lost_packets": 6, "packets": 600}  # fmt: skip
    end: Json = {"streams": [of_tcp(750_000, 750_000, retransmits=6)], "sender_tcp_congestion": "brutal"}
    match way:
        case "up":
            return run([[one] for one in up], end)
        case "down":
            return run([[one] for one in down], {}, reverse=1)
        case "bidir":
            return run([list(pair) for pair in zip(up, down, strict=True)], {"sum_sent_bidir_reverse": {}}, bidir=1)
        case "udp":
            return run([[one] for one in up], {"streams": [{"udp": udp}]}, "UDP")
    return run([], end)


def _flent(**raw: list[Json]) -> Json:
    """Return a file of Flent's of 13 s with the series ``raw``, whose times are those of the run."""
    series = {name: [{**one, "t": T0 + one["t"]} for one in samples] for name, samples in raw.items()}
    return flent_files.data(raw_values=series, results={name: [None] * 13 for name in series})


def _rates(begin_s: float = 0.0) -> list[Json]:
    return [{"t": begin_s + second, "dur": 1.0, "val": 4.0} for second in range(1, 12)]


def _pings() -> list[Json]:
    return [{"t": 0.1 * number + 0.03, "seq": number + 1.0, "val": 30.0} for number in range(120)]


def _call(**more: float) -> list[Json]:
    return [{"t": 0.1 * number + 0.03, "seq": float(number), "val": 30.0, **more} for number in range(120)]


QUEUE = [{"t": float(second), "backlog_pkts": 9.0, "dropped": 1.0, "delay": 5.0, "sent_pkts": 300.0 * second,
          "sent_bytes": 4e5 * second} for second in range(13)]  # fmt: skip

MEASUREMENTS: dict[str, Callable[[], Json]] = {
    "irtt": _irtt,
    "irtt, clocks that differ": lambda: _irtt(up_ms=-28.0, down_ms=58.0),
    "irtt --clock=monotonic": _without_delays,
    "irtt, all lost": lambda: _irtt(lost="true"),
    "iperf3": lambda: _iperf3("up"),
    "iperf3 -R": lambda: _iperf3("down"),
    "iperf3 --bidir": lambda: _iperf3("bidir"),
    "iperf3 -u": lambda: _iperf3("udp"),
    "iperf3 -i 0": lambda: _iperf3("whole"),
    "flent rrul": lambda: _flent(
        **{"TCP upload BE": _rates(), "TCP download BE": _rates(), "Ping (ms) ICMP": _pings(), "qdisc_stats_x": QUEUE}
    ),
    "flent tcp_1up_noping": lambda: _flent(**{"TCP upload": _rates(-0.9)}),
    "flent udp_flood": lambda: _flent(**{"UDP upload": _rates(), "Ping (ms) ICMP": _pings()}),
    "flent ping": lambda: _flent(**{"Ping (ms) ICMP": _pings()}),
    "flent http": lambda: _flent(**{"HTTP latency": [{"t": float(second), "val": 300.0} for second in range(1, 9)]}),
    "flent voip": lambda: _flent(VoIP=_call()),
    "flent voip by irtt": lambda: _flent(VoIP=_call(owd_up=12.0)),
    "flent voip, clocks that differ": lambda: _flent(VoIP=_call(owd_up=42.0)),
    "flent qdisc_stats": lambda: _flent(qdisc_stats_x=QUEUE),
}


def imported(name: str, folder: Path) -> Record:
    """Return the record of a measurement."""
    file = folder / "measured.json"
    file.write_text(json.dumps(MEASUREMENTS[name]()), encoding="utf-8")
    (record,) = programs.records(str(file), None, 1)
    return record


# Runs of ours.


def _run(*traffic: Json, **changes: Any) -> Record:
    return running.one({**copy.deepcopy(BASE), "traffic": list(traffic), **changes})


def _of_engine(engine: str, **part: Any) -> Record:
    """Return a record as ``engine`` writes it: what Linux does not say is null, and only it has ``part``."""
    record: Any = _run(BULK, PING)
    for queue in record["queues"].values():
        queue |= {"drops_by_reason": None, "marks_by_reason": None}
    return {**record, "engine": engine, **part}  # type: ignore[typeddict-item]


KERNEL = {"release": "6.1", "where": "vm", "clock": "virtual", "tc": "iproute2-6.1.0", "sysctls": {}, "capture_lost": 0,
          "shaper": {"down": "htb", "up": "htb"}, "qdisc_stats": {"down": [], "up": []}}  # fmt: skip
LIVE = {"elapsed_s": 1.5, "late_us": None, "packets": {"not_ip": 0, "not_cut": 0, "refused": 0},
        "hosts": {"client": 1, "server": 1}, "slots": 1, "slots_in_use": 0}  # fmt: skip


def _link() -> Record:
    """Return a record as `goodqueue link --record` writes it: of no traffic of ours."""
    record: Any = _of_engine("live", live=LIVE)
    record |= {"flows": [], "apps": [], "scenario": record["scenario"] | {"traffic": []}}
    record["series"] |= {"flows": [], "pings": []}
    return record  # type: ignore[no-any-return]


HOPS = [{"name": "m", "kind": "link", "rate": "9mbit", "qdisc": "pfifo"}, {"name": "w", "kind": "wire"}]
CELL = {"standard": "802.11n", "station": [{"name": "a", "rate": "mcs7"}]}

RUNS: dict[str, Callable[[], Record]] = {
    "sim": lambda: _run(BULK, PING),
    "sim up": lambda: _run({**BULK, "direction": "up"}),
    "sim without series": lambda: _run(BULK, PING, series={}),
    "sim of a ping": lambda: _run(PING),
    "sim of a call, a page and datagrams": lambda: _run(
        {"kind": "voip"}, {"kind": "page"}, {"kind": "cbr", "rate": "1mbit"}
    ),
    "sim of a transfer": lambda: _run({"kind": "transfer", "size": "50kB"}),
    "sim of hops": lambda: _run(
        BULK,
        PING,
        hop=[{"name": "m", "kind": "link", "rate": "9mbit", "qdisc": "pfifo"}, {"name": "w", "kind": "wire"}],
    ),
    "sim of a cell": lambda: _run(
        BULK,
        bottleneck={"wifi": {"standard": "802.11n", "station": [{"name": "a", "rate": "mcs7"}]}, "qdisc": "fq_codel"},
    ),
    "sim of subscribers": lambda: running.one(
        {**copy.deepcopy(BASE), "subscriber": [{"name": "a", "down": "2mbit", "up": "1mbit", "traffic": [BULK]}]}
    ),
    "kernel": lambda: _of_engine("kernel", kernel=KERNEL),
    "live": lambda: _of_engine("live", live=LIVE, kernel={**KERNEL, "where": "host", "clock": "real"}),
    "link": _link,
    "bottleneck": lambda: gq.Bottleneck({**copy.deepcopy(BASE), "traffic": [PING]}).record(),
}
"""Calibrations keep such records of a link, and read them alone."""


def record(name: str, folder: Path) -> Record:
    """Return the record of an origin."""
    return RUNS[name]() if name in RUNS else imported(name, folder)
