"""`goodqueue link --virtual --engine kernel`: what is refused, the plan, the record. The last tests need Linux."""

import struct
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import goodqueue as gq
from conftest import Result
from goodqueue.engines.kernel import process_build
from goodqueue.engines.kernel.lab.plan import Plan
from goodqueue.engines.live import ends, resolving
from goodqueue.engines.live.ends import Declared
from goodqueue.engines.live.ordering import Task, order
from goodqueue.engines.live.routed import measuring, planning
from goodqueue.errors import UserError
from goodqueue.linking import path

PING = ("--rate", "10mbit", "--rtt", "50ms", "--", "ping", "-n", "-c", "3", "server")


@pytest.fixture
def built(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process_build, "why_not", lambda _: None)


def scenario(rate: str = "10mbit", qdisc: str = "pfifo", **sets: Any) -> Any:
    return path.read(None, {"rate": rate, "rtt": "50ms", "qdisc": qdisc}, [f"{key}={sets[key]}" for key in sets])


# --- what is refused -------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("built")
@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--engine", "kernel"), "--engine: found kernel without --virtual; accepted: live, or with it"),
        (("--engine", "sim", "--virtual"), '--engine: found "sim"; accepted: live, kernel'),
        (("--host", "server"), '--host: found "server", which is taken; accepted: another name'),
        (("--host", "cdn6", "--host", "cdn"), '--host: found "cdn", which is taken; accepted: another name'),
        (("--host", "a_b"), '--host: found "a_b"; accepted: a name, or a name and its end, as phone=client'),
        (("--host", "phone=up"), '--host: found "phone=up"; accepted: a name, or a name and its end, as phone=client'),
        (
            ("--engine", "kernel", "--virtual", "--trace", "a.pcapng", "--trace-snap", "60"),
            "--trace-snap: found with --engine kernel, whose captures hold 100 bytes; accepted: without",
        ),
    ],
)
def test_what_does_not_go_together_is_one_line(
    goodqueue: Callable[..., Result], words: tuple[str, ...], said: str
) -> None:
    done = goodqueue("link", *words, *PING)
    assert (done.status, done.err) == (2, f"goodqueue: {said}\n")


def test_a_path_that_linux_has_not_is_refused() -> None:
    traffic = scenario() | {"traffic": [{"kind": "bulk"}]}
    with pytest.raises(UserError, match=r"traffic: found simulated traffic; .* none, as CMD is the traffic"):
        planning.plan(traffic, None)
    with pytest.raises(UserError, match=r'qdisc: found "dualpi2", which Linux 6.1 does not have; .* --kernel 7.3'):
        planning.plan(scenario(qdisc="dualpi2"), None)


# --- the plan and the order ------------------------------------------------------------------------------------------


def test_the_plan_has_the_path_and_no_flows() -> None:
    plan = planning.plan(scenario(qdisc="fq_codel"), None)
    assert (plan.down.rate_bps, plan.flows, [route.rtt_s for route in plan.routes]) == (10_000_000, [], [0.05])
    assert Plan.from_json(plan.to_json()) == plan


@pytest.mark.parametrize(
    ("plan", "addresses"),
    [
        (None, ["100.64.1.1", "100.64.1.2", "100.64.1.3", "100.64.1.4"]),
        ("{}", ["10.9.0.1", "10.8.0.1", "10.9.0.2", "10.8.0.2"]),
    ],
)
def test_declared_hosts_have_addresses_of_their_own(plan: str | None, addresses: list[str]) -> None:
    hosts = ends.declared(["cdn", "phone=client"])
    assert hosts == (Declared("cdn", "server"), Declared("phone", "client"))
    sent = order(Task({"traffic": []}, ["ping"], hosts=hosts, plan=plan), 1)
    assert [sent["hosts"][name] for name in ("server", "client", "cdn", "phone")] == [[one] for one in addresses]
    assert [sent["environment"][f"GOODQUEUE_{side}"] for side in ("SERVER", "CLIENT")] == addresses[:2]


# --- the record ------------------------------------------------------------------------------------------------------


def datagram(number: int) -> bytes:
    ethernet = bytes(12) + b"\x08\x00"
    ip = struct.pack(">BBHHHBBH4B4B", 0x45, 0, 1028, number, 0, 64, 17, 0, 10, 9, 0, 1, 10, 8, 0, 1)
    return ethernet + ip + struct.pack(">HHHH", 5000, 6000, 1008, 0) + bytes(46)


def capture(file: Path, at_ms: dict[int, float]) -> None:
    packets = [struct.pack("<IIII", 1, round(at * 1e6), 88, 1042) + datagram(number) for number, at in at_ms.items()]
    file.write_bytes(struct.pack("<IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, 100, 1) + b"".join(packets))


def counted(forwarded: int, dropped: int) -> dict[str, Any]:
    leaf = {"kind": "pfifo", "handle": "10:", "bytes": 0, "packets": forwarded, "drops": dropped, "qlen": 0}
    return {"t_s": 1.0, "qdiscs": [leaf]}


def measured(folder: Path, dropped: int) -> Any:
    """Of five datagrams, one each millisecond, the last is dropped, and the others wait for 2 ms."""
    capture(folder / "r-wan.pcap", {number: number for number in range(5)})
    capture(folder / "r-cli.pcap", {number: number + 2 for number in range(4)})
    none = counted(0, 0) | {"t_s": 0.0}
    stats = {"down": [none, counted(4, dropped), counted(4, dropped)], "up": [none, counted(0, 0), counted(0, 0)]}
    lab = {"kernel": "7.3", "tc": "tc", "tc_said": [], "start_ns": 10**9, "ended_s": 1.0, "sysctls": {}}
    lab |= {"qdisc_stats": stats, "hop_stats": {}, "capture_dropped": {}}
    made = scenario()
    return measuring.record(made, planning.plan(made, None), folder, lab, "kernel")


def test_the_flows_are_those_that_the_captures_show(tmp_path: Path) -> None:
    record = measured(tmp_path, dropped=1)
    (flow,) = record["flows"]
    assert (flow["name"], flow["direction"]) == ("udp 10.9.0.1:5000 > 10.8.0.1:6000", "down")
    # Four datagrams of 1000 bytes. The last one leaves at 5 ms, takes 0.8 ms at 10 Mbit/s, and 25 ms more.
    assert flow["goodput_mbps"] == pytest.approx(4000 * 8e-6 / (0.005 + 1042 * 8 / 10e6 + 0.025), abs=1e-5)
    assert (flow["loss_percent"], record["queues"]["down"]["delay_ms"]["mean"]) == (20.0, 2.0)
    assert (record["live"]["hosts"], record["live"]["elapsed_s"]) == ({"client": 1, "server": 1}, 1.0)


def test_captures_and_counters_must_agree(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"captures and tc disagree at 1\.000 s: packets offered: 5 and 4"):
        measured(tmp_path, dropped=0)


# --- names that nobody answers for -----------------------------------------------------------------------------------


def test_a_question_of_dns_is_read() -> None:
    assert resolving._asked(bytes(40) + b"\x03www\x07example\x03com\x00\x00\x01\x00\x01") == "www.example.com"
    assert resolving._asked(bytes(40) + b"\xc0\x0c") == ""
    said = resolving.remark(["a", "b", "c", "d", "e"], ["server", "client"])
    assert said == (
        "CMD asked for the address of a, b, c and 2 more, and no resolver can be reached; names of this link: "
        "server, client"
    )


# --- with Linux ------------------------------------------------------------------------------------------------------

SERVES = "import socket\nwhile True: socket.create_server(('cdn', 5000)).accept()[0].sendall(bytes(500_000))"
FETCHES = """
import contextlib, socket, time
with contextlib.suppress(OSError):
    socket.gethostbyname("nowhere.example")
before, got = time.monotonic(), 0
here = socket.create_connection(("cdn", 5000), source_address=("phone", 0))
while got < 500_000:
    got += len(here.recv(1 << 16))
print(got, round(time.monotonic() - before, 3), here.getsockname()[0], socket.gethostbyname("localhost"))
"""


@pytest.mark.long
@pytest.mark.needs("process")
def test_a_tree_of_linuxs_is_the_same_twice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """500 kB through a class of 4 Mbit/s take 1.05 s and some round trips. The link itself has 10 Mbit/s."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tree.toml").write_text(
        '[path]\nrtt = "50ms"\n[bottleneck]\nrate = "10mbit"\ntc = [\n'
        '"tc qdisc add dev eth0 root handle 1: htb default 1",\n'
        '"tc class add dev eth0 parent 1: classid 1:1 htb rate 4mbit",\n]\n'
    )
    words = ("tree.toml", "--", sys.executable, "-c", SERVES, "--", sys.executable, "-c", FETCHES)
    one, other = (
        gq.link(
            *words, virtual=True, engine="kernel", host=["cdn", "phone=client"], trace=f"{name}.pcapng", progress=False
        )
        for name in ("one", "other")
    )
    assert one.status == 0, one.stderr
    got, seconds, source, loopback = one.stdout.split()
    assert (got, source, loopback) == ("500000", "10.8.0.2", "127.0.0.1")
    assert 1.05 < float(seconds) < 1.5
    assert (one.stdout, one.record) == (other.stdout, other.record)
    assert (tmp_path / "one.pcapng").read_bytes() == (tmp_path / "other.pcapng").read_bytes()
    assert one.record["kernel"]["qdisc_stats"]["down"][1]["kind"] == "htb"
