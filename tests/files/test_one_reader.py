"""Files that are no files, where files are expected: no verb waits for ever, fills the memory, or ends in a traceback.

A file that the user names may be a pipe where that is of use. A file that a search finds is a regular file, or it is
left out with a line.
"""

import json
import os
import resource
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from conftest import Result
from goodqueue.engines.kernel import image
from goodqueue.errors import UserError
from goodqueue.files import inputs
from goodqueue.record import Record
from goodqueue.report import sections
from goodqueue.serving import mine
from goodqueue.studies.libraries import STUDIES, SUITES

Command = Callable[..., Result]

LIMIT_S = 60
"""Generous. Without an answer a verb would wait for ever."""

MEMORY = 3 << 30
"""The memory that a verb may take in addition. The file of zeros has 10 GB."""

LINKS = {
    "link to a device": "/dev/zero",
    "link to standard input": "/dev/stdin",
    "link to itself": "",
    "link to nothing": "nothing",
}
KINDS = ["pipe", "socket", "folder", "zeros", *LINKS]


def odd(kind: str, path: Path) -> None:
    """Put something at ``path`` that is not a file of a size that anybody expects."""
    if path.is_dir():
        shutil.rmtree(path)
    path.unlink(missing_ok=True)
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "socket":
        here = Path.cwd()
        os.chdir(path.parent)  # the names of sockets are short
        with socket.socket(socket.AF_UNIX) as one:
            one.bind(path.name)
        os.chdir(here)
    elif kind == "folder":
        path.mkdir()
    elif kind in LINKS:
        path.symlink_to(path.name if kind == "link to itself" else LINKS[kind])
    else:
        with path.open("wb") as file:
            file.truncate(10 << 30)


@pytest.fixture(autouse=True)
def bounds(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Limit time and memory, so that a verb that takes too much of them fails and does not stop the tests."""
    monkeypatch.setattr(inputs, "PATIENCE_S", 0.2)
    before = resource.getrlimit(resource.RLIMIT_AS)
    taken = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (taken + MEMORY, before[1]))

    def ended(*_: object) -> None:
        raise TimeoutError("the verb waits for ever")

    handler = signal.signal(signal.SIGALRM, ended)
    signal.alarm(LIMIT_S)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, handler)
    resource.setrlimit(resource.RLIMIT_AS, before)


SCENARIO = """
duration = "2s"
[bottleneck]
{link}
[path]
rtt = "20ms"
[[traffic]]
kind = "bulk"
{traffic}
"""


def scenario(link: str = 'rate = "10mbit"\nqdisc = "pfifo"', traffic: str = "") -> str:
    return SCENARIO.format(link=link, traffic=traffic)


NAMED = {
    "run odd": "odd",
    "run rates.toml": "odd.rates",
    "run class.toml": "odd.py",
    "run page.toml": "odd.har",
    "run sizes.toml": "odd.csv",
    "run vectors.toml": "odd.tmix",
    "compare pfifo --scenario odd": "odd",
    "compare odd.py:A": "odd.py",
    "compare pfifo --traffic tmix:odd": "odd",
    "compare pfifo --traffic page:odd.har": "odd.har",
    "sweep odd --store st": "odd",
    "sweep ok.toml --store odd": "odd",
    "link odd.toml -- true": "odd.toml",
    "link --trace-down odd -- true": "odd",
    "advise --flent odd": "odd",
    "advise --down 10mbit --up 1mbit --link lte --trace odd": "odd",
    "import odd": "odd",
    "report odd": "odd",
    "plot cdf odd --out x.svg": "odd",
    "export --flent odd --out out": "odd",
    "replay odd.csv": "odd.csv",
    "vectors odd --out x.tmix": "odd",
    "serve odd": "odd",
    "serve odd.toml": "odd.toml",
    "study odd": "odd",
    "suite odd pfifo": "odd",
}
"""Commands that name a file, and its name."""


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("words", NAMED)
def test_a_named_file_is_refused_in_a_line(here: Path, goodqueue: Command, words: str, kind: str) -> None:
    Path("rates.toml").write_text(scenario('trace = "odd.rates"\nqdisc = "pfifo"'), encoding="utf-8")
    Path("class.toml").write_text(scenario('rate = "1mbit"\nqdisc = "./odd.py:A"'), encoding="utf-8")
    for name, traffic in (
        ("page", 'kind = "page"\npage = "odd.har"'),
        ("sizes", 'kind = "web_users"\nusers = 1\nobject = "odd.csv"'),
        ("vectors", 'kind = "tmix"\nvectors = "odd.tmix"'),
    ):
        text = scenario().replace('kind = "bulk"', traffic)
        Path(f"{name}.toml").write_text(text, encoding="utf-8")
    odd(kind, Path(NAMED[words]))
    done = goodqueue(*words.split())
    is_new_place = words == "sweep ok.toml --store odd" and kind == "folder"
    assert done.status == (0 if is_new_place else 2), done
    assert is_new_place or done.err.count("\n") == 1, done.err
    assert done.err.startswith("goodqueue: ")


def test_a_pipe_that_has_a_writer_is_read_however_slow_that_is(here: Path) -> None:
    """A process may take longer than our patience before it writes, once it has opened the pipe."""
    os.mkfifo("pipe")
    text = Path("ok.toml").read_bytes()

    def write(pauses_s: tuple[float, float, float]) -> None:
        time.sleep(pauses_s[0])
        with Path("pipe").open("wb", buffering=0) as pipe:
            time.sleep(pauses_s[1])
            pipe.write(text[:50])
            time.sleep(pauses_s[2])
            pipe.write(text[50:])

    for pauses_s in ((0, 0, 0), (0.1, 0.5, 0.5)):
        writer = threading.Thread(target=write, args=(pauses_s,))
        writer.start()
        assert inputs.read(Path("pipe"), 1000, "a scenario") == text
        writer.join()


@pytest.mark.parametrize("words", ["run /dev/stdin", "replay /dev/stdin", "import /dev/stdin", "report /dev/stdin"])
def test_standard_input_is_a_file_that_may_be_named(here: Path, goodqueue: Command, record: Record, words: str) -> None:
    goodqueue("record", "pfifo", "--packets", "100", "--out", "x.csv")
    iperf3 = {"start": {}, "intervals": [], "end": {}, "error": "unable to connect"}
    given = {
        "run": Path("ok.toml").read_text(encoding="utf-8"),
        "replay": Path("x.csv").read_text(encoding="utf-8"),
        "import": json.dumps(iperf3),
        "report": json.dumps(record),
    }[words.split(maxsplit=1)[0]]
    command = [sys.executable, "-m", "goodqueue", *words.split()]
    done = subprocess.run(command, check=False, input=given, capture_output=True, text=True)
    assert done.returncode == (2 if "import" in words else 0), done.stderr
    assert "import" not in words or "unable to connect" in done.stderr, "it was read"


def test_an_endless_pipe_is_read_up_to_the_largest_size(here: Path) -> None:
    with subprocess.Popen(["cat", "/dev/zero"], stdout=subprocess.PIPE) as endless:
        assert endless.stdout is not None
        with pytest.raises(UserError, match="larger than 4 MiB"):
            inputs.read(Path(f"/proc/self/fd/{endless.stdout.fileno()}"), 4 * inputs.MIB, "a scenario")
        endless.kill()


def test_a_wait_for_a_pipe_ends_when_the_work_is_to_stop(here: Path) -> None:
    os.mkfifo("pipe")
    with inputs.opened(Path("pipe"), "a trace", stopped=lambda: True) as pipe, pytest.raises(InterruptedError):
        pipe.read(1)


# --- files that a search finds -----------------------------------------------------------------------------------


@pytest.fixture
def store(here: Path, goodqueue: Command) -> Path:
    """Return a store with two runs of one sweep."""
    assert goodqueue("sweep", "ok.toml", "--seeds", "2", "--store", "st").status == 0
    return here / "st"


@pytest.mark.parametrize("kind", KINDS)
def test_what_lies_among_scenarios_is_left_out_with_a_line(here: Path, kind: str) -> None:
    for name, text in (("a.har", ""), ("uses.toml", scenario(traffic='page = "a.har"').replace("bulk", "page"))):
        Path(name).write_text(text, encoding="utf-8")
    odd(kind, Path("odd.toml"))
    odd(kind, Path("a.har"))
    found = mine.find(["."])
    assert [one.name for one in found.scenarios] == ["ok.toml"]
    assert len(found.left_out) == 2
    Path("ok.toml").unlink()
    odd(kind, Path("ok.toml"))
    with pytest.raises(UserError):  # it was a file when it was found
        found.scenarios[0].read()


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind not in ("folder", "zeros")])
def test_what_lies_among_traces_is_left_out_with_a_line(here: Path, goodqueue: Command, kind: str) -> None:
    Path("traces").mkdir()
    goodqueue("record", "pfifo", "--packets", "100", "--out", "traces/x.csv")
    odd(kind, Path("traces/odd.csv"))
    done = goodqueue("replay", "traces")
    assert (done.status, done.err.count("\n")) == (0, 1), done
    assert done.err.startswith("goodqueue: left out: traces/odd.csv: ")
    assert "1 of 1 traces ok" in done.out


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "zeros"])
def test_what_lies_among_runs_is_left_out_with_a_line(store: Path, goodqueue: Command, kind: str) -> None:
    (store / "runs" / "zz").mkdir()
    odd(kind, store / "runs" / "zz" / "odd.parquet")
    (store / "sweeps" / "odd").mkdir()
    odd(kind, store / "sweeps" / "odd" / "results.json")
    done = goodqueue("report", "st", "--out", "r.html")
    assert (done.status, done.err.count("left out: st/")) == (0, 2), done


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ["results.json", "records.jsonl"])
def test_a_comparison_with_an_odd_file_is_refused_in_a_line(
    here: Path, goodqueue: Command, name: str, kind: str
) -> None:
    Path("cmp").mkdir()
    Path("cmp/results.json").write_text('{"made_by": "goodqueue compare", "files": []}', encoding="utf-8")
    odd(kind, Path("cmp") / name)
    for words in ("report cmp", "compare pfifo codel --out cmp"):
        done = goodqueue(*words.split())
        assert (done.status, done.err.count("\n")) == (2, 1), done
    with pytest.raises(UserError):
        mine.find(["cmp"])


@pytest.mark.parametrize("kind", KINDS)
def test_an_odd_figure_is_left_out_of_a_report(here: Path, capsys: pytest.CaptureFixture[str], kind: str) -> None:
    Path("good.svg").write_text("<?xml?><svg/>", encoding="utf-8")
    odd(kind, Path("odd.svg"))
    assert [figure.svg for figure in sections.beside(here, "s1")] == ["<svg/>"]
    assert capsys.readouterr().err.count("left out: ") == 1


LIBRARY = {"study": (STUDIES, "schwardmann2014", ()), "suite": (SUITES, "rfc7928", ("pfifo",))}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("what", LIBRARY)
def test_a_folder_with_an_odd_member_is_refused_in_a_line(here: Path, goodqueue: Command, what: str, kind: str) -> None:
    library, name, more = LIBRARY[what]
    shutil.copytree(library.find(name), "copy")
    members = [f"{what}.toml", *(["published.toml"] if what == "study" else [])]
    members.append(
        next(
            file.relative_to("copy") for file in sorted(Path("copy").rglob("*.toml")) if str(file.name) not in members
        ).as_posix()
    )
    for member in members:
        Path("copy", member).rename("kept")
        odd(kind, Path("copy", member))
        done = goodqueue(what, "./copy", *more, "--quick")
        assert (done.status, done.err.count("\n")) == (2, 1), done
        odd("pipe", Path("copy", member))
        Path("copy", member).unlink()
        Path("kept").rename(Path("copy", member))


@pytest.mark.parametrize("kind", KINDS)
def test_an_odd_description_is_no_image(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    (image.cache() / "key").mkdir(parents=True)
    odd(kind, image.cache() / "key" / image.ABOUT)
    assert image.find() is None


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ["store.json", "run"])
def test_an_odd_file_of_a_store_is_set_aside(store: Path, goodqueue: Command, name: str, kind: str) -> None:
    file = store / name if name == "store.json" else next(store.glob("runs/*/*.parquet"))
    odd(kind, file)
    done = goodqueue("sweep", "ok.toml", "--seeds", "2", "--store", "st")
    assert done.status == 0, done
    assert file.is_file()
    assert (
        goodqueue("sweep", "ok.toml", "--seeds", "2", "--store", "st").err == "goodqueue: 2 runs in st, 0 of them new\n"
    )
