"""Writes goodqueue's records as Flent's data files. The same record gives the same bytes."""

import datetime as dt
import gzip
import json
import math
import re
import statistics
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from goodqueue.capture import EPOCH_S
from goodqueue.errors import UserError
from goodqueue.flent import SUFFIX, VERSION
from goodqueue.flent.again import SET
from goodqueue.flent.choice import Choice, choose
from goodqueue.record import CallSeries, FlowSeries, Record, Series
from goodqueue.record.reading import source_of
from goodqueue.scenario import seconds

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

GAP_STEPS = 5
"""The maximum gap between two samples, in steps, across which values are interpolated, as in Flent."""

NAME_BYTES = 250
"""The maximum length of a file's name in bytes, as in Flent."""

STEP_S = 0.2
"""The least step, which is Flent's, of a record that has no intervals."""

UDP_HEADERS = 14 + 20 + 8
"""Bytes of Ethernet, IPv4 and UDP."""

Values = list[float | None]


def file_name(choice: Choice, title: str, seed: int) -> str:
    """Return the file's name in the form of Flent's batches: test, time, title, number of the repeat.

    Flent's combining plots group files whose names differ only in that number. The name therefore has no other
    number.
    """
    end = f"-{seed}{SUFFIX}"
    begin = f"{choice.test}-{_iso(0).partition('.')[0].replace(':', '')}-"
    return begin + re.sub(r"[^A-Za-z0-9-]", "_", title)[: NAME_BYTES - len(begin) - len(end)] + end


def data_file(record: Record, title: str, where: str) -> tuple[str, bytes, Choice]:
    """Return name and content of the data file of ``record``, and the chosen test.

    ``title`` is the record's name in Flent's legends. ``where`` names the record in error messages. Raises UserError
    if the record has no time series.
    """
    series = record.get("series")
    if series is None or series["interval_s"] is None or (series["flows"] and not series["time_s"]):
        raise UserError(where, f"holds no time series, of which Flent's files are made; accepted: a run with {SET}")
    choice = choose(record)
    name = file_name(choice, title, record["seed"])
    data = _data(record, series, choice, title, name)
    text = json.dumps(
        data, sort_keys=True, ensure_ascii=False, allow_nan=False
    )  # indent would select Python's slow encoder
    return name, gzip.compress(text.encode(), mtime=0), choice


def _data(record: Record, series: Series, choice: Choice, title: str, name: str) -> dict[str, Any]:
    grid, step = series["time_s"], series["interval_s"] or 0.0
    if not grid and (source := source_of(record)):  # irtt's have none: it sees packets, and no rates
        step = max(step, STEP_S)
        grid = [round(step * number, 6) for number in range(math.ceil(source["measured_s"][1] / step) + 1)]
    results: dict[str, Values] = {}
    raw: dict[str, list[dict[str, Any]]] = {}
    meta: dict[str, dict[str, Any]] = {}
    for flow in series["flows"]:
        if (called := choice.flows.get(flow["name"])) is None:
            continue
        flow_record = next(entry for entry in record["flows"] if entry["name"] == flow["name"])
        results[called] = [
            None if end <= flow_record["start_s"] else rate
            for end, rate in zip(grid, flow["goodput_mbps"], strict=True)
        ]
        raw[called] = _flow_samples(flow, grid, results[called], step)
        for key, samples in _tcp(flow).items():
            results[f"{called}::{key}"] = samples
        meta[called] = {
            "UNITS": "Mbits/s",
            "MEAN_VALUE": flow_record["goodput_mbps"],
            "CONG_CONTROL": flow_record.get("cc"),
        }
    for ping in series.get("pings", []):
        if (called := choice.pings.get(ping["name"])) is None:
            continue
        raw[called] = _packet_samples(ping["seq"], ping["sent_s"], ping["rtt_ms"])
        results[called] = _interpolated(raw[called], grid, step)
        meta[called] = {"UNITS": "ms", **_extremes(ping["rtt_ms"])}
    for call in series.get("calls", []):
        if call["name"] in choice.calls:
            same = next((one for one in series["flows"] if one["name"] == call["name"]), None)
            called = choice.calls[call["name"]]
            raw[called] = _packet_samples(call["seq"], call["sent_s"], call["delay_ms"])
            results[called] = [None] * len(grid)
            meta[called] = {"UNITS": "Kbps", **_extremes(call["delay_ms"])}
            for key, (units, values) in _call(call, same, grid).items():
                results[f"{called}::{key}"], raw[f"{called}::{key}"] = values, []
                meta[f"{called}::{key}"] = {"UNITS": units}
    for page in series.get("pages", []):
        if page["name"] in choice.pages:
            called = choice.pages[page["name"]]
            raw[called] = [
                {"t": round(EPOCH_S + begun + load / 1e3, 6), "val": load}
                for begun, load in zip(page["begun_s"], page["load_ms"], strict=True)
            ]
            results[called] = _interpolated(raw[called], grid, step)
            meta[called] = {"UNITS": "ms", **_extremes(page["load_ms"])}
    for called, how, of in choice.derived:
        results[called] = _combined(how, [results[name] for name in of if name in results], len(grid))
        meta[called] = {"UNITS": "ms" if called.startswith("Ping") else "Mbits/s"}
        raw[called] = []
    for direction, queue in series["queues"].items():
        called = f"qdisc_stats_{direction}"
        sampled = {"delay": queue["delay_ms"], "backlog_pkts": queue["backlog_packets"]}
        for key, values in sampled.items():
            results[f"{called}::{key}"] = list(values) or [None] * len(grid)
        raw[called] = [
            {"t": EPOCH_S + end, **{key: value for key, value in zip(sampled, pair, strict=True) if value is not None}}
            for end, *pair in zip(series["time_s"], *sampled.values(), strict=True)
        ]
        results[called] = [None] * len(grid)
        meta[called] = {"UNITS": "misc"}
    metadata = _metadata(record, series, step, choice, title, name) | {"SERIES_META": meta}
    return {"version": VERSION, "metadata": metadata, "x_values": grid, "results": results, "raw_values": raw}


def _tcp(flow: FlowSeries) -> dict[str, Values]:
    """Return the known state of the sender, by Flent's names."""
    columns = {"tcp_cwnd": list(flow["cwnd_packets"])}
    if tcp := flow.get("tcp"):
        columns |= {
            "tcp_rtt": list(tcp["rtt_ms"]),
            "tcp_rtt_var": list(tcp["rttvar_ms"]),
            "tcp_pacing_rate": list(tcp["pacing_rate_mbps"]),
            "tcp_delivery_rate": list(tcp["delivery_rate_mbps"]),
        }
    return columns


def _flow_samples(flow: FlowSeries, grid: Sequence[float], rates: Values, step: float) -> list[dict[str, Any]]:
    """Return one sample per interval, as in netperf's demo mode: at the interval's end, with its length."""
    tcp = _tcp(flow)
    samples = []
    for index, (end, rate) in enumerate(zip(grid, rates, strict=True)):
        if rate is not None:
            known_values = {key: values[index] for key, values in tcp.items() if values[index] is not None}
            samples.append({"t": EPOCH_S + end, "dur": step, "val": rate, **known_values})
    return samples


def _packet_samples(numbers: Sequence[int], sent_s: Sequence[float], times_ms: Sequence[float]) -> list[dict[str, Any]]:
    """Return one sample per packet, at the time of its arrival, numbered from 1 as by the program `ping`."""
    return [
        {"t": round(EPOCH_S + sent + time / 1e3, 6), "seq": seq + 1, "val": time}
        for seq, sent, time in zip(numbers, sent_s, times_ms, strict=True)
    ]


def _call(call: CallSeries, flow: FlowSeries | None, grid: Sequence[float]) -> dict[str, tuple[str, Values]]:
    """Return unit and values of what Flent derives from a call, for the packets that arrived within each interval.

    The delay is the packets' mean delay. The jitter is the mean difference from the packet before. The loss is the
    number of packets that are missing before them. The bit rate counts the UDP payload. It is unknown without ``flow``,
    since irtt and Flent's own files of calls say no packet's size.
    """
    import numpy as np

    delays, sent = np.array(call["delay_ms"], dtype=float), np.array(call["sent_s"], dtype=float)
    places = np.searchsorted(np.asarray(grid, dtype=float), sent + delays / 1e3)
    within = places < len(grid)
    counts = np.bincount(places[within], minlength=len(grid))

    def mean(array: "NDArray[np.float64]", of: "NDArray[np.bool_]") -> Values:
        sums = np.bincount(places[within & of], weights=array[within & of], minlength=len(grid))
        numbers = np.bincount(places[within & of], minlength=len(grid))
        return [round(float(total / n), 6) if n else None for total, n in zip(sums, numbers, strict=True)]

    before = np.arange(len(delays)) > 0
    least = float(delays.min()) if len(delays) else 0.0
    missing = np.maximum(np.diff(np.array(call["seq"], dtype=float), prepend=-1) - 1, 0)
    lost = np.bincount(places[within], weights=missing[within], minlength=len(grid))
    lengths = np.diff(grid, prepend=0.0)
    goodputs = flow["goodput_mbps"] if flow else [None] * len(grid)
    rates: Values = [
        None if not n or rate is None else round(rate * 1e3 - n * UDP_HEADERS * 8e-3 / length, 6)
        for n, rate, length in zip(counts.tolist(), goodputs, lengths.tolist(), strict=True)
    ]
    return {
        "bitrate": ("Kbits/s", rates),
        "delay": ("ms", mean(delays, before | True)),
        "jitter": ("ms", mean(np.abs(np.diff(delays, prepend=0.0)), before)),
        "loss": ("count", [float(value) for value in lost]),
        "induced_delay": ("ms", mean(delays - least, before | True)),
    }


def _interpolated(samples: Sequence[dict[str, Any]], grid: Sequence[float], step: float) -> Values:
    """Return ``samples`` interpolated on the ``grid``. None stands before the first and after the last sample.

    None also stands in gaps of more than `GAP_STEPS`, in steps or, if that is longer, in the samples' usual distance.
    """
    import numpy as np

    if len(samples) < 2:
        return [None] * len(grid)
    samples = sorted(samples, key=lambda sample: sample["t"])
    # As floats: a file's number of more than 64 bits would make an array of objects.
    times = np.array([sample["t"] - EPOCH_S for sample in samples], dtype=float)
    at = np.asarray(grid, dtype=float)
    values = np.interp(at, times, np.array([sample["val"] for sample in samples], dtype=float))
    after = np.clip(np.searchsorted(times, at), 1, len(times) - 1)
    gaps = times[after] - times[after - 1]
    far = gaps > GAP_STEPS * max(step, float(np.median(np.diff(times))))
    outside = (at < times[0]) | (at > times[-1])
    return [None if bad else round(float(value), 6) for value, bad in zip(values, far | outside, strict=True)]


def _combined(how: str, of: Sequence[Values], length: int) -> Values:
    """Return the sum or the mean of several series at each point. Series without a value there are ignored."""
    points: Iterable[tuple[float | None, ...]] = zip(*of, strict=True) if of else [()] * length
    totals: Values = []
    for point in points:
        numbers = [value for value in point if value is not None]
        total = sum(numbers) / (len(numbers) if how == "avg" else 1) if numbers else None
        totals.append(None if total is None else round(total, 6))
    return totals


def _extremes(values: Sequence[float]) -> dict[str, float]:
    if not values:
        return {}
    return {"MEAN_VALUE": round(statistics.fmean(values), 6), "MIN_VALUE": min(values), "MAX_VALUE": max(values)}


def _metadata(record: Record, series: Series, step: float, choice: Choice, title: str, name: str) -> dict[str, Any]:
    """Return the metadata that Flent's reader needs and, under ``GOODQUEUE``, the description that repeats the run."""
    host = f"goodqueue-{record['engine']}"
    length = seconds(record["scenario"]["duration"])
    directions = list(series["queues"])
    kernel = record.get("kernel")
    return {
        "NAME": choice.test,
        "TITLE": title,
        "NOTE": f"goodqueue {record['version']}, engine {record['engine']}, seed {record['seed']}",
        "HOST": host,
        "HOSTS": [host],
        "LOCAL_HOST": host,
        "TIME": _iso(0),
        "T0": _iso(0),
        "LENGTH": length,
        "TOTAL_LENGTH": length,
        "STEP_SIZE": step,
        "TEST_PARAMETERS": choice.parameters
        | {"qdisc_stats_hosts": ",".join(directions), "qdisc_stats_interfaces": ",".join(directions)},
        "FLENT_VERSION": f"goodqueue {record['version']}",
        "IP_VERSION": 4,
        "BATCH_NAME": None,
        "BATCH_TIME": None,
        "BATCH_TITLE": None,
        "BATCH_UUID": None,
        "DATA_FILENAME": name,
        "HTTP_GETTER_URLLIST": list(choice.pages) or None,  # Flent looks for as many series as it names
        "HTTP_GETTER_DNS": None,
        "HTTP_GETTER_WORKERS": None,
        "FAILED_RUNNERS": 0,
        "KERNEL_NAME": "Linux" if kernel else None,
        "KERNEL_RELEASE": kernel["release"] if kernel else None,
        "GOODQUEUE": {key: record[key] for key in ("version", "engine", "seed", "scenario")},
    }


def _iso(after_s: float) -> str:
    at = dt.datetime.fromtimestamp(EPOCH_S + after_s, dt.UTC)
    return at.strftime("%Y-%m-%dT%H:%M:%S.%fZ")
