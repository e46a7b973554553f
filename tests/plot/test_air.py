"""The air of a Wi-Fi cell: captures as tshark reads them, the figure, and series by station."""

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from captures import tshark
from conftest import Result
from goodqueue.plot import air, series, stored

Command = Callable[..., Result]

CELL = """
duration = "1s"
[bottleneck]
qdisc = "fq_codel"
[bottleneck.wifi]
standard = "802.11n"
width = 40
driver = "ideal"
[[bottleneck.wifi.station]]
name = "fast"
count = 2
rate = "mcs15"
[[bottleneck.wifi.station]]
name = "slow"
rate = "mcs4"
snr = 16.0
[path]
rtt = "10ms"
[[traffic]]
kind = "bulk"
count = 3
[[traffic]]
kind = "bulk"
name = "up"
direction = "up"
count = 3
[[traffic]]
kind = "voip"
count = 3
[[traffic]]
kind = "ping"
count = 3
[series]
interval = "100ms"
[series.air]
from = "0s"
to = "1s"
"""

LEGACY = """
duration = "1s"
[bottleneck]
qdisc = "pfifo"
[bottleneck.wifi]
standard = "802.11g"
[[bottleneck.wifi.station]]
name = "station"
count = 3
rate = "54mbit"
[path]
rtt = "10ms"
[[traffic]]
kind = "bulk"
count = 3
direction = "up"
[series.air]
from = "0s"
to = "1s"
"""

OF_B = ("--set", "bottleneck.wifi.standard=802.11b", "--set", "bottleneck.wifi.station.0.rate=11mbit")

CONTROL = {"8": "block ack req", "9": "block ack", "11": "rts", "12": "cts", "13": "ack"}
"""Control frames by their subtype (802.11-2012, table 8-1)."""


@pytest.fixture
def cell(here: Path) -> Path:
    (here / "cell.toml").write_text(CELL, encoding="utf-8")
    (here / "legacy.toml").write_text(LEGACY, encoding="utf-8")
    return here


def captured(goodqueue: Command, name: str, *arguments: str) -> Any:
    """Return the record of a run whose air was captured."""
    result = goodqueue("run", name, "--json", "--trace", "air.pcapng", "--trace-at", "air", *arguments)
    assert (result.status, result.err) == (0, "")
    return json.loads(result.out)


@pytest.mark.needs("tshark")
@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("cell.toml", []),
        pytest.param("cell.toml", ["--set", "bottleneck.wifi.rts=true"], marks=pytest.mark.long),
        pytest.param("legacy.toml", ["--set", "bottleneck.wifi.protection=true"], marks=pytest.mark.long),
        (
            "legacy.toml",
            [*OF_B],
        ),
    ],
)
def test_tshark_reads_every_frame_of_the_air_and_counts_the_same(
    cell: Path, goodqueue: Command, name: str, options: list[str]
) -> None:
    sent = captured(goodqueue, name, *options)["series"]["air"]
    wrong = "_ws.malformed || radiotap.length.invalid || _ws.expert.severity == 0x800000"
    wrong += " || ip.checksum.status == 0 || tcp.checksum.status == 0 || udp.checksum.status == 0"
    assert tshark(cell / "air.pcapng", wrong) == []
    fields = ("wlan.fc.type", "wlan.fc.subtype", "wlan.fcs.status", "frame.comment", "radiotap.ampdu.flags.last")
    found = tshark(cell / "air.pcapng", "wlan", *fields)
    assert {status for _, _, status, *_ in found} == {"1"}, "all check sequences must have been checked, and be right"
    kinds = Counter(CONTROL[subtype] if of == "1" else "data" for of, subtype, *_ in found)

    # If a packet collides after a request to send, only that request was on the air.
    together = zip(sent["kind"], sent["frames"], sent["came"], sent["outcome"], sent["before"], strict=True)
    every = list(together)
    aired = [one for one in every if one[3:] != ("collided", "rts")]
    answered = Counter(kind for kind, *_, outcome, _ in aired if outcome in ("came", "partly"))
    asked = sum(before == "rts" for *_, before in every)
    to_self = sum(before == "cts" for *_, before in every)
    expected = {
        "data": sum(frames for _, frames, *_ in aired),
        "ack": answered["frame"],
        "block ack": answered["aggregate"] + answered["question"],
        "block ack req": sum(kind == "question" for kind, *_ in aired),
        "rts": asked,
        "cts": to_self + asked - (len(every) - len(aired)),
    }
    assert kinds == Counter(expected)
    lost = sum(frames - came for _, frames, came, *_ in aired)
    assert sum(of == "2" and comment != "" for of, _, _, comment, _ in found) == lost > 0
    last = [flag for *_, flag in found if flag]
    assert len(last) == sum(frames for kind, frames, *_ in aired if kind == "aggregate")
    assert last.count("1") == sum(kind == "aggregate" for kind, *_ in aired)


@pytest.mark.needs("tshark")
def test_rates_and_lengths_are_those_of_the_modes(cell: Path, goodqueue: Command) -> None:
    captured(goodqueue, "cell.toml")
    data = tshark(cell / "air.pcapng", "wlan.fc.type == 2", "wlan_radio.data_rate", "wlan.ta", "frame.len", "ip.len")
    by_station = {(rate, source[-1]) for rate, source, *_ in data if source != "02:00:00:00:00:00"}
    # 802.11n, table 20-33 to 20-35, 40 MHz and 800 ns: MCS 15 has 270, MCS 4 81 Mbit/s.
    assert by_station == {("270", "1"), ("270", "2"), ("81", "3")}
    # Radiotap has 28 bytes with an aggregate, else 19; then MAC 26, LLC 8, FCS 4.
    assert {int(whole) - int(packet) for *_, whole, packet in data} == {28 + 38, 19 + 38}


@pytest.mark.long
@pytest.mark.needs("tshark")
def test_a_packet_has_the_same_number_on_the_air_as_at_its_hosts(cell: Path, goodqueue: Command) -> None:
    """Some packets are lost on the air, so not all packets that were sent arrive."""
    options = ["--set", "bottleneck.wifi.station.1.snr=15", "--set", "duration=3s"]
    points = "sender,receiver,air"
    result = goodqueue("run", "cell.toml", "--json", "--trace", "all.pcapng", "--trace-at", points, *options)
    assert result.status == 0
    slow = json.loads(result.out)["wifi"]["stations"][2]
    assert slow["up"]["lost"] + slow["down"]["lost"] > 0, "the scenario must lose some"
    seen: dict[str, dict[tuple[str, ...], str]] = {name: {} for name in points.split(",")}
    fields = ("frame.interface_name", "ip.id", "ip.src", "ip.dst", "tcp.seq_raw", "tcp.options.timestamp.tsval")
    for point, number, *packet in tshark(cell / "all.pcapng", "tcp.len > 0", *fields):
        seen[point][(number, packet[0])] = "".join(packet)
    assert len(seen["air"]) > 1000
    for key, words in seen["air"].items():
        assert seen["sender"][key] == words
        assert seen["receiver"].get(key, words) == words
    assert set(seen["receiver"]) <= set(seen["sender"])


def test_the_air_of_a_wire_is_refused(here: Path, goodqueue: Command) -> None:
    said = goodqueue("run", "ok.toml", "--trace", "a.pcapng", "--trace-at", "air")
    assert (said.status, said.err.count("\n")) == (2, 1)
    assert said.err.startswith("goodqueue: --trace-at: found air, and no [bottleneck.wifi]; accepted: ")
    assert not (here / "a.pcapng").exists()


def test_the_figure_shows_each_transmission_in_the_lane_of_its_sender(cell: Path, goodqueue: Command) -> None:
    window = ["--set", "series.air.from=0.5s", "--set", "series.air.to=0.52s"]
    record = json.loads(goodqueue("run", "cell.toml", "--json", *window).out)
    sent = record["series"]["air"]
    (group,) = stored.groups([record], ["fq_codel"])
    drawn = air.figure([group])
    assert drawn is not None
    (ax,) = drawn.axes
    lanes = air.lanes(record)
    assert [label.get_text() for label in ax.get_yticklabels()] == lanes
    assert lanes[0] == "access point"
    assert set(lanes[1:]) <= {"fast/1", "fast/2", "slow"}
    expected = Counter(
        (
            0 if direction == "down" else lanes.index(station),
            round(1e3 * (time_s - 0.5), 4),
            round(duration_us / 1e3, 4),
        )
        for station, direction, time_s, duration_us in zip(
            sent["station"], sent["direction"], sent["time_s"], sent["duration_us"], strict=True
        )
    )
    bars = Counter(
        (round(bar.get_y() + bar.get_height() / 2), round(bar.get_x(), 4), round(bar.get_width(), 4))  # type: ignore[attr-defined]
        for bar in ax.patches
    )
    assert bars == expected
    assert len(bars) > 10
    said = goodqueue("run", "cell.toml", "--json", *window).out
    (cell / "r.json").write_text(said, encoding="utf-8")
    assert goodqueue("plot", "air", "r.json", "--out", "air.svg").status == 0
    assert "access point" in (cell / "air.svg").read_text(encoding="utf-8")


def test_a_figure_without_a_log_is_refused(cell: Path, goodqueue: Command) -> None:
    (cell / "r.json").write_text(goodqueue("run", "ok.toml", "--json").out, encoding="utf-8")
    said = goodqueue("plot", "air", "r.json", "--out", "air.svg")
    assert said.err.startswith(
        "goodqueue: plot air: no record has a log of the air with transmissions in it; accepted:"
    )
    assert said.status == 2


def test_the_rates_and_shares_of_stations_are_series(cell: Path, goodqueue: Command) -> None:
    record = json.loads(goodqueue("run", "cell.toml", "--json").out)
    (group,) = stored.groups([record], ["fq_codel"])
    names = series.available([group])
    found = series.series(record, "stations.fast/1.up_rate_mbps")
    assert found is not None
    assert set(found[1]) <= {270.0, None}
    own = record["series"]["stations"][0]["down"]["airtime_percent"]
    assert series.series(record, "stations.fast/1.airtime_percent") == (record["series"]["time_s"], own)
    assert {"stations.slow.rate_mbps", "stations.slow.up_airtime_percent"} <= set(names)
    assert series.described("stations.slow.up_rate_mbps", [group]) == ("mean rate from slow", "Mbit/s")
    assert series.series(record, "stations.none.rate_mbps") is None
