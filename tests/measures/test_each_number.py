"""Each number in each verb: a verb takes it, and its runs show it, or refuses it with what the scenario lacks.

A number says what it needs of a scenario (`needs`). Here it stands beside runs: a need that is too strict would refuse
a number that the run shows, and one that is too weak would give an empty column.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import goodqueue as gq
from conftest import Result
from goodqueue import running
from goodqueue import scenario as scenarios
from goodqueue.calibrate import judging, programs
from goodqueue.calibrate.keeping import Result as Calibrated
from goodqueue.errors import UserError
from goodqueue.measures import metrics, numbers
from goodqueue.measures.needs import Need
from goodqueue.record import Record, Scenario
from goodqueue.scenario.toml import to_toml
from goodqueue.search import worlds
from goodqueue.search.attack.question import Attack
from goodqueue.search.fit.question import Fit
from goodqueue.search.sensitivity.question import Sensitivity
from goodqueue.search.tune.question import Tune
from goodqueue.studies import loading, planning, selection
from goodqueue.validation import result as validation

Command = Callable[..., Result]

KINDS: list[dict[str, Any]] = [
    {"kind": "ping"},
    {"kind": "transfer", "interval": "500ms", "size": "20kB"},
    {"kind": "rr", "request": "1kB", "response": "10kB"},
    {"kind": "stream", "rate": "1mbit"},
    {"kind": "voip"},
    {"kind": "media"},
    {"kind": "page", "interval": "500ms", "page": "google"},
    {"kind": "packmime", "rate": 5.0},
    {"kind": "web_users", "users": 5},
    {"kind": "tmix", "vectors": [{"start_us": 3_000_000, "sends": [[">", 245, 21217], ["<", 510, 0]]}]},
    {"kind": "video"},
    {"kind": "rpm"},
]
"""Traffic that measures something. QUIC's stacks are another package, so its numbers are only refused here."""

LINE = "pfifo limit 60"
BURST = {"kind": "cbr", "rate": "30mbit", "start": "2s", "stop": "3s"}
LINK: Scenario = {
    "duration": "16s",
    "warmup": "1s",
    "bottleneck": {"rate": "20mbit", "qdisc": LINE},
    "path": {"rtt": "20ms"},
    "series": {"interval": "100ms"},
    "traffic": [{"kind": "bulk", "count": 2}, {"kind": "bulk", "direction": "up", "count": 2}, BURST, *KINDS],
}
SCENARIOS: dict[str, Scenario] = {
    "all kinds of traffic": LINK,
    "one flow and a burst": {**LINK, "traffic": [{"kind": "bulk"}, BURST]},
    "datagrams alone": {**LINK, "series": {}, "traffic": [BURST | {"stop": "9s"}]},
    "a call up": {
        **LINK,
        "bottleneck": {"rate": "60kbit", "qdisc": LINE},
        "traffic": [{"kind": "voip", "direction": "up"}],
    },
    "pings of a cell": {
        **LINK,
        "series": {},
        "bottleneck": {"qdisc": LINE, "wifi": {"standard": "802.11n", "station": [{"name": "laptop", "rate": "mcs0"}]}},
        "traffic": [{"kind": "ping", "interval": "10ms"}, {"kind": "bulk", "station": "laptop"}],
    },
}
"""Scenarios that differ in what numbers need."""


@cache
def resolved(name: str) -> Scenario:
    return scenarios.resolve(SCENARIOS[name])


@cache
def record(name: str) -> Record:
    found: Record = json.loads(running.one_text(resolved(name)))
    return found


@cache
def shown(name: str) -> tuple[str, ...]:
    """Return the keys of the numbers that the run of a scenario shows."""
    return tuple(key for key, number in numbers.by_key().items() if number.pick(record(name)) is not None)


def first(is_shown: bool) -> dict[str, list[str]]:
    """Return each key at the first scenario whose run shows it, or at the first whose run does not."""
    keys: dict[str, list[str]] = {}
    for key in numbers.by_key():
        names = (name for name in SCENARIOS if (key in shown(name)) is is_shown)
        if name := next(names, ""):
            keys.setdefault(name, []).append(key)
    return keys


@pytest.mark.parametrize("name", SCENARIOS)
def test_a_number_needs_what_a_run_must_have_to_show_it(name: str) -> None:
    accepted = [key for key, number in numbers.by_key().items() if numbers.lacks(number, [resolved(name)]) is None]
    assert accepted == list(shown(name))


def test_each_number_is_shown_by_a_scenario_and_refused_for_another() -> None:
    everywhere = set.intersection(*(set(shown(name)) for name in SCENARIOS))
    nowhere = set(numbers.by_key()).difference(*(shown(name) for name in SCENARIOS))
    assert nowhere == {"quic_rtt_p95_ms", "quic_marks_heard", "quic_never_started", "quic_unfinished"}
    assert all(not numbers.by_key()[key].needs for key in everywhere)


def test_no_number_is_refused_where_subscribers_draw_the_traffic() -> None:
    """Their traffic is not in the scenario: who runs what is drawn when the run begins."""
    traffic = {**LINK, "traffic": [], "subscriber": [{"name": "home", "down": "5mbit", "up": "1mbit"}]}
    street = scenarios.resolve(traffic)
    assert {key for key, number in numbers.by_key().items() if numbers.lacks(number, [street])} == set()


@pytest.fixture
def file(here: Path) -> Callable[[str], str]:
    """Return the function that writes a scenario into a file. In a file, traffic names its vectors' file."""

    def write(name: str) -> str:
        Path("some.tmix").write_text("SEQ 3000000 2 1 55564\n> 245\nt 21217\n< 510\n", encoding="ascii")
        tables = [one | {"vectors": "some.tmix"} if "vectors" in one else one for one in SCENARIOS[name]["traffic"]]
        Path("link.toml").write_text(to_toml({**SCENARIOS[name], "traffic": tables}), encoding="utf-8")
        return "link.toml"

    return write


def compare(file: str, keys: Sequence[str]) -> None:
    found = gq.compare(LINE, scenario=file, metric=keys, seeds=1, workers=1)
    assert found.df[list(keys)].notna().all(axis=None), "a number that is accepted is there"


def sweep(file: str, keys: Sequence[str]) -> None:
    gq.sweep(file, {"path.rtt": ["20ms"]}, metric=keys, seeds=1, workers=1)


def vary(file: str, keys: Sequence[str]) -> None:
    ends = ("path.rtt=20ms..21ms", "duration=16s..17s")
    Sensitivity(scenario=file, vary=ends, metric=tuple(keys), method="morris", samples=4).work()


def observe(file: str, keys: Sequence[str]) -> None:
    Fit(source=file, vary=("path.rtt=20ms..21ms",), observed=tuple(f"{key}=1" for key in keys)).work()


def tune(file: str, option: str, text: str) -> None:
    asked = {"want": (), "max": (), "min": ("queues.down.utilisation_percent",)} | {option: (text,)}
    Tune(qdisc="codel", on=(file,), vary=("target",), **asked).work()


def maximise(file: str, keys: Sequence[str]) -> None:
    for key in keys:
        tune(file, "max", key)


def minimise(file: str, keys: Sequence[str]) -> None:
    for key in keys:
        tune(file, "min", key)


def want(file: str, keys: Sequence[str]) -> None:
    for key in keys:
        tune(file, "want", f"{key} < 1")


VERBS = (compare, sweep, vary, observe, maximise, minimise, want)


@pytest.mark.parametrize("verb", VERBS, ids=lambda verb: verb.__name__)
def test_a_verb_takes_each_number_or_says_what_the_scenario_lacks(
    file: Callable[[str], str], verb: Callable[[str, Sequence[str]], None]
) -> None:
    for name, keys in first(is_shown=True).items():
        verb(file(name), keys)
    for name, key in [(name, key) for name, keys in first(is_shown=False).items() for key in keys]:
        with pytest.raises(UserError) as refusal:
            verb(file(name), [key])
        said = f" {key}: no run of this scenario shows it; accepted: with {lacks(name, key).words}"
        assert str(refusal.value).endswith(said)


def lacks(name: str, key: str) -> Need:
    """Return what a scenario lacks that does not show the number ``key``."""
    lacking = numbers.lacks(numbers.by_key()[key], [resolved(name)])
    assert lacking is not None
    return lacking


def test_an_attack_takes_each_number_or_says_what_its_scenarios_lack() -> None:
    """A search has bulk flows, or transfers if a condition is about them, and datagrams."""
    shows = {
        *shown("one flow and a burst"),
        "share",
        "jain_goodput",
        *(one.key for one in metrics.METRICS if one.app == worlds.TRANSFER),
    }
    for key in numbers.by_key():
        question = Attack(subject="codel", property=(f"{key} > 1",))
        if key in shows:
            question.work()
            continue
        with pytest.raises(UserError) as refusal:
            question.work()
        said = f"property {key} > 1: no scenario of this search shows {key}, since none has "
        assert said in str(refusal.value)


STUDY = """
study = {{title = "All numbers"}}
qdiscs = {{codel = "codel"}}

[[experiment]]
id = "all"
published = "all"
scenario = "link.toml"

[experiment.metrics]
{metrics}
"""

VALUE = """
[[value]]
id = "{key}"
scenario = "all"
algorithm = "codel"
metric = "{key}"
value = 1
unit = ""
"""

PUBLISHED = """
paper = {{key = "mine", title = "All numbers", authors = ["Ada"], year = 2026}}
scenario = [{{id = "all"}}]
{values}
"""


def study(keys: Sequence[str]) -> None:
    """Write a study of link.toml with these numbers into the working directory."""
    metrics = "\n".join(f'{key}.compute = "{key}"' for key in keys)
    Path("study.toml").write_text(STUDY.format(metrics=metrics), encoding="utf-8")
    values = "\n".join(VALUE.format(key=key) for key in keys)
    Path("published.toml").write_text(PUBLISHED.format(values=values), encoding="utf-8")


def test_a_study_takes_each_number_or_says_what_the_scenario_lacks(
    file: Callable[[str], str], goodqueue: Command
) -> None:
    for name, keys in first(is_shown=True).items():
        file(name)
        study(keys)
        done = goodqueue("study", ".", "--json")
        assert (done.status, done.err) == (0, "")
        measured = {one["id"]: one["measured"] for one in json.loads(done.out)["values"]}
        assert list(measured) == keys
        assert None not in measured.values()
    for name, key in [(name, key) for name, keys in first(is_shown=False).items() for key in keys]:
        file(name)
        study([key])
        loaded = loading.load(Path())
        with pytest.raises(UserError) as refusal:
            planning.plan(loaded, selection.select(loaded, []))
        assert (lacks(name, key).key or lacks(name, key).words) in str(refusal.value)


def test_validation_and_calibration_take_each_number(monkeypatch: pytest.MonkeyPatch) -> None:
    name = "one flow and a burst"
    monkeypatch.setattr(validation, "MEASURES", tuple(numbers.by_key().values()))
    cell = validation.Cell("pfifo", "base", resolved(name))
    side = validation.of_records(cell, *[[record(name)]] * 3).sim
    (claim, *_) = programs.PROGRAMS[0].claims
    calibrated = Calibrated(
        "path", "line", "session", 1, "", None, is_busy=False, tries=1, seconds=1.0, record=record(name)
    )
    for key, number in numbers.by_key().items():
        value = number.pick(record(name))
        assert side.values[key] == [value]
        assert judging.truth(calibrated, replace(claim, truth=key)) == value
