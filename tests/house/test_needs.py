"""A skipped test is reported in one line with its remedy, and fails on machines that must run all tests."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import needs
from conftest import ROOT

SUITE = """
import needs, pytest

needs.NEEDS["unicorn"] = needs.Need(lambda: False, "unicorn python3-horn", "a forest")

@pytest.mark.needs("unicorn")
@pytest.mark.parametrize("n", range(3))
def test_that_needs_a_unicorn(n):
    raise AssertionError

def test_that_needs_nothing():
    pass

def test_that_skips_by_itself():
    pytest.skip("not today")
"""
LACK = "unicorn (apt-get install unicorn python3-horn; a forest)"


def suite(folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    (folder / "test_suite.py").write_text(SUITE, encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "-q", "-c", ROOT / "pyproject.toml", "-p", "conftest", *options, folder]
    path = os.pathsep.join([str(ROOT / "tests"), os.environ.get("PYTHONPATH", "")])
    environment = os.environ | {"PYTHONPATH": path, "PYTEST_ADDOPTS": "-p no:cacheprovider"}
    environment.pop("CI", None)  # with CI set, pytest prints each reason once more
    return subprocess.run(command, check=False, capture_output=True, text=True, env=environment)


def test_the_summary_counts_what_was_skipped_and_says_what_to_install(tmp_path: Path) -> None:
    done = suite(tmp_path)
    *_, summary, closing = done.stdout.splitlines()
    assert summary == f"skipped: 4 tests: {LACK}: 3; not today: 1"
    assert closing.startswith("1 passed, 4 skipped in ")
    assert done.returncode == 0


@pytest.mark.parametrize(("accepted", "refused"), [("nothing", 3), ("flent,unicorn", 0)])
def test_where_all_must_run_what_lacks_fails_the_test(tmp_path: Path, accepted: str, refused: int) -> None:
    done = suite(tmp_path, "--may-skip", accepted)
    assert done.stdout.count(f"skipped: {LACK}; --may-skip accepts {accepted.replace(',', ', ')}\n") == refused
    assert done.stdout.count("skipped: not today; --may-skip accepts ") == 1, "also where the suite does not know why"
    assert done.returncode == 1


def test_flent_that_cannot_draw_does_not_work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    python, flent = tmp_path / "python", tmp_path / "flent"
    flent.write_text(f"#!{python}\n", encoding="utf-8")
    flent.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    for status, expected in ((0, True), (1, False)):
        python.write_text(f'#!/bin/sh\ncase "$*" in *matplotlib*) exit {status} ;; esac\n', encoding="utf-8")
        python.chmod(0o755)
        assert needs.plots() is expected
    flent.unlink()
    assert not needs.plots()


def test_every_need_says_what_to_do() -> None:
    for name in needs.NEEDS:
        assert needs.reason(name) != f"{name} ()"
    assert needs.reason("host", "no netem") == (
        "host (no netem; accepted: apt-get install iproute2 tcpdump; root, who may build networks)"
    )
