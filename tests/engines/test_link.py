"""`goodqueue link`: real programs behind a path, run by an ordinary user, who may not open /dev/net/tun."""

import json
import os
import pty
import re
import socket
import struct
import subprocess
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from conftest import Result
from goodqueue import listening
from goodqueue.engines.live import ordering, outside
from goodqueue.linking import commands, prometheus, view
from linked import MARK, Link, environment, program, public_folder, python, times_ms

pytestmark = [pytest.mark.needs("link", "ping")]


@pytest.fixture
def place() -> Iterator[Path]:
    with public_folder() as folder:
        yield folder


PING = ("ping", "-n", "-c", "5", "-i", "0.2", "server")


@pytest.mark.parametrize("tun", [False, pytest.param(True, marks=pytest.mark.needs("mount"))])
def test_a_ping_takes_the_base_rtt(tun: bool) -> None:
    """Less would mean no path, and much more that packets are held. The least disturbed ping decides."""
    done = Link(("--rate", "10mbit", "--rtt", "80ms", "--", *PING), tun).run()
    assert done.returncode == 0, done.stderr
    times = times_ms(done.stdout)
    assert len(times) == 5, done.stdout
    # 80 ms, plus 98 bytes at 10 Mbit/s each way.
    assert 80.15 <= min(times) < 95
    assert done.stderr.startswith("goodqueue: 10mbit, base RTT 80ms, pfifo\n")


@pytest.mark.needs("iperf3")
@pytest.mark.parametrize("tun", [False, pytest.param(True, marks=pytest.mark.needs("mount"))])
def test_two_commands_meet_by_name_and_share_the_bottleneck_rate(tun: bool) -> None:
    words = ("--rate", "8mbit", "--rtt", "20ms", "--json", "--")
    server, client = ("iperf3", "-s", "-1"), ("iperf3", "-c", "server", "-R", "-t", "3")
    done = Link((*words, *server, "--", *client), tun).run()
    assert done.returncode == 0, done.stderr
    assert "Connecting to host server" in done.stderr, "with --json, what commands print goes to standard error"
    record = json.loads(done.stdout)
    assert record["engine"] == "live"
    bulk = max(record["flows"], key=lambda flow: flow["goodput_mbps"])
    assert bulk["direction"] == "down"
    # 1448 of 1514 bytes are TCP's data. The run is a little longer than the transfer.
    assert 8 * 1448 / 1514 * 0.6 < bulk["goodput_mbps"] <= 8 * 1448 / 1514
    assert record["queues"]["down"]["packets"]["forwarded"] > 1000
    assert record["live"]["late_us"]["p50"] < 5000


def test_json_is_one_object_on_standard_output() -> None:
    done = Link(("--json", "--", "sh", "-c", "echo one; echo two >&2")).run()
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("\n") == 1
    assert json.loads(done.stdout)["scenario"]["bottleneck"]["rate"] == "10mbit"
    assert "one\n" in done.stderr
    assert "two\n" in done.stderr


@pytest.mark.parametrize(("command", "status"), [("exit 7", 7), ("kill -9 $$", 137), ("kill -TERM $$", 143), (":", 0)])
def test_the_exit_status_is_that_of_the_command(command: str, status: int) -> None:
    done = Link(("--quiet", "--", "sh", "-c", command)).run()
    assert (done.returncode, done.stdout, done.stderr) == (status, "", ""), "--quiet says nothing"


def test_a_command_that_is_not_there_is_refused_before_anything_is_built() -> None:
    done = Link(("--", "no-such-command", "-x")).run()
    assert (done.returncode, done.stdout) == (127, "")
    assert done.stderr == 'goodqueue: "no-such-command": command not found\n'


def test_a_command_that_cannot_be_started_is_told_in_one_line(place: Path) -> None:
    bad = place / "bad"
    bad.write_text("#!/no/such/interpreter\n")
    bad.chmod(0o755)
    done = Link(("--quiet", "--", str(bad))).run()
    assert done.returncode == 127
    assert done.stderr == f"goodqueue: {bad}: cannot be started: No such file or directory\n"


def test_commands_are_the_users_and_have_power_over_their_network_alone() -> None:
    said = "import os, pathlib; print(os.getuid(), pathlib.Path('/proc/self/status').read_text())"
    done = Link(("--quiet", "--", str(python()), "-c", said)).run()
    assert done.returncode == 0, done.stderr
    assert done.stdout.split()[0] == ("12345" if not os.geteuid() else str(os.getuid()))
    for name in ("CapEff", "CapPrm", "CapInh", "CapAmb"):
        # CAP_NET_ADMIN is 12, CAP_NET_RAW 13.
        assert re.search(rf"^{name}:\s*0000000000003000$", done.stdout, re.MULTILINE), done.stdout


@pytest.mark.needs("host")
def test_commands_inherit_only_their_own_descriptors() -> None:
    """Descriptors of the networks at both ends came along: of what CMD must not reach but across the path."""
    done = Link(("--quiet", "--", "readlink", *(f"/proc/self/fd/{number}" for number in range(3, 30)))).run()
    assert done.stdout == ""


@pytest.mark.parametrize(
    ("found", "depth"), [("", 0), ("2", 2), ("9" * 5000, 0), ("-1", 0), ("x", 0), ("\u0663", 0), ("2\n", 0)]
)
def test_a_depth_that_no_link_has_set_counts_as_none(monkeypatch: pytest.MonkeyPatch, found: str, depth: int) -> None:
    monkeypatch.setenv(ordering.DEPTH, found)
    assert outside.depth() == depth


def test_ip_tc_and_ss_work_behind_the_path() -> None:
    words = (
        "sh",
        "-ec",
        "ip link set path mtu 1400; tc qdisc replace dev path root pfifo limit 5; ss -tin; ip link show path",
    )
    done = Link(("--quiet", "--", *words)).run()
    assert done.returncode == 0, done.stderr
    assert "mtu 1400 qdisc pfifo" in done.stdout


def test_the_environment_and_the_names_say_who_is_where() -> None:
    script = "echo $GOODQUEUE_LINK_DEPTH $GOODQUEUE_SERVER $GOODQUEUE_CLIENT; grep -E ' (server|client)6?$' /etc/hosts"
    done = Link(("--quiet", "--", "sh", "-c", script)).run()
    lines = done.stdout.splitlines()
    assert lines[0] == "1 100.64.1.1 100.64.1.2"
    assert {"100.64.1.1 server", "100.64.1.2 client"} <= set(lines[1:])
    assert "server" not in Path("/etc/hosts").read_text(encoding="utf-8").split(), "the host's own file is as it was"


def test_the_client_waits_until_the_server_listens() -> None:
    """Otherwise its first packet would meet a closed port, and scripts would have to sleep."""
    listen = "import socket, time; time.sleep(1); s = socket.create_server(('', 7)); s.accept()[0].sendall(b'hi')"
    ask = "import socket; print(socket.create_connection(('server', 7)).recv(9))"
    program = str(python())
    done = Link(("--quiet", "--", program, "-c", listen, "--", program, "-c", ask)).run()
    assert (done.returncode, done.stdout) == (0, "b'hi'\n"), done.stderr


def test_a_server_that_ends_before_it_listens_is_told() -> None:
    done = Link(("--", "sh", "-c", "exit 5", "--", "true")).run()
    assert done.returncode == 0
    assert "goodqueue: SERVER ended with status 5 before it listened\n" in done.stderr


def test_links_within_links_add_their_rtts(place: Path) -> None:
    """One connection, end to end: the inner client's packets cross both links, and the outer end answers them."""
    goodqueue = program(place)
    inner = (str(goodqueue), "link", "--quiet", "--rtt", "50ms", "--")
    done = Link(("--quiet", "--rtt", "30ms", "--", *inner, "ping", "-n", "-c", "4", "-i", "0.2", "100.64.1.1")).run()
    assert done.returncode == 0, done.stderr
    times = times_ms(done.stdout)
    assert len(times) == 4, done.stdout
    assert 80.3 <= min(times) < 95


def test_a_command_that_writes_results_leaves_its_links_capture_alone(place: Path) -> None:
    """The command lives in another process namespace, where the link's process has no number."""
    goodqueue = program(place)
    inner = (str(goodqueue), "link", "--quiet", "--trace", f"{place}/inner.pcapng", "--record", f"{place}/inner.json")
    outer = ("--quiet", "--trace", f"{place}/outer.pcapng", "--record", f"{place}/outer.json")
    done = Link((*outer, "--", *inner, "--", "true")).run()
    assert done.returncode == 0, done.stderr
    names = ["goodqueue", "inner.json", "inner.pcapng", "outer.json", "outer.pcapng"]
    assert sorted(file.name for file in place.iterdir()) == names


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("G link --quiet -- true; G link --quiet -- ping -n -c 1 server6", "1 received"),
        (
            "G link --quiet -- sleep 9 & sleep 2; G link --quiet -- true; kill %1",
            "found another one beside it; accepted",
        ),
    ],
)
def test_links_within_one_follow_each_other_one_at_a_time(words: str, said: str, place: Path) -> None:
    """Each has its far end in the outer link's network. The far end must vanish with its link."""
    goodqueue = program(place)
    done = Link(("--quiet", "--", "sh", "-c", words.replace("G", str(goodqueue)))).run()
    assert said in done.stdout + done.stderr, done.stderr


def test_a_scenario_is_the_path_and_its_traffic_shares_it(place: Path) -> None:
    file = place / "a.toml"
    text = 'duration = "9s"\nwarmup = "8s"\n[bottleneck]\nrate = "2mbit"\nqdisc = "fq_codel"\n[path]\nrtt = "40ms"\n'
    file.write_text(text + '[[traffic]]\nkind = "bulk"\n')
    done = Link(("--json", str(file), "--", *PING)).run()
    assert done.returncode == 0, done.stderr
    assert "2mbit, base RTT 40ms, fq_codel; simulated beside CMD: 1 × bulk" in done.stderr
    record = json.loads(done.stdout)
    assert record["flows"][0]["name"] == "bulk/0"
    assert record["flows"][0]["goodput_mbps"] > 0, "all of it is measured, without the file's warm-up"
    assert record["queues"]["down"]["packets"]["forwarded"] > 50


def test_metrics_are_answered_while_it_runs() -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    running = Link(
        ("--quiet", "--metrics", f"127.0.0.1:{port}", "--", "ping", "-i", "0.2", "-w", "20", "server")
    ).start()
    try:
        deadline = time.monotonic() + 20
        text, crossed = "", re.compile(r'late_seconds\{quantile="0.999"\} [0-9]')
        while not crossed.search(text) and time.monotonic() < deadline:
            time.sleep(0.3)
            try:
                with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=5) as answer:
                    assert answer.headers["Content-Type"].startswith("text/plain; version=0.0.4")
                    text = answer.read().decode()
            except OSError:
                continue
        values = dict(line.rsplit(" ", 1) for line in text.splitlines() if not line.startswith("#"))
        assert float(values['goodqueue_link_offered_packets_total{direction="up"}']) > 0, text
        assert float(values["goodqueue_link_elapsed_seconds"]) > 0
        for line in text.splitlines():  # https://prometheus.io/docs/instrumenting/exposition_formats/
            assert re.fullmatch(r'# (HELP|TYPE) \w+ .+|\w+(\{\w+="[^"]*"\})? [0-9.e+-]+', line), line
    finally:
        running.terminate()
        running.communicate(timeout=20)
    assert running.returncode == 143


def test_a_reader_of_metrics_that_goes_away_or_stays_silent_prints_nothing(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A traceback on the terminal would stand among the lines of CMD."""
    monkeypatch.setattr(listening.Handler, "timeout", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with prometheus.Metrics().served(f"127.0.0.1:{port}"):
        gone = socket.create_connection(("127.0.0.1", port))
        gone.sendall(b"GET /metrics HTTP/1.1")
        gone.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        gone.close()  # with a reset
        with socket.create_connection(("127.0.0.1", port), timeout=20) as silent:
            silent.sendall(b"GET /met")
            assert silent.recv(9) == b"", "the server has closed it"
    assert capfd.readouterr().err == ""


def test_a_port_that_is_taken_is_refused_in_one_line() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = Link(("--quiet", "--metrics", f"127.0.0.1:{port}", "--", "true")).run()
    assert done.returncode == 2
    assert done.stderr == f'goodqueue: --metrics: cannot listen at "127.0.0.1:{port}": Address already in use\n'


@pytest.mark.needs("tshark")
def test_a_capture_has_each_packet_once_and_the_record_is_a_file(place: Path) -> None:
    link = Link(("--rtt", "60ms", "--trace", f"{place}/t.pcapng", "--record", f"{place}/r.json", "--", *PING))
    done = link.run()
    assert done.returncode == 0, done.stderr
    columns = ["-T", "fields", "-e", "icmp.type", "-e", "icmp.resptime", "-e", "ip.checksum.status"]
    read = ["tshark", "-r", f"{place}/t.pcapng", "-o", "ip.check_checksum:TRUE", *columns]
    shown = subprocess.run(read, check=True, capture_output=True, text=True).stdout
    rows = [line.split("\t") for line in shown.splitlines()]
    assert sorted(row[0] for row in rows) == ["0"] * 5 + ["8"] * 5
    assert all(row[2] == "1" for row in rows), "checksums are right"
    # Captured when the way up's transmission begins, and at the queue of the way down: half of the base RTT between.
    assert all(30 <= float(row[1]) < 45 for row in rows if row[0] == "0"), rows
    assert json.loads((place / "r.json").read_text())["engine"] == "live"
    assert sorted(file.name for file in place.iterdir()) == ["r.json", "t.pcapng"]


def test_the_letter_is_of_the_last_seconds_of_a_direction() -> None:
    """A queue that has gone away must not be seen in the letter for ever, and a silent direction has none."""

    def glance(at_s: int, packets: int, delay_ms: float) -> dict[str, Any]:
        queue = {"forwarded": packets, "delay_sum_s": packets * delay_ms / 1e3, "forwarded_bytes": 0}
        return {"elapsed_s": at_s, "queues": {"down": queue, "up": queue | {"forwarded": 0, "delay_sum_s": 0.0}}}

    first, later = glance(1, 100, 250.0), glance(6, 200, 135.0)
    assert view.in_a_letter("down", None, first) == "D"
    assert view.in_a_letter("down", first, later) == "A", "100 packets more, of 20 ms each"
    assert view.in_a_letter("up", first, later) == "–"


def test_a_priority_is_a_number(goodqueue: Callable[..., Result], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(outside.PRIORITY, "fast")
    done = goodqueue("link", "--quiet", "--", "true")
    found = 'GOODQUEUE_LINK_PRIORITY: found "fast"; accepted: a real-time priority from 0 to 99'
    assert (done.status, done.err) == (2, f"goodqueue: {found}\n")


def test_live_shows_counters_below_what_the_command_prints() -> None:
    ours, theirs = pty.openpty()
    link = Link(("--live", "--", "sh", "-c", "echo first; ping -n -c 5 -i 0.2 -q server; echo last"))
    env = environment(**{MARK: link.mark, "TERM": "xterm", "COLUMNS": "100"})
    running = subprocess.Popen(link.command(), stdin=theirs, stdout=theirs, stderr=theirs, env=env)
    os.close(theirs)
    said = b""
    with suppress(OSError):  # EIO: nobody has the other end open any more
        while data := os.read(ours, 65536):
            said += data
    os.close(ours)
    assert running.wait(timeout=60) == 0, said.decode()
    text = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", said.decode())
    assert text.index("first") < text.index("late p99") < text.index("last") < text.index("Queues")
    assert re.search(r"down +0\.[0-9]{2} +0 +0\.0 +0 +0", text), text


@pytest.mark.needs("mount", "iperf3")
def test_a_full_disk_while_tracing_is_told_in_one_line(place: Path) -> None:
    """The run goes on, and the measurements are shown. Only the capture is missing."""
    words = ("--quiet", "--rate", "20mbit", "--trace", f"{place}/t.pcapng", "--")
    link = Link((*words, "iperf3", "-s", "-1", "--", "iperf3", "-c", "server", "-t", "1"))
    mount = (
        'mount --make-rprivate /; mount -t tmpfs -o size=64k,mode=777 tmpfs "$0"; "$@"; s=$?; ls -A "$0" >&2; exit $s'
    )
    done = link.run(before=("unshare", "--mount", "sh", "-c", mount, str(place)))
    assert done.returncode == 2
    said = f"goodqueue: --trace {place}/t.pcapng: cannot be written: No space left on device (os error 28)\n"
    assert done.stderr == said, "one line, and no file is left"
    assert "sender" in done.stdout, "the run went on"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "link: found no CMD; accepted: -- CMD..., or -- SERVER... -- CLIENT..."),
        (("--", "true", "--"), "link: found no CMD; accepted: -- CMD..., or -- SERVER... -- CLIENT..."),
        (("--rate", "10", "--", "true"), "--rate: found the bare number 10; accepted: a rate with its unit, such as "),
        (("--qdisc", "codle", "--", "true"), "--qdisc: "),
        (
            ("--trace-at", "up-in", "--", "true"),
            "--trace-at: found without --trace; accepted: with --trace FILE.pcapng",
        ),
        (("--metrics", "here", "--", "true"), '--metrics: found "here"; accepted: HOST:PORT, such as 127.0.0.1:9100'),
        (
            ("--trace", "x.pcapng", "--record", "./x.pcapng", "--", "true"),
            "--record ./x.pcapng: found the file of --trace; accepted: another one",
        ),
        (("--live", "--", "true"), "--live: found no terminal on standard error; accepted: a terminal there"),
        (("no.toml", "--", "true"), "no.toml: "),
    ],
)
def test_what_is_refused_says_what_is_accepted(words: tuple[str, ...], said: str) -> None:
    done = Link(words).run()
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"goodqueue: {said}")
    assert done.stderr.count("\n") == 1, "a refusal is one line"


@pytest.mark.parametrize(
    ("given", "server", "client"),
    [
        ("cat", None, "cat"),
        ("cat -- cat -n", "cat", "cat -n"),
        ("cat -- cat -- -n", "cat", "cat -- -n"),
        ("goodqueue link --rtt 1ms -- cat", None, "goodqueue link --rtt 1ms -- cat"),
        ("env A=1 /x/goodqueue link -- cat -- ls", None, "env A=1 /x/goodqueue link -- cat -- ls"),
        ("cat -- goodqueue link -- ls", "cat", "goodqueue link -- ls"),
    ],
)
def test_words_are_one_command_or_two(
    given: str, server: str | None, client: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Further `--` belong to the words of the inner link."""
    monkeypatch.setattr(commands, "which", lambda name: name)
    assert commands.commands(given.split()) == (server and server.split(), client.split())
