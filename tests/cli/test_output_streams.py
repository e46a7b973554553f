"""Output that a program reads is complete, or the exit status says that it is not."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

UNBUFFERED = os.environ | {"PYTHONUNBUFFERED": "1"}

RUN = [sys.executable, "-m", "goodqueue", "run", "ok.toml", "--set", "series.interval=1ms", "--json"]
"""Prints some hundred kilobytes: more than a pipe holds."""


@pytest.mark.needs("dev-full")
@pytest.mark.parametrize("command", [RUN, RUN[:-1], [sys.executable, "-m", "goodqueue", "list", "qdiscs"]])
def test_a_full_disk_is_said(here: Path, command: list[str]) -> None:
    with Path("/dev/full").open("w") as full:
        ended = subprocess.run(command, check=False, stdout=full, stderr=subprocess.PIPE, text=True, env=UNBUFFERED)
    assert (ended.returncode, ended.stderr) == (2, "goodqueue: standard output: No space left on device\n")


def test_a_disk_that_fills_half_way_is_said_too(here: Path) -> None:
    # A write to a raw file is short here and reports that only in its result. The next write fails.
    def limited() -> None:
        import resource

        resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))

    with Path("record.json").open("w", encoding="utf-8") as file:
        ended = subprocess.run(
            RUN, check=False, stdout=file, stderr=subprocess.PIPE, text=True, env=UNBUFFERED, preexec_fn=limited
        )
    assert Path("record.json").stat().st_size == 100_000, "the record is longer than fits"
    assert (ended.returncode, ended.stderr) == (2, "goodqueue: standard output: File too large\n")


def test_a_reader_that_goes_away_is_told_from_one_that_read_all(here: Path) -> None:
    with subprocess.Popen(RUN, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=UNBUFFERED) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.read(10)
        process.stdout.close()
        assert (process.wait(), process.stderr.read()) == (141, b"")
    whole = subprocess.run(RUN, check=True, capture_output=True, env=UNBUFFERED)
    assert json.loads(whole.stdout)["seed"] == 1


@pytest.mark.parametrize(
    "backend",
    [
        "module://matplotlib_inline.backend_inline",
        pytest.param("nonsense", marks=pytest.mark.long),
        pytest.param("tkagg", marks=pytest.mark.long),
    ],
)
def test_the_backend_of_a_notebook_loses_no_figure(here: Path, backend: str) -> None:
    # Jupyter sets MPLBACKEND for its children. matplotlib was imported, and failed, after all runs were done.
    words = ["compare", "codel", "--duration", "2s", "--warmup", "0s", "--seeds", "2", "--out", "report"]
    environment = os.environ | {"MPLBACKEND": backend}
    command = [sys.executable, "-m", "goodqueue", *words]
    ended = subprocess.run(command, check=False, capture_output=True, text=True, env=environment)
    assert (ended.returncode, ended.stderr) == (0, "")
    assert (here / "report" / "report.html").exists()
