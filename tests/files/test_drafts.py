"""Drafts of files: those of living processes stay, whatever their numbers; those of ended ones go."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from goodqueue.files import drafts, output
from goodqueue.store import files

HOLD = """
import sys
from pathlib import Path
from goodqueue.files import drafts
drafts.HAS_UNNAMED = sys.argv[2] == "unnamed"
print(drafts.create(Path(sys.argv[1]), folder=sys.argv[2] == "folder").name, flush=True)
sys.stdin.read()
"""

NUMBER_ONE = ("unshare", "--pid", "--fork", "--kill-child")
"""Runs a command as number 1 of a namespace of its own, as a container does."""


@contextmanager
def writer(target: Path, *before: str, kind: str = "file") -> Iterator[tuple[Path, "subprocess.Popen[str]"]]:
    """Start a process that holds a draft of ``target``, and yield the draft and the process."""
    command = [*before, sys.executable, "-c", HOLD, str(target), kind]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        yield target.with_name(process.stdout.readline().strip()), process
        process.kill()


@pytest.mark.parametrize("kind", ["file", "folder"])
def test_a_killed_process_leaves_its_draft_and_the_next_one_removes_it(tmp_path: Path, kind: str) -> None:
    with writer(tmp_path / "a", kind=kind) as (draft, process):
        drafts.sweep(tmp_path)
        assert draft.exists(), "the process that writes it lives"
        process.kill()
        process.wait()
    assert draft.exists(), "or this test shows nothing"
    drafts.sweep(tmp_path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.needs("unnamed")
def test_a_draft_without_a_name_is_never_seen(tmp_path: Path) -> None:
    """The draft of a link's capture stayed when the link was killed."""
    with writer(tmp_path / "a", kind="unnamed") as (_, process):
        assert list(tmp_path.iterdir()) == []
        process.kill()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("unnamed", [False, pytest.param(True, marks=pytest.mark.needs("unnamed"))])
@pytest.mark.parametrize("has_links", [True, False])
def test_a_file_gets_its_name_once_and_is_replaced_only_by_force(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, unnamed: bool, has_links: bool
) -> None:
    monkeypatch.setattr(drafts, "HAS_UNNAMED", unnamed)
    if not has_links:
        monkeypatch.setattr(os, "link", _refuse)
    target = tmp_path / "a"
    assert files.add(target, b"first")
    assert not files.add(target, b"second")
    assert output.write_file(target, False, b"third") == str(tmp_path / "a-2")
    assert target.read_bytes() == b"first"
    assert output.write_file(target, True, b"fourth") == str(target)
    assert [(path.name, path.read_bytes()) for path in sorted(tmp_path.iterdir())] == [
        ("a", b"fourth"),
        ("a-2", b"third"),
    ]


@pytest.mark.needs("mount")
def test_a_process_of_another_namespace_keeps_its_draft(tmp_path: Path) -> None:
    """Its number is 1 there, and means another process here. A command behind a link removed its link's capture."""
    with writer(tmp_path / "a", *NUMBER_ONE) as (one, _), writer(tmp_path / "a", *NUMBER_ONE) as (other, _):
        assert one != other, "both are number 1, and write the same name"
        sweep = f"from pathlib import Path; from goodqueue.files import drafts; drafts.sweep(Path({str(tmp_path)!r}))"
        subprocess.run([*NUMBER_ONE, sys.executable, "-c", sweep], check=True)
        drafts.sweep(tmp_path)
        assert one.exists()
        assert other.exists()


def test_many_writers_of_one_name_each_get_a_file(tmp_path: Path) -> None:
    """A sweep of one writer must not take the draft of another, between its creation and its lock."""
    code = (
        "import sys; from pathlib import Path; from goodqueue.files import output\n"
        "for turn in range(30): output.write_file(Path('out.csv'), False, sys.argv[1].encode())"
    )
    running = [subprocess.Popen([sys.executable, "-c", code, str(number)], cwd=tmp_path) for number in range(6)]
    assert [process.wait() for process in running] == [0] * 6
    written = sorted(path.read_text(encoding="utf-8") for path in tmp_path.iterdir())
    assert written == sorted(str(number) for number in range(6) for _ in range(30)), "no draft is left, nothing is lost"


def test_a_draft_of_another_kernel_is_left_over_after_a_day(tmp_path: Path) -> None:
    """Another machine that shares the folder may hold a lock that this one does not see."""
    young, old = (tmp_path / f".a.partial-0000000{number}-12345678" for number in (1, 2))
    ours = drafts.beside(tmp_path / "a", drafts.PARTIAL)
    for path in (young, old, ours):
        path.touch()
    os.utime(old, (1e9, 1e9))
    drafts.sweep(tmp_path)
    assert list(tmp_path.iterdir()) == [young]


def test_a_process_that_ends_early_leaves_no_draft(tmp_path: Path) -> None:
    command = [sys.executable, "-c", HOLD + "raise SystemExit(2)", str(tmp_path / "a"), "file"]
    assert subprocess.run(command, check=False, input="", capture_output=True, text=True).returncode == 2
    assert list(tmp_path.iterdir()) == []


def test_a_child_neither_removes_nor_keeps_its_parents_draft(tmp_path: Path) -> None:
    draft = drafts.create(tmp_path / "a")
    child = os.fork()
    if child == 0:
        drafts.discard_all()
        os._exit(0)
    os.waitpid(child, 0)
    assert draft.exists()
    drafts.discard(draft)
    assert not draft.exists()


def test_where_there_are_no_locks_age_decides(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Windows has no flock, and some file systems have none."""
    monkeypatch.setattr(drafts, "HAS_UNNAMED", False)
    for has_locks in (False, True):
        monkeypatch.setattr(drafts, "HAS_LOCKS", has_locks)
        monkeypatch.setattr("fcntl.flock", _refuse)
        draft = drafts.create(tmp_path / "a")
        monkeypatch.setattr(drafts, "_held", {})  # as another process sees it
        drafts.sweep(tmp_path)
        assert draft.exists()
        os.utime(draft, (1e9, 1e9))
        drafts.sweep(tmp_path)
        assert not draft.exists()


def _refuse(*_: object, **__: object) -> None:
    raise OSError(95, "Operation not supported")


def test_a_result_that_is_replaced_is_never_without_a_name_for_others(tmp_path: Path) -> None:
    """While a process moves the old folder away, another one must not take it for left over."""
    old = drafts.beside(tmp_path / "new", drafts.OLD)
    (tmp_path / "out").mkdir()
    assert drafts.hold(tmp_path / "out", old)
    (tmp_path / "out").rename(old)
    sweep = (
        f"from pathlib import Path; from goodqueue.files import output; output._sweep(Path({str(tmp_path / 'out')!r}))"
    )
    subprocess.run([sys.executable, "-c", sweep], check=True)
    assert old.exists()
    drafts.discard(old)
    assert not old.exists()
