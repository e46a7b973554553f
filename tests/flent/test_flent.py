"""Flent's data files: Flent opens and draws ours, and its own files are read to the number."""

import gzip
import json
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from conftest import SCENARIO, Result
from flent_files import data, written
from goodqueue import _goodqueue, running
from goodqueue.capture import EPOCH_S
from goodqueue.flent import importing, reading, writing
from goodqueue.flent.choice import choose
from goodqueue.flent.reading import DataFile
from goodqueue.record import Record, Scenario
from goodqueue.store import results
from needs import debians_environment

Command = Callable[..., Result]

needs_flent = pytest.mark.needs("flent")

SERIES = {"interval": "200ms", "tcp": True}
BOTH_WAYS = [
    {"kind": "bulk", "count": 4, "direction": direction, "start_spread": "500ms"} for direction in ("down", "up")
]


def simulated(traffic: list[dict[str, Any]], seed: int = 1) -> Record:
    scenario: Scenario = SCENARIO | {"duration": "14s", "seed": seed, "series": SERIES, "traffic": traffic}
    return running.one(scenario)


@pytest.fixture(scope="module")
def rrul_be() -> Record:
    return simulated([*BOTH_WAYS, {"kind": "ping", "interval": "200ms"}])


def flent(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    environment = {**debians_environment(), "QT_QPA_PLATFORM": "offscreen", "MPLBACKEND": "Agg"}
    command = ["flent", *map(str, arguments)]
    return subprocess.run(command, check=False, capture_output=True, text=True, env=environment)


# Which test a run becomes.


def classed(direction: str) -> list[dict[str, Any]]:
    return [{"kind": "bulk", "direction": direction, "dscp": dscp} for dscp in ("CS0", "CS1", "CS5", "EF")]


@pytest.mark.parametrize(
    ("traffic", "test", "flows", "pings"),
    [
        (
            [*classed("up"), *classed("down"), {"kind": "ping"}, {"kind": "ping", "dscp": "EF"}],
            "rrul",
            [f"TCP {direction}load {name}" for direction in ("up", "down") for name in ("BE", "BK", "CS5", "EF")],
            ["Ping (ms) ICMP", "Ping (ms) UDP EF"],
        ),
        (
            [*BOTH_WAYS, {"kind": "ping", "count": 2}],
            "rrul_be",
            [f"TCP {direction}load BE{number}" for direction in ("up", "down") for number in ("", 2, 3, 4)],
            ["Ping (ms) ICMP", "Ping (ms) UDP BE1"],
        ),
        (
            [{"kind": "bulk", "direction": "up"}, {"kind": "bulk", "count": 2}],
            "rrul_be_nflows",
            ["TCP upload BE::1", "TCP download BE::1", "TCP download BE::2"],
            [],
        ),
        ([{"kind": "bulk", "count": 2}], "tcp_ndown", ["TCP download::1", "TCP download::2"], []),
        ([{"kind": "bulk", "direction": "up"}], "tcp_nup", ["TCP upload::1"], []),
        ([{"kind": "voip"}, {"kind": "page"}, {"kind": "ping"}], "ping", [], ["Ping (ms) ICMP"]),
        ([{"kind": "voip"}, {"kind": "page"}], "http", [], []),
        ([{"kind": "voip"}], "voip", [], []),
        ([{"kind": "ping"}, {"kind": "cbr", "rate": "1mbit"}], "ping", [], ["Ping (ms) ICMP"]),
        (
            [{"name": "Ping (ms) UDP", "kind": "ping"}, {"kind": "ping"}],
            "ping",
            [],
            ["Ping (ms) UDP", "Ping (ms) ICMP"],
        ),
    ],
)
def test_a_run_becomes_the_test_that_its_flows_are_nearest_to(
    traffic: list[dict[str, Any]], test: str, flows: list[str], pings: list[str]
) -> None:
    choice = choose(running.one(SCENARIO | {"duration": "1500ms", "traffic": traffic}))
    assert (choice.test, list(choice.flows.values()), list(choice.pings.values())) == (test, flows, pings)


def test_what_has_no_counterpart_is_named(here: Path, goodqueue: Command) -> None:
    traffic = [{"kind": "bulk"}, {"kind": "cbr", "rate": "1mbit"}, {"kind": "ping", "count": 2}]
    (here / "r.json").write_text(json.dumps(simulated(traffic)), encoding="utf-8")
    said = goodqueue("export", "--flent", "r.json", "--out", "out")
    assert said.status == 0
    assert said.err == "goodqueue: left out: cbr/0, ping/1; Flent's test tcp_ndown has no series for them\n"


# What the file holds.


def test_the_file_has_what_the_format_asks_and_the_same_bytes_each_time(rrul_be: Record) -> None:
    name, content, _ = writing.data_file(rrul_be, "codel target 5ms", "here")
    assert (name, content) == writing.data_file(rrul_be, "codel target 5ms", "here")[:2]
    assert name == "rrul_be-2000-01-01T000000-codel_target_5ms-1.flent.gz"
    data = json.loads(gzip.decompress(content))
    assert set(data) == {"version", "metadata", "x_values", "results", "raw_values"}
    assert data["version"] == 4
    assert data["metadata"]["T0"] == "2000-01-01T00:00:00.000000Z"
    assert data["metadata"]["DATA_FILENAME"] == name
    assert {len(values) for values in data["results"].values()} == {len(data["x_values"])} == {70}
    # A sample is the goodput of the 200 ms before it, and its absolute time is that of the grid.
    series = rrul_be["series"]["flows"][0]
    last = data["raw_values"]["TCP download BE"][-1]
    assert last["val"] == data["results"]["TCP download BE"][-1] == series["goodput_mbps"][-1]
    assert (last["dur"], last["t"]) == (0.2, EPOCH_S + 14)
    assert last["tcp_cwnd"] == series["cwnd_packets"][-1]
    assert last["tcp_rtt"] == series["tcp"]["rtt_ms"][-1]


def test_each_series_says_its_unit_as_flent_does(rrul_be: Record) -> None:
    """Flent writes units on its axes, as in its rrul_be.conf, voip.inc, http.inc and qdisc_stats.inc."""

    def units(record: Record) -> dict[str, str]:
        data = json.loads(gzip.decompress(writing.data_file(record, "t", "here")[1]))
        return {name: about["UNITS"] for name, about in data["metadata"]["SERIES_META"].items()}

    transfers = units(rrul_be)
    assert {transfers.pop(name) for name in [*transfers] if name.startswith("TCP ")} == {"Mbits/s"}
    assert transfers == {
        "Ping (ms) ICMP": "ms",
        "Ping (ms) avg": "ms",
        "qdisc_stats_down": "misc",
        "qdisc_stats_up": "misc",
    }
    assert units(simulated([{"kind": "voip"}, {"kind": "page"}])) == {
        "VoIP": "Kbps",
        "VoIP::bitrate": "Kbits/s",
        "VoIP::delay": "ms",
        "VoIP::jitter": "ms",
        "VoIP::loss": "count",
        "VoIP::induced_delay": "ms",
        "HTTP latency": "ms",
        "qdisc_stats_down": "misc",
        "qdisc_stats_up": "misc",
    }


def test_sums_and_means_are_of_the_flows_and_nothing_is_known_before_they_start(rrul_be: Record) -> None:
    found = json.loads(gzip.decompress(writing.data_file(rrul_be, "t", "here")[1]))["results"]
    ups = [f"TCP upload BE{number}" for number in ("", 2, 3, 4)]
    assert found["TCP upload sum"][50] == pytest.approx(sum(found[up][50] for up in ups), abs=1e-5)
    assert found["TCP upload avg"][50] == pytest.approx(sum(found[up][50] for up in ups) / 4, abs=1e-5)
    both = found["TCP upload sum"][50] + found["TCP download sum"][50]
    assert found["TCP totals"][50] == pytest.approx(both, abs=1e-5)
    late = next(flow for flow in rrul_be["flows"] if flow["start_s"] > 0.2)
    assert found[choose(rrul_be).flows[late["name"]]][0] is None


@pytest.mark.parametrize("early_s", [0.0, 3.0])
def test_what_was_before_the_test_began_is_left_out(
    early_s: float, here: Path, goodqueue: Callable[..., Result]
) -> None:
    """The first sample is the mean of the time before it: the warm-up was "-0.2s", which nothing reads."""
    times = [1_500_000_000.0 - early_s + 0.2 * number for number in range(50)]
    content = data()
    for name in ("TCP upload::1", "TCP upload::2"):
        content["raw_values"][name] = [{"t": time, "dur": 0.2, "val": 4.0} for time in times]
    found = goodqueue("import", written(here, content), "--json")
    assert found.status == 0, found.err
    (here / "record.json").write_text(found.out, encoding="utf-8")
    (record,) = results.records(["record.json"])
    assert record.record["scenario"]["warmup"] == "0s"
    assert record.record["flows"][0]["goodput_mbps"] == pytest.approx(4.0)


def test_a_ping_stands_at_the_time_at_which_it_came_home() -> None:
    record = simulated([{"kind": "ping", "interval": "500ms", "packet_size": 98}])
    data = json.loads(gzip.decompress(writing.data_file(record, "t", "here")[1]))
    # On the empty link an echo takes the base RTT and twice 78.4 us of serialisation.
    assert data["raw_values"]["Ping (ms) ICMP"][2] == {"t": EPOCH_S + 1.020157, "seq": 3, "val": 20.1568}
    # The first two replies are 0.2 s apart. The last, sent at 13.5 s, is back at 13.52 s, with no value after that.
    assert data["results"]["Ping (ms) ICMP"][0] == 20.1568
    assert [value is None for value in data["results"]["Ping (ms) ICMP"][-4:]] == [False, True, True, True]


def test_a_call_and_a_page_are_flents_series_too() -> None:
    """On the empty link a packet of 214 bytes takes 171.2 us and 10 ms. UDP carries 172 of them, 50 times a second."""
    voip = [{"kind": "voip"}, {"kind": "page", "objects": [{"response": "1kB"}], "repeat": 2, "interval": "1s"}]
    record = simulated(voip)
    data = json.loads(gzip.decompress(writing.data_file(record, "t", "here")[1]))
    assert (
        data["metadata"]["TEST_PARAMETERS"] | {"voip_host": "localhost", "include_http": "yes"}
        == (data["metadata"]["TEST_PARAMETERS"])
    ), "Flent shows a test's call and page where these parameters ask for them"
    assert data["raw_values"]["VoIP"][3] == {"t": EPOCH_S + 0.070171, "seq": 4, "val": 10.1712}
    assert data["results"]["VoIP::delay"] == [10.1712] * 70
    assert data["results"]["VoIP::induced_delay"] == data["results"]["VoIP::jitter"] == [0.0] * 70
    assert data["results"]["VoIP::bitrate"][5] == pytest.approx(172 * 8 * 50 / 1e3)
    # Lookup, connection and request take one RTT each, and serialisation 1.6 ms. The sample is at the fetch's end.
    pages = [{"t": EPOCH_S + 0.0616, "val": 61.6}, {"t": EPOCH_S + 1.1232, "val": 61.6}]
    assert data["raw_values"]["HTTP latency"] == pages


def test_a_lost_packet_of_a_call_counts_where_the_next_one_came() -> None:
    """Numbers 0, 1, 4 and 5, sent every 0.1 s, take 50, 60, 90 and 70 ms: two are lost before the third."""
    record = simulated([{"kind": "voip"}])
    call = {"name": "voip/0", "seq": [0, 1, 4, 5], "sent_s": [0.0, 0.1, 0.4, 0.5], "delay_ms": [50.0, 60.0, 90.0, 70.0]}
    record["series"]["calls"] = [call]  # type: ignore[list-item]
    found = json.loads(gzip.decompress(writing.data_file(record, "t", "here")[1]))["results"]
    assert found["VoIP::loss"][:4] == [0, 0, 2, 0]
    assert found["VoIP::delay"][:4] == [55, None, 80, None]
    assert found["VoIP::jitter"][:4] == [10, None, 25, None]
    assert found["VoIP::induced_delay"][:4] == [5, None, 30, None]


def test_runs_without_series_are_run_again_and_have_the_same_numbers(here: Path, goodqueue: Command) -> None:
    axes = ["--set", "bottleneck.qdisc=pfifo,codel", "--seeds", "2"]
    assert goodqueue("sweep", "ok.toml", *axes, "--store", "plain").status == 0
    said = goodqueue("export", "--flent", "plain", "--out", "one")
    assert said.status == 0
    assert said.err == "goodqueue: 4 runs had no time series: run again, same numbers, series.interval=200ms\n"
    series = ["--set", "series.interval=200ms", "--set", "series.tcp=true"]
    assert goodqueue("sweep", "ok.toml", *axes, *series, "--store", "full").status == 0
    assert goodqueue("export", "--flent", "full", "--out", "other").err == ""
    first, second = ({file.name: file.read_bytes() for file in Path(name).iterdir()} for name in ("one", "other"))
    assert first == second, "to the byte"


def test_a_record_that_cannot_be_repeated_says_which_option_to_run_with(here: Path, goodqueue: Command) -> None:
    record = json.loads(goodqueue("run", "ok.toml", "--json").out)
    (here / "r.json").write_text(json.dumps(record | {"engine": "kernel"}), encoding="utf-8")
    said = goodqueue("export", "--flent", "r.json", "--out", "out")
    accepted = "a run with --set series.interval=200ms --set series.tcp=true"
    why = "holds no time series, of which Flent's files are made"
    assert (said.status, said.err) == (2, f"goodqueue: r.json: {why}; accepted: {accepted}\n")
    record["flows"][0]["goodput_mbps"] += 1
    (here / "r.json").write_text(json.dumps(record | {"version": "0.0.9"}), encoding="utf-8")
    said = goodqueue("export", "--flent", "r.json", "--out", "out")
    assert said.status == 2
    assert said.err.startswith("goodqueue: r.json: holds no time series, and its scenario alone gives other numbers")
    assert not (here / "out").exists()
    bare = goodqueue("export", "r.json", "--out", "out")
    assert bare.err == "goodqueue: export: no format; accepted: --flent or --subscribers\n"


# With Flent itself.


@needs_flent
@pytest.mark.parametrize("plot", ["all_scaled", "ping_cdf", "box_combine", "ellipsis_combine", "totals", "tcp_cwnd"])
def test_flent_draws_our_files(rrul_be: Record, tmp_path: Path, plot: str) -> None:
    for seed in (1, 2, 3):
        name, content, _ = writing.data_file({**rrul_be, "seed": seed}, "codel", "here")
        (tmp_path / name).write_bytes(content)
    drawn = flent("-i", *sorted(tmp_path.glob("*.flent.gz")), "-p", plot, "-o", tmp_path / "plot.svg")
    assert drawn.returncode == 0, drawn.stderr
    assert "ERROR" not in drawn.stdout + drawn.stderr
    assert (tmp_path / "plot.svg").stat().st_size > 10_000


@needs_flent
@pytest.mark.parametrize(
    ("traffic", "plot"),
    [
        ([*classed("up"), *classed("down"), {"kind": "ping"}], "all_scaled"),
        ([{"kind": "bulk", "count": 2}, {"kind": "ping"}], "delay"),
        ([{"kind": "bulk", "direction": "up"}, {"kind": "ping"}], "upload"),
        ([{"kind": "bulk", "direction": "up"}, {"kind": "bulk"}, {"kind": "ping"}], "all"),
        ([{"kind": "ping"}], "ping"),
        ([*BOTH_WAYS, {"kind": "voip"}, {"kind": "page"}, {"kind": "ping"}], "voip_delay_loss"),
        pytest.param(
            [*BOTH_WAYS, {"kind": "voip"}, {"kind": "page"}, {"kind": "ping"}], "http_delay", marks=pytest.mark.long
        ),
        ([{"kind": "bulk", "direction": "up"}, {"kind": "voip", "direction": "up"}], "voip_mos_combine"),
        ([{"kind": "voip"}], "voip_delay_cdf"),
        ([{"kind": "page"}, {"kind": "voip"}], "http_box_combine"),
        pytest.param([{"kind": "page"}, {"kind": "voip"}], "voip_bitrate", marks=pytest.mark.long),
    ],
)
def test_flent_draws_each_test_that_we_export(traffic: list[dict[str, Any]], plot: str, tmp_path: Path) -> None:
    name, content, _ = writing.data_file(simulated(traffic), "codel", "here")
    (tmp_path / name).write_bytes(content)
    drawn = flent("-i", tmp_path / name, "-p", plot, "-o", tmp_path / "plot.svg")
    assert "ERROR" not in drawn.stdout + drawn.stderr
    assert (tmp_path / "plot.svg").stat().st_size > 10_000


SEVERAL = [
    {"kind": "voip"},
    {"kind": "voip", "direction": "up"},
    {"kind": "page"},
    {"kind": "page", "page": "huffpost"},
    {"kind": "ping"},
]
"""Calls and pages with different times, so that a confusion of two would show."""


def test_all_calls_and_pages_come_back(tmp_path: Path) -> None:
    record = simulated(SEVERAL)
    name, content, choice = writing.data_file(record, "codel", "here")
    (tmp_path / name).write_bytes(content)
    assert choice.calls == {"voip/0": "VoIP", "voip/1": "VoIP::2"}
    assert choice.pages == {"page/0": "HTTP latency::1", "page/1": "HTTP latency::2"}
    back = importing.record(reading.read(str(tmp_path / name)), None, 9)
    for kind, times, series in (("calls", "delay_ms", choice.calls), ("pages", "load_ms", choice.pages)):
        found = {one["name"]: one[times] for one in back["series"][kind]}  # type: ignore[literal-required]
        given = record["series"][kind]  # type: ignore[literal-required]
        assert found == {series[one["name"]]: one[times] for one in given}
    assert [app["name"] for app in back["apps"]] == ["Ping (ms) ICMP", *choice.calls.values(), *choice.pages.values()]
    assert back["flent"]["left_out"] == [], "what is derived of the second call is known as such"
    for direction in ("down", "up"):
        assert back["series"]["queues"][direction]["delay_ms"] == record["series"]["queues"][direction]["delay_ms"]


@needs_flent
def test_flent_draws_all_pages_and_knows_all_calls(tmp_path: Path) -> None:
    """Flent's plots of a page name each page. Its plots of a call draw the first, and its tables have the others."""
    name, content, _ = writing.data_file(simulated(SEVERAL), "codel", "here")
    (tmp_path / name).write_bytes(content)
    drawn = flent("-i", tmp_path / name, "-p", "http_delay", "-o", tmp_path / "plot.svg")
    assert "ERROR" not in drawn.stdout + drawn.stderr
    plot = (tmp_path / "plot.svg").read_text(encoding="utf-8")
    assert all(f"HTTP latency::{page}" in plot for page in (1, 2))
    said = flent("-i", tmp_path / name, "-f", "summary", "-o", tmp_path / "summary.txt")
    assert "ERROR" not in said.stderr
    summary = (tmp_path / "summary.txt").read_text(encoding="utf-8")
    assert re.search(r"VoIP::2::delay\s*:", summary), summary


FLENTS_MOS = """
import sys
sys.path.insert(0, sys.argv[1])
from flent.combiners import MosReducer
from flent.resultset import load
print(MosReducer(None, None, None).reduce(load(sys.argv[2]), {"data": "VoIP"}))
"""
"""Flent shows its score only in a plot, so the plot's formatter is asked."""


@needs_flent
def test_flents_mos_of_our_call_is_the_e_models(tmp_path: Path) -> None:
    """Two E-models, one score. Flent adds twice the jitter to the delay, and counts losses per arrived packet.

    Delays alternate between 150 and 170 ms: 160 + 2 x 20 = 200 ms, where the delay is felt. 4 are lost, 96 arrive.
    """
    record = simulated([{"kind": "voip"}])
    numbers = [number for number in range(100) if number not in (20, 40, 60, 80)]
    delays = [150.0 + 20 * (place % 2) for place in range(96)]
    call = {"name": "voip/0", "seq": numbers, "sent_s": [0.1 * number for number in numbers], "delay_ms": delays}
    record["series"]["calls"] = [call]  # type: ignore[list-item]
    name, content, _ = writing.data_file(record, "codel", "here")
    (tmp_path / name).write_bytes(content)
    program = Path(shutil.which("flent") or "").resolve()
    python = program.read_text(encoding="utf-8").splitlines()[0].removeprefix("#!").split()
    command = [*python, "-c", FLENTS_MOS, program.parent, tmp_path / name]
    said = subprocess.run(command, check=False, capture_output=True, text=True, env=debians_environment())
    assert said.returncode == 0, said.stderr
    assert float(said.stdout) == pytest.approx(_goodqueue.mos(200, 100 * 4 / 96), abs=1e-9)


@needs_flent
def test_flent_reads_our_numbers(rrul_be: Record, tmp_path: Path) -> None:
    name, content, _ = writing.data_file(rrul_be, "codel", "here")
    (tmp_path / name).write_bytes(content)
    said = flent("-i", tmp_path / name, "-f", "csv", "-o", tmp_path / "t.csv")
    assert "ERROR" not in said.stderr
    rows = [line.split(",") for line in (tmp_path / "t.csv").read_text(encoding="utf-8").splitlines()]
    column = rows[0].index("TCP download sum")
    series = [flow["goodput_mbps"] for flow in rrul_be["series"]["flows"][:4]]
    expected = [sum(values) for values in zip(*series, strict=True)]
    assert [float(row[column]) for row in rows[10:70]] == pytest.approx(expected[9:69], abs=1e-5)


# Reading.


def test_what_flent_measured_is_read_to_the_number(tmp_path: Path) -> None:
    record = importing.record(reading.read(written(tmp_path, data())), None, 7)
    assert (record["engine"], record["seed"], record["flent"]["measured_s"]) == ("flent", 7, [1.0, 11.0])
    first, second = record["flows"]
    assert (first["name"], first["direction"], first["cc"], first["goodput_mbps"]) == (
        "TCP upload::1",
        "up",
        "cubic",
        4,
    )
    assert (second["cc"], second["goodput_mbps"]) == (None, 2)
    assert record["fairness"]["jain_goodput"] == 0.9  # 6^2 / (2 * (16 + 4))
    (ping,) = record["apps"]
    # Sent at 1, 2, ... 11 s; all except the sixth came back: ten of eleven.
    assert (ping["sent"], ping["received"], ping["loss_percent"]) == (11, 10, pytest.approx(100 / 11, abs=1e-6))
    assert ping["rtt_ms"] is not None
    assert (ping["rtt_ms"]["mean"], ping["rtt_ms"]["stddev"]) == (50, 0)
    assert record["queues"]["down"]["delay_ms"] is None
    assert record["flent"]["left_out"] == ["Cpu::load"]
    assert record["series"]["flows"][0]["cwnd_packets"][1:4] == [None, 12, 13]
    assert record["series"]["flows"][0]["goodput_mbps"][1:3] == [None, 4]


@pytest.mark.parametrize("direction", [None, "owd_up"])
def test_a_call_that_flent_measured_is_read_to_the_number(tmp_path: Path, direction: str | None) -> None:
    """Delays of 30, 34, 28 and 28 ms, one packet lost before the last. irtt also has round trips of twice that.

    Differences of 4, 6 and 0: a mean of 10/3. J is 0.25, 0.609375, 0.571289 (RFC 3550). One of five packets is lost.
    """
    t0 = 1_500_000_000.0
    samples: list[dict[str, Any]] = [
        {"t": t0 + 5 + number / 10, "seq": float(number), "val": 2 * delay if direction else delay, "owd_up": delay}
        for number, delay in ((1, 30.0), (2, 34.0), (3, 28.0), (5, 28.0))
    ]
    if direction is None:
        samples = [{key: value for key, value in one.items() if key != "owd_up"} for one in samples]
    else:
        samples.insert(3, {"t": t0 + 5.4, "seq": 4.0, "lost": True})
    given = data()
    given["raw_values"] |= {"VoIP": samples, "HTTP latency": [{"t": t0 + 6, "val": 800.0}, {"t": t0 + 8, "val": 600.0}]}
    given["results"] |= {name: [None] * 13 for name in ("VoIP", "VoIP::delay", "VoIP::loss", "HTTP latency")}
    record = importing.record(reading.read(written(tmp_path, given)), None, 1)
    call, page = record["apps"][1:]
    assert (call["kind"], call["sent"], call["received"], call["loss_percent"]) == ("voip", 5, 4, 20)
    assert (call["jitter_ms"], call["jitter_rfc3550_ms"]) == (3.333333, 0.571289)
    assert call["delay_ms"] is not None
    assert (call["delay_ms"]["mean"], call["delay_ms"]["max"]) == (30, 34)
    assert call["mos"] == pytest.approx(_goodqueue.mos(30, 20), abs=1e-6)
    assert (page["kind"], page["completed"]) == ("page", 2)
    assert page["load_ms"] is not None
    assert page["load_ms"]["mean"] == 700
    assert record["flent"]["left_out"] == ["Cpu::load"], "what Flent derives from the call is not left out"
    sent_s = 5.04 if direction else 5.07  # irtt's time is that of the echo, 60 ms later
    assert record["series"]["calls"][0]["sent_s"][0] == pytest.approx(sent_s, abs=1e-5)
    assert record["series"]["pages"][0]["begun_s"] == pytest.approx([5.2, 7.4], abs=1e-5)


def test_a_call_of_clocks_that_differ_has_its_jitter_and_loss(tmp_path: Path) -> None:
    """irtt's clocks differ by 40 ms: 70, 74 and 68 ms on round trips of 60."""
    t0, given = 1_500_000_000.0, data()
    given["raw_values"]["VoIP"] = [
        {"t": t0 + 5 + number / 10, "seq": float(number), "val": 60.0, "owd_up": delay, "owd_down": 60 - delay}
        for number, delay in ((1, 70.0), (2, 74.0), (4, 68.0))
    ]
    given["results"]["VoIP"] = [None] * 13
    record = importing.record(reading.read(written(tmp_path, given)), None, 1)
    call = record["apps"][1]
    assert (call["delay_ms"], call["mos"], call["jitter_ms"], call["sent"], call["received"]) == (None, None, 5, 4, 3)
    assert record["flent"]["notes"] == [f"VoIP: {importing.CLOCKS}"]
    assert "calls" not in record["series"]


def foreign(raw: dict[str, list[dict[str, Any]]], results: dict[str, list[float | None]], **about: str) -> DataFile:
    """Return a file as Flent writes it from 0 to 12 s, with the units ``about``. Samples have times of the run."""
    t0 = 1_500_000_000.0
    given = data(results={name: [None] * 13 for name in raw} | results)
    given["raw_values"] = {name: [{**one, "t": t0 + one["t"]} for one in own] for name, own in raw.items()}
    given["metadata"]["SERIES_META"] = {name: {"UNITS": unit} for name, unit in about.items()}
    return reading.parsed(given, "f")


UPLOAD = [{"t": float(second), "dur": 1.0, "val": 4.0} for second in range(2, 12)]
"""4 Mbit/s from 1 s to 11 s."""


@pytest.mark.parametrize("units", [{}, {"VoIP": "Kbps"}])
def test_a_call_is_read_though_its_series_is_among_the_raw_values_alone(units: dict[str, str]) -> None:
    """As Flent's own voip tests write it: the series of the plot are parts of a series that is not among them."""
    raw = {"TCP upload": UPLOAD, "VoIP": [{"t": 2.025 + n / 5, "seq": n, "val": 25.0, "size": 92} for n in range(40)]}
    derived: dict[str, list[float | None]] = {f"VoIP::{part}": [1.0] * 13 for part in ("bitrate", "delay", "loss")}
    file = foreign(raw, derived, **units)
    del file.results["VoIP"]
    record = importing.record(file, None, 1)
    (call,) = record["apps"]
    assert call["delay_ms"] is not None
    assert (call["kind"], call["delay_ms"]["mean"], call["loss_percent"], call["sent"]) == ("voip", 25, 0, 40)
    assert record["flent"]["left_out"] == []


def test_a_call_without_single_packets_has_the_means_of_the_plot() -> None:
    record = importing.record(foreign({}, {"VoIP::delay": [25.0] * 13, "VoIP::loss": [0.0] * 13}), None, 1)
    (call,) = record["apps"]
    assert call["delay_ms"] is not None
    assert (call["delay_ms"]["p50"], call["loss_percent"]) == (25, 0)
    assert call["mos"] == pytest.approx(_goodqueue.mos(25, 0), abs=1e-6)
    lossy = importing.record(foreign({}, {"VoIP::delay": [25.0] * 13, "VoIP::loss": [1.0] * 13}), None, 1)
    assert lossy["apps"][0]["loss_percent"] is None, "of how many packets is not said"


def test_the_statistics_of_a_queue_are_read_beside_the_rtt_of_tcp() -> None:
    """The flow goes up, and so does the queue. 1000 packets of 1500 bytes leave per second, and 10 are dropped."""
    queue: list[dict[str, Any]] = [
        {"t": float(n), "delay": 30.0, "backlog_pkts": 25.0, "sent_pkts": 1e3 * n, "sent_bytes": 1.5e6 * n,
         "dropped": 10.0 * (n > 0), "ecn_mark": 5.0 * (n > 0)} for n in range(13)
    ]  # fmt: skip
    polled = [{"t": second + 0.4, "tcp_rtt": 50.0, "tcp_cwnd": 10.0} for second in range(1, 11)]
    record = importing.record(foreign({"TCP upload": UPLOAD + polled, "qdisc_stats_router": queue}, {}), None, 1)
    (flow,) = record["flows"]
    assert flow["rtt_ms"] is not None
    assert (flow["goodput_mbps"], flow["rtt_ms"]["p50"]) == (4, 50)
    found = record["queues"]["up"]
    assert found["delay_ms"] is not None
    assert found["packets"] is not None
    assert (found["delay_ms"]["mean"], found["throughput_mbps"]) == (30, 12)
    assert (found["packets"]["forwarded"], found["packets"]["dropped"], found["packets"]["marked"]) == (10_000, 100, 50)
    assert found["drop_percent"] == pytest.approx(100 * 100 / 10_100, abs=1e-6)
    assert record["series"]["queues"]["up"]["backlog_packets"] == [25.0] * 13
    assert record["queues"]["down"]["delay_ms"] is None
    assert (record["flent"]["left_out"], record["flent"]["notes"]) == ([], [])


def test_drops_that_a_file_counts_from_the_beginning_are_not_added_up() -> None:
    """A counter never falls: 3, 6, ... per second. Of the 10 s from 1 to 11 s, 30 drops are counted."""
    counted = [{"t": float(n), "backlog_pkts": 0.0, "sent_pkts": 100.0 * n, "dropped": 3.0 * n} for n in range(13)]
    record = importing.record(foreign({"TCP upload": UPLOAD, "qdisc_stats_x": counted}, {}), None, 1)
    packets = record["queues"]["up"]["packets"]
    assert packets is not None
    assert (packets["dropped"], packets["forwarded"]) == (30, 1000)


def test_cakes_delay_is_that_of_the_tin_with_most_packets() -> None:
    tins = {"cake_av_delay": {"Bulk": 9.0, "Best Effort": 3.0}, "cake_pkts": {"Bulk": 10.0, "Best Effort": 900.0}}
    raw = {"TCP download": UPLOAD, "qdisc_stats_x": [{"t": float(n), "backlog_pkts": 1.0, **tins} for n in range(13)]}
    delay = importing.record(foreign(raw, {}), None, 1)["queues"]["down"]["delay_ms"]
    assert delay is not None
    assert delay["mean"] == 3


def test_a_queue_of_two_loaded_ways_is_the_one_of_its_rate_and_a_third_one_is_left_out() -> None:
    def sent(mbps: float) -> list[dict[str, Any]]:
        return [{"t": float(n), "delay": mbps, "sent_bytes": mbps * n / 8e-6} for n in range(13)]

    flows = {"TCP upload": UPLOAD, "TCP download": [{**one, "val": 20.0} for one in UPLOAD]}
    queues = {"qdisc_stats_a": sent(21.0), "qdisc_stats_b": sent(4.5), "qdisc_stats_c": sent(22.0)}
    record = importing.record(foreign(flows | queues, {}), None, 1)
    rates = [record["queues"][direction]["throughput_mbps"] for direction in ("down", "up")]
    assert rates == [21, 4.5]
    assert record["flent"]["reasons"] == {"qdisc_stats_c": "a record has one queue in each direction"}


def test_a_queue_without_a_flow_says_that_its_direction_is_assumed() -> None:
    raw = {"qdisc-stats": [{"t": float(n), "delay": 7.0, "backlog_pkts": 1.0} for n in range(13)]}
    record = importing.record(foreign(raw, {}, **{"qdisc-stats": "ms"}), None, 1)
    delay = record["queues"]["down"]["delay_ms"]
    assert delay is not None
    assert delay["mean"] == 7
    assert record["flent"]["notes"] == [
        "qdisc-stats: nothing says in which direction this queue was; it is taken as down"
    ]


@pytest.mark.parametrize(
    ("name", "unit", "kind", "direction"),
    [
        ("TCP cubic", "Mbits/s", "bulk", "up"),
        ("SCTP upload CS1", "Mbits/s", "bulk", "up"),
        ("TCP download BE3 2001:db8::1", "Mbits/s", "bulk", "down"),
        ("UDP upload", "Mbits/s", "cbr", "up"),
        ("Anything upload", "Mbits/s", "bulk", "up"),
        ("TCP upload Cubic BE", "", "bulk", "up"),
        ("TCP upload::2", "", "bulk", "up"),
    ],
)
def test_a_flow_is_known_by_its_unit(name: str, unit: str, kind: str, direction: str) -> None:
    record = importing.record(foreign({name: UPLOAD}, {}, **{name: unit}), None, 1)
    assert [(flow["name"], flow["kind"], flow["direction"]) for flow in record["flows"]] == [(name, kind, direction)]


def test_what_is_left_out_is_named_with_its_reason(here: Path, goodqueue: Command) -> None:
    given = data()
    given["results"] |= {
        "cpu_stats_router": [1.0] * 13,
        "Ping (ms) UDP BE": [None] * 13,
        "TCP download fairness": [1.0] * 13,
        "VoIP::induced_delay": [None] * 13,
    }
    said = goodqueue("import", written(here, given))
    assert said.status == 0
    file = here / "real.flent.gz"
    assert said.err.splitlines() == [
        f"goodqueue: {file}: left out: Cpu::load: nothing says what it measures",
        f"goodqueue: {file}: left out: Ping (ms) UDP BE, VoIP: it holds no value",
        f"goodqueue: {file}: left out: cpu_stats_router: the load of a processor is no measurement of the path",
    ]


def test_flows_that_ran_apart_are_measured_over_their_own_times_and_that_is_said(
    here: Path, goodqueue: Command
) -> None:
    """Two uploads of 10 s at 5 Mbit/s, the second 8 s after the first: 2 s together, 100 Mbit in 18 s."""
    given = data()
    flow = given["raw_values"]["TCP upload::1"]
    for one in flow:
        one["val"] = 5.0
    given["raw_values"]["TCP upload::2"] = [{**one, "t": one["t"] + 8} for one in flow]
    said = goodqueue("import", written(here, given), "--json")
    record = json.loads(said.out)
    assert [flow["goodput_mbps"] for flow in record["flows"]] == [5, 5], "as Flent's table of each series"
    assert record["flent"]["measured_s"] == [1, 19]
    note = (
        "the 2 flows ran together for 2.0 s of 18.0 s, so each is measured over its own time; "
        "together they had 10.0 Mbit/s in that time, and 5.6 Mbit/s in the whole time"
    )
    assert f"goodqueue: {here / 'real.flent.gz'}: {note}\n" in said.err


def test_older_versions_are_converted(tmp_path: Path) -> None:
    """netperf's exchanges were 20 per second: 50 ms each. The one that took 142 s is a loss. Times were local."""
    t0 = 1_500_000_000.0
    old = data(version=2)
    old["metadata"]["T0"] = "2017-07-14T04:40:00.000000"  # two hours east of Greenwich
    rounds = [{"t": t0 + second, "dur": 1.0, "val": 20.0} for second in range(1, 11)]
    old["raw_values"]["Ping (ms) UDP BE1"] = [*rounds, {"t": t0 + 153, "dur": 142.0, "val": 0.01}]
    old["results"]["Ping (ms) UDP BE1"] = [50.0] * 13
    record = importing.record(reading.read(written(tmp_path, old)), None, 1)
    assert record["flent"]["measured_s"] == [1.0, 11.0]
    udp = record["apps"][1]["rtt_ms"]
    assert udp is not None
    assert (udp["min"], udp["max"]) == (50, 50)


def test_a_file_of_version_1_has_its_results_alone(tmp_path: Path) -> None:
    old = data()
    del old["version"], old["raw_values"]
    old["results"] = {"TCP upload": [None, *[3.0] * 12], "Ping (ms) ICMP": [50.0] * 13}
    record = importing.record(reading.read(written(tmp_path, old)), None, 1)
    assert record["flows"][0]["goodput_mbps"] == 3
    assert "sent" not in record["apps"][0]


def test_what_is_exported_comes_back(rrul_be: Record, tmp_path: Path) -> None:
    name, content, choice = writing.data_file(rrul_be, "codel", "here")
    (tmp_path / name).write_bytes(content)
    back = importing.record(reading.read(str(tmp_path / name)), None, 9)
    assert back["scenario"] == rrul_be["scenario"], "the file says what makes the run again"
    names = {series: flow for flow, series in choice.flows.items()}
    ours = {flow["name"]: flow for flow in rrul_be["series"]["flows"]}
    begin, end = back["flent"]["measured_s"]
    for flow in back["flows"]:
        rates = ours[names[flow["name"]]]["goodput_mbps"]
        measured = [
            rate for at, rate in enumerate(rates, 1) if rate is not None and begin + 1e-6 < 0.2 * at <= end + 1e-6
        ]
        assert flow["goodput_mbps"] == pytest.approx(sum(measured) / len(measured), rel=1e-6)
    assert back["series"]["pings"][0]["rtt_ms"] == rrul_be["series"]["pings"][0]["rtt_ms"]


def test_a_call_and_a_page_come_back(tmp_path: Path) -> None:
    """Without a TCP flow the whole run is measured, to within a packet at either end."""
    record = simulated([{"kind": "voip"}, {"kind": "page"}])
    name, content, _ = writing.data_file(record, "codel", "here")
    (tmp_path / name).write_bytes(content)
    back = importing.record(reading.read(str(tmp_path / name)), None, 9)
    call, page = back["apps"]
    assert back["series"]["calls"][0]["delay_ms"] == record["series"]["calls"][0]["delay_ms"]
    assert back["series"]["pages"][0]["load_ms"] == record["series"]["pages"][0]["load_ms"]
    assert (call["loss_percent"], page["kind"]) == (0, "page")


def refused(goodqueue: Command, *arguments: str) -> str:
    said = goodqueue("import", *arguments)
    assert (said.status, said.out) == (2, "")
    assert said.err.count("\n") == 1
    return said.err.removeprefix("goodqueue: ").rstrip("\n")


def test_bad_files_are_refused_in_one_line(here: Path, goodqueue: Command) -> None:
    whole = gzip.compress(json.dumps(data()).encode())
    accepted = (
        "a data file of Flent's (.flent.gz, .flent.bz2 or .flent), irtt's JSON (irtt client -o FILE) "
        "or iperf3's JSON (iperf3 --json)"
    )
    cases: dict[str, tuple[bytes, str]] = {
        "cut": (whole[:-20], f"truncated: it ends before its data do; accepted: {accepted}, whole"),
        "empty": (b"", f"empty; accepted: {accepted}"),
        "other": (gzip.compress(b"[1]"), f"found JSON of no program that is read here; accepted: {accepted}"),
    }
    for name, (content, expected) in cases.items():
        (here / name).write_bytes(content)
        assert refused(goodqueue, name) == f"{name}: {expected}"
    (here / "bits").write_bytes(whole[:200] + bytes([whole[200] ^ 255]) + whole[201:])
    assert refused(goodqueue, "bits").startswith("bits: damaged: ")
    newer = "found version 5 of the format, of a newer Flent; accepted: 1 to 4"
    assert refused(goodqueue, written(here, data(version=5), "new")).endswith(newer)
    short = data(results={"TCP upload": [1.0]})
    assert "TCP upload: found 1 values; accepted: as many as x_values, 13" in refused(
        goodqueue, written(here, short, "s")
    )
    nothing = data(results={"Blocked frames": [1.0] * 13}, raw_values={})
    assert "has nothing that is read here" in refused(goodqueue, written(here, nothing, "n"))
    assert refused(goodqueue, "none").startswith("none: not found")
    assert refused(goodqueue, written(here, data()), "--set", "seed=2").startswith("--set: found without --scenario")


@pytest.mark.parametrize("key", ["x_values", "results", "raw_values", "metadata"])
@pytest.mark.parametrize(
    "value", [None, 3, "text", [None], {"TCP upload": [{"t": "x"}]}, {"TCP upload": 5}, [float("inf")]]
)
def test_no_content_ends_in_a_traceback(here: Path, goodqueue: Command, key: str, value: Any) -> None:
    said = goodqueue("import", written(here, data(**{key: value})))
    assert said.status in (0, 2)
    assert "Traceback" not in said.err
    assert said.status == 0 or said.err.count("\n") == 1


# Beside what is simulated.


def test_a_measurement_stands_beside_the_simulation_of_its_scenario(here: Path, goodqueue: Command) -> None:
    arguments = ["--set", "series.interval=1s", "--set", "traffic.0.direction=up"]
    (here / "sim.json").write_text(goodqueue("run", "ok.toml", *arguments, "--json").out, encoding="utf-8")
    file = written(here, data())
    measured = goodqueue("import", file, "--scenario", "ok.toml", *arguments, "--json")
    assert measured.status == 0
    (here / "real.json").write_text(measured.out, encoding="utf-8")
    assert goodqueue("report", "sim.json", "real.json", "--out", "page.html").status == 0
    page = (here / "page.html").read_text(encoding="utf-8")
    assert "codel (flent)" in page
    assert "codel (sim)" in page, "one section has both engines"
    labels = results.labels([one.record for one in results.records(["sim.json", "real.json"])])
    assert labels == ["codel, sim", "codel, flent"]


def test_a_store_keeps_what_was_imported_once(here: Path, goodqueue: Command) -> None:
    file = written(here, data())
    assert goodqueue("import", file, "--store", "store").status == 0
    assert goodqueue("import", file, "--store", "store").status == 0, "a store is added to, and nothing in it replaced"
    (kept,) = results.records(["store"])
    assert kept.record["engine"] == "flent"
    assert goodqueue("report", "store", "--out", "page.html").status == 0
    assert "by hand" in (here / "page.html").read_text(encoding="utf-8")
