"""Finds what a changed class of `htb` loses: `tc` sends all parameters of a class each time (iproute2's q_htb.c)."""

from collections.abc import Iterator
from typing import Any

from goodqueue.record import Scenario
from goodqueue.scenario import paths

WORDS = ("ceil", "burst", "cburst", "prio", "quantum")
"""The words of a class that `tc` sets to their defaults if a command does not name them."""


def notes(scenario: Scenario) -> Iterator[str]:
    """Yield a note for each class of ``scenario`` that a ``[[change]]`` gives defaults which nobody named.

    ``scenario`` is unresolved, but the core has accepted it.
    """
    classes: dict[tuple[str, str], dict[str, str]] = {}
    for key, table in paths.links(scenario):
        for classid, words in _classes(table.get("tc") or table.get("qdisc")):
            classes[_place(key, table), classid] = words
    for number, change in enumerate(scenario.get("change") or ()):
        where = change.get("hop") or ("up" if change.get("direction") == "up" else "down")
        for classid, words in _classes(change.get("qdisc")):
            before = classes.get((where, classid), {})
            for word in WORDS:
                if word in before and word not in words:
                    yield (
                        f'change[{number}]: class {classid} loses "{word} {before[word]}": tc sets {word} to its '
                        "default, as the command does not name it"
                    )
            classes[where, classid] = words


def _place(key: str, table: dict[str, Any]) -> str:
    """Return the direction of a bottleneck, or the name of a hop."""
    return {"bottleneck": "down", "bottleneck.up": "up"}.get(key) or str(table.get("name", key))


def _classes(commands: object) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield each class of `htb` that ``commands`` make or change, with its words and their values."""
    lines = commands if isinstance(commands, list) else str(commands or "").replace(";", "\n").splitlines()
    for line in lines:
        words = str(line).split()
        if words[:2] == ["tc", "class"] and "htb" in words and "classid" in words:
            settings = words[words.index("htb") + 1 :]
            classid = words[words.index("classid") + 1 :][:1]
            if classid:
                yield classid[0], dict(zip(settings[::2], settings[1::2], strict=False))
