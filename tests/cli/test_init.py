"""`goodqueue init`: a scenario to begin with, and the examples that come with the package."""

import json
import tomllib
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from conftest import ROOT, Result
from goodqueue import examples

Command = Callable[..., Result]


def test_a_first_scenario_runs_and_says_what_is_next(here: Path, goodqueue: Command) -> None:
    result = goodqueue("init")
    assert result.out == "scenario.toml: written. Next: goodqueue run scenario.toml\n"
    record = json.loads(goodqueue("run", "scenario.toml", "--json").out)
    assert len(record["flows"]) == 2
    assert record["apps"][0]["rtt_ms"]["p95"] > 40
    text = (here / "scenario.toml").read_text(encoding="utf-8")
    assert "goodqueue run scenario.toml " in text, "the commands in its head are those for this file"
    assert "examples/" not in text


def test_a_file_is_replaced_only_if_told(here: Path, goodqueue: Command) -> None:
    (here / "mine.toml").write_text("precious", encoding="utf-8")
    result = goodqueue("init", "mine.toml")
    assert result.status == 2
    assert result.err == "goodqueue: init mine.toml: exists already; accepted: another name, or --force to replace it\n"
    assert (here / "mine.toml").read_text(encoding="utf-8") == "precious"
    assert goodqueue("init", "mine.toml", "--force").status == 0
    assert tomllib.loads((here / "mine.toml").read_text(encoding="utf-8"))["duration"] == "20s"


@pytest.mark.usefixtures("here")
def test_an_example_that_is_none_is_refused_with_those_there_are(goodqueue: Command) -> None:
    result = goodqueue("init", "--example", "nonsense")
    assert result.status == 2
    assert result.err.startswith('goodqueue: --example: found "nonsense"; accepted: ack-filter, ')
    assert not Path("scenario.toml").exists()


def test_every_example_is_listed_and_can_be_written(here: Path, goodqueue: Command) -> None:
    listed = json.loads(goodqueue("list", "examples", "--json").out)
    assert [one["name"] for one in listed] == sorted(file.stem for file in (ROOT / "examples").glob("*.toml"))
    for one in listed:
        assert 20 < len(one["summary"]) < 140, one
        assert goodqueue("init", f"{one['name']}.toml", "--example", one["name"]).status == 0
        file = f"{one['name']}.toml"
        both = (here / file, ROOT / "examples" / file)
        own, ours = (tomllib.loads(file.read_text(encoding="utf-8")) for file in both)
        assert own == ours


def test_an_installed_package_has_them() -> None:
    """A pattern in pyproject.toml selects the wheel's files: each example must match it, through the link."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    patterns = [one["path"] for one in project["tool"]["maturin"]["include"] if "wheel" in one["format"]]
    taken = {path.name for pattern in patterns for path in ROOT.glob(pattern)}
    assert {f"{name}.toml" for name in examples.names()} <= taken
    wheels = sorted((ROOT / "target" / "wheels").glob("*.whl"))
    for wheel in wheels[-1:]:  # if one was built
        inside = {name.rpartition("/")[2] for name in zipfile.ZipFile(wheel).namelist() if "examples/library" in name}
        assert inside
