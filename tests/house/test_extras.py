"""The base works without the optional packages, and says what to install, by a name that an index has."""

import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from conftest import ROOT
from goodqueue.extras import OPTIONAL
from goodqueue.pages import NO_FIGURES

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


HEAVY = set(OPTIONAL)


def test_each_optional_package_is_in_an_extra_alone() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = [one for extra, listed in project["optional-dependencies"].items() if extra != "dev" for one in listed]
    for package in OPTIONAL:
        assert any(one.startswith(f"{package}>") for one in extras)
        assert not any(one.startswith(package) for one in project["dependencies"])


OURS = re.compile(r"(?:pip install|install) +[\"'`]?goodqueue\b")
"""A remedy with a distribution of ours. No index has one."""


def test_no_remedy_names_what_no_index_has() -> None:
    kinds = ("python/**/*.py", "transports/src/*.rs", "transports/**/*.py", "docs/**/*.md", "*.md", "examples/*.ipynb")
    files = {file for kind in kinds for file in ROOT.glob(kind) if file.name != "CHANGELOG.md"}
    assert len(files) > 400
    assert [str(file) for file in sorted(files) if OURS.search(file.read_text(encoding="utf-8"))] == []


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
        (["plot", "cdf", "r.json", "--out", "a.svg"], "plot: needs matplotlib; accepted: pip install matplotlib"),
        (["attack", "codel", "--property", "delay"], "attack: needs optuna; accepted: pip install optuna"),
        (["tune", "codel", "--on", "ok.toml"], "tune: needs optuna; accepted: pip install optuna"),
        (["advise", "--down=50mbit", "--up=10mbit", "--tune"], "--tune: needs optuna; accepted: pip install optuna"),
        (
            ["sensitivity", "ok.toml", "--vary", "path.rtt=4ms..9ms"],
            "sensitivity: needs SALib; accepted: pip install SALib",
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


COMPARE = ["compare", "codel", "pie", "--scenario", "ok.toml", "--seeds", "2"]


@pytest.mark.parametrize(
    "arguments",
    [
        COMPARE,
        ["suite", "rfc7928", "codel", "--quick", "--seeds", "1", "--only", "5.2"],
        ["study", "schwardmann2014", "--quick", "--seeds", "1", "--only", "table1b"],
    ],
)
def test_a_report_has_all_but_the_figures_where_none_can_be_drawn(here: Path, arguments: list[str]) -> None:
    said = without(HEAVY, here, *arguments, "--out", "r")
    assert (said.returncode, said.stderr) == (0, f"goodqueue: {NO_FIGURES}\n")
    assert "figures" not in said.stdout.splitlines()[-1]
    assert NO_FIGURES in (here / "r" / "report.html").read_text(encoding="utf-8")
    assert not list((here / "r").glob("*.svg"))
