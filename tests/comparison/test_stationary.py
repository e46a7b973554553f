"""A comparison says if the start of its runs shows in more than half of them."""

from dataclasses import replace

from conftest import SCENARIO
from goodqueue import engines
from goodqueue.comparison import comparing, tables
from goodqueue.measures import steady

LINE = "pfifo limit 100"


def test_runs_are_judged_and_their_records_are_those_without() -> None:
    found = comparing.compare(SCENARIO, [LINE], [1, 2])
    assert found.settled_s.keys() == {LINE}
    assert found.entries[0].texts == engines.run_many("sim", comparing.scenarios(SCENARIO, [LINE], [1, 2]))
    assert "not_stationary_s" not in comparing.as_json(replace(found, settled_s={LINE: 0.5}))


def test_a_start_of_more_than_half_is_said() -> None:
    found = replace(comparing.compare(SCENARIO, [LINE], [1]), settled_s={LINE: 1e3})
    said = " ".join(tables.certainty(found))
    assert f"Measured in the first {SCENARIO['duration']}: not yet stationary with {LINE}" in said
    assert comparing.as_json(found)["not_stationary_s"] == {LINE: 1e3}


def test_what_changes_at_a_stated_time_is_not_judged() -> None:
    bulk = {"kind": "bulk", "count": 2}
    assert steady.is_constant(SCENARIO)
    assert not steady.is_constant(SCENARIO | {"traffic": [bulk, bulk | {"start": "2s"}]})
    assert not steady.is_constant(SCENARIO | {"change": [{"at": "2s"}]})
    assert not steady.is_constant(SCENARIO | {"series": {"packets": {"from": "1s", "to": "2s"}}})
