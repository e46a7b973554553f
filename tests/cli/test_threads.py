"""``goodqueue run --threads``: the same bytes, and the reason where a run stays on one thread."""

import json
from collections.abc import Callable
from pathlib import Path
from threading import Event

import pytest

import goodqueue as gq
from conftest import ROOT, Result
from goodqueue import endpoints, running, scenario

EXAMPLES = sorted((ROOT / "examples").glob("*.toml"))
SHORT = {"duration": "3s", "warmup": "1s"}
STREET = {
    **SHORT,
    "bottleneck": {"rate": "30mbit", "qdisc": "cake"},
    "path": {"rtt": "20ms"},
    "traffic": [{"kind": "bulk", "count": 4, "start_spread": "1s"}, {"kind": "voip", "count": 2}],
}


def on(threads: int, base: scenario.Scenario) -> str:
    return running.simulate(base, lambda _: None, Event(), threads=threads)


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda file: file.stem)
def test_an_example_has_the_same_bytes_on_three_threads(example: Path) -> None:
    base = scenario.load(str(example))
    resolved = scenario.resolve(base, str(example))
    warm = float(str(resolved["warmup"]).removesuffix("s"))
    short = {**resolved, "duration": f"{min(warm + 2, float(str(resolved['duration']).removesuffix('s')))}s"}
    try:
        scenario.resolve(short, str(example))
    except gq.UserError:  # something happens later than that
        short = resolved
    assert on(3, short) == on(1, short)


def test_the_command_and_the_function_take_threads(goodqueue: Callable[..., Result], tmp_path: Path) -> None:
    file = tmp_path / "street.json"
    one = gq.run(STREET, threads=1)
    assert gq.run(STREET, threads=4).text == one.text == gq.run(STREET).text
    file = tmp_path / "street.toml"
    file.write_text(
        'duration = "3s"\nwarmup = "1s"\n[bottleneck]\nrate = "30mbit"\nqdisc = "cake"\n[path]\nrtt = "20ms"\n'
        '[[traffic]]\nkind = "bulk"\ncount = 4\nstart_spread = "1s"\n[[traffic]]\nkind = "voip"\ncount = 2\n'
    )
    assert goodqueue("run", str(file), "--threads", "2", "--json").out.strip() == one.text


def test_a_run_that_cannot_be_cut_says_why(goodqueue: Callable[..., Result]) -> None:
    result = goodqueue("run", str(ROOT / "examples/host-stack.toml"), "--threads", "2", "--json")
    assert "one thread: a host has a queue of its own" in result.err
    assert json.loads(result.out)["hosts"]


def test_a_run_with_another_packages_endpoints_says_why(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(endpoints, "package", lambda _: "another")
    monkeypatch.setattr(running, "with_endpoints", lambda *_: "the record")
    assert on(2, STREET) == on(1, STREET) == "the record"
    assert capsys.readouterr().err.count("one thread: another package has a flow's endpoints") == 1


@pytest.mark.parametrize(
    ("words", "found"),
    [
        (["--threads", "0"], "--threads"),
        (["--threads", "two"], "--threads"),
        (["--threads", "2", "--trace", "x.pcapng"], "--trace"),
        (["--threads", "2", "--engine", "kernel"], "sim"),
    ],
)
def test_threads_that_make_no_sense_are_refused(
    words: list[str], found: str, goodqueue: Callable[..., Result], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    result = goodqueue("run", str(ROOT / "examples/rrul.toml"), *words)
    assert result.status == 2
    assert result.err.count("\n") == 1
    assert found in result.err
    with pytest.raises(gq.UserError, match="threads"):
        gq.run(STREET, threads=0)
