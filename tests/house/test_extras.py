"""The base works without the packages of the extras, and says which package is missing."""

import json
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from conftest import ROOT
from goodqueue.extras import EXTRAS

WITHOUT = """
import importlib.abc, sys

class Absent(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ABSENT:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

import importlib.util
of = importlib.util.find_spec
from goodqueue import extras
extras.find_spec = lambda name: None if name in ABSENT else of(name)
sys.meta_path.insert(0, Absent())
from goodqueue.cli import main
main(sys.argv[1:])
"""
"""Runs the command line as if the packages ``ABSENT`` were not installed."""


def without(packages: set[str], folder: Path, *arguments: str) -> "subprocess.CompletedProcess[str]":
    program = f"ABSENT = {packages!r}\n{WITHOUT}"
    command = [sys.executable, "-c", program, *arguments]
    return subprocess.run(command, check=False, cwd=folder, capture_output=True, text=True)


HEAVY = set(EXTRAS)


def test_each_package_is_in_the_extra_that_is_named() -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    for package, extra in EXTRAS.items():
        assert any(one.startswith(package) for one in extras["optional-dependencies"][extra])
        assert not any(one.startswith(package) for one in extras["dependencies"])


@pytest.mark.parametrize(
    "arguments",
    [
        ["run", "ok.toml", "--json"],
        ["compare", "codel", "pie", "--scenario", "ok.toml", "--seeds", "2", "--json"],
        ["sweep", "ok.toml", "--set", "bottleneck.qdisc=codel,pie", "--seeds", "2", "--json"],
    ],
)
def test_the_base_runs_compares_and_sweeps(here: Path, arguments: list[str]) -> None:
    said = without(HEAVY, here, *arguments)
    assert (said.returncode, said.stderr) == (0, "")
    assert json.loads(said.stdout)["schema"] == 1


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["sweep", "ok.toml", "--store", "st"], "--store st: needs pyarrow; accepted: pip install pyarrow"),
        (
            ["plot", "cdf", "r.json", "--out", "a.svg"],
            "plot: needs matplotlib; accepted: pip install matplotlib",
        ),
        (
            ["report", "r.json", "--out", "a.html"],
            "report: needs matplotlib; accepted: pip install matplotlib",
        ),
        (
            ["suite", "rfc7928", "codel", "--out", "s"],
            "--out s: needs matplotlib; accepted: pip install matplotlib",
        ),
        (
            ["advise", "--down", "2mbit", "--up", "1mbit", "--tune"],
            "--tune: needs optuna; accepted: pip install optuna",
        ),
    ],
)
def test_what_needs_a_package_names_it_before_any_work(here: Path, arguments: list[str], expected: str) -> None:
    made = without(set(), here, "run", "ok.toml", "--json")
    (here / "r.json").write_text(made.stdout, encoding="utf-8")
    before = {path.name for path in here.iterdir()}
    said = without(HEAVY, here, *arguments)
    assert (said.returncode, said.stdout) == (2, "")
    assert said.stderr.startswith(f"goodqueue: {expected}")
    assert said.stderr.count("\n") == 1
    assert {path.name for path in here.iterdir()} == before


def test_a_comparison_keeps_its_numbers_where_figures_cannot_be_drawn(here: Path) -> None:
    said = without(HEAVY, here, "compare", "codel", "pie", "--scenario", "ok.toml", "--seeds", "2", "--out", "r")
    assert said.returncode == 2
    assert "needs matplotlib; accepted: pip install matplotlib; results.json and records.jsonl are there" in said.stderr
    assert json.loads((here / "r" / "results.json").read_text(encoding="utf-8"))["made_by"] == "goodqueue compare"
