"""Notes on words of `cake` that share between hosts, for traffic whose hosts nobody named.

Without `host` each flow has a user's host of its own, and without `server` a server of its own. So `dual-dsthost` does
what `flows` does. Only a word that the user typed gets a note, and not the default, `triple-isolate`.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal

from goodqueue.record import LiveHosts, Scenario
from goodqueue.show.labels import directions
from goodqueue.traffic import kinds

ENDS = {
    "srchost": "source",
    "dual-srchost": "source",
    "dsthost": "destination",
    "dual-dsthost": "destination",
    "hosts": "both",
    "triple-isolate": "both",
}
"""The hosts between which each word shares."""

WORDS = {*ENDS, "flows", "flowblind"}
"""The words of which a line has one; of several the last one holds (tc-cake(8))."""

BOTH = ("down", "up")
EXAMPLES = {"host": 'host = "alice"', "server": 'server = "cdn"'}


def notes(scenario: Scenario, grid: Mapping[str, Sequence[str]]) -> Iterator[str]:
    """Yield a note for each word that has no effect on the traffic of the unresolved ``scenario``.

    ``grid`` has the values of a grid by their keys. They replace the scenario's own.
    """
    traffic = [source for source in scenario.get("traffic", []) if isinstance(source, dict)]
    examples = {key for source in traffic for key in EXAMPLES if key in source}
    examples |= {key for key in EXAMPLES if any(path.rpartition(".")[2] == key for path in grid)}
    if not traffic or examples == {*EXAMPLES}:
        return
    is_parallel = any(kinds()[source["kind"]].in_parallel for source in traffic)
    for line, direction in _lines(scenario, grid):
        word = _word(line)
        needed = {
            _key(end, pair)
            for pair in direction
            for end in ("source", "destination")
            if ENDS.get(word) in (end, "both")
        }
        if needed and not needed & examples:
            keys = [key for key in EXAMPLES if key in needed]
            effect = "shares between flows" if is_parallel else "has no effect"
            where = "here" if direction == BOTH else f"on the way {direction[0]}"
            why = f"no [[traffic]] has a {' or '.join(keys)}, so each flow has one of its own"
            hint = " or ".join(EXAMPLES[key] for key in keys)
            yield f'"{word}" {effect} {where}: {why}; {hint} names one'


def of_link(scenario: Scenario, hosts: LiveHosts) -> Iterator[str]:
    """Yield a note for each word that had one host to share between, in a link with so many ``hosts`` at each end.

    ``scenario`` is resolved. The link has no simulated traffic. In a resolved line each `cake` has a word, and the
    default gets no note.
    """
    sides: dict[str, Literal["client", "server"]] = {"host": "client", "server": "server"}
    for line, direction in _lines(scenario, {}):
        word = _word(line)
        needed = {_key(end, pair) for pair in direction for end in ("source", "destination") if ENDS.get(word) == end}
        if needed and all(hosts[sides[key]] <= 1 for key in needed):
            side = " and one ".join(sides[key] for key in sorted(needed))
            yield f'"{word}" had one host to share between: all packets had one {side} address'


def _key(end: str, direction: str) -> str:
    """Return the key of traffic that names the host at this ``end`` of packets that go ``direction``."""
    return "server" if (end == "source") == (direction == "down") else "host"


def _word(line: str) -> str:
    """Return the word of a `cake` line that says between what it shares. Empty: the line has none."""
    words = line.split()
    if "cake" not in words:
        return ""
    return next((word for word in reversed(words[words.index("cake") :]) if word in WORDS), "")


def _lines(scenario: Scenario, grid: Mapping[str, Sequence[str]]) -> Iterator[tuple[str, Sequence[str]]]:
    """Yield each qdisc line and the directions of the packets that cross it."""
    bottleneck: dict[str, Any] = scenario.get("bottleneck", {})
    up = grid.get("bottleneck.up.qdisc") or [line for line in [bottleneck.get("up", {}).get("qdisc")] if line]
    for line in grid.get("bottleneck.qdisc") or [bottleneck.get("qdisc") or ""]:
        for half, direction in zip(directions(line), BOTH, strict=False):
            yield half, BOTH if not up and half == line else (direction,)
    yield from ((line, ("up",)) for line in up)
    for name in ("hop", "change"):
        for index, table in enumerate(scenario.get(name, [])):
            lines = [table["qdisc"]] if "qdisc" in table else []
            crossing = BOTH if "hop" in table else (table.get("direction", "down"),)
            yield from ((line, crossing) for line in grid.get(f"{name}.{index}.qdisc") or lines)
