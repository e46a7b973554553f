"""Scenarios: the effect of --set, the reading of values, and the way to TOML and back."""

import copy
import tomllib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conftest import SCENARIO
from goodqueue import scenario
from goodqueue.cli import words
from goodqueue.errors import Option, UserError
from goodqueue.files import inputs
from goodqueue.options import DECLARED
from goodqueue.scenario import asked, toml


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("4", 4),
        ("0.5", 0.5),
        ("true", True),
        ('"4"', "4"),
        ("10mbit", "10mbit"),
        ("codel target 5ms", "codel target 5ms"),
        ("2024-01-01", "2024-01-01"),
        ("nan", "nan"),
        ("{bdp = 2.0}", {"bdp": 2.0}),
        ("1\nseed = 2", "1\nseed = 2"),
        ("", ""),
    ],
)
def test_a_value_is_toml_where_it_can_be_and_text_where_not(text: str, value: object) -> None:
    assert inputs.parse_value(text) == value


def test_set_reaches_tables_lists_and_what_is_not_there_yet() -> None:
    changed = copy.deepcopy(SCENARIO)
    for assignment in ("path.rtt=10ms", "traffic.0.count=7", "bottleneck.up.rate=1mbit", "traffic.2.kind=ping"):
        scenario.apply_set(changed, assignment)
    assert changed["path"]["rtt"] == "10ms"
    assert changed["traffic"][0]["count"] == 7
    assert changed["bottleneck"]["up"] == {"rate": "1mbit"}
    assert changed["traffic"][2] == {"kind": "ping"}, "the number after the last must add one"


@given(st.text(max_size=30), st.text(max_size=30))
def test_set_either_works_or_is_refused_in_one_line(key: str, value: str) -> None:
    changed = copy.deepcopy(SCENARIO)
    try:
        scenario.apply_set(changed, f"{key}={value}")
        scenario.resolve(changed, "scenario.toml")
    except UserError as error:
        assert "\n" not in str(error), "a refusal is one line whatever was typed"


KEYS = ["duration", "warmup", "seed", "bottleneck.rate", "bottleneck.qdisc", "bottleneck.buffer", "path", "traffic.0"]
VALUES = st.one_of(
    st.text(max_size=12), st.integers(), st.floats(), st.sampled_from(["-1s", "1e999mbit", "[[]]", "{}"])
)


@given(st.sampled_from(KEYS), VALUES)
def test_no_value_of_a_known_key_ends_in_a_traceback(key: str, value: object) -> None:
    changed = copy.deepcopy(SCENARIO)
    try:
        scenario.apply_set(changed, f"{key}={value}")
        scenario.resolve(changed, "scenario.toml")
    except UserError as error:
        assert "\n" not in str(error)


NAMES = st.text(st.characters(categories=["L", "N", "P", "Zs"]), max_size=8)
SCALARS = st.one_of(
    st.booleans(), st.integers(-(2**60), 2**60), st.floats(allow_nan=False, allow_infinity=False), NAMES
)
TREES = st.recursive(
    SCALARS,
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(NAMES, inner, max_size=3)),
    max_leaves=12,
)


@given(st.dictionaries(NAMES, TREES, max_size=5))
def test_toml_reads_back_as_what_was_written(table: dict[str, Any]) -> None:
    assert tomllib.loads(toml.to_toml(table)) == table


def test_options_make_the_scenario_they_describe() -> None:
    said = {"rate": "20mbit", "up_rate": "2mbit", "flows": "3", "cc": "reno", "buffer": "1.5bdp", "ecn": False}
    made, origins = asked.base(None, {**said, "rtt": None, "traffic": "bulk,bulk:up,cbr:1mbit"})
    assert (made["duration"], made["path"]) == ("60s", {"rtt": "50ms"}), "what nobody says has its default"
    assert origins["bottleneck.up.rate"] == Option("up_rate")
    assert origins["traffic.1.count"] == Option("flows")
    bulk, up, cbr = made["traffic"]
    assert made["bottleneck"] == {"rate": "20mbit", "buffer": {"bdp": 1.5}, "up": {"rate": "2mbit"}}
    assert (bulk["count"], bulk["cc"]) == (3, "reno")
    assert (up["count"], up["direction"]) == (3, "up")
    assert cbr == {"kind": "cbr", "rate": "1mbit"}


def test_calls_pages_and_flents_tests_are_options_too() -> None:
    traffic = "rrul,tcp_nup:8,voip:up:ditg,page:huffpost:2,page,web_users:500"
    made, _ = asked.base(None, {"cc": "reno", "traffic": traffic})
    rrul, uploads, call, big, default, users = made["traffic"]
    load = {"cc": "reno", "start_spread": "1s"}
    assert rrul == {"kind": "rrul", **load}
    assert uploads == {"kind": "tcp_nup", "count": 8, **load}
    assert call == {"kind": "voip", "direction": "up", "codec": "ditg"}
    assert big == {"kind": "page", "page": "huffpost", "count": 2}
    assert default == {"kind": "page"}
    assert users == {"kind": "web_users", "users": 500}, "a population is no number of flows"


@pytest.mark.parametrize(
    ("said", "sets", "warmup"),
    [
        ({"duration": "6s"}, [], "5s"),
        ({"duration": "5s"}, [], "2500000000ns"),
        ({}, ["duration=1s"], "500000000ns"),
        ({"duration": "3s", "warmup": "4s"}, [], "4s"),
        ({"duration": "3s"}, ["warmup=4s"], "4s"),
        ({"duration": "soon"}, [], "5s"),
    ],
)
def test_a_warm_up_that_nobody_asked_for_fits_into_the_run(said: dict[str, str], sets: list[str], warmup: str) -> None:
    assert asked.base(None, said, sets)[0]["warmup"] == warmup


def test_a_value_reaches_the_scenario_as_it_is() -> None:
    """A number or a table in Python was text on its way, and a comma or a quote in it meant something there."""
    given = {"path.rtt": "5ms", "traffic.0.count": 2, "series": {"interval": "1s"}, "bottleneck.qdisc.limit": 50}
    made, origins = asked.base(None, {"qdisc": "codel", "seed": 7}, given)
    assert (made["path"]["rtt"], made["traffic"][0]["count"], made["seed"]) == ("5ms", 2, 7)
    assert made["series"] == {"interval": "1s"}
    assert made["bottleneck"]["qdisc"] == "codel limit 50"
    assert origins["path.rtt"] == Option("set", "path.rtt")


def test_an_option_sets_a_key_that_a_scenario_has() -> None:
    known = words.keys()
    for one in DECLARED.values():
        key = one.key.replace("*", "0")
        assert any(name == key or name.startswith(f"{key}.") for name in known), one.name
        assert one.instead_of in {"", *DECLARED}
        assert one.completes == "" or hasattr(words, one.completes)


def test_an_error_names_an_option_in_the_words_of_each_front_end() -> None:
    """What the user wrote is no option, though it may look like one."""
    for said, line, python in (
        ({"traffic": "bulk,ping:--up-rate"}, '--traffic: found "ping:--up-rate"', 'traffic: found "ping:--up-rate"'),
        (
            {"flows": 2, "traffic": "bulk:2"},
            "--flows: --traffic bulk:2 gives a number of flows too",
            "flows: traffic bulk:2 gives a number of flows too",
        ),
    ):
        with pytest.raises(UserError) as caught:
            asked.base(None, said)
        assert str(caught.value).startswith(line)
        assert caught.value.text(lambda option: option.in_python).startswith(python)


@pytest.mark.parametrize(("text", "expected"), [("70s", 70.0), ("200ms", 0.2), ("2min", 120.0), ("15us", 15e-6)])
def test_times_are_read_in_seconds(text: str, expected: float) -> None:
    assert scenario.seconds(text) == pytest.approx(expected)


def test_an_element_of_a_list_may_be_set_by_its_name() -> None:
    given: Any = {"hop": [{"kind": "link", "name": "modem"}, {"kind": "wire", "name": "air"}, {"name": "air"}]}
    assert scenario.apply_set(given, "hop.modem.rate=5mbit") == "hop.0.rate"
    assert given["hop"][0]["rate"] == "5mbit"
    with pytest.raises(UserError) as several:
        scenario.apply_set(given, "hop.air.delay=5ms")
    assert str(several.value).endswith('found "air", the name of 2; accepted: hop.0 to hop.3 (the last adds one)')
    with pytest.raises(UserError) as unknown:
        scenario.apply_set(given, "hop.mode.rate=5mbit")
    assert "or a name of one: modem, air" in str(unknown.value)
