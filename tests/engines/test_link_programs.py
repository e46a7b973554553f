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
from linked import Link, folder, python
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
