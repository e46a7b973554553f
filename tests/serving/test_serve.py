"""`goodqueue serve`: the user's own scenarios and results in their current state, and a command that ends quietly."""

import json
import os
import shlex
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from conftest import PAGE, ROOT, SCENARIO, TOML, Result
from goodqueue import running, scenario, store
from goodqueue.cli import serve
from goodqueue.engines import identity
from goodqueue.serving import mine, server
from goodqueue.store import Store
from served import LIMIT_S, Ask, body_of, served

Command = Callable[..., Result]


# --- the user's own --------------------------------------------------------------------------------------------------


def one_text(seed: int) -> str:
    return running.one_text(scenario.resolve({**SCENARIO, "seed": seed}))


def kept(folder: Path, *scenarios: dict[str, Any]) -> Store:
    found = store.create(folder, "--out")
    for one in scenarios:
        found.put(of := identity.of("sim", scenario.resolve({**SCENARIO, **one})), running.one_text(of.scenario))
    return found


def test_scenarios_as_the_command_reads_them(page: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    with served("examples") as ask:
        listing = body_of(ask, "/mine.json")
        names = [one["name"] for one in listing["scenarios"]]
        assert names == sorted(str(path) for path in Path("examples").glob("*.toml"))
        assert listing["results"] == []
        for one in listing["scenarios"]:
            assert body_of(ask, f"/{one['url']}") == {"scenario": scenario.load(one["name"])}


def test_a_file_that_traffic_names_is_in_the_scenario(page: Path, here: Path) -> None:
    """A browser cannot read the file."""
    Path("sub").mkdir()
    Path("sub/sizes.csv").write_text("0,1000\n1,2000\n", encoding="utf-8")
    web = '[[traffic]]\nkind = "web_users"\nusers = 2\nrtt = "10ms"\nobject = "sizes.csv"\n'
    Path("sub/web.toml").write_text(TOML + web, encoding="utf-8")
    with served("sub/web.toml") as ask:
        assert body_of(ask, "/mine/0.json")["scenario"]["traffic"][-1]["object"] == [[0.0, 1000.0], [1.0, 2000.0]]


def test_records_are_the_engines_own_bytes(page: Path, here: Path, goodqueue: Command) -> None:
    printed = goodqueue("run", "ok.toml", "--json").out
    Path("record.json").write_text(printed, encoding="utf-8")
    lines = [one_text(1), one_text(2)]
    Path("two.jsonl").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    stored = kept(here / "st", {"seed": 5, "bottleneck": {"rate": "5mbit", "qdisc": "pie"}}, {"seed": 4})
    Path("cmp").mkdir()
    Path("cmp/results.json").write_text('{"made_by": "goodqueue compare"}', encoding="utf-8")
    Path("cmp/records.jsonl").write_text(f"{one_text(7)}\n{one_text(8)}\n", encoding="utf-8")
    with served("ok.toml", "record.json", "two.jsonl", "st", "cmp", "cmp/results.json") as ask:
        listing = body_of(ask, "/mine.json")
        assert [one["name"] for one in listing["scenarios"]] == ["ok.toml"]
        bodies = [ask(f"/{one['url']}") for one in listing["results"]]
    found = [body.decode() for _, _, body in bodies]
    assert {(status, headers["Content-Type"]) for status, headers, _ in bodies} == {(200, "application/json")}
    assert found[:3] == [printed.strip(), *lines]
    by_key = [row["record"] for row in stored.rows(stored.all_keys(), ["record"])]
    assert sorted(found[3:5]) == sorted(by_key)
    assert found[5:] == Path("cmp/records.jsonl").read_text(encoding="utf-8").splitlines(), "once, though named twice"


def test_names_tell_runs_apart(page: Path, here: Path) -> None:
    wide, far = {"bottleneck": {"rate": "50mbit", "qdisc": "codel"}}, {"path": {"rtt": "80ms"}}
    kept(here / "st", {}, {"seed": 2}, wide, far, {"bottleneck": {"rate": "10mbit", "qdisc": "pie"}})
    Path("same.json").write_text(one_text(1), encoding="utf-8")
    with served("st") as ask:
        names = {one["name"] for one in body_of(ask, "/mine.json")["results"]}
    assert len(names) == 5
    for words in (["pie"], ["codel", "50mbit"], ["codel", "80ms"], ["codel", "seed 2"], ["codel", "10mbit", "seed 1"]):
        assert any(all(word in name for word in words) for name in names), (words, names)
    with served("st", "same.json") as ask:
        names = [one["name"] for one in body_of(ask, "/mine.json")["results"]]
    assert len(set(names)) == 6, "the same run twice is told by where it is"
    assert names[-1].endswith(", same.json")


def test_an_edit_shows_and_a_broken_file_is_told_in_a_line(page: Path, here: Path) -> None:
    Path("record.json").write_text(one_text(1), encoding="utf-8")
    Path("two.jsonl").write_text(f"{one_text(2)}\n{one_text(3)}\n", encoding="utf-8")
    stored = kept(here / "st", {"seed": 4})
    with served("ok.toml", "record.json", "two.jsonl", "st") as ask:

        def refused(number: int) -> str:
            status, headers, body = ask(f"/mine/{number}.json")
            assert (status, headers["Content-Type"], list(json.loads(body))) == (422, "application/json", ["error"])
            line: str = json.loads(body)["error"]
            assert "\n" not in line
            return line

        Path("ok.toml").write_text(TOML.replace("10mbit", "7mbit"), encoding="utf-8")
        assert body_of(ask, "/mine/0.json")["scenario"]["bottleneck"]["rate"] == "7mbit"
        Path("ok.toml").write_text("duration =", encoding="utf-8")
        assert "ok.toml: not TOML" in refused(0)
        Path("ok.toml").write_text(TOML.replace('"10mbit"', "inf"), encoding="utf-8")
        assert refused(0).startswith("ok.toml: bottleneck.rate: found")
        Path("ok.toml").unlink()
        assert "ok.toml: not found" in refused(0)

        Path("record.json").write_text(one_text(9), encoding="utf-8")
        assert body_of(ask, "/mine/1.json")["seed"] == 9
        Path("record.json").write_text("{}", encoding="utf-8")
        assert "record.json: not a record" in refused(1)
        Path("two.jsonl").write_text(f"{one_text(2)}\n", encoding="utf-8")
        assert body_of(ask, "/mine/2.json")["seed"] == 2
        assert "found 1 records; accepted: 2 or more" in refused(3)

        stored.path(stored.all_keys()[0]).write_bytes(b"PAR1")
        assert "damaged" in refused(4)
        assert len(body_of(ask, "/mine.json")["results"]) == 4, "the list stays as it was, so numbers mean the same"


def test_what_the_browser_cannot_run_is_listed_all_the_same(page: Path, here: Path) -> None:
    traced = TOML.replace('rate = "10mbit"', 'trace = "none.mahimahi"')
    Path("sub").mkdir()
    Path("sub/traced.toml").write_text(traced, encoding="utf-8")
    Path("sub/own.toml").write_text(TOML.replace('"codel"', '"./idea.py:Idea"'), encoding="utf-8")
    with served("sub") as ask:
        names = [one["name"] for one in body_of(ask, "/mine.json")["scenarios"]]
        assert names == ["sub/own.toml", "sub/traced.toml"]
        assert body_of(ask, "/mine/1.json")["scenario"]["bottleneck"]["trace"] == "sub/none.mahimahi"


def test_without_paths_the_scenarios_here_and_nothing_else(page: Path, here: Path) -> None:
    (here / "pyproject.toml").write_text("[project]\nname = 'x'\n", encoding="utf-8")
    (here / "broken.toml").write_text("duration =", encoding="utf-8")
    os.mkfifo(here / "pipe.toml")
    (here / "zero.toml").symlink_to("/dev/zero")
    Path("record.json").write_text(one_text(1), encoding="utf-8")
    kept(here / "st", {})
    found = mine.find([])
    assert found.listing() == {"scenarios": [{"name": "ok.toml", "url": "mine/0.json"}], "results": []}
    broken, pipe, zero = found.left_out
    assert broken.startswith("left out: broken.toml: not TOML"), "the user wonders else where it is"
    assert pipe.startswith("left out: pipe.toml: found a pipe"), "nobody may ever write to it"
    assert zero.startswith("left out: zero.toml: found a device")


def test_many_runs_are_listed_by_their_columns(page: Path, here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    count = 60
    text = one_text(1)
    stored = store.create(here / "st", "--out")
    for seed in range(count):
        stored.put(identity.of("sim", scenario.resolve({**SCENARIO, "seed": seed})), text)
    asked: set[str] = set()
    rows = Store.rows
    monkeypatch.setattr(Store, "rows", lambda self, keys, names: asked.update(names) or rows(self, keys, names))
    with served("st") as ask:
        assert "record" not in asked, "a store's records may be gigabytes"
        names = [one["name"] for one in body_of(ask, "/mine.json")["results"]]
        assert names == [f"codel, seed {seed}" for seed in range(count)], "in order, as sorted by scenario and seed"
        assert ask(f"/mine/{count - 1}.json")[2].decode() == text
    monkeypatch.setattr(mine, "MOST", 7)
    Path("one.json").write_text(text, encoding="utf-8")
    found = mine.find(["st", "one.json"])
    assert len(found.results) == 7
    assert found.left_out == [
        "st: left out: 53 of 60 results; 7 are listed at most",
        "one.json: left out: 1 of 1 results; 7 are listed at most",
    ]


# --- the command -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("none.toml", "none.toml: not found"),
        ("none.json", "none.json: not found"),
        ("empty", "empty: no store.json, no records.jsonl and no scenario in it"),
        ("other.toml", "other.toml: found no [bottleneck]"),
        ("broken.toml", "broken.toml: not TOML"),
        ("bad.json", "bad.json: not a record"),
        ("pipe.json", "pipe.json: found no regular file"),
        ("newer", "newer: found a store of format 99"),
        ("damaged", "damaged (its checksum is of other bytes)"),
        ("none", "none: not found"),
    ],
)
def test_what_cannot_be_read_is_refused_before_anything_is_served(
    page: Path, here: Path, goodqueue: Command, path: str, expected: str
) -> None:
    Path("empty").mkdir()
    Path("other.toml").write_text("[project]\n", encoding="utf-8")
    Path("broken.toml").write_text("duration =", encoding="utf-8")
    Path("bad.json").write_text("{}", encoding="utf-8")
    os.mkfifo("pipe.json")
    Path("newer").mkdir()
    Path("newer/store.json").write_text('{"format": 99}', encoding="utf-8")
    if path == "damaged":
        stored = kept(here / "damaged", {})
        file = stored.path(stored.all_keys()[0])
        data = file.read_bytes()
        file.write_bytes(data.replace(b"goodqueue", b"goodqueuf", 1))
    result = goodqueue("serve", "ok.toml", path, "--port", "0", "--no-browser")
    assert (result.status, result.out, result.err.count("\n")) == (2, "", 1)
    assert expected in result.err


def test_a_store_whose_scenario_is_none_is_refused(page: Path, here: Path, goodqueue: Command) -> None:
    """A file from before the checksums, which may have been changed in any way."""
    import pyarrow as pa
    from pyarrow import parquet

    from goodqueue.store import columns

    stored = kept(here / "st", {})
    file = stored.path(stored.all_keys()[0])
    (row,) = parquet.read_table(file).to_pylist()
    for broken, why in ((None, "its scenario is none"), ("[]", "accepted: a table"), ("{}", "missing")):
        schema = columns.schema()
        table = {name: [broken if name == "scenario" else row[name]] for name in schema.names}
        parquet.write_table(pa.table(table, schema), file)
        result = goodqueue("serve", "st", "--port", "0", "--no-browser")
        assert (result.status, result.out, result.err.count("\n")) == (2, "", 1)
        assert why in result.err


def test_no_page_in_the_package(
    tmp_path: Path, here: Path, goodqueue: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server, "PAGE", tmp_path / "page")
    for _ in range(2):
        result = goodqueue("serve", "--port", "0", "--no-browser")
        assert (result.status, result.out, result.err.count("\n")) == (2, "", 1)
        assert "found no page in the package" in result.err
        assert "make web" in result.err
        (tmp_path / "page").mkdir(exist_ok=True)  # an empty folder is no page, either


def test_a_port_that_is_taken(page: Path, here: Path, goodqueue: Command) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        result = goodqueue("serve", "--port", str(port), "--no-browser")
    assert (result.status, result.out) == (2, "")
    accepted = "accepted: another port, or 0 for any"
    assert result.err == f"goodqueue: --port: found {port}, which another program listens on; {accepted}\n"


@pytest.mark.parametrize("port", ["-1", "65536", "http", "8289.0"])
def test_no_port(page: Path, here: Path, goodqueue: Command, port: str) -> None:
    result = goodqueue("serve", f"--port={port}", "--no-browser")
    assert (result.status, result.out) == (2, "")
    assert result.err == f'goodqueue: --port: found "{port}"; accepted: a whole number from 0 to 65535\n'


START = """
import sys
from pathlib import Path
from goodqueue.serving import server
server.PAGE = Path(sys.argv.pop(1))
from goodqueue.cli import main
main(sys.argv[1:])
"""


@contextmanager
def command(page: Path, *arguments: str, **environment: str) -> Iterator["subprocess.Popen[str]"]:
    """Run the command in its own process, with ``page``. It listens once it has printed its first line."""
    words = [sys.executable, "-c", START, str(page), "serve", "--port", "0", *arguments]
    env = os.environ | environment
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=env) as process:
        try:
            yield process
        finally:
            process.kill()


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 0), (signal.SIGTERM, 143)])
def test_it_ends_quietly_and_leaves_nothing(page: Path, here: Path, number: int, status: int) -> None:
    before = sorted(here.iterdir()), sorted(page.rglob("*"))
    with command(page, "ok.toml", "--no-browser", "--json") as process:
        assert process.stdout is not None
        url = json.loads(process.stdout.readline())["url"]
        port = int(url.removeprefix("http://127.0.0.1:").removesuffix("/"))
        ask = Ask(port)
        assert ask("/")[2] == PAGE["index.html"]
        assert body_of(ask, "/mine.json")["scenarios"] == [{"name": "ok.toml", "url": "mine/0.json"}]
        with socket.create_connection(("127.0.0.1", port), timeout=LIMIT_S) as idle:  # as browsers keep one open
            assert ask("/")[0] == 200, "the connection before this one was accepted by now"
            process.send_signal(number)
            out, err = process.communicate(timeout=LIMIT_S)
            assert (process.returncode, out, err) == (status, "", "")
            assert idle.recv(1) == b""
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", port), timeout=LIMIT_S)
    assert (sorted(here.iterdir()), sorted(page.rglob("*"))) == before


def test_it_listens_for_this_machine_alone(page: Path) -> None:
    with server.Server(server.page(), mine.Mine([], [], []), 0) as listening:
        assert listening.socket.getsockname()[0] == "127.0.0.1"


def test_it_opens_the_browser_at_the_address_that_it_prints(page: Path, here: Path) -> None:
    os.mkfifo("opened")
    browser = [sys.executable, "-c", "import sys; open('opened', 'w').write(sys.argv[1])"]
    with command(page, BROWSER=f"{shlex.join(browser)} %s") as process:
        assert process.stdout is not None
        url = process.stdout.readline().strip()
        assert process.stdout.readline() == "Scenarios: 1, results: 0. Ctrl-C ends it.\n"
        assert Path("opened").read_text(encoding="utf-8") == url
        process.send_signal(signal.SIGINT)
        assert process.communicate(timeout=LIMIT_S) == ("", "")
        assert process.returncode == 0


def test_no_browser_where_none_is_wanted(
    page: Path, here: Path, goodqueue: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[str] = []
    monkeypatch.setattr(serve, "_open", opened.append)
    monkeypatch.setattr(server.Server, "serve_forever", lambda listening: None)
    assert goodqueue("serve", "--port", "0", "--no-browser").status == 0
    assert opened == []
    result = goodqueue("serve", "--port", "0", "--json")
    assert opened == [json.loads(result.out)["url"]]
