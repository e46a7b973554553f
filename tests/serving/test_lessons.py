"""The lessons of the page in the browser: files are complete, goals start unmet and can be met, texts are true."""

import copy
import json
import re
import tomllib
from functools import cache
from typing import Any, NamedTuple

import pytest

from conftest import ROOT
from goodqueue import running
from goodqueue import scenario as scenarios
from goodqueue.measures.metrics import numbers
from goodqueue.record import Record, Scenario, dotted

FILES = sorted((ROOT / "web" / "lessons").glob("*.toml"))
LESSONS: dict[str, dict[str, Any]] = {file.stem: tomllib.loads(file.read_text(encoding="utf-8")) for file in FILES}
SEEDS = (1, 2, 3)

# The keys that have a control on the page, and the ranges of the controls.
RANGES = {"bottleneck.buffer.bdp": (0.1, 16), "traffic.0.count": (1, 32)}
CONTROLS = {*RANGES, "bottleneck.rate", "path.rtt", "traffic.0.cc", "traffic.0.ecn", "node.0.down"}

each_lesson = pytest.mark.parametrize("name", LESSONS)


def scenario_of(name: str, settings: dict[str, Any], line: int, seed: int) -> Scenario:
    """Return the scenario of a lesson under one of its lines, with ``settings`` made as by the page's controls."""
    lesson = LESSONS[name]
    made: Scenario = copy.deepcopy(lesson["scenario"])
    lines = list(lesson["lines"])
    for key, value in settings.items():
        if key.startswith("lines."):
            lines[int(key.removeprefix("lines."))] = value
        else:
            scenarios.apply_set(made, f"{key}={json.dumps(value)}")
    made["bottleneck"]["qdisc"] = lines[line]
    made["seed"] = seed
    return made


@cache
def _record(name: str, settings: str, line: int, seed: int) -> Record:
    return running.one(scenario_of(name, json.loads(settings), line, seed))


def record_of(name: str, settings: dict[str, Any], line: int, seed: int) -> Record:
    return _record(name, json.dumps(settings), line, seed)


def measured(name: str, settings: dict[str, Any], line: int, metric: str, seed: int) -> float:
    number = dotted.walk(record_of(name, settings, line, seed), metric)
    assert number is not None, f"{name}: a run of line {line} has no {metric}"
    return number


def missed(name: str, settings: dict[str, Any], seed: int) -> list[str]:
    """Return the texts of the goals that do not hold, with the measured number."""
    found = []
    for goal in LESSONS[name]["goal"]:
        number = measured(name, settings, goal["line"], goal["metric"], seed)
        if not goal.get("at_least", number) <= number <= goal.get("at_most", number):
            found.append(f"{goal['says']}: {number}")
    return found


def sentences(text: str) -> int:
    assert text == text.strip()
    assert text.endswith("."), text
    return len(re.findall(r"[.?!](?=\s|$)", text))


# --- what stands in the files ----------------------------------------------------------------------------------------


def test_the_lessons_are_numbered_from_1_to_7() -> None:
    assert [re.sub(r"-[a-z0-9-]+$", "", name) for name in LESSONS] == list("1234567")


def test_titles_are_unique() -> None:
    titles = [lesson["title"] for lesson in LESSONS.values()]
    assert all(titles)
    assert len(set(titles)) == len(titles)


@each_lesson
def test_a_lesson_has_all_keys_and_no_other(name: str) -> None:
    lesson = LESSONS[name]
    assert set(lesson) == {"title", "text", "question", "hint", "answer", "lines", "goal", "try", "scenario"}
    for goal in lesson["goal"]:
        assert set(goal) in ({"line", "metric", "says", bound} for bound in ("at_least", "at_most"))


@each_lesson
def test_texts_are_short(name: str) -> None:
    lesson = LESSONS[name]
    assert 60 <= len(lesson["text"].split()) <= 130
    assert lesson["text"].count("\n\n") <= 1, "one or two paragraphs"
    assert "\n" not in lesson["text"].replace("\n\n", ""), "a line's end that is no paragraph's"
    assert sentences(lesson["text"]) >= 4
    assert sentences(lesson["question"]) == sentences(lesson["hint"]) == 1
    assert 2 <= sentences(lesson["answer"]) <= 4


@each_lesson
def test_a_goal_says_the_number_that_it_asks_for(name: str) -> None:
    for goal in LESSONS[name]["goal"]:
        bound, words = (goal["at_least"], "or more") if "at_least" in goal else (goal["at_most"], "or less")
        assert re.search(rf"\b{re.escape(f'{bound:g}')}\b", goal["says"]), goal["says"]
        assert bound == 0 or words in goal["says"], goal["says"]


@each_lesson
def test_the_first_table_of_traffic_is_bulk(name: str) -> None:
    """The page's controls of flows are for the first bulk table. `CONTROLS` assumes that it is the first of all.

    Subscribers have traffic of their own, and no control of flows.
    """
    scenario = LESSONS[name]["scenario"]
    assert "subscriber" in scenario or scenario["traffic"][0]["kind"] == "bulk"


@each_lesson
def test_a_run_is_short_enough_for_a_slider_to_feel_alive(name: str) -> None:
    scenario = scenarios.resolve(scenario_of(name, {}, 0, 1))
    least = 12 if "subscriber" in scenario else 20
    assert least <= scenarios.seconds(scenario["duration"]) <= 30
    packets = record_of(name, {}, 0, 1)["queues"]["down"]["packets"]
    assert packets is not None
    assert packets["forwarded"] <= 25e6 * 30 / 8 / 1514, "as many as 25 Mbit/s carry in 30 s"


@each_lesson
def test_every_line_goes_with_the_scenario(name: str) -> None:
    lesson = LESSONS[name]
    assert len(lesson["lines"]) >= 2
    assert "qdisc" not in lesson["scenario"]["bottleneck"], "the lines say it"
    tried: dict[str, Any] = lesson["try"]
    for settings in ({}, tried):
        for line in range(len(lesson["lines"])):
            scenarios.resolve(scenario_of(name, settings, line, 1), name)


# --- goals -----------------------------------------------------------------------------------------------------------


@each_lesson
def test_what_a_goal_is_of_stands_in_the_record(name: str) -> None:
    for goal in LESSONS[name]["goal"]:
        assert dotted.check_path(goal["metric"]) is None
        measured(name, {}, goal["line"], goal["metric"], 1)


@each_lesson
def test_what_is_tried_has_a_control_that_can_be_set_so(name: str) -> None:
    lesson = LESSONS[name]
    lines = {f"lines.{number}" for number in range(len(lesson["lines"]))}
    assert lesson["try"]
    assert set(lesson["try"]) <= CONTROLS | lines
    start: dict[str, Any] = {}
    if "traffic" in lesson["scenario"]:
        start["traffic.0.count"] = lesson["scenario"]["traffic"][0].get("count", 1)
    if "buffer" in lesson["scenario"]["bottleneck"]:
        start["bottleneck.buffer.bdp"] = lesson["scenario"]["bottleneck"]["buffer"]["bdp"]
    for key, value in [*start.items(), *lesson["try"].items()]:
        if key in RANGES:
            assert RANGES[key][0] <= value <= RANGES[key][1], key


@pytest.mark.parametrize("seed", SEEDS)
@each_lesson
def test_the_goals_do_not_hold_at_the_start(name: str, seed: int) -> None:
    assert missed(name, {}, seed)


@pytest.mark.parametrize("seed", SEEDS)
@each_lesson
def test_the_goals_hold_with_what_is_tried(name: str, seed: int) -> None:
    assert not missed(name, LESSONS[name]["try"], seed)


# --- what the texts say of the runs ----------------------------------------------------------------------------------


class Claim(NamedTuple):
    """A sentence of a lesson as a number of a run, with each of `SEEDS`."""

    says: str
    lesson: str
    settings: dict[str, Any]
    line: int
    metric: str
    least: float
    most: float


DELAY, BUSY = "queues.down.delay_ms.mean", "queues.down.utilisation_percent"
DROPPED, LOSS, PING = "queues.down.packets.dropped", "apps.0.loss_percent", "apps.0.rtt_ms.p50"
SMALL: dict[str, Any] = {"bottleneck.buffer.bdp": 1}
BIG: dict[str, Any] = {"bottleneck.buffer.bdp": 4}
MANY: dict[str, Any] = {"traffic.0.count": 16}
ECN: dict[str, Any] = {"traffic.0.ecn": True}
PRAGUE: dict[str, Any] = {"traffic.0.cc": "prague"}
LONG: dict[str, Any] = {"lines.0": "codel target 5ms interval 300ms"}
HIGH: dict[str, Any] = {"lines.0": "codel target 40ms interval 100ms"}
AIR: dict[str, Any] = {"lines.0": "mac80211"}
STREET, HOME = "7-evening-at-an-isp", "isp.plans.0.down.delay_p95_ms.median"
BIG_TOWER = {"node.0.down": "120mbit"}
SLOW_AIR, SLOW_PING = "wifi.stations.1.airtime_percent", "apps.1.rtt_ms.p50"

CLAIMS = [
    Claim("one download fills the buffer", "1-bufferbloat", {}, 0, DELAY, 400, 600),
    Claim("fq_codel leaves it almost empty", "1-bufferbloat", {}, 1, DELAY, 0, 10),
    Claim("the call is good there", "1-bufferbloat", {}, 1, "apps.0.mos", 4.2, 4.5),
    Claim("the pages are fast there", "1-bufferbloat", {}, 1, "apps.1.load_ms.p50", 0, 500),
    Claim("one BDP keeps the link just as busy", "1-bufferbloat", SMALL, 0, BUSY, 99.5, 100),
    Claim("one BDP keeps the link busy", "2-buffer-size", SMALL, 0, BUSY, 99.5, 100),
    Claim("a larger buffer only adds waiting", "2-buffer-size", BIG, 0, DELAY, 150, 400),
    Claim("CoDel leaves a part of the link idle", "2-buffer-size", BIG, 1, BUSY, 50, 85),
    Claim("its queue is short", "2-buffer-size", BIG, 1, DELAY, 0, 5),
    Claim("pfifo keeps the link busy", "3-codel-clock", {}, 1, BUSY, 99.5, 100),
    Claim("at the price of a long wait", "3-codel-clock", {}, 1, DELAY, 60, 150),
    Claim("a longer interval alone does it", "3-codel-clock", LONG, 0, BUSY, 95, 100),
    Claim("with little waiting", "3-codel-clock", LONG, 0, DELAY, 0, 10),
    Claim("a higher target alone helps", "3-codel-clock", HIGH, 0, BUSY, 91, 100),
    Claim("for more waiting", "3-codel-clock", HIGH, 0, DELAY, 14, 30),
    Claim("CoDel keeps the wait short", "4-fair-queueing", MANY, 0, DELAY, 0, 25),
    Claim("CoDel has to drop more", "4-fair-queueing", MANY, 0, "queues.down.drop_percent", 5, 9),
    Claim("the call loses about the same share", "4-fair-queueing", MANY, 0, LOSS, 5, 10),
    Claim("a flow with less than its share loses nothing", "4-fair-queueing", MANY, 1, LOSS, 0, 0),
    Claim("and hardly waits", "4-fair-queueing", MANY, 1, "apps.0.delay_ms.mean", 20, 22),
    Claim("ECN for cubic removes the drops", "5-marks-not-drops", ECN, 0, DROPPED, 0, 0),
    Claim("but not the wait", "5-marks-not-drops", ECN, 0, DELAY, 10, 20),
    Claim("CoDel's marks let Prague wait", "5-marks-not-drops", PRAGUE, 1, DELAY, 5, 15),
    Claim("the slow station uses up most of the air", "6-wifi-airtime", {}, 0, SLOW_AIR, 65, 100),
    Claim("with pfifo the slow one waits even longer", "6-wifi-airtime", {}, 1, SLOW_PING, 500, 1000),
    Claim("and the fast one too", "6-wifi-airtime", {}, 1, PING, 200, 1000),
    Claim("stations share the air by time", "6-wifi-airtime", AIR, 0, SLOW_AIR, 45, 55),
    Claim("both have short pings", "6-wifi-airtime", AIR, 0, PING, 0, 60),
    Claim("the tower holds packets back all evening", STREET, {}, 0, "isp.nodes.1.down.limiting_percent", 95, 100),
    Claim("the link hardly ever does", STREET, {}, 0, "isp.nodes.0.down.limiting_percent", 0, 5),
    Claim("with pfifo a home waits long", STREET, {}, 0, HOME, 450, 1500),
    Claim("with cake about a tenth as long", STREET, {"lines.0": "cake"}, 0, HOME, 50, 120),
    Claim("at most a third as long as with pfifo on the big tower", STREET, BIG_TOWER, 1, HOME, 300, 650),
]


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: f"{claim.lesson[0]}: {claim.says}")
def test_the_texts_are_true(claim: Claim) -> None:
    for seed in SEEDS:
        found = measured(claim.lesson, claim.settings, claim.line, claim.metric, seed)
        assert claim.least <= found <= claim.most, f"seed {seed}"


@pytest.mark.parametrize(
    ("settings", "line", "least_ms", "most_ms"),
    [({"lines.0": "cake"}, 0, 850, 1250), (BIG_TOWER, 1, 550, 1250), (BIG_TOWER | {"lines.0": "cake"}, 0, 400, 650)],
)
def test_pages_gain_by_the_queue_and_by_the_tower(
    settings: dict[str, Any], line: int, least_ms: int, most_ms: int
) -> None:
    """The seventh lesson says so, and the guide of an evening."""
    for seed in SEEDS:
        half_ms = numbers(record_of(STREET, settings, line, seed))["web_response_p50_ms"]
        assert half_ms is not None
        assert least_ms <= half_ms <= most_ms, f"seed {seed}"


@pytest.mark.parametrize("seed", SEEDS)
def test_a_longer_interval_buys_more_for_less_than_a_higher_target(seed: int) -> None:
    interval, target = ([measured("3-codel-clock", x, 0, y, seed) for y in (BUSY, DELAY)] for x in (LONG, HIGH))
    assert interval[0] > target[0]
    assert interval[1] < target[1]


@pytest.mark.parametrize("seed", SEEDS)
def test_the_slow_station_pays_with_a_part_of_its_download(seed: int) -> None:
    goodput = [measured("6-wifi-airtime", x, 0, "flows.1.goodput_mbps", seed) for x in ({}, AIR)]
    assert goodput[1] < goodput[0]
