"""The kernel engine's laboratory, as far as it needs neither root nor its own kernel."""

from pathlib import Path
from typing import Any

import pytest

from goodqueue.engines.kernel.lab import commands, counters, tc
from goodqueue.engines.kernel.lab.addresses import EPHEMERAL, MOST_FLOWS, MOST_ROUTES, Ends, ends, of_route, place_of
from goodqueue.engines.kernel.lab.errors import LabError
from goodqueue.engines.kernel.lab.plan import Flow, Plan, Route, Shaper


def flow(**changes: Any) -> Flow:
    words: dict[str, Any] = {
        "name": "bulk/0",
        "kind": "bulk",
        "is_tcp": True,
        "direction": "down",
        "start_s": 0.0,
        "stop_s": 0.3,
        "rtt_s": 0.05,
        "ecn": False,
        "cc": "reno",
        "dscp": 0,
        "pacing": False,
        "interval_s": None,
        "user": 1,
        "server": 1,
    }
    return Flow(**(words | changes))


def ping(**changes: Any) -> Flow:
    return flow(name="ping/0", kind="ping", is_tcp=False, cc=None, interval_s=0.01, **changes)


def plan(*flows: Flow, rtts_s: list[float] | None = None, duration_s: float = 0.3) -> Plan:
    link = Shaper(rate_bps=10_000_000, shaper="htb", tc=[["parent", "1:1", "handle", "10:", "codel", "limit", "1000"]])
    return Plan(
        duration_s=duration_s,
        warmup_s=0.1,
        seed=1,
        down=link,
        up=link,
        routes=[Route(rtt_s) for rtt_s in rtts_s or [0.05]],
        flows=list(flows),
        scenario="{}",
        sample_s=None,
    )


def test_a_plan_survives_being_written_down() -> None:
    wanted = plan(flow(), ping(user=2))
    assert Plan.from_json(wanted.to_json()) == wanted


def test_an_address_is_a_host_whatever_the_flows_ways_and_ecn() -> None:
    """If the way or ECN were in the address, a discipline that shares between hosts would see one user as several."""
    task = plan(
        flow(user=300, server=1),
        flow(user=300, server=2, direction="up"),
        flow(user=2, server=1, rtt_s=0.1, route=1, ecn=True),
        flow(user=300, server=1, rtt_s=0.1, route=1, routes=[0, 1]),
        rtts_s=[0.05, 0.1],
    )
    assert [ends(task, place) for place in range(4)] == [
        Ends({"client": "10.8.1.44", "server": "10.9.0.1"}, ports=(0x8000,), first_port=0x800),
        Ends({"client": "10.8.1.44", "server": "10.9.0.2"}, ports=(0x8001,), first_port=0x801),
        Ends({"client": "10.8.0.2", "server": "10.9.0.1"}, ports=(0x8802,), first_port=0x802),
        Ends({"client": "10.8.1.44", "server": "10.9.0.1"}, ports=(0x8003, 0x8803), first_port=0x803),
    ]


def test_delay_goes_by_port_however_many_flows_there_are() -> None:
    rtts_s = [number / 100 for number in range(MOST_ROUTES)]
    task = plan(*[flow(route=route) for route in (0, MOST_ROUTES - 1)] * (MOST_FLOWS // 2), rtts_s=rtts_s)
    for place, one in enumerate(task.flows):
        own, (port,) = ends(task, place).first_port, ends(task, place).ports
        taken = [route for route in range(MOST_ROUTES) for first, last in [of_route(route)] if first <= port <= last]
        assert taken == [one.route]
        assert place_of((own, port)) == place_of((port, own)) == place
        assert own < EPHEMERAL[0], "a port that Linux may choose for another connection of the host"
    assert EPHEMERAL[1] < of_route(0)[0], "a chosen port would select a way"
    assert place_of(EPHEMERAL) is None


def test_a_packet_arrives_half_an_rtt_after_its_transmission() -> None:
    (words,) = commands.wire("w-srv", [0.05], [10_000_000])
    assert " ".join(words) == (
        "qdisc add dev w-srv root handle 1: netem delay 25000.000us rate 10000000bit limit 1000000"
    )


def test_an_rtt_of_odd_nanoseconds_is_not_rounded_to_microseconds() -> None:
    (words,) = commands.wire("w-srv", [0.000_010_002], [10_000_000])
    assert "5.001us" in words


def test_several_rtts_have_a_band_each_and_bands_are_hexadecimal() -> None:
    rtts_s = [number / 100 for number in range(16)]
    lines = [" ".join(words) for words in commands.wire("a-cli", rtts_s, [5_000_000] * 16)]
    assert lines[0] == f"qdisc add dev a-cli root handle 1: prio bands 16 priomap{' 0' * 16}"
    assert lines[-3] == (
        "qdisc add dev a-cli parent 1:10 handle 1f: netem delay 75000.000us rate 5000000bit limit 1000000"
    )
    assert lines[-2:] == [
        f"filter add dev a-cli parent 1: protocol ip prio 1 u32 match ip {end} 63488 0xf800 flowid 1:10"
        for end in ("dport", "sport")
    ]


@pytest.mark.parametrize(
    ("shaper", "root"),
    [
        (
            "htb",
            [
                "qdisc add dev r-cli root handle 1: htb default 1",
                "class add dev r-cli parent 1: classid 1:1 htb rate 10000000bit burst 30b cburst 30b quantum 1514",
            ],
        ),
        (
            "cbs",
            ["qdisc add dev r-cli root handle 1: cbs idleslope 10000 sendslope -9990000 hicredit 30 locredit -1000000"],
        ),
    ],
)
def test_the_discipline_is_the_leaf_of_a_link_that_sends_at_its_rate(shaper: str, root: list[str]) -> None:
    link = Shaper(10_000_000, shaper, [["parent", "1:1", "handle", "10:", "codel", "limit", "1000"]])
    lines = [" ".join(words) for words in commands.link("r-cli", link, ["root"])]
    assert lines == [*root, "qdisc add dev r-cli parent 1:1 handle 10: codel limit 1000"]


@pytest.mark.parametrize(("rate_bps", "bytes_ahead"), [(5_000_000, 30), (100_000_000, 125)])
def test_a_late_timer_costs_a_fast_link_none_of_its_rate(rate_bps: int, bytes_ahead: int) -> None:
    _, link = commands.link("r-cli", Shaper(rate_bps, "htb", []), ["root"])
    assert f"burst {bytes_ahead}b cburst {bytes_ahead}b" in " ".join(link)


def test_a_timer_that_goes_through_all_flows_costs_the_link_none_of_its_rate() -> None:
    """fq_pie's timer takes more than 0.1 ms in the virtual machine. A link that may not be ahead then falls behind."""
    fq_pie = ["parent", "1:1", "handle", "10:", "fq_pie", "limit", "10240", "flows", "1024"]
    _, link, _ = commands.link("r-cli", Shaper(8_000_000, "htb", [fq_pie]), ["root"])
    assert "burst 256b" in " ".join(link), "0.256 ms of 8 Mbit/s"
    fq_codel = ["fq_codel" if word == "fq_pie" else word for word in fq_pie]
    _, link, _ = commands.link("r-cli", Shaper(8_000_000, "htb", [fq_codel]), ["root"])
    assert "burst 30b" in " ".join(link), "fq_codel has no timer"


def test_an_unknown_shaper_is_refused() -> None:
    with pytest.raises(LabError, match="found tbf; accepted: htb, cbs"):
        commands.link("r-cli", Shaper(1, "tbf", []), ["root"])


def test_a_refusal_of_tc_names_the_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "tc").write_text("#!/bin/sh\necho 'Error: no such thing.' >&2\necho 'Command failed -:2' >&2\nexit 1\n")
    (tmp_path / "tc").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin:/usr/bin")
    with pytest.raises(LabError, match=r"^tc: Error: no such thing\. in: second line$"):
        tc.batch([["first", "line"], ["second", "line"]])


def test_a_machine_without_tc_is_told_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(LabError, match="package iproute2"):
        tc.version()


def test_one_tc_shows_the_devices_of_a_namespace(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """To start `tc` is much of a short run. A device of which one discipline is asked has a call of its own."""
    one = '{"kind":"pfifo","handle":"1:","dev":"%s","packets":%d,"drops":0,"qlen":0}'
    shown = f"[{one % ('r-wan', 1)},{one % ('lo', 2)},{one % ('r-cli', 3)}]"
    script = f"#!/bin/sh\necho \"$*\" >>'{tmp_path}/calls'\necho '{shown}'\n"
    (tmp_path / "tc").write_text(script)
    (tmp_path / "tc").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    (client,), (server,) = tc.counters({"r-cli": None, "r-wan": None})
    assert (client["packets"], server["packets"]) == (3, 1)
    assert "dev" not in client, "a record has no name of the laboratory's"
    tc.counters({"r-cli": "10:", "r-wan": None})
    calls = (tmp_path / "calls").read_text().splitlines()
    assert calls == [f"-s -j qdisc show{words}" for words in ("", " dev r-cli handle 10:", " dev r-wan")]


def test_counters_since_leave_out_what_stood_still() -> None:
    assert counters.since({"TcpExt.A": 1, "TcpExt.B": 5}, {"TcpExt.A": 1, "TcpExt.B": 7}) == {"TcpExt.B": 2}
    assert "Tcp.RetransSegs" in counters.read()
