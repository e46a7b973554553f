"""Prints notes on what is easily misread: bytes per second, microseconds without a unit, replaced words, filters.

`tc` reads ``50Mbps`` as megabytes per second and ``target 20`` as microseconds (`tc(8)`, PARAMETERS). goodqueue does
the same, and tells the user. Only the user's own text is checked, before defaults are filled in.
"""

import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

from goodqueue import errors
from goodqueue.record import Scenario
from goodqueue.scenario import Origins, commands, discipline, paths, to_json
from goodqueue.show import changes, isolation
from goodqueue.show.labels import directions
from goodqueue.traffic import BULK

BYTES_A_SECOND = re.compile(r"(\d*\.?\d+)([kmg]?)bps", re.IGNORECASE)
"""A rate that `tc` reads as bytes per second."""

BARE = re.compile(r"\d*\.?\d+")
"""A number without a unit."""


def warn(scenario: Scenario, origins: Origins, qdiscs: Sequence[str] = (), has_real_packets: bool = False) -> None:
    """Write a note to standard error for each rate and time of ``scenario`` and ``qdiscs`` that is easily misread.

    There is also a note for each word of `cake` that has no effect on the traffic, and for each word of a class that a
    change sets to its default. ``scenario`` is unresolved, but the
    core has accepted it, and its traffic if it has any. With ``has_real_packets``, packets of programs come, too. A
    filter that no packet matches has a note. ``origins`` names the options that some of its keys came from, as for
    `goodqueue.scenario.resolve`. Equal notes are written once.
    """
    replaced = ("bottleneck.qdisc", f"bottleneck.{commands.KEY}") if qdiscs else ()
    halves = [half for line in qdiscs for half in directions(line)]
    notes = [*_of_table(scenario, "", origins, replaced), *(note for half in halves for note in _of_line(half))]
    isolated = isolation.notes(scenario, {"bottleneck.qdisc": qdiscs} if qdiscs else {})
    lost = [] if qdiscs else changes.notes(scenario)
    filters = [*_of_filters(scenario, qdiscs, has_real_packets)]
    shaped = [*_of_wires(scenario), *_of_files(scenario), *_of_shapers(scenario, qdiscs)]
    _write([*notes, *filters, *shaped, *lost, *isolated])


def warn_of_grid(scenario: Scenario, axes: Sequence[tuple[str, Sequence[str]]]) -> None:
    """Write the notes of `warn` for a scenario, and for the values that the ``axes`` of a sweep give its keys."""
    from goodqueue.files.inputs import parse_value

    notes = [*_of_table(scenario, "", {}, [key for key, _ in axes])]
    for key, values in axes:
        above, _, last = key.rpartition(".")
        for value in values:
            notes += _of_table({last: parse_value(value)}, above, {key: f"--set {key}"})
    _write([*notes, *isolation.notes(scenario, dict(axes))])


def _of_filters(scenario: Scenario, qdiscs: Sequence[str], has_real_packets: bool) -> Iterator[str]:
    """Yield a note for each filter of a tree that no packet of the scenario matches.

    ``qdiscs`` replace the bottleneck's line. A scenario that is not whole has none.
    """
    from goodqueue import _goodqueue

    down = scenario.get("bottleneck")
    if not isinstance(down, dict) or "path" not in scenario:
        return
    traffic = scenario.get("traffic") or ([{"kind": BULK}] if has_real_packets else [])
    own = {key: value for key, value in down.items() if key != commands.KEY}
    up = {key: value for key, value in (down.get("up") or {}).items() if key not in ("qdisc", commands.KEY)}
    bottlenecks = [own | {"qdisc": halves[0], "up": up | {"qdisc": halves[-1]}} for halves in map(directions, qdiscs)]
    for bottleneck in bottlenecks or [down]:
        whole = scenario | {"bottleneck": bottleneck, "traffic": traffic}
        if any(
            commands.KEY in table or discipline.name_of(str(table.get("qdisc"))) == discipline.TREE
            for _, table in paths.links(whole)
        ):
            with suppress(ValueError):  # another part says what is wrong with it
                yield from _goodqueue.filter_notes(to_json(whole), has_real_packets)


def _of_wires(scenario: Scenario) -> Iterator[str]:
    """Yield a note for each wire whose jitter keeps packets in order, which users of netem do not expect."""
    hops = scenario.get("hop")
    for index, hop in enumerate(hops if isinstance(hops, list) else ()):
        if isinstance(hop, dict) and not hop.get("jitter_reorders"):
            jitter = str(hop.get("jitter", "0s"))
            if re.search("[1-9]", jitter):
                yield (
                    f"hop[{index}].jitter {jitter} keeps packets in order, unlike netem; "
                    "jitter_reorders = true lets them overtake"
                )


def _of_files(scenario: Scenario) -> Iterator[str]:
    """Yield a note for each file of rates that also has latencies, which users of its simulator expect to count."""
    for key, table in paths.links(scenario):
        file = table.get("trace")
        if isinstance(file, str) and (latencies := paths.latencies(file)):
            yield f"{key}.trace {file}: {latencies} is not read; path.rtt holds, and a [[change]] with rtt changes it"


def _of_shapers(scenario: Scenario, qdiscs: Sequence[str]) -> Iterator[str]:
    """Yield a note for each line that shapes to more than its link's rate, so that the link is the bottleneck.

    ``qdiscs`` replace the bottleneck's line. Each is for both directions, or has a half for each.
    """
    down: Mapping[str, Any] = scenario.get("bottleneck") or {}
    for key, table in paths.links(scenario):
        up = key == "bottleneck.up"
        lines = [table.get("qdisc", down.get("qdisc"))] if up else [table.get("qdisc")]
        replaced = [directions(line)[-1 if up else 0] for line in qdiscs] if key.startswith("bottleneck") else []
        link = _bps(table.get("rate", down.get("rate") if up else None))
        if link is None:
            continue
        for line in replaced or lines:
            for step in _reading(str(line))["steps"]:
                rate = _bps(step["value"]) if step["shapes"] else None
                if rate is not None and rate > link:
                    yield (
                        f'"{step["words"]}" is more than the link\'s {_spoken(link)} ({key}.rate), '
                        f"so the link and not {step['qdisc']} is the bottleneck"
                    )


def _reading(line: str) -> dict[str, Any]:
    """Return what the words of ``line`` set. A line that the registry refuses has none: another part says why."""
    from goodqueue import _goodqueue

    try:
        reading: dict[str, Any] = json.loads(_goodqueue.qdisc_reading(line))
    except ValueError:
        return {"steps": [], "notes": []}
    return reading


def _bps(text: object) -> int | None:
    """Return a rate in bit/s, or None for what is no rate."""
    from goodqueue import _goodqueue

    try:
        return _goodqueue.rate_bps(str(text))
    except ValueError:
        return None


def _write(notes: Sequence[str]) -> None:
    for note in dict.fromkeys(notes):
        errors.warn(f"note: {note}")


def _of_table(table: Any, path: str, origins: Origins, replaced: Collection[str] = ()) -> Iterator[str]:
    """Yield the notes on a scenario's table or list at the dotted ``path``, except on the keys ``replaced``."""
    items = table.items() if isinstance(table, dict) else enumerate(table) if isinstance(table, list) else ()
    for key, value in items:
        where = f"{path}.{key}" if path else f"{key}"
        if where in replaced:
            continue
        if key == commands.KEY and isinstance(value, list):
            yield from _of_line("\n".join(map(str, value)) + "\n")
        elif not isinstance(value, str):
            yield from _of_table(value, where, origins, replaced)
        elif key == "rate" and (readings := byte_rate(value)):
            matching = [origin for origin in origins if where == origin or where.startswith(f"{origin}.")]
            name = origins[max(matching, key=len)] if matching else where
            yield f"{name} {value.strip()} is {readings[0]}, as in tc (bytes); {readings[1]} is {readings[2]}"
        elif key == "qdisc":
            yield from _of_line(value)


def byte_rate(text: str) -> tuple[str, str, str] | None:
    """Return a rate in bytes in words, the same number as a rate in bits, and that in words. None for other rates."""
    from goodqueue import _goodqueue

    match = BYTES_A_SECOND.fullmatch(text.strip())
    if match is None:
        return None
    meant = f"{match[1]}{match[2].lower()}bit"
    try:
        return _spoken(_goodqueue.rate_bps(text.strip())), meant, _spoken(_goodqueue.rate_bps(meant))
    except ValueError:  # the rate 0, in a cell of a sweep that is refused for it
        return None


def _spoken(bps: int) -> str:
    """Return a rate in words: ``400 Mbit/s``."""
    units = ((10**9, "Gbit/s"), (10**6, "Mbit/s"), (10**3, "kbit/s"), (1, "bit/s"))
    size, unit = next(pair for pair in units if bps >= pair[0] or pair[0] == 1)
    return f"{bps / size:g} {unit}"


def _of_line(line: str) -> Iterator[str]:
    """Yield the notes on a qdisc line: on times without a unit (except 0), rates, replaced words, and a tree's filters.

    Disciplines in Python, and of Wi-Fi cells, have none.
    """
    reading = _reading(line)
    for step in reading["steps"]:
        word, value, unit = step["word"], step["value"], step["unit"]
        if unit == "rate" and (readings := byte_rate(value)):
            spoken, meant, other = readings
            yield f'"{word} {value}" is {spoken}, as in tc (bytes); {word} {meant} is {other}'
        elif unit in ("time", "time or packets") and BARE.fullmatch(value) and float(value) > 0:
            yield _of_time(word or step["param"], value, step["bare"])
    yield from reading["notes"]


def _of_time(name: str, text: str, bare: str) -> str:
    """Return the note on a time in ``bare``: the likely meaning, or, from 1000 us on, the same time with a unit."""
    us = float(text) / (1000 if bare == "ns" else 1)
    other = f"{text}ms is {text} milliseconds" if us < 1000 else f"{us / 1000:g}ms is the same"
    return f'"{name} {text}" is {text} {bare}, as in tc; {name} {other}'
