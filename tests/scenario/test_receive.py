"""The receive side of cards, as Python shows it and refuses it."""

from typing import Any

import pytest

from goodqueue import capture, running, scenario
from goodqueue.errors import UserError
from goodqueue.show import describe
from goodqueue.show.run import run_tables
from goodqueue.store import checking

CARDS: dict[str, Any] = {
    "duration": "2s",
    "bottleneck": {
        "rate": "50mbit",
        "qdisc": "pfifo limit 30",
        "rx_usecs": 500,
        "gro": True,
        "up": {"rate": "5mbit", "rx_usecs": 100},
    },
    "path": {"rtt": "20ms"},
    "host": [{"name": "alice", "rx_usecs": 1000, "rx_frames": 64, "gro": True}],
    "traffic": [{"kind": "bulk", "host": "alice"}],
}


def test_a_record_says_what_its_cards_merged() -> None:
    record = running.one(scenario.resolve(CARDS))
    checking.record(record, "here")
    down, up = record["queues"]["down"]["card"], record["queues"]["up"]["card"]
    assert down["packets"] > 2 * down["handed_on"] > 0
    assert (down["mean_bytes"] or 0) > 2 * 1514
    assert up["packets"] == up["handed_on"]
    assert (up["mean_bytes"] or 0) < 100
    notes = [note for table in run_tables(record) for note in table.notes]
    assert f"up: its card delivered {up['packets']} packets at {up['interrupts']} interrupts" in notes
    host = record["hosts"][0]["card"]
    merged = f"merged to {host['handed_on']} of {host['mean_bytes']:.0f} bytes on average"
    assert f"alice: its card delivered {host['packets']} packets at {host['interrupts']} interrupts, {merged}" in notes


def test_a_card_is_said_in_a_line() -> None:
    words = describe.whole(scenario.resolve(CARDS))
    assert words.startswith("50mbit behind a card that merges (500 us) down, 5mbit behind a card (100 us) up"), words


def test_a_capture_takes_no_card_before_its_queue() -> None:
    found = "bottleneck.rx_usecs: found a card; accepted at the point sender: none; points of a queue take all"
    with pytest.raises(UserError, match=f"^{found}"):
        capture.check(scenario.resolve(CARDS), ["sender"])
    capture.check(scenario.resolve(CARDS), ["down-in", "up-out"])
    plain = CARDS | {"bottleneck": {"rate": "50mbit", "qdisc": "pfifo"}}
    capture.check(scenario.resolve(plain), ["sender", "receiver"])
