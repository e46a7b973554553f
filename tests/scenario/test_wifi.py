"""Wi-Fi on the command line: a cell by options, the tables of airtime, and refusals."""

import json
from collections.abc import Callable

import pytest

import goodqueue as gq
from conftest import ROOT, Result
from goodqueue.errors import UserError
from goodqueue.scenario import air

CELL = ["--wifi", "802.11n:20:sgi", "--stations", "fast:mcs15*2,slow:mcs0"]
QUICK = ["--duration", "12s", "--warmup", "4s", "--seeds", "2"]


def test_stations_are_read_by_name_rate_noise_and_number() -> None:
    cell = air.cell("802.11n:40:sgi", "near:minstrel@40, far:mcs1@12.5dB*3")
    assert (cell["standard"], cell["width"], cell["short_guard"]) == ("802.11n", 40, True)
    assert cell["station"] == [
        {"name": "near", "rate": "minstrel", "snr": 40.0},
        {"name": "far", "rate": "mcs1", "snr": 12.5, "count": 3},
    ]
    assert air.cell("802.11g", None) == {"standard": "802.11g", "station": [{"name": "station"}]}


@pytest.mark.parametrize(
    ("standard", "stations", "refusal"),
    [
        ("802.11ac", None, '--wifi: found "802.11ac"; accepted: 802.11b, 802.11g, 802.11a, 802.11n'),
        ("802.11n:80", None, '--wifi: found "802.11n:80"; accepted'),
        ("802.11n", "slow", '--stations: found "slow"; accepted: NAME:RATE'),
        ("802.11n", "a:mcs1@1.2.3", "--stations: found "),
        ("802.11n", "a:mcs1,", '--stations: found ""; accepted'),
    ],
)
def test_a_cell_that_cannot_be_is_refused_in_a_line(standard: str, stations: str | None, refusal: str) -> None:
    with pytest.raises(UserError) as refused:
        air.cell(standard, stations)
    assert str(refused.value).startswith(refusal)


@pytest.mark.parametrize(
    ("options", "refusal"),
    [
        (["--stations", "a:mcs1"], '--stations: found "a:mcs1" without --wifi'),
        (["--wifi", "802.11n", "--rate", "10mbit"], "--rate: found one with Wi-Fi"),
        (["--wifi", "802.11g", "--stations", "a:mcs7"], '--stations: 0.rate: found "mcs7"; accepted in 802.11g: 1mbit'),
        (["--wifi", "802.11n", "--stations", "a:mcs7*0"], "--stations: 0.count: found 0; accepted"),
        (["--wifi", "802.11n", "--engine", "kernel"], "bottleneck.wifi: found a cell; accepted by the kernel engine"),
    ],
)
def test_options_that_contradict_a_cell_are_refused_in_a_line(
    goodqueue: Callable[..., Result], options: list[str], refusal: str
) -> None:
    found = goodqueue("compare", "fq_codel", *options, *QUICK)
    assert found.status == 2
    assert found.err.startswith(f"goodqueue: {refusal}"), found.err
    assert found.err.count("\n") == 1


def test_a_comparison_says_who_had_the_air(goodqueue: Callable[..., Result]) -> None:
    shown = goodqueue("compare", "pfifo", "mac80211", *CELL, *QUICK, "--traffic", "cbr:100mbit,ping").out
    assert "802.11n Wi-Fi (2 × fast at mcs15, slow at mcs0)" in shown
    table = shown[shown.index("Stations: means over the seeds") :].split("\n\n")[0].splitlines()
    rows = [row.split() for row in table if row.split()[:1] and {"fast/1", "fast/2", "slow"} & set(row.split())]
    shares = [float(row[row.index(name) + 1]) for row in rows for name in row if name in ("fast/1", "fast/2", "slow")]
    assert len(shares) == 6, table
    assert shares[2] > 70, "under one FIFO the slow station has most of the air"
    assert all(30 < share < 37 for share in shares[3:]), "mac80211 shares it by time"
    found = json.loads(goodqueue("compare", "pfifo", "mac80211", *CELL, *QUICK, "--json").out)
    assert found["scenario"]["bottleneck"]["wifi"]["station"][0]["name"] == "fast"
    assert {source["station"] for source in found["scenario"]["traffic"]} == {"fast", "slow"}


def test_flows_of_one_kind_in_both_directions_are_no_clash_of_names(goodqueue: Callable[..., Result]) -> None:
    found = goodqueue("compare", "fq_codel", *CELL, *QUICK, "--traffic", "bulk:2,bulk:up,ping", "--json")
    assert found.err == ""
    names = [source["name"] for source in json.loads(found.out)["scenario"]["traffic"]]
    assert names == ["fast bulk", "slow bulk", "fast bulk 2", "slow bulk 2", "fast ping", "slow ping"]


def test_a_run_shows_each_station_both_ways(goodqueue: Callable[..., Result]) -> None:
    shown = goodqueue("run", str(ROOT / "examples" / "wifi.toml"), "--set", "duration=12s").out
    rows = shown[shown.index("\nAir\n") :].split("\n\n")[0].splitlines()
    assert [row.split()[:2] for row in rows if row.startswith("laptop")] == [["laptop", "down"], ["laptop", "up"]]
    assert "% of the transmissions collided" in shown


def test_python_takes_a_cell_as_the_command_line_does() -> None:
    result = gq.compare("pfifo", "mac80211", wifi="802.11n", stations="one:mcs7", duration="8s", warmup="2s", seeds=2)
    pfifo, own = (entry.records[0] for entry in result.result.entries)
    assert pfifo["wifi"]["stations"][0]["name"] == own["wifi"]["stations"][0]["name"] == "one"
    assert result.difference("mac80211", "delay_p95_ms").mean < 0
