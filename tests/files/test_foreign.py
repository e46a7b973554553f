"""Code from files: what it may do to the command that runs it, and how it is refused."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path

import pytest

from goodqueue import foreign
from goodqueue.errors import UserError
from goodqueue.studies import figures, own

AQM = """
import sys

class Odd:
    def __init__(self, link):
        pass

    def enqueue(self, now, packet, queue):
        {does}
        queue.push(packet)

    def dequeue(self, now, queue):
        return queue.pop()
"""

COMPARE = ["compare", "./odd.py:Odd", "--seeds", "1", "--duration", "3s", "--warmup", "1s", "--json"]


def command(*words: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run([sys.executable, "-m", "goodqueue", *words], check=False, capture_output=True, text=True)


@pytest.mark.parametrize(
    ("does", "said"),
    [
        ("raise GeneratorExit", "GeneratorExit"),
        ("raise KeyboardInterrupt", "KeyboardInterrupt"),
        ("raise BaseException('mine')", "BaseException: mine"),
        ("sys.exit(7)", "SystemExit: 7"),
        ("sys.stdout.close()", "ValueError: sys.stdout is closed"),
    ],
)
def test_what_a_class_raises_is_blamed_on_its_file(here: Path, does: str, said: str) -> None:
    """Exceptions that are no `Exception` gave a traceback, or a status that said that the user had interrupted."""
    Path("odd.py").write_text(AQM.format(does=does), encoding="utf-8")
    done = command(*COMPARE)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("goodqueue: ./odd.py")
    assert done.stderr.endswith(f": {said}\n")
    assert done.stderr.count("\n") == 1


def test_a_class_that_takes_the_output_away_does_not_take_the_result(here: Path) -> None:
    Path("odd.py").write_text(AQM.format(does="sys.stdout = sys.stderr = None"), encoding="utf-8")
    odd = command(*COMPARE)
    assert (odd.returncode, odd.stderr) == (0, "")
    Path("odd.py").write_text(AQM.format(does="pass"), encoding="utf-8")
    assert odd.stdout == command(*COMPARE).stdout


@pytest.mark.parametrize(
    "words",
    [
        COMPARE,
        ["run", "ok.toml", "--qdisc", "./odd.py:Odd"],
        ["sweep", "ok.toml", "--set", "bottleneck.qdisc=./odd.py:Odd", "--store", "st"],
        ["suite", "rfc7928", "./odd.py:Odd", "--quick"],
        ["link", "--qdisc", "./odd.py:Odd", "--", "true"],
    ],
    ids=lambda words: words[0],
)
def test_without_code_a_class_is_refused_before_its_file_runs(here: Path, words: list[str]) -> None:
    Path("odd.py").write_text("open('ran', 'w').close()\n" + AQM.format(does="pass"), encoding="utf-8")
    verb, *rest = words
    done = command(verb, "--no-code", *rest)
    assert done.returncode == 2, done.stdout
    assert "./odd.py: found Python code; accepted with --no-code: files without code" in done.stderr
    assert done.stderr.count("\n") == 1
    assert not Path("ran").exists()
    assert not Path("st").exists()


def test_without_code_a_study_leaves_its_own_figures_out(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ours = Path(str(files("goodqueue.studies") / "library" / "schwardmann2014"))
    shutil.copytree(ours, "mine")
    (Path("mine") / own.NUMBERS).unlink()
    study = Path("mine") / "study.toml"
    own_metric = r'compute = "(tau_ms|delay_max_ms)", flow = "[^"]*", target_ms = \d+(, rise_ms = \d+)?'
    bare = re.sub(own_metric, 'record = "queues.down.delay_ms.mean"', study.read_text(encoding="utf-8"))
    study.write_text(bare, encoding="utf-8")
    (Path("mine") / figures.FILE).write_text("open('ran', 'w').close()\n", encoding="utf-8")
    done = command("study", "mine", "--no-code", "--quick", "--only", "c17", "--out", "report")
    assert done.returncode == 0, done.stderr
    assert "mine/figures.py: left out, since --no-code refuses Python code" in done.stderr
    assert Path("report/report.html").exists()
    assert not Path("ran").exists()
    monkeypatch.setenv(foreign.VARIABLE, "1")
    assert figures.own(ours) is not None, "our own figures are no foreign code"


@pytest.mark.parametrize("link", [False, True], ids=["straight", "by-a-link"])
def test_a_study_of_the_package_is_whole_without_code(here: Path, link: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its computations and its figures are goodqueue's own code, also where a link leads to the package."""
    folder = Path(foreign.__file__).resolve().parents[1]
    if link:
        Path("packages").symlink_to(folder)
        folder = here / "packages"
    monkeypatch.setenv("PYTHONPATH", str(folder))
    words = ("study", "schwardmann2014", "--quick", "--only", "table1b", "--out", "report", "--json")
    done = command(*words, "--no-code")
    assert (done.returncode, done.stderr) == (0, ""), "neither is refused, nor left out with a warning"
    assert "tau_mean_ms" in done.stdout
    assert Path("report/report.html").exists()


@pytest.mark.parametrize(("verb", "name", "more"), [("study", "schwardmann2014", ()), ("suite", "bbr", ("bbr3",))])
def test_without_code_computations_of_a_folder_are_refused_before_they_run(
    here: Path, verb: str, name: str, more: Sequence[str]
) -> None:
    room = "goodqueue.studies" if verb == "study" else "goodqueue.suites"
    shutil.copytree(Path(str(files(room) / "library" / name)), "mine")
    file = Path("mine") / own.NUMBERS
    file.write_text("open('ran', 'w').close()\n" + file.read_text(encoding="utf-8"), encoding="utf-8")
    done = command(verb, "mine", *more, "--no-code", "--quick")
    refusal = "goodqueue: mine/numbers.py: found Python code; accepted with --no-code: files without code\n"
    assert (done.returncode, done.stdout, done.stderr) == (2, "", refusal)
    assert not Path("ran").exists()


def test_the_variable_reaches_programs_that_only_import_goodqueue(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(foreign.VARIABLE, "1")
    with pytest.raises(UserError, match="found Python code"):
        foreign.check("odd.py")
    assert os.environ[foreign.VARIABLE] == "1"
