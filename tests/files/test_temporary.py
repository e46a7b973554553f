"""Folders for files that nobody keeps."""

import tempfile
from pathlib import Path

import pytest

from goodqueue.files import drafts, temporary


def test_the_next_one_removes_what_a_killed_process_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    left = drafts.create(tmp_path / temporary.NAME, folder=True)
    (left / "much.json").write_text("{}", encoding="utf-8")
    drafts._forget()  # as when the process is killed: the lock goes, and the folder stays
    with temporary.folder() as first, temporary.folder() as second:
        assert sorted(tmp_path.iterdir()) == sorted([first, second])
        assert first.stat().st_mode & 0o077 == 0
    assert not list(tmp_path.iterdir())
