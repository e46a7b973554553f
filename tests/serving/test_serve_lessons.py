"""`goodqueue serve` with a file that opens, and with lessons of one's own: what is served, and what is refused."""

import json
import os
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from conftest import ROOT, TOML, Result
from goodqueue.serving import lessons, mine
from served import body_of, served

Command = Callable[..., Result]

DOCUMENTED = ROOT / "docs" / "guides" / "browser.md"


@pytest.fixture(scope="module")
def lesson() -> str:
    """Return the lesson that the documentation shows."""
    blocks: list[str] = re.findall(r"```toml\n(.*?)```", DOCUMENTED.read_text(encoding="utf-8"), re.DOTALL)
    (found,) = (block for block in blocks if "[[exercise]]" in block)
    return found


# --- the file that opens ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("paths", "opens"),
    [
        (["ok.toml"], "ok.toml"),
        (["b.toml", "ok.toml"], "b.toml"),
        (["two.jsonl", "ok.toml"], "codel, seed 1"),
        (["ok.toml", "two.jsonl"], "ok.toml"),
        (["folder"], None),
        (["folder", "ok.toml"], None),
        ([], None),
    ],
)
def test_the_first_path_opens_if_it_is_a_file(
    page: Path, here: Path, goodqueue: Command, paths: list[str], opens: str | None
) -> None:
    Path("b.toml").write_text(TOML.replace("10mbit", "7mbit"), encoding="utf-8")
    records = [goodqueue("run", "ok.toml", "--json", "--seed", str(seed)).out.strip() for seed in (1, 2)]
    Path("two.jsonl").write_text("\n".join(records) + "\n", encoding="utf-8")
    Path("folder").mkdir()
    shutil.copy("ok.toml", "folder")
    listing = mine.find(paths).listing()
    named = {one["url"]: one["name"] for one in listing["scenarios"] + listing["results"]}
    assert named.get(listing.get("opens")) == opens


# --- lessons that are served -----------------------------------------------------------------------------------------


def test_the_lesson_of_the_documentation_is_served_and_read_again(page: Path, here: Path, lesson: str) -> None:
    Path("own").mkdir()
    Path("own/2.toml").write_text(lesson, encoding="utf-8")
    Path("own/1.toml").write_text(lesson.replace('title = "', 'title = "First: '), encoding="utf-8")
    Path("own/notes.txt").write_text("no lesson", encoding="utf-8")
    with served() as ask:
        assert "lessons" not in body_of(ask, "/mine.json"), "the page asks for no lessons where there are none"
        assert ask("/lessons.json")[0] == 404
    with served(lessons="own") as ask:
        assert body_of(ask, "/mine.json")["lessons"] == "lessons.json"
        first, second = body_of(ask, "/lessons.json")
        assert first["title"] == f"First: {second['title']}", "in the order of the files' names"
        assert "qdisc" not in first["scenario"]["bottleneck"]
        Path("own/1.toml").write_text("title =", encoding="utf-8")
        status, _, body = ask("/lessons.json")
    assert (status, list(json.loads(body))) == (422, ["error"])
    assert json.loads(body)["error"].startswith("own/1.toml: not TOML")


def test_the_lessons_of_the_page_are_lessons_of_ones_own() -> None:
    found = lessons.load(str(ROOT / "web" / "lessons"))
    assert len(found) == 7
    assert all(one["goal"] and one["exercise"] == [] for one in found)


# --- what is refused -------------------------------------------------------------------------------------------------

WRONG = [
    ('^title = ".*"', "", "title: missing"),
    ('^title = ".*"', 'title = "  "', 'title: found ""'),
    ("^hint =", "hnit =", "hint: missing"),
    ("^answer = .*", "\\g<0>\nextra = 1", "extra: unknown key"),
    ("^lines = .*", "lines = []", "lines: found 0; accepted: 1 to 4"),
    ("^lines = .*", 'lines = ["pfifo", "codel", "pie", "red", "cake"]', "lines: found 5"),
    ("^lines = .*", 'lines = "codel"', 'lines: found "codel"'),
    ("^lines = .*", 'lines = ["pfifo", "codell"]', 'lines.1: unknown qdisc "codell"; did you mean "codel"?'),
    ("^lines = .*", 'lines = ["pfifo", "./x.py:Class"]', 'lines.1: found "./x.py:Class"'),
    ("^metric = .*", 'metric = "queues.down.delay.mean"', "goal[0].metric: queues.down has no field 'delay'"),
    ("^metric = .*", 'metric = "queues.down"', "goal[0].metric: queues.down is not a number"),
    ("^at_most = .*", "", "goal[0]: found no bound"),
    ("^at_most = .*", "at_most = nan", "goal[0].at_most: found NaN"),
    ("^line = .*", "line = 2", "goal[0].line: found 2; accepted: a whole number from 0 to 1"),
    ("^line = .*", "line = 0.5", "goal[0].line: found 0.5"),
    ("^right = .*", 'right = "Nothing"', 'exercise[0].right: found "Nothing"'),
    ("^choices = .*", 'choices = ["One"]', "exercise[0].choices: found"),
    ("^choices = .*", "", "exercise[0]: found neither choices nor metric"),
    ("rate = ", "rat = ", "scenario.bottleneck.rat: unknown key"),
    ("bdp = [0-9]+", "bdp = -1", "scenario.bottleneck.buffer.bdp: found -1"),
    ("rate = ", 'qdisc = "codel", rate = ', "scenario.bottleneck.qdisc: found a line"),
    ('kind = "bulk"', 'kind = "bulky"', 'scenario.traffic[0].kind: found "bulky"'),
    ('kind = "bulk"', 'kind = "web_users", load = "80%"', "scenario.traffic[0].load: found 80%; accepted: users"),
    (r"\[scenario\]", "[scenari]", "scenario: missing"),
]


@pytest.mark.parametrize(("old", "new", "expected"), WRONG, ids=[expected for *_, expected in WRONG])
def test_a_wrong_lesson_is_refused_in_a_line_before_anything_is_served(
    page: Path, here: Path, goodqueue: Command, lesson: str, old: str, new: str, expected: str
) -> None:
    Path("own").mkdir()
    wrong = re.sub(old, new, lesson, count=1, flags=re.MULTILINE)
    assert wrong != lesson, "the example has what is replaced"
    Path("own/1.toml").write_text(wrong, encoding="utf-8")
    result = goodqueue("serve", "--lessons", "own", "--port", "0", "--no-browser")
    assert (result.status, result.out, result.err.count("\n")) == (2, "", 1)
    assert result.err.startswith(f"goodqueue: own/1.toml: {expected}")
    assert "accepted" in result.err or "no field" in result.err


@pytest.mark.parametrize(
    ("folder", "expected"),
    [
        ("none", "none: not found; accepted: a folder of lessons (*.toml)"),
        ("ok.toml", "ok.toml: found a file"),
        ("empty", "empty: found 0 lessons"),
        ("many", "many: found 101 lessons"),
        ("twins", "twins/2.toml: title: found"),
        ("binary", "binary/1.toml: line 1: found a byte that is not UTF-8"),
        ("deep", "deep/1.toml: not TOML"),
        ("pipe", "pipe/1.toml: found a pipe"),
    ],
)
def test_a_folder_without_lessons_is_refused(
    page: Path, here: Path, goodqueue: Command, lesson: str, folder: str, expected: str
) -> None:
    for name in ("empty", "many", "twins", "binary", "deep", "pipe"):
        Path(name).mkdir()
    for number in range(101):
        Path(f"many/{number}.toml").touch()
    for number in (1, 2):
        Path(f"twins/{number}.toml").write_text(lesson, encoding="utf-8")
    Path("binary/1.toml").write_bytes(b"\xff\xfe\x00")
    Path("deep/1.toml").write_text("a = " + "[" * 5000, encoding="utf-8")
    os.mkfifo("pipe/1.toml")
    result = goodqueue("serve", "--lessons", folder, "--port", "0", "--no-browser")
    assert (result.status, result.out, result.err.count("\n")) == (2, "", 1)
    assert result.err.startswith(f"goodqueue: {expected}")
