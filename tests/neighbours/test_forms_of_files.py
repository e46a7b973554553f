"""What programs wrote in other versions, on other machines or by other options is read, and nothing besides."""

import codecs
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from conftest import Result
from flent_files import data as flent_data
from goodqueue.errors import UserError
from goodqueue.files import inputs
from goodqueue.flent import programs
from goodqueue.neighbours import iperf3, iperf3_streams, irtt
from goodqueue.record import Record, Scenario
from neighbour_files import measured, of_tcp, run, step, trip

Command = Callable[..., Result]


def imported(data: Any, folder: Path, text: str | None = None) -> Record:
    """Return the record of the only test in a file with ``data``."""
    file = folder / "f.json"
    file.write_text(json.dumps(data) if text is None else text, encoding="utf-8")
    (record,) = programs.records(str(file), None, 1)
    return record


# irtt.


def stamped(number: int, up_ms: float, down_ms: float, offset_ms: float = 0.0) -> dict[str, Any]:
    """Return a round trip with the stamps of both monotonic clocks. The server's begins 5000 s later."""
    one, later = trip(number, up_ms + offset_ms, down_ms - offset_ms), 5_000_000_000_000
    client = one["timestamps"]["client"]
    sent = client["send"]["monotonic"]
    client["receive"] = {"monotonic": sent + round(1e6 * (up_ms + down_ms))}
    at_server = {"monotonic": sent + later + round(1e6 * up_ms)}
    one["timestamps"]["server"] = {"receive": at_server, "send": at_server}
    return one


def test_irtts_start_is_a_text_or_the_times_of_both_clocks(tmp_path: Path) -> None:
    """0.9.0 writes text, later versions a table. Nothing but a reader of the record uses it."""
    for start, said in [
        ("2026-11-29T00:23:14.8Z", "2026-11-29T00:23:14.8Z"),
        ({"wall": 946_684_800_250_000_000, "monotonic": 5}, "2000-01-01T00:00:00.25Z"),
        ({"wall": 10**30}, "unknown"),
        ([7], "unknown"),
    ]:
        record = imported(measured([trip(0)], start_time=start) | {"version": "0.9.3"}, tmp_path)
        assert (record["irtt"]["time"], record["irtt"]["version"]) == (said, "unknown")


@pytest.mark.parametrize("offset_ms", [40.0, -40.0, 3_600_000.0])
def test_clocks_that_differ_hide_the_delays_of_both_ways_and_no_jitter(tmp_path: Path, offset_ms: float) -> None:
    """Up 18, 22, 18 ms, down 12, 12, 15 ms. Whatever one way gains, the other loses."""
    ways = [(18.0, 12.0), (22.0, 12.0), (18.0, 15.0)]
    record = imported(measured([stamped(n, up, down, offset_ms) for n, (up, down) in enumerate(ways)]), tmp_path)
    ping, up, down = record["apps"]
    assert ping["rtt_ms"] is not None
    assert (ping["rtt_ms"]["min"], ping["rtt_ms"]["max"]) == (30, 34)
    assert [(way["delay_ms"], way["mos"], way["jitter_ms"]) for way in (up, down)] == [
        (None, None, 4),
        (None, None, 1.5),
    ]
    assert (record["irtt"]["notes"], "calls" in record["series"]) == ([irtt.CLOCKS], False)


def test_clocks_that_agree_have_the_delays(tmp_path: Path) -> None:
    record = imported(measured([stamped(n, 18.0, 12.0) for n in range(3)]), tmp_path)
    assert [way["delay_ms"] and way["delay_ms"]["mean"] for way in record["apps"][1:]] == [18, 12]


@pytest.mark.parametrize("missing", ["receive", "send", ""])
def test_a_monotonic_clock_alone_tells_the_jitter(tmp_path: Path, missing: str) -> None:
    """With ``--clock=monotonic`` there are no delays, and with ``--tstamp=send`` the server has one time."""
    trips = [stamped(n, up, 12.0) for n, up in enumerate((18.0, 22.0, 16.0))]
    for one in trips:
        del one["delay"]["send"], one["delay"]["receive"]
        if missing:
            one["timestamps"]["server"][missing] = {}
    _, up, down = imported(measured(trips), tmp_path)["apps"]
    assert [(way["delay_ms"], way["jitter_ms"], way["loss_percent"]) for way in (up, down)] == [
        (None, 5, 0),
        (None, 0, 0),
    ]


# iperf3.


def test_what_a_receiver_says_of_its_own_tcp_is_not_the_senders(tmp_path: Path) -> None:
    """It has the RTT of the handshake, a window that it never used, and the other end's count of retransmissions."""
    own = {"rtt": 42_000, "rttvar": 900, "snd_cwnd": 14_000, "retransmits": 0}
    steps = [[step(second, 500_000, sender=False, **own)] for second in (0, 1)]
    sums = of_tcp(1_000_000, 1_000_000, sender=False, retransmits=3, min_rtt=40_000, mean_rtt=42_000, max_rtt=44_000)
    record = imported(run(steps, {"streams": [sums]}, reverse=1), tmp_path)
    (flow,) = record["flows"]
    assert (flow["direction"], flow["rtt_ms"], flow["retransmitted"], flow["goodput_mbps"]) == ("down", None, 3, 4)
    (series,) = record["series"]["flows"]
    assert (series["cwnd_packets"], "tcp" in series) == ([None, None], False)


@pytest.mark.parametrize("wrapped", [-1, -(1 << 31), 1 << 31, (1 << 32) - 7])
def test_a_counter_that_wrapped_is_unknown(tmp_path: Path, wrapped: int) -> None:
    more = {"rtt": wrapped, "snd_cwnd": wrapped, "retransmits": wrapped}
    sums = of_tcp(250_000, 250_000, retransmits=wrapped, min_rtt=1000, mean_rtt=wrapped, max_rtt=9000)
    record = imported(run([[step(0, 125_000, **more)], [step(1, 125_000, **more)]], {"streams": [sums]}), tmp_path)
    (flow,) = record["flows"]
    assert (flow["retransmitted"], flow["rtt_ms"], flow["goodput_mbps"]) == (None, None, 1)
    assert record["series"]["flows"][0]["cwnd_packets"] == [None, None]
    udp = {"socket": 5, "seconds": 2.0, "bytes": 250_000, "sender": False, "lost_packets": wrapped, "packets": 200}
    (flow,) = imported(run([], {"streams": [{"udp": udp}]}, "UDP", reverse=1), tmp_path)["flows"]
    assert flow["loss_percent"] is None


def test_bytes_that_wrapped_leave_their_interval_out(tmp_path: Path) -> None:
    record = imported(run([[step(0, 125_000)], [step(1, -5)], [step(2, 125_000)]], {}), tmp_path)
    assert record["series"]["flows"][0]["goodput_mbps"] == [1, None, 1]
    assert record["flows"][0]["goodput_mbps"] == 1


def test_datagrams_of_which_the_server_said_nothing_have_no_loss(tmp_path: Path) -> None:
    """A client that was interrupted writes 0 lost of its own packets, and that 0 bytes came."""
    udp = {"socket": 5, "seconds": 2.0, "bytes": 1_250_000, "bits_per_second": 5e6, "sender": True,
           "jitter_ms": 0, "lost_packets": 0, "packets": 1000}  # fmt: skip
    end = {"streams": [{"udp": udp}], "sum_received": {"bytes": 0, "bits_per_second": 0, "packets": 0}}
    test = run([[step(0, 625_000)], [step(1, 625_000)]], end, "UDP")
    for more, goodput in (({"error": "interrupt"}, 5), ({}, 0)):
        (flow,) = imported(test | more, tmp_path)["flows"]
        assert (flow["goodput_mbps"], flow["loss_percent"], flow["jitter_rfc3550_ms"]) == (goodput, None, None)


def test_the_server_names_its_own_congestion_control_first(tmp_path: Path) -> None:
    """print_results in iperf_api.c: with --bidir, ``sender_tcp_congestion`` is the server's in both files."""
    parts = [step(0, 125_000), step(0, 125_000, sender=False, socket=7)]
    end = {"sum_sent_bidir_reverse": {}, "sender_tcp_congestion": "bbr", "receiver_tcp_congestion": "cubic"}
    client = run([parts], end, bidir=1)
    server = run([parts], end, bidir=1)
    server["start"]["accepted_connection"] = {"host": "192.0.2.9"}
    for data in (client, server):
        record = imported(data, tmp_path)
        assert {flow["direction"]: flow["cc"] for flow in record["flows"]} == {"up": "cubic", "down": "bbr"}


def lines(data: dict[str, Any]) -> str:
    """Return ``data`` as the events of ``--json-stream``."""
    events = [("start", data["start"]), *(("interval", one) for one in data["intervals"]), ("end", data["end"])]
    return "".join(json.dumps({"event": name, "data": inner}) + "\n" for name, inner in events)


def test_a_stream_with_the_whole_test_behind_it_is_one_test(tmp_path: Path) -> None:
    """iperf3 3.19 and later with ``--json-stream-full-output``. A file that was cut has the events."""
    data = run([[step(0, 125_000)], [step(1, 125_000)]], {"streams": [of_tcp(250_000, 250_000)]})
    data["start"]["cookie"] = "abc"
    whole = json.dumps(data, indent="\t")
    for text in (lines(data) + whole, lines(data) + whole[:-40], lines(data) + whole[:200], lines(data)):
        record = imported(None, tmp_path, text)
        assert (record["flows"][0]["goodput_mbps"], record["series"]["time_s"]) == (1, [1, 2])
    other = {**data, "start": {**data["start"], "cookie": "other"}}
    file = tmp_path / "two.json"
    file.write_text(lines(data) + json.dumps(other, indent=1) + "\n" + lines(other), encoding="utf-8")
    assert len(list(programs.records(str(file), None, 1))) == 3


def test_a_damaged_line_of_a_stream_is_named(tmp_path: Path) -> None:
    data = run([[step(0, 125_000)]], {})
    text = lines(data).splitlines()
    with pytest.raises(UserError, match=r"f\.json:2: not JSON"):
        imported(None, tmp_path, "\n".join([text[0], '{"event": "interval", "data": }', text[-1]]))


@pytest.mark.parametrize("word", ["nan", "-nan", "inf", "-inf", "NaN", "-Infinity", "-nan(ind)", "1.#QNAN"])
def test_a_number_that_is_none_is_unknown(tmp_path: Path, word: str) -> None:
    data = run([[step(0, 125_000, rtt=7777)], [step(1, 125_000)]], {"streams": [of_tcp(250_000, 250_000)]})
    data["title"] = 'nan "inf": -nan'
    text = json.dumps(data).replace("7777", word)
    assert word in text
    record = imported(None, tmp_path, text)
    assert (record["flows"][0]["rtt_ms"], record["flows"][0]["goodput_mbps"]) == (None, 1)
    assert inputs.from_json(f'{{"a": {word}, "b": "nan"}}', constants=True) == {"a": None, "b": "nan"}


def test_the_time_of_an_import_grows_as_the_intervals_do(monkeypatch: pytest.MonkeyPatch) -> None:
    """Additions are counted: the sum of all lengths before each interval would be 45,000 of them."""
    added = 0

    class Counted(float):
        def __add__(self, other: float) -> "Counted":
            nonlocal added
            added += 1
            return Counted(float(self) + other)

        __radd__ = __add__

    monkeypatch.setattr(iperf3_streams.Stream, "lengths_s", lambda stream: [Counted(1.0)] * len(stream.steps))
    record = iperf3.record(run([[step(second, 9)] for second in range(300)], {}), "f", None, 1)
    assert record["series"]["time_s"][-1] == 300
    assert added < 10 * 300


# Text, and what an import makes.


@pytest.mark.parametrize("mark", [codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE])
def test_every_text_may_be_utf_16_as_powershell_writes_it(here: Path, goodqueue: Command, mark: bytes) -> None:
    """Windows PowerShell's ``program > file`` has a byte order mark and ends lines with CR and LF."""

    def write(name: str, text: str) -> None:
        order = "utf-16-le" if mark == codecs.BOM_UTF16_LE else "utf-16-be"
        Path(name).write_bytes(mark + text.replace("\n", "\r\n").encode(order))

    moved = run([[step(0, 125_000)], [step(1, 125_000)]], {"streams": [of_tcp(250_000, 250_000)]})
    write("iperf3.json", json.dumps(moved, indent=1))
    write("stream.json", lines(moved))
    write("irtt.json", json.dumps(measured([trip(0)]), indent=1))
    write("real.flent", json.dumps(flent_data()))
    done = goodqueue("import", "iperf3.json", "stream.json", "irtt.json", "real.flent", "--json")
    assert (done.status, done.out.count("\n")) == (0, 4), done
    write("record.json", done.out.splitlines()[0])
    assert goodqueue("report", "record.json", "--out", "r.html").status == 0
    write("sizes.csv", "0,1000\n1,2000\n")
    write("link.rates", "0s 10mbit\n1s 5mbit\n")
    scenario = Path("ok.toml").read_text(encoding="utf-8").replace('rate = "10mbit"', 'trace = "link.rates"')
    write("ok.toml", scenario + '[[traffic]]\nkind = "web_users"\nusers = 1\nobject = "sizes.csv"\n')
    assert goodqueue("run", "ok.toml").status == 0


@pytest.mark.parametrize("begin_s", [-0.2, -3.0])
def test_samples_before_the_clock_began_give_a_record_that_every_verb_reads(
    here: Path, goodqueue: Command, begin_s: float
) -> None:
    given = flent_data()
    t0 = 1_500_000_000.0
    given["raw_values"] = {
        name: [{"t": t0 + begin_s + second, "dur": 1.0, "val": 4.0} for second in range(1, 12)]
        for name in ("TCP upload::1", "TCP upload::2")
    }
    given["results"] = {name: [4.0] * 13 for name in given["raw_values"]}
    Path("f.flent").write_text(json.dumps(given), encoding="utf-8")
    assert goodqueue("import", "f.flent", "--store", "s").status == 0
    assert goodqueue("report", "s", "--out", "r.html").status == 0


def test_a_record_that_no_verb_could_read_is_not_kept(
    here: Path, goodqueue: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unknown(*_: object) -> Scenario:
        return {"duration": "soon", "bottleneck": {"rate": "unknown", "qdisc": "x"}, "path": {"rtt": "unknown"}}

    monkeypatch.setattr("goodqueue.neighbours.parts.unknown", unknown)
    Path("f.json").write_text(json.dumps(run([[step(0, 125_000)]], {})), encoding="utf-8")
    done = goodqueue("import", "f.json", "--store", "s")
    assert (done.status, done.err.count("\n"), Path("s").exists()) == (2, 1, False)
