"""Records made from captures and counters, compared with the simulator's own record and with numbers by hand."""

import json
import shutil
import struct
import subprocess
from pathlib import Path
from typing import Any

import pytest

from goodqueue import scenario
from goodqueue.engines.kernel import measure, planning
from goodqueue.errors import UserError

ROOT = Path(__file__).parents[2]

TRAFFIC = [
    {"kind": "bulk", "count": 2},
    {"kind": "bulk", "name": "up", "direction": "up", "ecn": True, "start": "2s", "stop": "11s", "cc": "reno"},
    {"kind": "cbr", "rate": "1mbit", "packet_size": 500},
    {"kind": "ping", "start": "1500ms"},
]
SERIES = {"interval": "1s", "packets": {"from": "4s", "to": "4500ms"}}


@pytest.fixture(scope="module")
def example() -> str:
    """Return the program that writes captures of a simulated run."""
    cargo = shutil.which("cargo")
    if cargo is None:
        pytest.fail("cargo is not on PATH")
    # As `make test` built it. For a single package, cargo would choose other features and build everything again.
    build = [cargo, "build", "--quiet", "--workspace", "--profile", "test", "--example", "simulated"]
    told = subprocess.run([*build, "--message-format", "json"], cwd=ROOT, check=True, capture_output=True).stdout
    built = [json.loads(line).get("executable") for line in told.splitlines()]
    return next(path for path in built if path is not None)


def simulated(example: str, folder: Path, rtt: str, qdisc: str) -> tuple[Any, Any]:
    """Return the record measured from a simulated run's captures, and the simulator's own record.

    With this seed no timeout is needless. After a needless timeout the echo gives the sender an RTT of the original
    segment, which captures do not show.
    """
    bottleneck = {"rate": "10mbit", "qdisc": qdisc}
    given = {"duration": "14s", "warmup": "3s", "seed": 5, "bottleneck": bottleneck, "path": {"rtt": rtt}}
    asked = scenario.resolve(given | {"traffic": TRAFFIC, "series": SERIES})
    (folder / "scenario.json").write_text(json.dumps(asked))
    subprocess.run([example, str(folder / "scenario.json"), "3", str(folder)], cwd=ROOT, check=True)
    measured = measure.record(asked, planning.plan(asked), folder, "vm")
    return measured, json.loads((folder / "record.json").read_text())


def assert_queues_agree(measured: Any, own: Any) -> None:
    for name in ("utilisation_percent", "throughput_mbps", "packets", "drop_percent", "mark_percent"):
        assert measured[name] == own[name], name
    for name, value in own["delay_ms"].items():
        exact = name in ("mean", "stddev", "min", "max")  # the simulator's quantiles are from a histogram
        assert measured["delay_ms"][name] == pytest.approx(value, rel=1e-9 if exact else 1e-3, abs=1e-6), name


def assert_flows_agree(measured: Any, own: Any) -> None:
    assert [flow["name"] for flow in measured["flows"]] == [flow["name"] for flow in own["flows"]]
    for got, wanted in zip(measured["flows"], own["flows"], strict=True):
        for name in ("kind", "direction", "cc", "start_s", "retransmitted"):
            assert got[name] == wanted[name], name
        # Delayed ACKs report the last segments a little late.
        assert got["goodput_mbps"] == pytest.approx(wanted["goodput_mbps"], abs=3 * 1448 * 8e-6 / 9)
        for name, value in (wanted["goodput_5s_mbps"] or {}).items():
            assert got["goodput_5s_mbps"][name] == pytest.approx(value, abs=3 * 1448 * 8e-6 / 5), name
        if wanted["rtt_ms"] is None:
            assert got["rtt_ms"] is None
            continue
        for name in ("mean", "min", "max"):
            # TCP counts whole microseconds. Of an ACK that acknowledges some segments and SACKs others TCP takes the
            # last SACKed one, and captures the last acknowledged, which was sent earlier.
            allowed = {"min": {"abs": 1e-3}, "mean": {"rel": 5e-3}, "max": {"rel": 0.1}}[name]
            assert got["rtt_ms"][name] == pytest.approx(wanted["rtt_ms"][name], **allowed), name


@pytest.mark.parametrize(("rtt", "qdisc"), [("0s", "pie ecn"), ("40ms", "codel ecn")])
def test_a_simulated_run_read_from_captures_gives_the_simulators_own_record(
    example: str, tmp_path: Path, rtt: str, qdisc: str
) -> None:
    measured, own = simulated(example, tmp_path, rtt, qdisc)
    in_vain = json.loads((tmp_path / "dropped.json").read_text())
    assert own["queues"]["down"]["packets"]["dropped"] > 5, "a run without drops shows little"
    assert own["queues"]["up"]["packets"]["marked"] > 0
    for direction in ("down", "up"):
        assert_queues_agree(measured["queues"][direction], own["queues"][direction])
        for name, values in own["series"]["packets"][direction].items():
            assert measured["series"]["packets"][direction][name] == pytest.approx(values), name
        series, wanted = measured["series"]["queues"][direction], own["series"]["queues"][direction]
        assert series["delay_ms"] == wanted["delay_ms"]
        # A packet that is dropped later is not seen to wait. The simulator knows when it was dropped.
        unseen = [
            sum(came < time_s * 1e9 <= dropped for came, dropped in in_vain[direction])
            for time_s in measured["series"]["time_s"]
        ]
        seen = [waiting - missing for waiting, missing in zip(wanted["backlog_packets"], unseen, strict=True)]
        assert series["backlog_packets"] == seen
    assert measured["series"]["time_s"] == own["series"]["time_s"]
    assert_flows_agree(measured, own)
    losses = [flow["loss_percent"] for flow in measured["flows"]]
    assert losses == [flow["loss_percent"] for flow in own["flows"]]
    assert measured["fairness"] == pytest.approx(own["fairness"], abs=1e-3)


# --- by hand ---------------------------------------------------------------------------------------------------------

START_NS = 1_700_000_000_000_000_000
SERVER, CLIENT = bytes([10, 9, 0, 1]), bytes([10, 8, 0, 1])


def frame(number: int, ecn: int = 0, length: int = 1250) -> bytes:
    """Return a datagram of the only flow, which goes down."""
    ip = struct.pack("!BBHHHBBH", 0x45, ecn, length - 14, 0, 0x4000, 64, 17, 0) + SERVER + CLIENT
    return bytes(12) + b"\x08\x00" + ip + struct.pack("!HHHHI", 0x800, 0x8000, length - 34, 0, number)


def capture(path: Path, frames: list[tuple[float, bytes]], length: int = 1250) -> None:
    data = struct.pack("<IHHIIII", 0xA1B23C4D, 2, 4, 0, 0, 100, 1)
    for time_s, content in frames:
        ns = START_NS + round(time_s * 1e9)
        data += struct.pack("<IIII", ns // 10**9, ns % 10**9, len(content), length) + content
    path.write_bytes(data)


def by_hand(folder: Path, drops: int = 1, where: str = "host", idle_share: float = 0.5) -> Any:
    """Write captures of a run by hand: 1 Mbit/s, so that 1250 bytes take 10 ms; warm-up 1 s, end 2 s.

    Packets arrive at 0.5, 0.995, 1.1, 1.2, 1.3 and 1.995 s and leave 0, 10, 20, –, 30 and 10 ms later. The fourth is
    dropped and the fifth marked. The second waits when measuring begins, and the last when it ends.
    """
    arrivals, waits = (0.5, 0.995, 1.1, 1.2, 1.3, 1.995), (0.0, 0.01, 0.02, None, 0.03, 0.01)
    capture(folder / "r-wan.pcap", [(at, frame(n, ecn=2)) for n, at in enumerate(arrivals)])
    leaving = [(n, at + wait) for n, (at, wait) in enumerate(zip(arrivals, waits, strict=True)) if wait is not None]
    capture(folder / "r-cli.pcap", [(at, frame(n, ecn=3 if n == 4 else 2)) for n, at in leaving])

    def leaf(at: float, packets: int, drops: int, waiting: int) -> dict[str, Any]:
        counters = {"kind": "pfifo", "handle": "10:", "packets": packets, "drops": drops, "qlen": waiting}
        return {"t_s": at, "qdiscs": [counters]}

    down = [leaf(1.0, 1, 0, 1), leaf(2.0, 4, 1, 1), leaf(3.0, 5, drops, 0)]
    lab = {
        "kernel": "6.1",
        "tc": "tc",
        "tc_said": ["Warning: a class"],
        "start_ns": START_NS,
        "idle_share": idle_share,
        "sysctls": {},
        "qdisc_stats": {"down": down, "up": [leaf(at, 0, 0, 0) for at in (1.0, 2.0, 3.0)]},
        "capture_dropped": {"r-wan": 0, "r-cli": 0},
        "netstat": {"server": {}, "client": {}},
        "flows": {"cbr/0": {"app": None, "completion_ms": None, "series": None, "sent": [], "tcp_info": []}},
    }
    (folder / "lab.json").write_text(json.dumps(lab))
    given = {"duration": "2s", "warmup": "1s", "bottleneck": {"rate": "1mbit", "qdisc": "pfifo"}, "path": {"rtt": "0s"}}
    asked = scenario.resolve(given | {"traffic": [{"kind": "cbr", "rate": "100kbit", "packet_size": 1250}]})
    return measure.record(asked, planning.plan(asked), folder, where)


def test_a_machine_whose_processor_was_the_bottleneck_makes_no_record(tmp_path: Path) -> None:
    """The time of a machine is its own. The processors of a host do other things, too."""
    with pytest.raises(UserError, match="found the machine's processor busy for 97 % of the measured time"):
        by_hand(tmp_path, where="vm", idle_share=0.03)
    assert by_hand(tmp_path, where="host", idle_share=0.03)["kernel"]["tc_said"] == ["Warning: a class"]


def test_a_record_by_hand(tmp_path: Path) -> None:
    record = by_hand(tmp_path)
    down = record["queues"]["down"]
    assert down["packets"] == {
        "offered": 4,  # from 1.1 s on
        "forwarded": 3,  # at 1.005, 1.12 and 1.33 s
        "dropped": 1,
        "marked": 1,
        "queued_at_start": 1,
        "queued_at_end": 1,
    }
    assert down["utilisation_percent"] == 3.0  # three times 10 ms of one second
    assert down["throughput_mbps"] == 0.03
    assert (down["delay_ms"]["mean"], down["delay_ms"]["p50"], down["delay_ms"]["max"]) == (20.0, 20.0, 30.0)
    assert (down["drop_percent"], down["mark_percent"], down["drops_by_reason"]) == (25.0, 25.0, None)
    assert record["queues"]["up"]["delay_ms"] is None, "nothing measured is not zero"
    (flow,) = record["flows"]
    assert (flow["goodput_mbps"], flow["loss_percent"], flow["rtt_ms"]) == (0.03, 25.0, None)
    of_tcp = [flow[key] for key in ("tlp_probes", "spurious_retransmissions", "undos")]
    assert of_tcp == [None, None, None], "a datagram's flow has none, which is not zero"
    assert record["kernel"]["clock"] == "real"
    assert record["kernel"]["qdisc_stats"]["down"] == [{"kind": "pfifo", "handle": "10:", "packets": 3, "drops": 1}]


def test_a_disagreement_of_captures_and_counters_is_never_papered_over(tmp_path: Path) -> None:
    with pytest.raises(
        UserError, match=r"kernel: down: captures and tc disagree at 3\.000 s: packets offered: 6 and 7"
    ):
        by_hand(tmp_path, drops=2)
