"""The commands and the figures in the pages: each command runs here, or stands in a list with the reason why not.

The guides are run as a whole by test_site.py, and the heads of the examples by test_examples.py.
"""

import importlib.util
import inspect
import re
import shlex
import tomllib
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest
import typer

import goodqueue as gq
from conftest import ROOT, Result
from goodqueue import cli, traffic
from test_prose import commands

ELSEWHERE = {
    "bench": "minutes; test_examples.py",
    "calibrate": "runs programs over links; test_calibrate.py",
    "claims": "all studies; test_claims.py",
    "export": "needs stored runs; test_flent.py",
    "import": "needs a measurement of Flent's; test_flent.py",
    "kernel": "boots Linux; test_kernel_machine.py",
    "link": "runs a program in namespaces; test_link_programs.py",
    "fit": "one of its commands needs a measurement; test_fit.py",
    "plot": "needs the results of the command before it; test_plot.py, and below for the captions",
    "replay": "runs all of golden/; test_replay.py",
    "report": "needs stored results; test_report.py",
    "serve": "serves until it is ended; test_serve.py",
    "study": "minutes; test_study.py, and below for the captions",
    "suite": "a minute or more; test_suite.py",
    "validate": "boots Linux; test_validation.py",
    "vectors": "needs a capture; test_tmix.py",
}
"""Verbs whose commands do not run here: the reason, and the tests that run the verb."""

WORDS = {
    "kernel": "boots Linux",
    "live": "takes real time and devices",
    "dask:": "needs a cluster; test_site.py runs the guide with one",
    "--verify": "boots Linux",
    "--flent": "needs a measurement of Flent's",
    "follows.py": "a file of the guide; test_site.py runs it",
    "slow.py": "a file of the guide; test_site.py runs it",
    "connect": "a kind of traffic of CONTRIBUTING.md's recipe; test_recipes.py",
    "policer": "a kind of hop of the same recipe; test_recipes.py",
    "quic": "needs goodqueue-transports, whose tests `make transports-test` runs",
    "quinn-beside-cubic.toml": "likewise",
    "isp.toml": "test_subscribers.py runs the guide",
    "--scenario examples/video.toml": "its downloads begin late; test_examples.py runs the same line",
    "street.toml": "a file of the guide; test_site.py runs it",
    "office.tmix": "needs a capture; test_tmix.py",
    "shop.har": "needs a page that a browser saved; test_har.py",
    "home.toml": "needs a router's settings; test_router_settings.py",
    **dict.fromkeys(("case.toml", "users.toml", "link.toml", "one-flow.toml"), "a scenario of the reader's"),
}
"""Words of commands that do not run here, with the reason."""

SHORTER = {
    "advise": ["--quick", "--seeds=2"],
    "attack": ["--evaluations=4", "--method=random", "--bound=rate=1..2", "--bound=duration=20"],
    "fit": ["--evaluations=6"],
    "tune": ["--evaluations=2", "--seeds=1"],
    "sensitivity": ["--samples=2", "--method=morris"],
    "compare": ["--duration=4s", "--warmup=1s", "--seeds=1"],
    "sweep": ["--set=duration=4s", "--set=warmup=1s", "--seeds=1"],
}
"""What makes the commands of a verb take seconds. A command's own duration, warmup and number of seeds are replaced.

Of other options a command keeps its own value. `is_mention` has the command line read all of them.
"""


def load(name: str, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """Import a script of tools/docs/, which imports its neighbours."""
    monkeypatch.syspath_prepend(str(ROOT / "tools" / "docs"))
    spec = importlib.util.spec_from_file_location(name, ROOT / "tools" / "docs" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.long
def test_every_picture_is_what_its_caption_s_command_draws(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Otherwise a page would show a figure that the reader's command does not give."""
    pictures = load("pictures", monkeypatch)
    made = pictures.drawn(tmp_path)
    assert set(made) == {path.name for path in pictures.FOLDER.glob("*.svg")}
    stale = [name for name, content in made.items() if (pictures.FOLDER / name).read_bytes() != content]
    assert not stale, "run tools/docs/pictures.py"
    assert all(path.stat().st_size < 60_000 for path in pictures.FOLDER.iterdir())


def test_every_kind_of_traffic_has_a_section_whose_table_is_accepted(monkeypatch: pytest.MonkeyPatch) -> None:
    """A reader who looks for voip must find it, and the table that stands there must be a scenario's."""
    page = load("list_pages", monkeypatch).traffic_page()
    for kind in traffic.kinds().values():
        section = page.split(f"\n## {kind.name}\n")[1].split("\n## ")[0]
        table = tomllib.loads(section.split("```toml\n")[1].split("```")[0])
        assert table["traffic"][0]["kind"] == kind.name
        assert all(f"| `{key['name']}` |" in section for key in kind.keys)
        assert all(f"| `{one.key}` |" in section for one in (*kind.fields, *kind.measures))


def test_the_python_page_has_every_name_and_every_argument(monkeypatch: pytest.MonkeyPatch) -> None:
    """An argument without a row would be one that the docstring does not describe."""
    page = load("api_page", monkeypatch).page()
    for name in gq.__all__:
        section = page.split(f"\n## gq.{name} ")[1].split("\n## ")[0]
        found = getattr(gq, name)
        if not isinstance(found, type):
            for argument in inspect.signature(found).parameters:
                assert f"{argument}` |" in section, f"{name}: {argument}"
        else:
            methods = [one for one in vars(found) if not one.startswith("_") and inspect.isfunction(vars(found)[one])]
            assert all(f"### {name}.{method} " in section for method in methods), name


def is_mention(line: str) -> bool:
    """Return whether a command stands for others (`run FILE`), or is not complete (`generate lte`)."""
    verb, *words = shlex.split(line)
    if not words or {"…", "..."} & set(words) or any(word.isupper() and len(word) > 2 for word in words) or "|" in line:
        return True
    command = cli.command_line().commands[verb]  # type: ignore[attr-defined]
    try:
        command.make_context(verb, words)
    except typer.Exit:
        return False
    except typer.TyperException:
        return True
    return False


def runnable() -> list[str]:
    """Return the commands in pages that run from a folder with the examples and the guides' first.toml."""
    lines = (line.strip() for line in commands() if line.strip() and line.split()[0] != "VERB")
    own = (line for line in lines if line.split()[0] not in ELSEWHERE and not any(word in line for word in WORDS))
    return sorted(line for line in own if not is_mention(line))


@pytest.mark.parametrize(
    "line",
    [
        # These draw, write a trace, or try many lines.
        pytest.param(line, marks=pytest.mark.long)
        if line.startswith("advise") or " --out " in line or "--trace" in line
        else line
        for line in runnable()
    ],
)
def test_a_command_in_a_page_runs(
    line: str, goodqueue: Callable[..., Result], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    verb, *words = shlex.split(line)
    if "first.toml" in words and verb != "init":
        assert goodqueue("init", "first.toml").status == 0
    assert goodqueue(verb, *shortened(verb, words)).status == 0


def shortened(verb: str, words: list[str]) -> list[str]:
    """Return a command's words with what makes it take seconds."""
    shorter = SHORTER.get(verb, [])
    for option in {one.partition("=")[0] for one in shorter} & {"--duration", "--warmup", "--seeds"} & set(words):
        at = words.index(option)
        words = [*words[:at], *words[at + 2 :]]
    line = " ".join(words)
    return [*words, *(one for one in shorter if one.rpartition("=")[0].removeprefix("--set=") not in line)]


def test_the_page_shows_what_advise_prints(goodqueue: Callable[..., Result]) -> None:
    page = (ROOT / "docs" / "guides" / "advise.md").read_text(encoding="utf-8")
    command, block = re.search(r"`goodqueue (advise [^`]*)` prints.*?```text\n(.*?)\n```", page, re.DOTALL).groups()  # type: ignore[union-attr]
    printed = "\n".join(line.rstrip() for line in goodqueue(*shlex.split(command)).out.splitlines())
    assert block in printed


def test_no_reason_is_left_over() -> None:
    """A word or a verb that no page has any more must leave the lists, so that they say what is not run."""
    lines = list(commands())
    assert all(any(line.startswith(verb) for line in lines) for verb in ELSEWHERE)
    unused = [word for word in WORDS if not any(word in line for line in lines)]
    assert not unused
    assert len(runnable()) > 25
