"""Shell completion and manual pages: both are made from the text of ``--help``."""

import importlib.util
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from conftest import ROOT, Result
from goodqueue.cli import VERBS, completion, words
from test_terminal import widest


@pytest.fixture
def command(tmp_path: Path) -> Path:
    """Return the folder of a ``goodqueue``, for PATH, as after an installation."""
    folder = tmp_path / "bin"
    folder.mkdir()
    script = folder / "goodqueue"
    script.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m goodqueue "$@"\n', encoding="utf-8")
    script.chmod(0o755)
    return folder


def completed(command: Path, *words: str) -> list[str]:
    """Return bash's suggestions for the last of ``words``, by the script that the command prints."""
    program = """
    source <(goodqueue completion bash) || exit
    COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
    entry=($(complete -p goodqueue))                      # complete -o default -F FUNCTION goodqueue
    "${entry[4]}" goodqueue "${COMP_WORDS[-1]}" "${COMP_WORDS[-2]}"
    printf '%s\\n' "${COMPREPLY[@]}"
    """
    env = os.environ | {"PATH": f"{command}{os.pathsep}{os.environ['PATH']}"}
    arguments = ["bash", "--norc", "-c", program, "bash", "goodqueue", *words]
    done = subprocess.run(arguments, check=False, capture_output=True, text=True, env=env)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.split()


def test_bash_completes_verbs_and_options(command: Path) -> None:
    assert completed(command, "comp") == ["compare", "completion"]
    assert completed(command, "kernel", "d") == ["doctor"]
    assert completed(command, "run", "--trace") == ["--trace", "--trace-at", "--trace-snap"]
    assert completed(command, "run", "x.toml", "--see") == ["--seed"]
    assert completed(command, "run", "--seed", "nonsense", "--js") == ["--json"], "it is asked in the middle of a line"
    assert completed(command, "nonsense", "--js") == []


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        (["compare", "fq_"], ["fq_codel", "fq_nocodel", "fq_pie"]),
        (["compare", "pfifo", "coba"], ["cobalt"]),
        (["run", "x.toml", "--qdisc", "coba"], ["cobalt"]),
        (["compare", "pie", "--cc", "bbr"], ["bbr", "bbr2", "bbr3"]),
        (["compare", "pie", "--traffic", "vo"], ["voip"]),
        (["sweep", "x.toml", "--set", "path.rt"], ["path.rtt="]),
        (["sweep", "x.toml", "--set", "traffic.0.start_sp"], ["traffic.0.start_spread="]),
        (["sweep", "x.toml", "--metric", "voip_m"], ["voip_mos"]),
        (["plot", "ell"], ["ellipse"]),
        (["plot", "time", "s", "--metric", "cwnd"], ["cwnd_packets", "cwnd_mean_packets"]),
        (["list", "traffic", "tmi"], ["tmix"]),
        (["list", "cc", "cub"], ["cubic"]),
        (["study", "khad"], ["khademi2013"]),
        (["suite", "rfc79"], ["rfc7928"]),
        (["init", "a.toml", "--example", "voip-"], ["voip-and-web"]),
    ],
)
def test_disciplines_kinds_keys_and_names_are_completed(
    goodqueue: Callable[..., Result], monkeypatch: pytest.MonkeyPatch, typed: list[str], expected: list[str]
) -> None:
    """The variables are those that bash's script passes; the test above runs bash."""
    monkeypatch.setenv(completion.ASKED_BY, "complete_bash")
    monkeypatch.setenv("COMP_WORDS", " ".join(["goodqueue", *typed]))
    monkeypatch.setenv("COMP_CWORD", str(len(typed)))
    assert goodqueue().out.split() == expected


def test_words_within_words_are_completed() -> None:
    """A shell gives what is typed so far, which may be a list, or a line of tc."""
    assert words.traffic("bulk:4,pin") == ["bulk:4,ping"]
    assert words.qdisc("codel tar") == ["codel target"]
    assert words.qdisc("nosuch tar") == []
    assert words.assignment("bottleneck.qdisc=pie,coba") == ["bottleneck.qdisc=pie,cobalt"]
    assert words.assignment("path.rtt=1") == []
    assert words.assignment("traffic.0.cc=cub") == ["traffic.0.cc=cubic"]
    assert words.key("path.rt") == ["path.rtt"]
    assert words.metric("nosuch") == []


@pytest.mark.parametrize(("shell", "said"), [("bash", "complete -o"), ("zsh", "#compdef"), ("fish", "complete --c")])
def test_each_shell_has_its_script(goodqueue: Callable[..., Result], shell: str, said: str) -> None:
    result = goodqueue("completion", shell)
    assert result.status == 0
    assert said in result.out
    assert "_GOODQUEUE_COMPLETE" in result.out


def test_another_shell_is_refused(goodqueue: Callable[..., Result]) -> None:
    result = goodqueue("completion", "ksh")
    assert (result.status, result.out) == (2, "")
    assert result.err == 'goodqueue: completion: found "ksh"; accepted: bash, zsh, fish\n'


def test_help_of_completion_fits(goodqueue: Callable[..., Result]) -> None:
    assert widest(goodqueue("completion", "--help").out) <= 100


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    spec = importlib.util.spec_from_file_location("man", ROOT / "tools" / "docs" / "man.py")
    assert spec is not None
    assert spec.loader is not None
    man = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(man)
    folder = tmp_path_factory.mktemp("man1")
    man.main(str(folder))
    return folder


def shown(page: Path) -> str:
    """Return a page as a terminal shows it. A warning of groff is a failure."""
    command = ["groff", "-K", "utf8", "-man", "-ww", "-Tutf8", "-P-cbou", "-rLL=100n", page]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    assert not done.stderr, f"{page.name}: {done.stderr}"
    return done.stdout


@pytest.mark.needs("groff")
def test_every_verb_has_a_page_that_groff_takes(pages: Path) -> None:
    assert {f"goodqueue-{verb}.1" for verb in VERBS} <= {page.name for page in pages.iterdir()}
    for page in pages.iterdir():
        text = shown(page)
        sections = [line for line in text.splitlines() if line[:1].isalpha()]
        assert sections[1:3] == ["NAME", "SYNOPSIS"], page.name


@pytest.mark.needs("groff")
def test_a_page_says_what_help_says(pages: Path, goodqueue: Callable[..., Result]) -> None:
    """Otherwise the page would describe options that do not exist, or show an example with broken lines."""
    page = shown(pages / "goodqueue-run.1")
    text = goodqueue("run", "--help").out
    for line in text.splitlines():
        words = line.split()
        if words and words[0] in ("goodqueue", "[path]", "rtt"):
            assert " ".join(words) in " ".join(page.split()), line
        if words and words[0].startswith("--"):
            assert words[0] in page, line
    assert "goodqueue-run - Run one scenario and show what it measured" in page
    assert "goodqueue-kernel(1)" in shown(pages / "goodqueue.1")
