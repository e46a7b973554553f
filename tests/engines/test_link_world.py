"""From behind a path to the world outside, through the programs that reach the world for an ordinary user."""

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from goodqueue.engines.live import mounts, outward
from linked import MAIN, Link, python

ASK = """
import sys, time, urllib.request
began = time.monotonic()
with urllib.request.urlopen(sys.argv[1], timeout=20) as answer:
    print(answer.read().decode(), time.monotonic() - began)
"""

ONLY = "from goodqueue.engines.live import outward; outward.PROGRAMS = {{'{0}': outward.PROGRAMS['{0}']}}; " + MAIN


@pytest.fixture
def site() -> Iterator[int]:
    """Run a server on this host's loopback. Yields its port."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b"hello")

        def log_message(self, *words: object) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        yield server.server_address[1]
        server.shutdown()
        thread.join()


@pytest.mark.needs("link", "mount")
@pytest.mark.parametrize(
    "program", [pytest.param(name, marks=pytest.mark.needs(name)) for name in ("pasta", "slirp4netns")]
)
def test_this_hosts_loopback_is_reached_across_the_path(program: str, site: int) -> None:
    """Without the path the answer would come at once: connection and request take one round trip each."""
    words = ("--quiet", "--rtt", "100ms", "--", str(python()), "-c", ASK, f"http://host:{site}/")
    done = Link(words, tun=True, main=ONLY.format(program)).run()
    assert done.returncode == 0, done.stderr
    said, seconds = done.stdout.split()
    assert said == "hello"
    assert 0.2 <= float(seconds) < 5


@pytest.mark.needs("link", "mount", "pasta")
def test_a_server_behind_the_path_is_not_open_to_the_host(site: int) -> None:
    """Without its options pasta listens on the host for every program that listens behind it."""
    code = "import socket; s = socket.create_server(('', 0)); print(s.getsockname()[1]); import time; time.sleep(2)"
    listening = Link(("--quiet", "--", str(python()), "-u", "-c", code), tun=True).start()
    try:
        assert listening.stdout is not None
        port = f":{int(listening.stdout.readline()):04X} "
        tables = [Path("/proc/net", name).read_text(encoding="ascii") for name in ("tcp", "tcp6")]
        assert not any(
            port in f"{line.split()[1]} " for table in tables for line in table.splitlines()[1:] if " 0A " in line
        )
    finally:
        listening.communicate(timeout=30)


@pytest.mark.needs("link")
def test_without_a_way_out_the_command_runs_and_a_line_says_what_lacks() -> None:
    main = "from goodqueue.engines.live import outward; outward.find = lambda name: None; " + MAIN
    done = Link(("--", "sh", "-c", "echo ran"), main=main).run()
    assert done.returncode == 0
    assert done.stdout.startswith("ran\n")
    remedy = "found neither pasta nor slirp4netns; apt-get install passt"
    assert f"goodqueue: the world outside cannot be reached: {remedy}\n" in done.stderr


@pytest.mark.parametrize(
    ("servers", "found"),
    [
        ("nameserver 10.0.0.1\n", None),
        ("nameserver 127.0.0.53\noptions edns0\nsearch lan\n", "nameserver 198.18.0.3\noptions edns0\nsearch lan\n"),
        ("nameserver ::1\n", "nameserver 198.18.0.3\n"),
        ("# nameserver 127.0.0.1\nnameserver fe80::1%eth0\n", None),
        ("", None),
    ],
)
def test_a_resolver_on_the_loopback_is_replaced_by_one_that_is_passed_on(
    tmp_path: Path, servers: str, found: str | None
) -> None:
    """Behind the path, the host's loopback is a different one, on which nobody answers."""
    file = tmp_path / "resolv.conf"
    file.write_text(servers, encoding="utf-8")
    assert outward._resolver(file) == found


def test_names_of_an_outer_link_give_way_to_those_of_the_inner() -> None:
    before = "127.0.0.1 localhost\n100.64.1.1 server\n100.64.1.2 client other # us\n"
    after = mounts.hosts(before, {"server": ["100.64.2.1"], "client": ["100.64.2.2"]})
    assert after == "127.0.0.1 localhost\n100.64.1.2 other\n100.64.2.1 server\n100.64.2.2 client\n"
