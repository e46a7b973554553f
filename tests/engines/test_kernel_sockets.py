"""The applications on real sockets, between two addresses of one network namespace, without a path between them."""

import json
import subprocess
import sys
from shutil import which
from typing import Any

import pytest

from goodqueue.engines.kernel import planning
from goodqueue.engines.kernel.lab.hosts import order
from goodqueue.scenario import resolve

_INSIDE = """
import contextlib, json, os, socket, sys, time
from goodqueue import _goodqueue
from pyroute2 import IPRoute
with IPRoute() as ip:
    ip.link("set", index=1, state="up")
ALL, UDP, UDP_AT, TOS_AT = 3, 17, 14 + 9, 14 + 1
sniffer = socket.socket(socket.AF_PACKET, socket.SOCK_RAW | socket.SOCK_NONBLOCK, socket.htons(ALL))
asked = json.load(sys.stdin)
space = os.open("/proc/self/ns/net", os.O_RDONLY)
clock = (time.monotonic_ns() + 10_000_000, time.time_ns() + 10_000_000)
try:
    found = json.loads(_goodqueue.Sockets(asked["scenario"], asked["order"], (space, space), clock).run())
    tos = set()
    with contextlib.suppress(BlockingIOError):
        while frame := sniffer.recv(64):
            tos |= {frame[TOS_AT]} if frame[UDP_AT] == UDP else set()
    print(json.dumps(found | {"tos": sorted(tos)}))
except OSError as error:
    print(json.dumps({"error": str(error)}))
"""

VECTOR = {"start_us": 0, "sends": [[">", 300, 2000], ["<", 90000, 1000], [">", 400, 1000], ["<", 1, 0]]}
TRAFFIC: list[dict[str, Any]] = [
    {"kind": "bulk", "stop": "500ms"},
    {"kind": "transfer", "size": "300kB", "repeat": 3},
    {"kind": "transfer", "name": "upload", "size": "1B", "repeat": 2, "direction": "up"},
    {"kind": "rr", "request": "1kB", "response": "200kB", "repeat": 20},
    {"kind": "stream", "rate": "1mbit", "direction": "up", "stop": "900ms"},
    {"kind": "cbr", "rate": "1mbit"},
    {"kind": "ping", "interval": "10ms", "stop": "900ms"},
    {"kind": "voip", "direction": "up", "stop": "900ms"},
    {"kind": "page", "page": "google", "repeat": 2},
    {"kind": "tmix", "vectors": [VECTOR, {**VECTOR, "start_us": 100_000, "concurrent": True}]},
    {"kind": "packmime", "rate": 50},
    {"kind": "web_users", "users": 3, "think": "exponential(100ms)", "rtt_max": "30ms"},
    {"kind": "web_users", "name": "http2", "users": 3, "think": "exponential(100ms)", "protocol": "http/2"},
    {"kind": "media", "max_rate": "3mbit"},
]


def run(traffic: list[dict[str, Any]], changed: dict[str, Any] | None = None) -> dict[str, Any]:
    """Return what each flow measured in a second, or the error."""
    link = {"rate": "10mbit", "qdisc": "pfifo"}
    given = {"duration": "1s", "warmup": "0s", "bottleneck": link, "path": {"rtt": "20ms"}, "traffic": traffic}
    plan = planning.plan(resolve(given | {"series": {"interval": "200ms"}}))
    asked = json.loads(order(plan))
    asked["flows"] = [one | {"client": "127.0.0.1", "server": "127.0.0.2"} | (changed or {}) for one in asked["flows"]]
    unshare = [which("unshare") or "unshare", "--map-root-user", "--net", sys.executable, "-c", _INSIDE]
    told = json.dumps({"scenario": plan.scenario, "order": json.dumps(asked)})
    done = subprocess.run(unshare, input=told, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


@pytest.fixture(scope="module")
def second() -> dict[str, Any]:
    if subprocess.run(["unshare", "--map-root-user", "--net", "true"], check=False, capture_output=True).returncode:
        pytest.skip("no network namespaces here; accepted: root, or user namespaces")
    return run(TRAFFIC)


def test_each_application_does_on_sockets_what_the_scenario_says(second: dict[str, Any]) -> None:
    apps = {name: found["app"] for name, found in second.items() if name != "tos"}
    assert [name for name, app in apps.items() if app is None] == ["bulk/0", "cbr/0"], "they measure nothing themselves"
    for name, times in (("transfer/0", 3), ("upload/0", 2), ("rr/0", 20), ("page/0", 2)):
        assert (apps[name]["count"], apps[name]["completed"]) == (times, times), name
    assert (apps["tmix/0"]["connections"], apps["tmix/0"]["completed"], apps["tmix/0"]["count"]) == (2, 2, 2)
    for name in ("packmime/0", "web_users/0", "http2/0"):
        app = apps[name]
        assert app["completed"] > 5, name
        assert app["completed"] == pytest.approx(app["count"], abs=5), "on an empty path only the last are under way"
    assert apps["http2/0"]["connections"] < apps["web_users/0"]["connections"] * 3
    assert apps["web_users/0"]["timeout_percent"] is None, "this Linux does not count timeouts by connection"


def test_datagrams_arrive_once_after_a_path_without_delay(second: dict[str, Any]) -> None:
    """The time that this process takes is no part of a delay: the path's is some microseconds."""
    ping, call, media = (second[name]["app"] for name in ("ping/0", "voip/0", "media/0"))
    assert (ping["sent"], ping["received"], ping["loss_percent"]) == (90, 90, 0)
    assert (call["sent"], call["received"], call["loss_percent"]) == (45, 45, 0)
    assert media["sent"] == pytest.approx(media["received"], abs=3)
    assert media["sent"] > 20
    for times in (ping["rtt_ms"], call["delay_ms"], media["delay_ms"]):
        assert 0 <= times["p50"] < 5
    assert second["ping/0"]["series"]["seq"] == list(range(90))


def test_samples_count_what_the_sender_sent(second: dict[str, Any]) -> None:
    (at, (sent, _, _)) = second["transfer/0"]["sent"][-1]
    assert (at, sent >= 900_000) == (1.0, True), "three connections, which are over"
    assert sent < 1_800_000, "a busy machine sends some segments again, and Linux counts these (tcpi_bytes_sent)"
    assert second["upload/0"]["sent"][-1][1][0] == 2
    (_, bulk) = second["bulk/0"]["sent"][-1]
    assert bulk[0] > 1_000_000
    assert len(second["bulk/0"]["tcp_info"]) == 2, "at 200 and 400 ms: it stops at 500"
    assert second["ping/0"]["sent"] == []


@pytest.mark.usefixtures("second")
@pytest.mark.parametrize(
    ("kind", "ecn", "seen"),
    [
        ({"kind": "cbr", "rate": "1mbit"}, False, [0xB8]),
        ({"kind": "cbr", "rate": "1mbit"}, True, [0xBA]),
        ({"kind": "ping"}, "ect1", [0xB9]),
        ({"kind": "media"}, "ect0", [0xB8, 0xBA]),
    ],
)
def test_datagrams_carry_their_codepoints(kind: dict[str, Any], ecn: object, seen: list[int]) -> None:
    """EF is 46, above the two bits of ECN. The receiver of media answers with reports that are not ECN-capable."""
    assert run([kind | {"ecn": ecn, "dscp": "EF"}])["tos"] == seen


@pytest.mark.usefixtures("second")
def test_a_socket_that_fails_ends_the_run_with_one_line() -> None:
    transfer = [{"kind": "transfer", "size": "1kB"}]
    assert run(transfer, {"cc": "nada"}) == {"error": "flow transfer/0: this kernel has no congestion control nada"}
    unknown = run(transfer, {"server": "203.0.113.1"})["error"]
    assert unknown.startswith("flow transfer/0: "), unknown
    assert run(transfer, {"ports": "many"})["error"].startswith("order: invalid type")
