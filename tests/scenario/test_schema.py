"""The JSON Schema of a scenario accepts every scenario that runs, and rejects a mistyped key."""

import copy
import json
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from conftest import ROOT, SCENARIO, Result
from goodqueue.show import schema
from goodqueue.traffic import kinds

FILES = sorted([*(ROOT / "examples").glob("*.toml"), *(ROOT / "studies").glob("*/scenarios/*.toml")])


@pytest.fixture(scope="module")
def validator() -> jsonschema.Draft202012Validator:
    made = schema.scenario()
    jsonschema.Draft202012Validator.check_schema(made)
    return jsonschema.Draft202012Validator(made)


def changed(path: str, value: Any) -> dict[str, Any]:
    """Return the common scenario with one more key."""
    scenario: dict[str, Any] = copy.deepcopy(SCENARIO)
    here: Any = scenario
    *direction, last = [int(part) if part.isdecimal() else part for part in path.split(".")]
    for part in direction:
        here = here.setdefault(part, {}) if isinstance(here, dict) else here[part]
    here[last] = value
    return scenario


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.relative_to(ROOT)))
def test_what_runs_fits(file: Path, validator: jsonschema.Draft202012Validator) -> None:
    scenario = tomllib.loads(file.read_text(encoding="utf-8"))
    if "studies" in file.parts:  # the study contains the compared lines
        scenario["bottleneck"].setdefault("qdisc", "pfifo")
        for direction in ("bottleneck", "up"):
            scenario["bottleneck"].get(direction, scenario["bottleneck"]).setdefault("qdisc", "pfifo")
    assert [error.message for error in validator.iter_errors(scenario)] == []


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("botleneck", {}),
        ("bottleneck.rat", "1mbit"),
        ("bottleneck.rate", 10),
        ("bottleneck.buffer.bdp", "2"),
        ("bottleneck.up.bufer", {}),
        ("duration", "4 parsecs"),
        ("traffic.0.kind", "bulks"),
        ("traffic.0.codec", "g711"),
        ("traffic.1.cc", "cubic"),
        ("traffic.0.count", 0),
        ("traffic.1.packet_size", 9000),
        ("traffic.0.direction", "sideways"),
        ("traffic", []),
        ("series.packets.form", "1s"),
        ("change", {"at": "1s"}),
    ],
)
def test_a_mistake_is_found(key: str, value: Any, validator: jsonschema.Draft202012Validator) -> None:
    assert validator.is_valid(SCENARIO)
    assert not validator.is_valid(changed(key, value))


def test_each_kind_takes_its_own_keys_and_no_others(validator: jsonschema.Draft202012Validator) -> None:
    for kind in kinds().values():
        own = {key["name"]: tomllib.loads(f"v = {key['example']}")["v"] for key in kind.keys}
        table = {"kind": kind.name, **own}
        found = [error.message for error in validator.iter_errors(changed("traffic", [table]))]
        assert found == [], f"{kind.name}: the keys' own examples do not fit"
        for key in kind.keys:
            without = {name: value for name, value in table.items() if name != key["name"]}
            assert validator.is_valid(changed("traffic", [without])) is not key["required"], (
                f"{kind.name}.{key['name']}"
            )
        assert not validator.is_valid(changed("traffic", [table | {"nonsense": 1}]))


def test_the_command_prints_it(goodqueue: Callable[..., Result]) -> None:
    assert json.loads(goodqueue("schema").out) == schema.scenario()
