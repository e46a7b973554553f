"""The verb ``attack``: what it finds, that it repeats and goes on, what it writes, and what it refuses."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from conftest import Result
from goodqueue import executors
from goodqueue import scenario as scenarios
from goodqueue import store as stores
from goodqueue.record import Scenario
from goodqueue.search import worlds
from goodqueue.search.attack import answer, plan, work
from goodqueue.search.attack.question import Attack
from goodqueue.search.attack.words import sentence
from goodqueue.search.evaluating import Evaluator
from goodqueue.search.facts import Chosen, Facts
from goodqueue.search.runner import Runner
from goodqueue.search.subjects import Subject, instead

Command = Callable[..., Result]

BROKEN = ("delay_targets > 10", "delay_targets of pie < 5")

QUESTION = Attack(
    subject="codel", property=BROKEN, bound=("rate=1..4", "duration=20", "flows=1..4"), without="bursts,changes,loss",
    cc=("cubic",), evaluations=64,
)  # fmt: skip
"""A search of these takes a second or two."""

WORDS = [
    "codel", *(f"--property={one}" for one in BROKEN), "--bound=rate=1..4", "--bound=duration=20",
    "--bound=flows=1..4", "--without=bursts,changes,loss", "--cc=cubic", "--evaluations=64",
]  # fmt: skip
"""The same as the command line has it."""


def search(store: Path | None = None, workers: int | None = None, kernel: str | None = None) -> dict[str, Any]:
    """Return the JSON of the search."""
    planned = replace(plan.of(QUESTION), kernel=kernel)
    kept = stores.create(store, "--store") if store else None
    evaluator = Evaluator(planned.subject, planned.broken.conditions, Runner(executors.local(workers), kept))
    finds = work.carry_out(planned, evaluator, lambda _: None)
    data: dict[str, Any] = json.loads(json.dumps(answer.of(finds).as_json("attack")))
    return data


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder in which the search of `found` keeps its runs."""
    return tmp_path_factory.mktemp("attack") / "store"


@pytest.fixture(scope="module")
def found(store: Path) -> dict[str, Any]:
    """Return the JSON of a search that finds unresponsive load."""
    return search(store)


def test_codel_is_found_under_unresponsive_load(found: dict[str, Any]) -> None:
    (find,) = found["finds"]
    kinds = {table["kind"] for table in find["scenario"]["traffic"]}
    assert "cbr" in kinds, "only datagrams that do not slow down fill CoDel's queue here"
    (delay, least), (of_pie, most) = find["values"]
    assert delay > least == 10
    assert of_pie < most == 5
    assert find["holds"] <= find["of"]
    scenarios.resolve(find["scenario"])


@pytest.mark.parametrize(
    ("differing", "beside", "said"),
    [
        ({"third": "cbr", "third.share": 1.5}, {}, "A constant stream of 1.5 times the link's rate joins."),
        (
            {"rate": 1, "second": "bulk", "second.path": "own", "second.start": 0.2},
            {"second.rtt": 50, "second.flows": 1},
            "The link has 1 Mbit/s; a flow joins after 0.2 s, with an RTT of 50 ms.",
        ),
        (
            {"flows": 8, "wire": "others", "duration": 20},
            {"wire.kind": "jitter", "jitter": 20, "second": "none"},
            "8 flows send; all but the first flows cross a wire with jitter of 20 ms; the run lasts 20 s.",
        ),
        (
            {"qdisc": "pie", "changes": 1, "change.0.factor": 0.2},
            {"change.0.at": 0.8},
            "The queue is pie; the rate is 0.2 times the first one from 80 % of the run on.",
        ),
        ({}, {"third": "cbr"}, "It is the simplest scenario of all."),
    ],
)
def test_a_find_is_said_in_words(differing: Facts, beside: Facts, said: str) -> None:
    assert sentence(differing, {**beside, **differing}) == said


def test_shrinking_leaves_half_of_the_margin(found: dict[str, Any]) -> None:
    (find,) = found["finds"]
    planned = plan.of(QUESTION)
    evaluator = Evaluator(planned.subject, planned.broken.conditions, Runner(executors.local(None)))
    drawn = worlds.build(planned.world, Chosen(find["drawn"]))
    both = [
        min(evaluator.judge([one], seed)[0].score for seed in work.FRESH) for one in (drawn, find["scenario"])
    ]  # fmt: skip
    assert both[1] >= work.KEPT * both[0] > 0


def test_a_find_is_a_scenario_that_shows_what_was_found(
    found: dict[str, Any], store: Path, goodqueue: Command, tmp_path: Path
) -> None:
    out = tmp_path / "report"
    goodqueue("attack", *WORDS, f"--store={store}", f"--out={out}")
    assert sorted(file.name for file in out.iterdir()) == [
        "find-1.png", "find-1.svg", "find-1.toml", "report.html", "results.json",
    ]  # fmt: skip
    record = json.loads(goodqueue("run", str(out / "find-1.toml"), "--json").out)
    assert record["queues"]["down"]["delay_ms"]["mean"] / 5 == pytest.approx(found["finds"][0]["values"][0][0])


def test_the_same_search_on_one_core_is_the_same(found: dict[str, Any]) -> None:
    assert search(workers=1) == found


def test_a_search_goes_on_from_its_store(found: dict[str, Any], store: Path) -> None:
    before = sorted(store.rglob("*.parquet"))
    for file in before[::2]:  # as if it had been killed half-way
        file.unlink()
    assert search(store) == found
    assert sorted(store.rglob("*.parquet")) == before


def test_nothing_found_says_what_came_nearest(goodqueue: Command) -> None:
    words = ["--property=delay_targets > 1e6", "--bound=rate=1..4", "--bound=duration=20", "--evaluations=8"]
    result = goodqueue("attack", "fq_codel", *words, "--method=random")
    assert "fq_codel: no scenario with delay_targets > 1e6 among 8 scenarios" in " ".join(result.out.split())
    assert "The nearest: " in result.out


def test_a_kernel_confirms_what_is_found(kernel: list[Scenario], found: dict[str, Any]) -> None:
    again = search(kernel="kernel")
    (find,) = again["finds"]
    assert find["scenario"] == found["finds"][0]["scenario"]
    assert find["kernel"]["engine"] == "kernel"
    assert (find["kernel"]["holds"], find["kernel"]["of"]) == (3, 3)
    lines = [one["bottleneck"]["qdisc"].split()[0] for one in kernel]
    assert (lines.count("codel"), lines.count("pie")) == (3, 3)


def test_the_scenario_that_is_compared_differs_in_what_is_attacked_only() -> None:
    made = {"bottleneck": {"qdisc": "codel"}, "traffic": [{"cc": "bbr", "count": 2}, {"cc": "cubic"}, {"kind": "cbr"}]}
    assert instead(made, Subject("bbr", is_cc=True), "reno")["traffic"] == [
        {"cc": "reno", "count": 2}, {"cc": "cubic"}, {"kind": "cbr"},
    ]  # fmt: skip
    assert instead(made, Subject("codel", is_cc=False), "pie")["bottleneck"] == {"qdisc": "pie"}
    assert instead(made, Subject("codel", is_cc=False), "traffic.0.count=9")["traffic"][0]["count"] == 9
    assert made["bottleneck"] == {"qdisc": "codel"}


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["kodel", "--property", "delay"], 'QDISC|CC: found "kodel"; accepted: a discipline\'s line'),
        (["codel"], "--property: found none; accepted: delay, "),
        (["codel", "--property", "slow"], '--property slow: found "slow"; accepted: delay, '),
        (["codel", "--property", "delay_mean_ms > 2 x kodel"], '"kodel": '),
        (["codel", "--property", "delay", "--bound", "rate=9..3"], '--bound rate=9..3: found "9..3"; accepted: within'),
        (
            ["codel", "--property", "delay", "--bound", "speed=1..2"],
            '--bound speed=1..2: found "speed"; accepted: NAME',
        ),
        (["codel", "--property", "delay", "--without", "rain"], '--without rain: found "rain"; accepted: cbr, '),
        (["codel", "--property", "delay", "--qdisc", "pie"], "--qdisc pie: found for a discipline"),
        (["codel", "--property", "delay", "--cc", "kubic"], "--cc kubic: "),
        (["codel", "--property", "delay", "--method", "luck"], "--method luck: accepted: tpe, random, nsga2"),
        (["codel", "--property", "delay", "--evaluations", "0"], '--evaluations: found "0"'),
    ],
)
def test_a_wrong_request_is_refused_before_any_run(goodqueue: Command, words: list[str], line: str) -> None:
    result = goodqueue("attack", *words)
    assert result.status == 2
    assert line in result.err
    assert result.err.count("\n") == 1
    assert not result.out


def test_a_class_that_may_not_run_says_why(here: Path, goodqueue: Command) -> None:
    Path("x.py").write_text("class X:\n    pass\n", encoding="utf-8")
    found = goodqueue("attack", "./x.py:X", "--no-code")
    assert (found.status, found.err.count("\n")) == (2, 1)
    assert "./x.py: found Python code; accepted with --no-code" in found.err
