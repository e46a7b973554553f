"""``--out``, ``--store``, ``--seed``, ``--draw-seed`` and ``--force`` mean the same in each verb and in Python.

``--out`` is what a person opens, ``--store`` what the machine keeps. ``--seed`` is the seed of the run, or of the first
of several. ``--draw-seed`` is that of what the command itself draws. ``--force`` replaces what exists.
"""

import inspect
import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import goodqueue as gq
from conftest import Result
from goodqueue.advice import reading
from goodqueue.advice.links import LINKS
from goodqueue.advice.question import Advise
from goodqueue.api import advice
from goodqueue.cli import VERBS, command_line

Command = Callable[..., Result]

MEANINGS = {
    "--store": {"Keeps each run; what is in it is not run again.", "Keeps each record, beside runs."},
    "--force": {"Replace what exists where the command writes; files of others stay."},
    "--seed": {
        "The first seed.", "Seed of the draws.", "The seed that the first record gets. Each further one has the next.",
    },
    "--draw-seed": {
        "Draws what the search tries.", "Draws the rates.", "Which ones are drawn, with --drawn.",
        "Which lines are drawn.",
    },
}  # fmt: skip
"""The sentences of each option, over all verbs."""

TWINS = ("sweep", "suite", "attack", "tune", "fit", "sensitivity")
"""The functions that take a store, named as the verbs."""


def options() -> Iterator[tuple[str, Any]]:
    """Yield each option of each verb, with the name of the verb."""
    for name, command in command_line().commands.items():
        for verb in {name: command, **getattr(command, "commands", {})}.values():
            for param in verb.params:
                if param.param_type_name == "option":
                    yield name, param


def sentence(param: Any) -> str:
    """Return the help of an option, without the default that each verb states for itself."""
    return re.sub(r" \[.*\]$", "", str(param.help))


@pytest.mark.parametrize("option", MEANINGS)
def test_an_option_has_one_meaning_in_all_verbs(option: str) -> None:
    found = {sentence(param) for _, param in options() if option in param.opts}
    assert found == MEANINGS[option]


def test_a_verb_that_writes_what_a_person_opens_has_force() -> None:
    of: dict[str, set[str]] = {name: set() for name in VERBS}
    for name, param in options():
        of[name].update(param.opts)
    assert [name for name, found in of.items() if "--out" in found and "--force" not in found] == []
    assert [name for name, found in of.items() if "--store" in found and "--out" not in found] == ["import"]


@pytest.mark.parametrize("name", TWINS)
def test_python_calls_them_as_the_command_line_does(name: str) -> None:
    arguments = inspect.signature(getattr(gq, name)).parameters
    verb = {option for verb, param in options() if verb == name for option in param.opts}
    assert "store" in arguments
    assert "out" not in arguments
    assert "--store" in verb
    for argument in ("seed", "draw_seed"):
        assert (argument in arguments) == (f"--{argument.replace('_', '-')}" in verb)


def test_a_sweep_writes_for_a_person_beside_what_it_keeps(here: Path, goodqueue: Command) -> None:
    sweep = ("sweep", "ok.toml", "--set", "path.rtt=10ms,40ms", "--seeds", "1", "--store", "runs")
    said = goodqueue(*sweep, "--out", "tables")
    assert said.status == 0
    assert "Written: tables/report.html, with its figures, results.json, cells.csv" in said.out
    (kept,) = (here / "runs" / "sweeps").iterdir()
    assert {file.name for file in (here / "tables").iterdir()} > {file.name for file in kept.iterdir()}
    told, stored = (json.loads((folder / "results.json").read_bytes()) for folder in (here / "tables", kept))
    assert {key: value for key, value in told.items() if key not in ("files", "command")} == {
        key: value for key, value in stored.items() if key != "files"
    }
    assert "holds results of goodqueue sweep" in goodqueue(*sweep, "--out", "tables").err
    assert goodqueue(*sweep, "--out", "tables", "--force").status == 0


OLD = {
    "sweep ok.toml --out st": "--out st: found without --store; accepted: --store DIR alone, which keeps the runs, or "
    "both, with another folder for --out",
    "sweep ok.toml --out st --store st": "--out st: found the folder of --store; accepted: another one",
    "import x.json --out st": 'import: found option "--out"; accepted: --store, as it is called now',
    "attack codel --property delay --seed 2": 'attack: found option "--seed"; accepted: --draw-seed, as it is called '
    "now",
    "tune codel --seed 2": 'tune: found option "--seed"; accepted: --draw-seed, as it is called now',
    "fit x.toml --seed 2": 'fit: found option "--seed"; accepted: --draw-seed, as it is called now',
    "generate lte --seed 2": 'generate: found option "--seed"; accepted: --draw-seed, as it is called now',
    "validate lines 9 --seed 2": 'validate lines: found option "--seed"; accepted: --draw-seed, as it is called now',
    "sweep ok.toml --force": "--force: found without --out; accepted: with --out DIR",
    "compare codel --force": "--force: found without --out; accepted: with --out DIR",
    "study hoiland2015 --force": "--force: found without --out; accepted: with --out DIR",
}
"""Commands that meant something else before 0.1, or nothing, and their refusals."""


@pytest.mark.parametrize("words", OLD)
def test_the_earlier_use_is_refused_in_one_line_that_says_the_present_one(
    here: Path, goodqueue: Command, words: str
) -> None:
    said = goodqueue(*words.split())
    assert (said.status, said.out, said.err) == (2, "", f"goodqueue: {OLD[words]}\n")
    assert not (here / "st").exists()


def test_both_faces_of_advise_name_each_kind_of_link_and_the_runs() -> None:
    (link,) = (param.help for verb, param in options() if verb == "advise" and "--link" in param.opts)
    (quick,) = (param.help for verb, param in options() if verb == "advise" and "--quick" in param.opts)
    (seeds,) = (param.help for verb, param in options() if verb == "advise" and "--seeds" in param.opts)
    python = " ".join((inspect.getdoc(advice.advise) or "").split())
    assert [key for key in LINKS if key not in link or key not in python] == []
    counts = f"{reading.QUICK_SEEDS} of each line, {reading.QUICK_RADIO_SEEDS} over a radio."
    assert counts in quick
    assert counts in python
    assert f"[{reading.SEEDS}; {reading.RADIO_SEEDS} over a radio]" in seeds
    assert f"[{reading.SEEDS}; {reading.RADIO_SEEDS} over a radio]" in python


@pytest.mark.parametrize(("link", "seeds"), [("ethernet", 3), ("lte", 4)])
def test_a_quick_look_has_the_runs_that_its_help_says(link: str, seeds: int) -> None:
    asked = reading.ask(Advise(down="10mbit", up="5mbit", link=link, use="calls", quick=True))
    assert len(asked.seeds) == seeds
