"""The history: subjects of commits that fit a line, and the script that lists the sentences that a merge lost."""

import subprocess
import sys
from pathlib import Path

import pytest

from conftest import ROOT

SINCE = "9f3edcdd"
"""The last commit before the rule held: the test came with it, and a branch of that day had one longer subject."""
LONGEST = 72


def git(place: Path, *words: str) -> str:
    """Return what git prints about the repository in ``place``."""
    who = ["-c", "user.name=nobody", "-c", "user.email=nobody@example.org", "-c", "init.defaultBranch=main"]
    return subprocess.run(["git", *who, *words], cwd=place, check=True, capture_output=True, text=True).stdout


@pytest.mark.needs("checkout")
def test_the_subject_of_a_commit_fits_a_line() -> None:
    """A clone of a few commits has fewer than those since `SINCE`. All of its commits are newer."""
    known = subprocess.run(["git", "cat-file", "-e", SINCE], cwd=ROOT, check=False, capture_output=True)
    since = [f"{SINCE}..HEAD"] if known.returncode == 0 else ["-1"]
    lines = git(ROOT, "log", "--no-merges", "--format=%h %s", *since).splitlines()
    assert not [line for line in lines if len(line.partition(" ")[2]) > LONGEST], f"at most {LONGEST} characters"


BEFORE = '''"""A file."""

def send():
    """Sends what there is, if the window which the peer has offered has room for it, else nothing at all happens."""
'''
REWRITTEN = '''"""A file."""

def send():
    """Send a segment if the peer's window has room.

    Otherwise the segment waits for an ACK.
    """
'''
REWRAPPED = '''"""A file."""

def send():
    """Sends what there is, if the window which the peer has offered
    has room for it, else nothing at all happens.
    """
'''


def listed(place: Path, *words: str) -> tuple[int, list[str]]:
    """Return the exit status of the script, and the lines that it prints."""
    command = [sys.executable, str(ROOT / "tools" / "lost_sentences.py"), *words]
    done = subprocess.run(command, cwd=place, check=False, capture_output=True, text=True)
    assert not done.stderr
    return done.returncode, [line.partition("a.")[2] for line in done.stdout.splitlines()]


@pytest.fixture
def merging(tmp_path: Path) -> Path:
    """Return a repository in which one branch rewrote comments that another one wrapped anew, before the merge."""
    files = {"a.py": BEFORE, "a.rs": "// As it was of\n// old.\nfn a() {}\n", "a.md": "What it was of old.\n"}
    rewritten = {
        "a.py": REWRITTEN,
        "a.rs": "// This is new.\n// It is so here.\nfn a() {}\n",
        "a.md": "It is new now.\n",
    }
    rewrapped = {"a.py": REWRAPPED, "a.rs": "// As it was\n// of old.\nfn a() {}\n"}
    git(tmp_path, "init", "--quiet")
    for branch, contents in (("main", files), ("words", rewritten), ("lines", rewrapped)):
        git(tmp_path, "checkout", "--quiet", "-B", branch, *(["main"] if branch == "lines" else []))
        for name, text in contents.items():
            (tmp_path / name).write_text(text, encoding="utf-8")
        git(tmp_path, "add", ".")
        git(tmp_path, "commit", "--quiet", "--message", branch)
    return tmp_path


def test_the_sentences_of_the_other_side_are_listed(merging: Path) -> None:
    """The merge takes one side's lines, and so the old words. The page, which only one side changed, is no loss."""
    git(merging, "merge", "--quiet", "--strategy-option", "ours", "words")
    assert listed(merging) == (
        1,
        [
            "py: Otherwise the segment waits for an ACK.",
            "py: Send a segment if the peer's window has room.",
            "rs: It is so here.",
            "rs: This is new.",
        ],
    )
    assert listed(merging, "main..HEAD")[0] == 1
    assert listed(merging, "words")[0] == 0, "no merge"


def test_lines_that_were_only_wrapped_are_no_loss(merging: Path) -> None:
    git(merging, "merge", "--quiet", "--strategy-option", "theirs", "words")
    assert listed(merging) == (0, [])
