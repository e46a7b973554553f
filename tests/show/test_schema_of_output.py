"""The JSON Schemas of records and results are those of what the verbs print."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from conftest import ROOT, Result
from goodqueue.show import schema_of_output

Command = Callable[..., Result]


def closed(schema: dict[str, Any]) -> jsonschema.Draft202012Validator:
    """Return what refuses keys that the schema of a record does not have."""
    variants = {rule["then"]["$ref"] for part in schema["$defs"].values() for rule in part.get("allOf", ())}
    for part in [schema, *(part for name, part in schema["$defs"].items() if f"#/$defs/{name}" not in variants)]:
        part["unevaluatedProperties"] = False
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


@pytest.mark.parametrize("name", ["wifi-anomaly", "street", "voip-and-web", "two-bottlenecks"])
def test_a_record_fits_its_schema_and_has_no_key_beside(goodqueue: Command, name: str) -> None:
    """Each example has other parts: a Wi-Fi cell, subscribers, applications, hops."""
    said = goodqueue(
        "run", str(ROOT / "examples" / f"{name}.toml"), "--set", "duration=4s", "--set", "warmup=1s", "--json"
    )
    assert (said.status, said.err) == (0, "")
    closed(schema_of_output.record()).validate(json.loads(said.out))


def test_a_key_of_another_type_does_not_fit(goodqueue: Command, here: Path) -> None:
    found = json.loads(goodqueue("run", "ok.toml", "--json").out)
    checks = closed(schema_of_output.record())
    found["queues"]["down"]["packets"]["offered"] = "many"
    assert not checks.is_valid(found)
    found["queues"]["down"]["packets"] |= {"offered": 7, "ofered": 7}
    assert not checks.is_valid(found)


def test_results_fit_their_schema(goodqueue: Command, here: Path) -> None:
    checks = jsonschema.Draft202012Validator(json.loads(goodqueue("schema", "--of", "result").out))
    checks.check_schema(checks.schema)
    short = ["--set", "duration=3s", "--set", "warmup=1s"]
    for command in (
        ["compare", "codel", "pie", "--scenario", "ok.toml", "--seeds", "2"],
        ["sweep", "ok.toml", *short, "--set", "bottleneck.qdisc=codel,pie", "--seeds", "2"],
        ["suite", "rfc9743", "vegas", "--only", "6.2"],
    ):
        found = json.loads(goodqueue(*command, "--json").out)
        checks.validate(found)
    del found["made_by"]
    assert not checks.is_valid(found)
    assert goodqueue("schema", "--of", "results").err == (
        'goodqueue: --of: found "results"; accepted: scenario, record, result\n'
    )
