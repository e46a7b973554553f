"""irtt's and iperf3's JSON become records. What a file does not say stays unknown, and bad files are one line."""

import gzip
import json
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from conftest import Result
from goodqueue import _goodqueue
from goodqueue.errors import UserError
from goodqueue.neighbours import iperf3, irtt, opening
from goodqueue.record import Record
from goodqueue.store import checking, results
from mutation import mutated
from neighbour_files import measured, of_tcp, run, step, trip
from tries import tries

Command = Callable[..., Result]

# irtt.


def echoes(data: dict[str, Any]) -> Record:
    record = irtt.record(data, "f", None, 3)
    assert checking.record(json.loads(json.dumps(record)), "f")["engine"] == "irtt"
    return record


def test_irtts_round_trips_and_both_ways_are_read_to_the_number() -> None:
    """Of ten packets one is lost on the way up, and two of nine on the way down. Delays up: 20, 24 and 18 ms."""
    delays = [20.0, 24.0, 18.0, 18.0, 18.0, 18.0, 18.0]
    trips = [trip(number, up) for number, up in enumerate(delays)]
    record = echoes(measured([*trips, trip(7, lost="true_up"), trip(8, lost="true_down"), trip(9, lost="true_down")]))
    ping, up, down = record["apps"]
    assert (ping["sent"], ping["received"], ping["loss_percent"]) == (10, 7, 30)
    assert ping["rtt_ms"] is not None
    assert (ping["rtt_ms"]["min"], ping["rtt_ms"]["max"]) == (48, 54)
    assert (up["name"], up["sent"], up["received"], up["loss_percent"]) == ("irtt up", 10, 9, 10)
    assert (down["name"], down["sent"], down["received"]) == ("irtt down", 9, 7)
    assert up["delay_ms"] is not None
    assert up["delay_ms"]["mean"] == pytest.approx(sum(delays) / 7, abs=1e-6)
    assert up["jitter_ms"] == pytest.approx((4 + 6) / 6, abs=1e-6)
    assert up["mos"] == pytest.approx(_goodqueue.mos(sum(delays) / 7, 10), abs=1e-6)
    assert (down["jitter_ms"], down["delay_ms"] and down["delay_ms"]["p95"]) == (0, 30)
    source = record["irtt"]
    assert (source["test"], source["title"], source["version"]) == ("a packet every 20 ms", "192.0.2.1:2112", "0.9.1")
    assert source["measured_s"] == [0, 0.18]
    (pings,) = record["series"]["pings"]
    assert (pings["seq"][1], pings["sent_s"][1], pings["rtt_ms"][1]) == (1, 0.02, 54)
    assert [call["name"] for call in record["series"]["calls"]] == ["irtt up", "irtt down"]


def test_clocks_that_differ_leave_the_delay_unknown_and_the_jitter_known() -> None:
    record = echoes(measured([trip(0, -3000.0, 3050.0), trip(1, -2996.0, 3046.0)]))
    for way in record["apps"][1:]:
        assert (way["delay_ms"], way["mos"], way["jitter_ms"], way["loss_percent"]) == (None, None, 4, 0)
    assert record["irtt"]["notes"] == [irtt.CLOCKS]
    assert "calls" not in record["series"]


def test_losses_that_nobody_placed_are_unknown_by_direction() -> None:
    trips = [trip(0), trip(1), trip(2, lost="true"), trip(3, lost="true")]
    ping, up, _ = echoes(measured(trips))["apps"]
    assert (ping["loss_percent"], up["loss_percent"], "sent" in up) == (50, None, False)
    _, up, down = echoes(measured(trips, server_packets_received=3))["apps"]  # irtt's --stats=count
    assert (up["loss_percent"], down["loss_percent"]) == (25, pytest.approx(100 / 3, abs=1e-6))


def test_rare_packets_are_no_call_with_a_score_and_late_ones_are_named() -> None:
    data = measured([trip(0), trip(1)], late_packets=1, duplicates=0)
    data["config"]["params"]["interval"] = 1_000_000_000
    record = echoes(data)
    assert record["apps"][1]["mos"] is None
    assert record["irtt"]["left_out"] == ["late_packets"]


def test_a_file_without_single_packets_has_irtts_own_sums() -> None:
    rtt = {"mean": 50_000_000, "stddev": 1_000_000, "min": 48_000_000, "max": 60_000_000, "median": 49_000_000}
    data = measured([], rtt=rtt) | {"round_trips": None}
    data["stats"] |= {"packets_sent": 100, "packets_received": 98}
    (ping,) = echoes(data)["apps"]
    assert ping["rtt_ms"] is not None
    assert (ping["rtt_ms"]["mean"], ping["rtt_ms"]["p50"], ping["rtt_ms"]["p95"]) == (50, 49, None)
    assert ping["loss_percent"] == 2


# iperf3.


def flows(data: dict[str, Any]) -> Record:
    record = iperf3.record(data, "f", None, 1)
    assert checking.record(json.loads(json.dumps(record)), "f")["engine"] == "iperf3"
    return record


def test_iperfs_streams_of_both_directions_are_read_to_the_number() -> None:
    def parts(second: int, rtt: int) -> list[dict[str, Any]]:
        more = {"retransmits": 3, "rtt": rtt, "rttvar": 500, "snd_cwnd": 20_000}
        return [step(second, 1_250_000, **more), step(second, 500_000, sender=False, socket=7)]

    end = {
        "streams": [
            of_tcp(2_500_000, 2_400_000, retransmits=6, min_rtt=40_000, mean_rtt=45_000, max_rtt=50_000),
            of_tcp(1_000_000, 1_000_000, socket=7, sender=False, retransmits=9),
        ],
        "sum_received_bidir_reverse": {},
        "sender_tcp_congestion": "bbr",  # the server's: iperf_api.c names both for the last direction that it prints
        "receiver_tcp_congestion": "cubic",
    }
    record = flows(run([parts(0, 40_000), parts(1, 50_000)], end))
    up, down = record["flows"]
    assert (up["name"], up["direction"], up["kind"], up["cc"]) == ("up/0", "up", "bulk", "cubic")
    assert (down["name"], down["direction"], down["cc"]) == ("down/0", "down", "bbr")
    assert (up["goodput_mbps"], down["goodput_mbps"]) == (9.6, 4), "what the receiver counted"
    assert (up["retransmitted"], down["retransmitted"]) == (6, 9)
    assert up["rtt_ms"] is not None
    assert (up["rtt_ms"]["min"], up["rtt_ms"]["mean"], up["rtt_ms"]["max"]) == (40, 45, 50)
    assert down["rtt_ms"] is None
    series = record["series"]["flows"][0]
    assert (series["goodput_mbps"], series["cwnd_packets"]) == ([10, 10], [20, 20])
    assert (series["tcp"]["rtt_ms"], series["tcp"]["rttvar_ms"]) == ([40, 50], [0.5, 0.5])
    assert (record["series"]["time_s"], record["iperf3"]["measured_s"]) == ([1, 2], [0, 2])
    assert record["iperf3"]["test"] == "TCP, 2 streams, client"


def test_the_server_s_file_has_the_same_directions() -> None:
    data = run([[step(0, 125_000, sender=False)], [step(1, 125_000, sender=False)]], {"streams": []})
    data["start"]["accepted_connection"] = {"host": "192.0.2.9", "port": 1}
    del data["start"]["connecting_to"]
    record = flows(data)
    assert [(flow["name"], flow["goodput_mbps"]) for flow in record["flows"]] == [("up/0", 1)]
    assert (record["iperf3"]["title"], record["iperf3"]["notes"]) == ("192.0.2.9", [])


@pytest.mark.parametrize(("reverse", "direction"), [(0, "up"), (1, "down")])
def test_a_version_without_the_word_sender_says_the_direction_by_reverse(reverse: int, direction: str) -> None:
    record = flows(run([[step(0, 125_000, sender=None)]], {}, reverse=reverse))
    assert record["flows"][0]["direction"] == direction


def test_the_intervals_of_a_warm_up_are_left_out() -> None:
    """The time begins anew after it. The next interval still has the length of both."""
    streams = [[step(0, 9_000_000, sender=False, omitted=True, rtt=9)], [step(0, 125_000, sender=False)]]
    streams[1][0] |= {"start": 0.99, "end": 1.0, "seconds": 2.0}
    record = flows(run([*streams, [step(1, 125_000, sender=False)]], {}, omit=1))
    assert (record["flows"][0]["goodput_mbps"], record["iperf3"]["measured_s"]) == (1, [0, 2])
    assert record["flows"][0]["rtt_ms"] is None


def test_loss_and_jitter_of_datagrams_are_the_receivers() -> None:
    """The client sent 1000 packets, 10 Mbit in 2 s, and 100 were lost. The result has the sender's bytes."""
    udp = {"socket": 5, "seconds": 2.0, "bytes": 1_250_000, "bits_per_second": 5e6, "sender": True,
           "jitter_ms": 0.5, "lost_packets": 100, "packets": 1000, "lost_percent": 10.0}  # fmt: skip
    steps = [[step(second, 625_000, packets=500)] for second in (0, 1)]
    for sums in ({}, {"sum_received": {"bits_per_second": 4.5e6}}):
        record = flows(run(steps, {"streams": [{"udp": udp}], **sums}, "UDP"))
        (flow,) = record["flows"]
        assert (flow["kind"], flow["goodput_mbps"]) == ("cbr", 4.5)
        assert (flow["loss_percent"], flow["jitter_rfc3550_ms"]) == (10, 0.5)
    counted = {"packets": 500, "lost_packets": 5, "jitter_ms": 0.25}
    steps = [[step(second, 600_000, sender=False, **counted)] for second in (0, 1)]
    (flow,) = flows(run(steps, {}, "UDP", reverse=1))["flows"]
    assert (flow["direction"], flow["goodput_mbps"], flow["loss_percent"]) == ("down", 4.8, 1)
    assert flow["jitter_rfc3550_ms"] == 0.25


def test_a_test_that_was_interrupted_is_read_as_far_as_it_went_and_says_so(here: Path, goodqueue: Command) -> None:
    data = run([[step(0, 125_000)]], {"streams": [of_tcp(125_000, 0)]})
    Path("i.json").write_text(json.dumps(data | {"error": "interrupt - the client has terminated"}), encoding="utf-8")
    said = goodqueue("import", "i.json")
    assert said.status == 0
    assert "1.00" in said.out
    assert said.err.splitlines() == [
        "goodqueue: i.json: iperf3 says: interrupt - the client has terminated; what was measured until then is read",
        "goodqueue: i.json: up/0: nothing says what arrived; the goodput is what was sent",
    ]


def test_the_lines_of_a_stream_and_a_servers_several_tests_are_read(here: Path, goodqueue: Command) -> None:
    data = run([[step(0, 125_000)], [step(1, 125_000)]], {"streams": [of_tcp(250_000, 250_000)]})
    events = [{"event": "start", "data": data["start"]}]
    events += [{"event": "interval", "data": interval} for interval in data["intervals"]]
    lines = "".join(json.dumps(one) + "\n" for one in [*events, {"event": "end", "data": data["end"]}])
    Path("s.json").write_text(lines, encoding="utf-8")
    Path("cut.json").write_text(lines[:-30], encoding="utf-8")
    stopped = {"start": {"version": "iperf 3.16"}, "intervals": [], "end": {}, "error": "interrupt"}
    several = "\n".join(json.dumps(one, indent=1) for one in (data, data, stopped))
    Path("server.json").write_text(several + "\n", encoding="utf-8")
    said = goodqueue("import", "s.json", "cut.json", "server.json", "--json")
    assert said.status == 0
    found = [json.loads(line) for line in said.out.splitlines()]
    assert [one["seed"] for one in found] == [1, 2, 3, 4]
    assert {one["flows"][0]["goodput_mbps"] for one in found} == {1}
    assert [one["iperf3"]["file"] for one in found] == ["s.json", "cut.json", "server.json#1", "server.json#2"]


# Both, and what is neither.


def refused(goodqueue: Command, file: str) -> str:
    said = goodqueue("import", file, "--store", "store")
    assert (said.status, said.out, said.err.count("\n")) == (2, "", 1)
    assert not Path("store").exists()
    return said.err.removeprefix("goodqueue: ").rstrip("\n")


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (
            "20240101120000,10.0.0.1,5001,10.0.0.2,5201,3,0.0-10.0,1250000,1000000\n",
            "comma-separated values, as netperf",
        ),
        ("Elapsed Time,Throughput,Units,Size,Mean\n10,941,Mbit/s,1,2\n", "found comma-separated values"),
        ('{"schema": 1, "engine": "sim", "scenario": {}}', "found a record of goodqueue's, which report, plot"),
        ('{"a": 1}', "found JSON of no program that is read here"),
        ("[" * 100_000, "not JSON: nested deeper than 64"),
        ('{"start": {}, "intervals": [', "not JSON: "),
        ('{"start": {}, "intervals": [], "end": {}}', "found no interval and no result; accepted: iperf3's JSON"),
        ('{"start": {}, "end": {}, "error": "unable to connect"}', "iperf3 says: unable to connect; accepted: "),
        ('{"start": {}, "intervals": 5}', "intervals: found 5; accepted: a list"),
        ('{"start": {}, "intervals": [7]}', "intervals.0: found 7; accepted: a table"),
        (
            '{"start": {}, "intervals": [{"streams": [{"socket": NaN}]}]}',
            "socket: found null; accepted: a finite number",
        ),
        ('{"event": "start", "data": {}}\n{"event"\n{}', ":2: not JSON"),
        ('{"round_trips": []}', "found no round trip; accepted: irtt's JSON"),
        ('{"round_trips": [{"lost": 3}]}', "round_trips.0.lost: found 3; accepted: false, true, true_up, true_down"),
        (
            '{"round_trips": [{"lost": "false", "delay": {"rtt": -5}}]}',
            "rtt: found -5; accepted: nanoseconds, 0 or more",
        ),
        ('{"round_trips": [{"lost": "false", "delay": {"rtt": 1' + "0" * 400 + "}}]}", "rtt: found 10000"),
        ("", "empty; accepted: "),
        ("\x80\x04pickle", "not JSON"),
    ],
)
def test_what_is_no_measurement_is_refused_in_one_line(
    here: Path, goodqueue: Command, content: str, expected: str
) -> None:
    Path("f.json").write_text(content, encoding="utf-8")
    said = refused(goodqueue, "f.json")
    assert expected in said, said
    assert "accepted: " in said


def test_a_file_that_unpacks_to_gigabytes_is_refused(here: Path, goodqueue: Command) -> None:
    Path("bomb.json.gz").write_bytes(gzip.compress(b"[" + b" " * (opening.MOST_BYTES + 1)))
    assert "holds more than 64 MiB when unpacked" in refused(goodqueue, "bomb.json.gz")


@pytest.mark.parametrize("which", ["irtt", "iperf3"])
def test_however_a_file_is_changed_it_is_read_or_refused(which: str, here: Path, goodqueue: Command) -> None:
    from goodqueue.show.run import run_tables

    whole = (
        measured([trip(0), trip(1, lost="true_up"), trip(2)], rtt={"mean": 5})
        if which == "irtt"
        else run([[step(0, 9, rtt=5)], [step(1, 9)]], {"streams": [of_tcp(18, 18, min_rtt=1, mean_rtt=2, max_rtt=3)]})
    )
    make = irtt.record if which == "irtt" else iperf3.record
    for draw in tries(400):
        data, what = mutated(whole, draw)
        if opening.program(data) != which:
            continue
        try:
            record = make(data, "f", None, 1)
            run_tables(results.record(json.dumps(record), "f", "a record"))
        except UserError as error:
            assert "\n" not in str(error)
        except Exception as error:
            raise AssertionError(what) from error


def test_records_of_all_programs_are_kept_reported_and_drawn(here: Path, goodqueue: Command) -> None:
    Path("irtt.json.gz").write_bytes(gzip.compress(json.dumps(measured([trip(n) for n in range(9)])).encode()))
    data = run([[step(0, 125_000)], [step(1, 125_000)]], {"streams": [of_tcp(250_000, 250_000)]})
    Path("iperf.json").write_text(json.dumps(data), encoding="utf-8")
    assert goodqueue("import", "irtt.json.gz", "iperf.json", "--store", "store").status == 0
    assert sorted(one.record["engine"] for one in results.records(["store"])) == ["iperf3", "irtt"]
    assert goodqueue("report", "store", "--out", "page.html").status == 0
    drawn = goodqueue("plot", "cdf", "store", "--metric", "ping_rtt_ms", "--where", "engine=irtt", "--out", "cdf.svg")
    assert drawn.status == 0, drawn


@contextmanager
def beside(command: list[str], ready: str) -> Iterator[None]:
    """Run a server until the block ends. The block begins when the server has said the word ``ready``."""
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            assert any(ready in line for line in server.stdout), "the server did not start"
            yield
        finally:
            server.kill()


@pytest.mark.needs("iperf3", "irtt")
def test_what_the_programs_themselves_write_is_read(here: Path, goodqueue: Command) -> None:
    """On the loopback: nothing is lost, and what arrives is what was asked for."""
    words = ["iperf3", "-c", "127.0.0.1", "-p", "5298", "--json", "--bidir", "-b", "8M", "-t", "1", "-i", "0.5"]
    with beside(["iperf3", "-s", "-1", "-p", "5298", "--forceflush"], "Server listening"):
        Path("iperf.json").write_bytes(subprocess.run(words, check=True, capture_output=True).stdout)
    words = ["irtt", "client", "-i", "20ms", "-d", "1s", "-Q", "-o", "irtt.json.gz", "127.0.0.1:2198"]
    with beside(["irtt", "server", "-b", "127.0.0.1:2198"], "ListenerStart"):
        subprocess.run(words, check=True, capture_output=True)
    said = goodqueue("import", "iperf.json", "irtt.json.gz", "--json")
    assert said.status == 0, said
    moved, echoed = (json.loads(line) for line in said.out.splitlines())
    assert sorted(flow["name"] for flow in moved["flows"]) == ["down/0", "up/0"]
    result = json.loads(Path("iperf.json").read_text(encoding="utf-8"))["end"]
    told = [result[key]["bits_per_second"] / 1e6 for key in ("sum_received", "sum_received_bidir_reverse")]
    assert [flow["goodput_mbps"] for flow in moved["flows"]] == pytest.approx(told, rel=1e-6)
    echoes = json.loads(gzip.decompress(Path("irtt.json.gz").read_bytes()))
    stats, trips = echoes["stats"], [trip["delay"] for trip in echoes["round_trips"]]
    ping, up, down = echoed["apps"]
    assert ping["rtt_ms"]["mean"] == pytest.approx(stats["rtt"]["mean"] / 1e6, abs=1e-5)
    assert (ping["sent"], ping["loss_percent"]) == (stats["packets_sent"], stats["packet_loss_percent"])
    # irtt reads two clocks one after the other. If the processor was taken away in between, a delay exceeds its RTT.
    if all(0 <= trip[way] <= trip["rtt"] for trip in trips for way in ("send", "receive")):
        assert up["delay_ms"]["mean"] == pytest.approx(stats["send_delay"]["mean"] / 1e6, abs=1e-5)
    else:
        assert (up["delay_ms"], down["delay_ms"]) == (None, None)
    assert down["loss_percent"] == stats["downstream_loss_percent"]
