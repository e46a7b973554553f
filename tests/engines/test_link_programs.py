"""`goodqueue link` with programs that people run behind it: TCP that reacts to marks, QUIC, a browser."""

import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest

from goodqueue.measures import scores
from goodqueue.measures.scores import letter
from goodqueue.store import checking
from linked import Link, folder, public_folder, python
from needs import CHROMIUM

pytestmark = [pytest.mark.needs("link")]

MARKED = """
echo 1 > /proc/sys/net/ipv4/tcp_ecn
iperf3 -c server -C cubic -t 4 > /dev/null &
sleep 3
ss -ntin
wait
"""

PAGE = """<!doctype html><title>page</title><p id=said>not yet</p>
<img src=1.svg><img src=2.svg><img src=3.svg>
<script>onload = () => { said.textContent = [...document.images].map(one => one.naturalWidth).join("+") }</script>
"""


def run(*words: str) -> tuple[str, dict[str, Any]]:
    """Run a link as `linked.Link` does. Returns the output of its commands, and the record."""
    done = Link(("--json", *words)).run()
    assert done.returncode == 0, done.stderr
    return done.stderr, json.loads(done.stdout)


@pytest.mark.needs("iperf3", "host")
def test_a_sender_hears_of_marks() -> None:
    """A mark with a bad checksum, which no sender would see, or a drop instead of a mark would be wrong."""
    words = ("--rate", "8mbit", "--rtt", "20ms", "--qdisc", "codel ecn", "--")
    said, record = run(*words, "iperf3", "-s", "-1", "--", "sh", "-ec", MARKED)
    heard = [int(count) for count in re.findall(r"delivered_ce:(\d+)", said)]
    queue = record["queues"]["up"]
    assert max(heard, default=0) > 0, said
    assert queue["packets"]["marked"] > 0
    assert queue["packets"]["dropped"] == 0
    found = record["live"]["bufferbloat"]
    assert found["added_ms"] == scores.bufferbloat_ms(checking.record(record, "the link's record"))
    assert found["letter"] == letter.letter(found["added_ms"])


@pytest.mark.needs("aioquic")
def test_a_transfer_by_quic() -> None:
    """300 kB at 8 Mbit/s take at least 0.3 s. Datagrams lost although nothing drops would be wrong."""
    script = str(folder("tests") / "quic_transfer.py")
    program = (python() or sys.executable, script)
    words = ("--rate", "8mbit", "--rtt", "40ms", "--qdisc", "fq_codel", "--")
    said, record = run(*words, *program, "server", "300000", "--", *program, "client")
    assert said.splitlines()[-1] == "300000"
    (flow,) = [flow for flow in record["flows"] if flow["name"].startswith("udp") and ":4433" in flow["name"]]
    assert flow["direction"] == "down"
    assert 0.5 < flow["goodput_mbps"] <= 8
    assert record["live"]["elapsed_s"] > 0.3


@pytest.mark.needs("host")
@pytest.mark.parametrize(
    ("second", "line", "share"),
    [
        ("100.64.1.77", "dual-dsthost", 0.5),
        pytest.param("100.64.1.77", "flows", 0.25, marks=pytest.mark.long),
        pytest.param("100.64.1.2", "dual-dsthost", 0.25, marks=pytest.mark.long),
    ],
)
def test_an_address_of_a_program_is_a_host_to_cake(second: str, line: str, share: float) -> None:
    """One connection of one address beside three of another. With one address for all, a note says so."""
    script = str(folder("tests") / "isolated.py")
    program = (python() or sys.executable, script)
    words = ("--rate", "8mbit", "--rtt", "20ms", "--qdisc", f"cake besteffort {line}", "--")
    said, record = run(*words, *program, "server", "--", *program, "client", second)
    (found,) = re.findall(r"share ([0-9.]+)", said)
    assert float(found) == pytest.approx(share, abs=0.07), said
    assert record["live"]["hosts"] == {"client": 1 + (second == "100.64.1.77"), "server": 1}
    note = '"dual-dsthost" had one host to share between: all packets had one client address'
    assert (note in said) == (second == "100.64.1.2")


CLASSES = """
tc = [
    "tc qdisc add dev eth0 root handle 1: htb default 30",
    "tc class add dev eth0 parent 1: classid 1:10 htb rate 2mbit",
    "tc class add dev eth0 parent 1: classid 1:30 htb rate 20mbit",
    "tc filter add dev eth0 parent 1: {filter} flowid 1:10",
]
"""


@pytest.mark.long
@pytest.mark.needs("iperf3", "host")
@pytest.mark.parametrize(
    ("filter_", "words", "rate"),
    [
        ("protocol ip u32 match ip protocol 6 0xff", "", 2),
        ("protocol ip u32 match ip protocol 17 0xff", "", 20),
        ("protocol ip flower ip_proto udp", "-u -b 10m -l 1400", 2),
        ("protocol ip u32 match ip dst 100.64.1.1/32", "", 2),
        ("protocol ip u32 match ip dst 100.64.1.9/32", "", 20),
        ("protocol ip u32 match ip dport 5201 0xffff", "", 2),
        ("protocol ip u32 match ip dport 80 0xffff", "", 20),
        ("protocol ip u32 match ip tos 0xb8 0xfc", "--dscp ef", 2),
        ("protocol ip u32 match ip tos 0xb8 0xfc", "--dscp af11", 20),
        ("protocol ipv6 flower ip_proto tcp dst_port 5201", "-6", 2),
        ("protocol ip u32 match ip protocol 6 0xff", "-6", 20),
    ],
)
def test_a_filter_sees_real_headers(filter_: str, words: str, rate: float) -> None:
    """The payload is 1448 of 1514 bytes of TCP, 1428 in IPv6, and 1400 of 1442 of UDP. The rate was always 20."""
    host = "server6" if "-6" in words else "server"
    cubic = "" if "-u" in words else "-C cubic"  # whatever this machine's own congestion control is
    client = f"iperf3 -c {host} -t 5 -O 1 -J {cubic} {words}".split()
    times = 'duration = "9s"\nwarmup = "1s"\n'
    tree = CLASSES.format(filter=filter_)
    with public_folder() as place:
        scenario = place / "filtered.toml"
        scenario.write_text(f'{times}[bottleneck]\nrate = "50mbit"\n{tree}[path]\nrtt = "20ms"\n', "utf-8")
        scenario.chmod(0o644)
        said, _ = run(str(scenario), "--", "iperf3", "-s", "-1", "--", *client)
    received = json.loads(said[said.index("{") : said.rindex("}") + 1])["end"]
    got = received.get("sum_received", received.get("sum"))["bits_per_second"] / 1e6
    share = 1400 / 1442 if "-u" in words else (1428 if "-6" in words else 1448) / 1514
    assert got == pytest.approx(rate * share, rel=0.05)


@pytest.mark.long
@pytest.mark.needs("chromium")
def test_a_page_in_a_browser(tmp_path: Path) -> None:
    """The page's script reports the width of its pictures after all have arrived. One that never arrives is wrong."""
    site = tmp_path / "site"
    site.mkdir()
    (site / "index.html").write_text(PAGE)
    for number in (1, 2, 3):
        picture = f'<svg xmlns="http://www.w3.org/2000/svg" width="{number}" height="9"><!--{"x" * 50_000}--></svg>'
        (site / f"{number}.svg").write_text(picture)
    serve = f"cd {site} && exec {python() or sys.executable} -m http.server 8000"
    flags = "--headless --no-sandbox --disable-gpu --disable-dev-shm-usage --user-data-dir=$(mktemp -d)"
    browse = f"exec {CHROMIUM} {flags} --timeout=20000 --dump-dom http://server:8000/"
    for above in (tmp_path, *tmp_path.parents):
        if not above.stat().st_mode & 1:
            above.chmod(0o755)
    words = ("--rate", "4mbit", "--rtt", "60ms", "--qdisc", "fq_codel", "--")
    said, record = run(*words, "sh", "-c", serve, "--", "sh", "-c", browse)
    assert '<p id="said">1+2+3</p>' in said, said
    down = record["queues"]["down"]["packets"]["forwarded"]
    assert down > 3 * 50_000 / 1448, "the pictures crossed the path"
