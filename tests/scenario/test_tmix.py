"""TMIX's connection vectors: files that are read, refused, and written from a capture."""

import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from conftest import Result
from goodqueue import _goodqueue
from goodqueue.engines import loads
from goodqueue.errors import UserError
from goodqueue.files import tmix
from goodqueue.scenario import asked
from goodqueue.show import describe

FILE = """\
# a web page, then a connection on which both ends talk
SEQ 6851 2 1 55564
w 64800 6432
r 1176194
l 0.000000 0.000000
> 245
t 21217
< 510
t 700000
> 300
< 20000

CONC 900000 2 1 3 4
c> 190
t> 505
c< 396
c> 46
t< 6250
"""
READ = [
    {"start_us": 6851, "sends": [[">", 245, 21217], ["<", 510, 700000], [">", 300, 0], ["<", 20000, 0]]},
    {"start_us": 900000, "concurrent": True, "sends": [[">", 190, 505], ["<", 396, 6250], [">", 46, 0]]},
]
SCENARIO = """
duration = "5s"
bottleneck = {rate = "1gbit", qdisc = "pfifo"}
path.rtt = "40ms"
traffic = [{kind = "tmix", vectors = "some.tmix"}]
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "some.tmix").write_text(FILE, encoding="ascii")
    (tmp_path / "scenario.toml").write_text(SCENARIO, encoding="ascii")
    return tmp_path


def test_a_file_is_what_its_connections_send_and_how_long_they_wait(folder: Path) -> None:
    """A wait in a concurrent connection belongs to its own end, though the other end sent meanwhile."""
    assert tmix.read(folder / "some.tmix") == READ
    (folder / "again.tmix").write_text(tmix.text(READ), encoding="ascii")
    assert tmix.read(folder / "again.tmix") == READ


@pytest.mark.parametrize(
    ("content", "why"),
    [
        ("> 245\n", ':1: found "> 245"; accepted: SEQ or CONC'),
        ("SEQ 1 2 3\n", ':1: found "SEQ 1 2 3"; accepted: SEQ and 4 numbers'),
        ("SEQ -1 1 2 3\n", ':1: found "SEQ -1 1 2 3"; accepted: a whole number from 0'),
        ("SEQ 0 1 2 3\n> 245\nt> 4\n", ':3: found "t> 4"; accepted: one of >, <, t, w, r, l, and a number'),
        ("SEQ 0 1 2 3\n> 0\n", ':2: found "> 0"; accepted: a whole number from 1'),
        ("SEQ 0 1 2 3\n\n> 24 5\n", ':3: found "> 24 5"; accepted: one of'),
        ("SEQ 0 1 2 3\nt 3\n", ':2: found "t 3"; accepted: a wait behind what was sent'),
        ("SEQ 0 1 2 3\nr 9\nSEQ 4 1 2 3\n> 1\n", ":1: found a connection that sends nothing"),
        ("CONC 0 1 1 2 3\nc> 1\nt< 1\n", ':3: found "t< 1"; accepted: a wait behind what was sent'),
        ("S 0 1 2 3\nI 0 0 5\n", ':1: found "S 0 1 2 3"; accepted: SEQ or CONC'),
        ("# nothing\n", ": found no connection; accepted: a file of TMIX's connection vectors"),
        ("SEQ 0 1 2 3\n> \u0663\n", ":2: found "),
    ],
)
def test_what_is_no_vector_is_refused_with_its_line(tmp_path: Path, content: str, why: str) -> None:
    file = tmp_path / "some.tmix"
    file.write_text(content, encoding="utf-8")
    with pytest.raises(UserError) as refused:
        tmix.read(file)
    assert str(refused.value).startswith(f"{file}{why}")
    assert "\n" not in str(refused.value)


def test_a_file_stands_beside_the_scenario_or_where_an_option_says(folder: Path) -> None:
    resolved = loads.from_file("scenario.toml")
    assert resolved["traffic"][0]["vectors"] == READ
    (folder / "other.tmix").write_text("SEQ 5 1 0 0\n> 1\n", encoding="ascii")
    resolved = loads.from_file("scenario.toml", ["traffic.0.vectors=other.tmix"])
    assert resolved["traffic"][0]["vectors"] == [{"start_us": 5, "sends": [[">", 1, 0]]}]
    described = asked.base(None, {"traffic": "tmix:some.tmix"})[0]
    assert described["traffic"][0]["vectors"] == READ


def test_a_title_shows_the_file_and_not_its_connections(folder: Path) -> None:
    """A title of eight connections had 18 lines. Stored records from before have no name of the file."""
    described = asked.base(None, {"traffic": "tmix:some.tmix"})[0]
    assert describe.traffic(described) == "1 × tmix of some.tmix"
    resolved = json.loads(_goodqueue.resolve(json.dumps(loads.from_file("scenario.toml"))))
    assert describe.traffic(resolved) == "1 × tmix of some.tmix down"
    del resolved["traffic"][0]["file"]
    assert describe.traffic(resolved) == "1 × tmix of 2 vectors down"


@pytest.mark.parametrize("point", ["sender", "down-out,up-in", "receiver"])
def test_a_capture_of_what_was_replayed_gives_the_same_vectors(
    folder: Path, goodqueue: Callable[..., Result], point: str
) -> None:
    """Wherever the capture is taken on the path: the path's part of a wait is subtracted, except the queues' part."""
    vectors: list[dict[str, Any]] = [
        {"start_us": 100_000 * number, "sends": [[">", 300 + number, 20_000], ["<", 9000, 70_000], [">", 500, 0]]}
        for number in range(1, 20)
    ]
    for vector in vectors:
        vector["sends"].append(["<", 700, 0])
    both = [[">", 600, 900_000], ["<", 30_000, 0], [">", 700, 0]]
    vectors.append({"start_us": 2_500_000, "concurrent": True, "sends": both})
    (folder / "some.tmix").write_text(tmix.text(vectors), encoding="ascii")
    ran = goodqueue("run", "scenario.toml", "--trace", "run.pcapng", "--trace-at", point, "--json")
    assert ran.status == 0, ran.err
    (app,) = json.loads(ran.out)["apps"]
    assert (app["connections"], app["completed"], app["count"]) == (20, 20, 38)
    written = goodqueue("vectors", "run.pcapng", "--out", "again.tmix")
    assert (written.status, written.out) == (0, "Written: again.tmix, 20 connections, 1 of them concurrent.\n")
    again = tmix.read(folder / "again.tmix")
    first = again[0]["start_us"]
    assert first == 0, "the capture begins with the first"
    for before, after in zip(vectors, again, strict=True):
        assert after.get("concurrent") == before.get("concurrent")
        assert after["start_us"] - first == pytest.approx(before["start_us"] - 100_000, abs=300)
        # The direction whose data pass the capture first has no waits if nobody waits for its data.
        directions = "><" if before.get("concurrent") else ["><"]
        for direction in directions:
            sent, seen = ([one for one in vector["sends"] if one[0] in direction] for vector in (before, after))
            assert [send[:2] for send in seen] == [send[:2] for send in sent]
            # Delay behind the link's transmission, 73 us for the largest response, is no part of a wait.
            assert [send[2] for send in seen] == pytest.approx([send[2] for send in sent], abs=300)
    rtts = re.findall(r"^r (\d+)$", (folder / "again.tmix").read_text(encoding="ascii"), re.MULTILINE)
    assert [int(rtt) for rtt in rtts] == pytest.approx([40_000] * 20, abs=300)


def test_a_capture_that_is_none_is_one_line(folder: Path, goodqueue: Callable[..., Result]) -> None:
    for name, content, why in (
        ("none.pcap", None, "not found; accepted: "),
        ("text.pcap", b"no capture, but more than enough bytes of text", "offset 0: no header of a capture"),
    ):
        if content is not None:
            (folder / name).write_bytes(content)
        refused = goodqueue("vectors", name, "--out", "out.tmix")
        assert refused.status == 2
        assert refused.err.startswith(f"goodqueue: {name}: {why}")
        assert refused.err.count("\n") == 1
    assert not (folder / "out.tmix").exists()


def test_the_core_says_what_a_vector_is() -> None:
    asked = {"duration": "9s", "bottleneck": {"rate": "1mbit", "qdisc": "pfifo"}, "path": {"rtt": "1ms"}}
    with pytest.raises(_goodqueue.ScenarioError, match="accepted: a list of connection vectors"):
        _goodqueue.resolve(json.dumps(asked | {"traffic": [{"kind": "tmix", "vectors": "a"}]}))


def test_flows_share_the_vectors_of_their_table(folder: Path) -> None:
    """Each flow had a copy, so that a file of some MB and a large count took all memory."""
    vector = [{"start_us": 10**8 + number, "sends": [[">", 9, 1], ["<", 9, 0]]} for number in range(20_000)]
    (folder / "many.tmix").write_text(tmix.text(vector), encoding="ascii")
    limit = "import resource; resource.setrlimit(resource.RLIMIT_AS, (3 << 30, 3 << 30))"
    words = ["run", "scenario.toml", "--set", "traffic.0.vectors=many.tmix", "--set", "traffic.0.count=3000"]
    command = [sys.executable, "-c", f"{limit}; from goodqueue.cli import main; main({words})"]
    done = subprocess.run(command, check=False, capture_output=True, text=True, encoding="utf-8")
    assert (done.returncode, done.stderr) == (0, "")
