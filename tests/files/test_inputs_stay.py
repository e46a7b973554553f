"""No verb overwrites a file that it reads or a file of others, even with --force, and whatever the file is called."""

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

import captures
from conftest import Result
from goodqueue.files import output
from goodqueue.record import Record
from goodqueue.studies.libraries import STUDIES

Command = Callable[..., Result]

ALIASES = ["same", "dot", "symbolic link", "hard link"]


def named(alias: str, file: str, ending: str) -> str:
    """Return another name of ``file``, with this ending if it is a link."""
    if alias == "symbolic link":
        Path(f"alias{ending}").symlink_to(file)
    elif alias == "hard link":
        os.link(file, f"alias{ending}")
    else:
        return f"./{file}" if alias == "dot" else file
    return f"alias{ending}"


FILES = {
    "run in.pcapng --force --trace": "in.pcapng",
    "run rates.toml --force --trace": "rates.pcapng",
    "link in.toml --force -- true --record": "in.toml",
    "link --trace-down rates.pcapng --force -- true --record": "rates.pcapng",
    "link rates.toml --force -- true --record": "rates.pcapng",
    "link sizes.toml --force -- true --record": "sizes.csv",
    "link class.toml --force -- true --record": "class.py",
    "plot cdf in.svg --metric ping_rtt_ms --force --out": "in.svg",
    "report in.svg --force --out": "in.svg",
    "vectors in.pcap --force --out": "in.pcap",
}
"""Commands that end in an option, and the file that it must not name."""


@pytest.mark.parametrize("alias", ALIASES)
@pytest.mark.parametrize("words", FILES)
def test_a_file_that_is_read_stays(here: Path, goodqueue: Command, record: Record, words: str, alias: str) -> None:
    text = (here / "ok.toml").read_text(encoding="utf-8")
    users = 'kind = "web_users"\nusers = 1\nobject = "sizes.csv"'
    contents = {
        "in.pcapng": text,
        "in.toml": text,
        "in.svg": json.dumps(record),
        "rates.pcapng": "1\n2\n",
        "rates.toml": text.replace('rate = "10mbit"', 'trace = "rates.pcapng"'),
        "sizes.csv": "0,100\n1,200\n",
        "sizes.toml": text.replace('kind = "ping"', users),
        "class.py": (Path(__file__).parents[2] / "examples" / "my_aqm.py").read_text(encoding="utf-8"),
        "class.toml": text.replace('"codel"', '"./class.py:MyAqm"'),
    }
    for name, content in contents.items():
        Path(name).write_text(content, encoding="utf-8")
    Path("in.pcap").write_bytes(captures.pcap(captures.frames(captures.connection())))
    file = FILES[words]
    before = Path(file).read_bytes()
    *head, option = words.split()
    at = head.index("--") if "--" in head else len(head)
    done = goodqueue(*head[:at], option, named(alias, file, Path(file).suffix), *head[at:])
    assert done.status == 2, done
    assert "found a file that this command reads; accepted: another name" in done.err
    assert Path(file).read_bytes() == before


@pytest.mark.long
@pytest.mark.parametrize("alias", ["symbolic link", "hard link"])
def test_a_file_of_results_that_are_read_stays(here: Path, goodqueue: Command, alias: str) -> None:
    assert goodqueue("compare", "pfifo", "codel", "--duration", "2s", "--warmup", "1s", "--out", "cmp").status == 0
    assert goodqueue("sweep", "ok.toml", "--seeds", "1", "--store", "st").status == 0
    run = str(next(Path("st/runs").glob("*/*.parquet")))
    for place, file in (
        ("cmp", "cmp/records.jsonl"),
        ("cmp", "cmp/results.json"),
        ("st", run),
        ("st", "st/store.json"),
    ):
        before = Path(file).read_bytes()
        done = goodqueue("report", place, "--force", "--out", named(alias, file, ".html"))
        assert (done.status, "that this command reads" in done.err) == (2, True), done
        assert Path(file).read_bytes() == before
        Path("alias.html").unlink()


def test_a_folder_that_holds_what_is_read_stays(here: Path, goodqueue: Command, record: Record) -> None:
    shutil.copytree(STUDIES.find("khademi2013"), "study")
    Path("folder").mkdir()
    (here / "ok.toml").rename("folder/scenario.toml")
    Path("folder/record.json").write_text(json.dumps(record), encoding="utf-8")
    for words in (
        "compare pfifo codel --scenario folder/scenario.toml --out folder",
        "export --flent folder/record.json --out folder",
        "study ./study --quick --out study",
    ):
        folder = Path(words.split()[-1])
        before = {file: file.read_bytes() for file in folder.rglob("*") if file.is_file()}
        done = goodqueue(*words.split(), "--force")
        assert (done.status, done.err.count("\n")) == (2, 1), done
        assert "which this command reads" in done.err
        assert {file: file.read_bytes() for file in folder.rglob("*") if file.is_file()} == before


def test_a_file_of_others_under_a_name_of_ours_stays(here: Path, goodqueue: Command) -> None:
    """A user's own scenario.toml was replaced, although --force says that files of others stay."""
    Path("report").mkdir()
    Path("report/scenario.toml").write_text("mine", encoding="utf-8")
    words = ["compare", "pfifo", "codel", "--duration", "2s", "--warmup", "1s", "--out", "report", "--force"]
    done = goodqueue(*words)
    said = "holds files of others under names of ours and stays as it is; written: report-2"
    assert (done.status, said in done.err) == (2, True), done
    assert [file.name for file in Path("report").iterdir()] == ["scenario.toml"]
    assert Path("report/scenario.toml").read_text(encoding="utf-8") == "mine"
    assert Path("report-2/scenario.toml").exists()


@pytest.mark.parametrize("alias", ALIASES)
def test_two_options_of_a_link_do_not_name_one_file(here: Path, goodqueue: Command, alias: str) -> None:
    Path("a.pcapng").write_bytes(b"before")
    other = named(alias, "a.pcapng", ".json")
    done = goodqueue("link", "--trace", "a.pcapng", "--record", other, "--force", "--", "true")
    assert (done.status, done.err) == (
        2,
        f"goodqueue: --record {other}: found the file of --trace; accepted: another one\n",
    )
    assert Path("a.pcapng").read_bytes() == b"before"


def test_names_of_one_file_are_known_before_it_exists(here: Path) -> None:
    Path("link").symlink_to("new")
    assert output.are_same("new", "./new")
    assert output.are_same("new", "link")
    assert not output.are_same("new", "newer")
