"""Captures of runs: read by tshark and tcptrace, and written to a disk."""

import json
import resource
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from captures import tshark
from conftest import Result, drafts_of, spawn
from goodqueue import capture as trace

needs_tshark = pytest.mark.needs("tshark")

MIXED = """
duration = "6s"
[bottleneck]
rate = "10mbit"
qdisc = "pfifo limit 50"
[path]
rtt = "40ms"
[[traffic]]
kind = "bulk"
count = 2
[[traffic]]
kind = "bulk"
name = "up"
direction = "up"
ecn = true
stop = "5s"
[[traffic]]
kind = "cbr"
rate = "1mbit"
dscp = "EF"
[[traffic]]
kind = "ping"
"""

BAD_CHECKSUM = " || ".join(f"{protocol}.checksum.status == 0" for protocol in ("ip", "tcp", "udp", "icmp"))
SENT_AGAIN = "tcp.analysis.retransmission || tcp.analysis.fast_retransmission || tcp.analysis.out_of_order"
"""Packets cannot overtake at the sender: a segment that tshark calls out of order was sent again within an RTT."""


@pytest.fixture
def mixed(here: Path) -> Path:
    (here / "mixed.toml").write_text(MIXED, encoding="utf-8")
    return here


def captured(goodqueue: Callable[..., Result], *arguments: str) -> Any:
    """Return the record of a run that was captured."""
    result = goodqueue("run", "mixed.toml", "--json", *arguments)
    assert (result.status, result.err) == (0, "")
    return json.loads(result.out)


@needs_tshark
def test_tshark_finds_no_wrong_checksum_and_each_retransmission(mixed: Path, goodqueue: Callable[..., Result]) -> None:
    record = captured(goodqueue, "--trace", "run.pcapng")
    file = mixed / "run.pcapng"
    assert tshark(file, f"{BAD_CHECKSUM} || _ws.malformed || icmp.resp_not_found") == []
    tcp = tshark(file, "tcp", "tcp.checksum.status")
    assert {status for (status,) in tcp} == {"1"}, "all of them must have been checked"
    again = Counter(int(port) for (port,) in tshark(file, SENT_AGAIN, "tcp.srcport"))
    for place, flow in enumerate(record["flows"][:3]):
        assert again[0x800 + place] == flow["retransmitted"] > 0, flow["name"]


@needs_tshark
@pytest.mark.parametrize("points", ["sender", "receiver", "down-in,up-out", "down-out,up-in"])
def test_tshark_has_nothing_to_say_of_a_run_without_losses(
    mixed: Path, goodqueue: Callable[..., Result], points: str
) -> None:
    deep = ("--set", "bottleneck.qdisc=pfifo limit 10000")
    record = captured(goodqueue, "--trace", "run.pcapng", "--trace-at", points, *deep)
    assert record["queues"]["down"]["packets"]["dropped"] == 0
    # A sink's only RTT is that of the handshake, so its FIN is sent again behind a queue of a quarter of a second.
    known = "tcp.analysis.window_update || (tcp.flags.fin && tcp.len == 0 && tcp.analysis.retransmission)"
    assert tshark(mixed / "run.pcapng", f"tcp.analysis.flags && !({known})") == []


@pytest.mark.needs("tcptrace")
def test_tcptrace_counts_the_same(mixed: Path, goodqueue: Callable[..., Result]) -> None:
    record = captured(goodqueue, "--trace", "run.pcapng")
    subprocess.run(["editcap", "-F", "pcap", "run.pcapng", "run.pcap"], check=True)
    told = subprocess.run(["tcptrace", "-l", "-n", "run.pcap"], check=True, capture_output=True, text=True).stdout
    again = [int(line.split()[3]) for line in told.splitlines() if "rexmt data pkts" in line]
    assert again == [flow["retransmitted"] for flow in record["flows"] if flow["kind"] == "bulk"]


def test_a_capture_depends_on_scenario_and_seed_alone_and_changes_nothing(
    mixed: Path, goodqueue: Callable[..., Result]
) -> None:
    first = captured(goodqueue, "--trace", "a.pcapng", "--trace-at", "sender,down-drop", "--trace-snap", "100")
    captured(goodqueue, "--trace", "b.pcapng", "--trace-at", "sender,down-drop", "--trace-snap", "100")
    assert (mixed / "a.pcapng").read_bytes() == (mixed / "b.pcapng").read_bytes()
    assert first == json.loads(goodqueue("run", "mixed.toml", "--json").out)
    assert sorted(path.name for path in mixed.iterdir()) == ["a.pcapng", "b.pcapng", "mixed.toml", "ok.toml"]


def test_a_disk_that_gets_full_is_one_line_and_leaves_what_was_there(mixed: Path) -> None:
    (mixed / "run.pcapng").write_text("what was there", encoding="utf-8")
    process = subprocess.run(
        [sys.executable, "-m", "goodqueue", "run", "mixed.toml", "--trace", "run.pcapng", "--force"],
        check=False,
        capture_output=True,
        text=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (1_000_000, 1_000_000)),
    )
    said = "goodqueue: --trace run.pcapng: cannot be written: File too large (os error 27)\n"
    assert (process.returncode, process.stdout, process.stderr) == (2, "", said)
    assert (mixed / "run.pcapng").read_text(encoding="utf-8") == "what was there"
    assert sorted(path.name for path in mixed.iterdir()) == ["mixed.toml", "ok.toml", "run.pcapng"]


@pytest.mark.parametrize(("sent", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_run_that_is_stopped_leaves_no_capture(mixed: Path, sent: int, status: int) -> None:
    options = ["--set", "duration=900000s", "--trace", "run.pcapng", "--trace-snap", "54"]
    process = subprocess.Popen([sys.executable, "-m", "goodqueue", "run", "mixed.toml", *options])
    while not drafts_of(process, mixed):
        assert process.poll() is None
        time.sleep(0.05)
    process.send_signal(sent)
    assert process.wait(timeout=60) == status
    assert sorted(path.name for path in mixed.iterdir()) == ["mixed.toml", "ok.toml"]


def test_what_a_killed_run_left_is_gone_after_the_next_one(mixed: Path) -> None:
    """On a file system on which each file has a name."""
    options = ["--set", "duration=900000s", "--trace", "out.pcapng", "--trace-snap", "54"]
    code = "from goodqueue.files import drafts; drafts.HAS_UNNAMED = False; from goodqueue.cli import main; main()"
    process = subprocess.Popen([sys.executable, "-c", code, "run", "mixed.toml", *options])
    while not any(path.stat().st_size for path in mixed.glob(".out.pcapng.partial-*")):
        assert process.poll() is None
        time.sleep(0.01)
    (left,) = mixed.glob(".out.pcapng.partial-*")
    process.kill()
    process.wait()
    assert left.exists(), "or this test shows nothing"
    with trace.asked(str(mixed / "next.pcapng"), None, None, "sim"):
        assert not left.exists()


def test_a_capture_that_is_there_stays(mixed: Path, goodqueue: Callable[..., Result]) -> None:
    (mixed / "run.pcapng").write_text("what was there", encoding="utf-8")
    refused = goodqueue("run", "mixed.toml", "--trace", "run.pcapng")
    said = "--trace run.pcapng: exists already; accepted: another name, or --force to replace it"
    assert (refused.status, refused.out, refused.err) == (2, "", f"goodqueue: {said}\n")
    captured(goodqueue, "--trace", "run.pcapng", "--force")
    assert (mixed / "run.pcapng").read_bytes()[:4] == b"\x0a\x0d\x0d\x0a"
    assert "found without --trace" in goodqueue("run", "mixed.toml", "--force").err


def test_a_capture_whose_name_was_taken_in_the_meantime_is_kept(mixed: Path) -> None:
    options = ["--set", "duration=30s", "--trace", "run.pcapng", "--json"]
    command = [sys.executable, "-m", "goodqueue", "run", "mixed.toml", *options]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    while not drafts_of(process, mixed):
        assert process.poll() is None
        time.sleep(0.01)
    (mixed / "run.pcapng").write_text("of another", encoding="utf-8")
    out, err = process.communicate(timeout=300)
    said = "--trace run.pcapng: appeared in the meantime and stays as it is; written: run-2.pcapng"
    assert (process.returncode, err) == (2, f"goodqueue: {said}\n")
    assert json.loads(out)["engine"] == "sim"
    assert (mixed / "run.pcapng").read_text(encoding="utf-8") == "of another"
    assert sorted(path.name for path in mixed.iterdir()) == ["mixed.toml", "ok.toml", "run-2.pcapng", "run.pcapng"]


def test_a_discipline_in_python_is_captured_too(mixed: Path) -> None:
    text = (
        "class Tail:\n"
        "    def __init__(self, link, limit=20):\n"
        "        self.limit = limit\n"
        "    def enqueue(self, now, packet, queue):\n"
        "        packet.drop('overlimit') if len(queue) >= self.limit else queue.push(packet)\n"
        "    def dequeue(self, now, queue):\n"
        "        return queue.pop()\n"
    )
    (mixed / "mine.py").write_text(text, encoding="utf-8")
    own = ("--set", "bottleneck.qdisc=./mine.py:Tail", "--set", "bottleneck.up.qdisc=pfifo limit 20")
    ours = ("--set", "bottleneck.qdisc=pfifo limit 20")
    for name, line in (("own", own), ("ours", ours)):
        assert spawn("run", "mixed.toml", "--trace", f"{name}.pcapng", "--trace-at", "down-drop", *line).returncode == 0
    assert (mixed / "own.pcapng").read_bytes() == (mixed / "ours.pcapng").read_bytes()
