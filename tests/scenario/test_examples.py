"""The examples are complete, run, and show what they claim. The package's claims about itself are true."""

import json
import re
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from conftest import ROOT, Result
from goodqueue import running, scenario
from goodqueue._goodqueue import VERSION
from goodqueue.engines import loads
from goodqueue.record import Record
from goodqueue.speed import bench

EXAMPLES = sorted((ROOT / "examples").glob("*.toml"))


def test_there_are_examples() -> None:
    names = [
        "ack-filter",
        "asymmetric",
        "bursts",
        "cable-upstream",
        "cbr-step",
        "driver-ring",
        "first",
        "hidden-buffer",
        "host-stack",
    ]
    names += ["household", "isp", "lld", "lossy-wire", "lte", "media"]
    names += [
        "one-flow-codel",
        "packmime",
        "rate-step",
        "receive-side",
        "rpm",
        "rrul-be",
        "rrul",
        "rtt-fairness",
        "short-flows",
        "starlink",
        "street",
        "subscribers",
        "two-bottlenecks",
        "video",
    ]
    names += ["voip-and-web", "web-users", "what-codel-thinks", "wifi-anomaly", "wifi"]
    assert [file.stem for file in EXAMPLES] == names


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda file: file.stem)
def test_an_example_runs_and_draws_its_topology(example: Path, goodqueue: Callable[..., Result]) -> None:
    text = example.read_text(encoding="utf-8")
    assert "─▶" in text or "◀─" in text, "an example opens with a picture of what it runs"
    record = json.loads(goodqueue("run", str(example), "--json").out)
    assert record["queues"]["down"]["packets"]["forwarded"] > 1000


def commands() -> Iterator[Any]:
    """Yield each command in an example's head, with its requirements."""
    for example in EXAMPLES:
        found = re.findall(r"^#   goodqueue (.*?)(?:  +.*)?$", example.read_text(encoding="utf-8"), re.MULTILINE)
        assert len(found) >= 2, example
        for number, command in enumerate(found, 1):
            marks = (
                [pytest.mark.long, pytest.mark.kernel, pytest.mark.needs("qemu", "image")]
                if "kernel" in command
                else []
            )
            yield pytest.param(command, marks=marks, id=f"{example.stem}-{number}")


@pytest.mark.parametrize("command", list(commands()))
def test_the_commands_in_an_example_are_accepted(
    command: str, goodqueue: Callable[..., Result], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    shorter = ["--seeds", "1"] if "compare" in command else []
    # Sixty subscribers take long. The test above has run all their evening.
    shorter += ["--set", "duration=8s", "--set", "warmup=2s"] if "isp.toml" in command else []
    # Linux in a virtual machine is slow. test_kernel_machine.py measures the same kinds of traffic on it.
    shorter += ["--duration", "4s", "--warmup", "1s"] if "kernel" in command else []
    assert goodqueue(*shlex.split(command), *shorter).status == 0


def measured(name: str, *sets: str) -> Record:
    """Return the record of a shorter run of an example."""
    asked = loads.from_file(ROOT / "examples" / f"{name}.toml", ["duration=12s", "warmup=4s", *sets])
    return running.one(asked)


def p50_ms(found: Any) -> float:
    value: float = found["delay_ms"]["p50"]
    return value


def test_the_hidden_buffer_is_hidden_until_the_router_shapes() -> None:
    shaped = measured("hidden-buffer")
    hidden = measured("hidden-buffer", "bottleneck.qdisc=fq_codel", "bottleneck.up.qdisc=fq_codel")
    for hop in range(2):
        assert p50_ms(shaped["hops"][hop]) < 10
        assert p50_ms(hidden["hops"][hop]) > 50, "the FIFO fills, up to 250 ms"
    assert max(p50_ms(queue) for queue in hidden["queues"].values()) < 1, "the router's AQM sees nothing of it"


def test_two_fifos_are_unfair_to_what_crosses_both() -> None:
    shares = [
        [flow["goodput_mbps"] for flow in measured("two-bottlenecks", *sets, "duration=60s")["flows"]]
        for sets in ([], ["bottleneck.qdisc=pfifo", "hop.0.qdisc=pfifo"])
    ]
    (fair, (both, *others)) = shares
    assert min(fair) > 0.9 * max(fair)
    assert both < 0.7 * min(others)


def test_a_household_shares_by_host_and_not_by_flow() -> None:
    """Bob has four times as many flows as Alice each way. Under ``flows`` he would have four times the goodput."""
    fair = measured("household")
    unfair = measured("household", "bottleneck.qdisc=cake bandwidth 95mbit flows", "bottleneck.up.qdisc=cake flows")
    for direction in ("down", "up"):
        for record, ratio in ((fair, 1.0), (unfair, 4.0)):
            alice, bob = [host["goodput_mbps"][direction] or 0 for host in record["hosts"]]
            assert bob / alice == pytest.approx(ratio, rel=0.15)
    assert (fair["fairness"]["jain_hosts"] or 0) > 0.99


def test_a_ring_is_delay_that_no_target_bounds() -> None:
    deep, shallow = measured("driver-ring"), measured("driver-ring", "bottleneck.ring=8")
    assert p50_ms(deep["queues"]["down"]) > 40 > 10 > p50_ms(shallow["queues"]["down"])


def test_small_queues_keep_a_senders_own_queue_short() -> None:
    """A thousand frames at 10 Mbit/s are 1.2 s. Four are 5 ms."""
    small, ideal = measured("host-stack"), measured("host-stack", "host.0.small_queues=false")
    old = measured("host-stack", "traffic.0.stack=linux-3.10", "host.0.tso=false")
    assert (
        p50_ms(small["queues"]["up"]) < 5 < 35 < p50_ms(old["queues"]["up"]) < 40 < 300 < p50_ms(ideal["queues"]["up"])
    )


def test_a_limit_in_packets_holds_more_where_a_card_merges() -> None:
    """20 packets at 100 Mbit/s are 2.4 ms, if each is a segment."""
    merged, plain = measured("receive-side"), measured("receive-side", "bottleneck.gro=false")
    most = [(record["queues"]["down"]["delay_ms"] or {})["max"] or 0 for record in (merged, plain)]
    assert most[0] > 10 > 2.5 > most[1], most


def test_the_file_of_rates_is_the_one_that_its_command_makes(tmp_path: Path, goodqueue: Callable[..., Result]) -> None:
    (command,) = re.findall("goodqueue (generate .*?)  ", (ROOT / "examples" / "lte.toml").read_text(encoding="utf-8"))
    made = tmp_path / "lte.mahimahi"
    assert goodqueue(*shlex.split(command)[:-1], str(made)).status == 0
    assert made.read_bytes() == (ROOT / "examples" / "lte.mahimahi").read_bytes()


def test_packets_of_a_burst_wait_for_the_next_one() -> None:
    """Upwards only the bursts make ACKs wait: up to 4 ms minus the 1 ms that a burst may last."""
    delay = measured("bursts")["queues"]["up"]["delay_ms"]
    assert delay is not None
    assert delay["p50"] is not None
    assert 1 < delay["p50"] < 3
    assert measured("bursts", "bottleneck.qdisc=codel")["queues"]["down"]["utilisation_percent"] > 95  # type: ignore[operator]


def test_a_hog_in_the_low_latency_queue_is_sanctioned() -> None:
    """With queue protection, the game waits for a grant alone: a random part of a MAP of 1 ms. Without, for 10 ms."""

    def game_ms(record: Record) -> float:
        game = next(app for app in record["apps"] if app["name"].startswith("game"))
        assert game["rtt_ms"] is not None
        return float(game["rtt_ms"]["p50"]) - 20  # type: ignore[arg-type]

    protected = measured("lld", "duration=20s")
    assert (
        game_ms(protected)
        < 3
        < 8
        < game_ms(measured("lld", "duration=20s", "bottleneck.up.qdisc=docsis_lld noprotection"))
    )


def test_a_wire_loses_in_groups_without_any_queue() -> None:
    record = measured("lossy-wire", "duration=30s")
    # The state is bad for 0.05 / 20.05 of the time, with 30 % loss: 0.075 %.
    lost = record["hops"][0]["loss_percent"]
    assert 0.03 < lost < 0.15
    dropped = record["queues"]["down"]["drop_percent"]
    assert dropped is not None
    assert dropped < lost / 10, "the wire loses, not the queue"


def test_the_cases_of_the_benchmark_are_accepted() -> None:
    for case in bench.CASES:
        resolved = scenario.resolve(case.scenario(quick=False))
        assert resolved["traffic"][0]["count"] == case.flows
        assert scenario.seconds(resolved["duration"]) == case.duration_s


def test_the_benchmark_measures(goodqueue: Callable[..., Result]) -> None:
    # The peak of a test's own process is that of all the tests before it.
    found = bench.measure_apart(bench.Case("test", 1, "100mbit", "50ms", "codel", 1, 3), quick=False)
    assert found["packets"] > 1000
    assert found["cpu_s"] > 0
    assert 1e6 < found["max_rss_bytes"] < 1e9, "resident memory is in bytes"
    cost = bench.run_qdisc("codel", quick=True, repeats=1)
    measured = [*cost.pair_ns.values(), *cost.backlog_ns.values(), cost.overflow_ns]
    assert all(ns is not None and 0 < ns < 1e5 for ns in measured), "codel's limit is 1000 packets"
    assert bench.run_qdisc("codel limit 999", quick=True, repeats=1).backlog_ns["1000"] is None
    refused = bench.run_qdisc("codel limit 1 target nonsense", quick=True)
    assert {*refused.pair_ns.values(), *refused.backlog_ns.values(), refused.overflow_ns} == {None}
    assert bench.run_qdisc("pfifo limit 100000", quick=True, repeats=1).overflow_ns is None, "it holds 20,000 packets"


@pytest.mark.needs("proc")
def test_the_benchmark_measures_many_flows(goodqueue: Callable[..., Result], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bench.run_crowd, "__defaults__", (1,))  # one process per case, not three
    found = json.loads(goodqueue("bench", "flows", "20,2000", "--quick", "--json").out)["flows"]
    cases = [(20, "fq_codel"), (20, "pfifo"), (2000, "fq_codel"), (2000, "pfifo")]
    assert [(case["flows"], case["qdisc"]) for case in found] == cases
    for case in found:
        assert case["packets"] > 10_000, "a second at 1 Gbit/s"
        assert case["packets_per_cpu_s"] == case["packets"] / case["cpu_s"]
        assert case["sent_packets"] > case["packets"]
        assert case["ns_per_sent_packet"] == pytest.approx(1e9 * case["cpu_s"] / case["sent_packets"])
    # Both ends of a connection are 2 kB. With histograms that start at zero, a flow would take 17 kB.
    assert 2000 < found[2]["bytes_per_flow"] < 11_000
    assert "B/flow" in goodqueue("bench", "flows", "20", "--quick").out


@pytest.mark.needs("proc")
def test_memory_is_the_measured_process_s_own(monkeypatch: pytest.MonkeyPatch) -> None:
    # ru_maxrss starts with the parent's memory. A large parent would look like a large simulator.
    fat = b"x" * 400_000_000
    code = "from goodqueue.speed import bench; print(bench.peak_bytes())"
    process = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert len(fat) == 400_000_000
    assert 1e6 < int(process.stdout) < 200e6


def test_the_version_is_one(goodqueue: Callable[..., Result]) -> None:
    cargo = (ROOT / "Cargo.toml").read_text(encoding="utf-8")
    assert f'version = "{VERSION}"' in cargo
    assert goodqueue("--version").out == f"goodqueue {VERSION}\n"


def test_files_stay_readable() -> None:
    for file in sorted((ROOT / "python" / "goodqueue").rglob("*.py")):
        text = file.read_text(encoding="utf-8")
        if "tools/docs/generate.py makes this file" in text:
            continue  # nobody edits it
        lines = text.count("\n")
        assert lines <= 400, f"{file.relative_to(ROOT)} has {lines} lines; a file has at most 400"
