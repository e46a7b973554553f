"""The keys of a scenario as rows: for `goodqueue list`, the reference pages and the JSON Schema."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from typing import Any

from goodqueue import hops, traffic
from goodqueue.measures.metrics import METRICS
from goodqueue.show.table import Column, Table

Key = Mapping[str, Any]
"""The core's description of a key."""

KINDS: Mapping[str, tuple[str, Callable[[], Mapping[str, traffic.Kind | hops.Kind]]]] = {
    "traffic": ("[traffic]", traffic.kinds),
    "hops": ("[hop]", hops.kinds),
}
"""The tables whose keys depend on their kind, and the kinds, by the topic of ``goodqueue list``."""


@cache
def tables() -> tuple[dict[str, Any], ...]:
    """Return every table of a scenario: ``name`` (as in its heading), ``help``, ``required``, ``keys``, ``kinds``.

    If the keys of a table depend on its key ``kind``, each of ``kinds`` has ``name``, ``summary`` and its own ``keys``.
    """
    from goodqueue import _goodqueue

    return tuple(json.loads(_goodqueue.scenario_tables()))


@cache
def disciplines() -> list[dict[str, Any]]:
    """Return every queue discipline with ``params``, its words on a line.

    A discipline with classes also has ``tree``: ``params``, its words in a tree, and ``class_params``, those of a
    class. If it is only part of a tree, it has no words on a line.
    """
    from goodqueue import _goodqueue

    by_name: dict[str, dict[str, Any]] = {qdisc["name"]: qdisc for qdisc in json.loads(_goodqueue.qdiscs())}
    for qdisc in json.loads(_goodqueue.classful()):
        about = {"name": qdisc["name"], "summary": qdisc["summary"], "source": qdisc["source"], "params": []}
        tree = {"params": qdisc["params"], "class_params": qdisc["class_params"]}
        by_name.setdefault(qdisc["name"], about)["tree"] = tree
    return list(by_name.values())


def common_keys(topic: str = "traffic") -> list[Key]:
    """Return the keys that every kind of a ``topic`` takes."""
    keys: list[Key] = next(table["keys"] for table in tables() if table["name"] == KINDS[topic][0])
    return keys


def type_of(key: Key) -> str:
    """Return the type of ``key`` with the unit of its numbers."""
    return f"{key['type']}, in {key['unit']}" if key["unit"] else str(key["type"])


def default_of(key: Key) -> str:
    """Return the value of ``key`` if it is missing."""
    return "required" if key["required"] else key["default"] or "–"


def accepted_of(key: Key) -> str:
    """Return the values that ``key`` accepts, in addition to its type: its range or its words."""
    words = key["schema"].get("enum") or key["schema"].get("examples") or []
    return key["range"] or ", ".join(word if isinstance(word, str) else json.dumps(word) for word in words) or "–"


def of_kind(topic: str, name: str) -> list[Table]:
    """Return the reference of one kind of a ``topic``: its keys, the keys of all kinds, and its measurements."""
    kind = KINDS[topic][1]()[name]
    tables = [_keys(f"{kind.name}: {kind.summary}", kind.keys), _keys("Keys of every kind", common_keys(topic))]
    if not isinstance(kind, traffic.Kind):
        return tables
    if kind.fields:
        about = [[part.key, part.type, part.help] for part in kind.fields]
        columns = [Column("in the record", False), Column("type", False), Column("what it is", False)]
        tables.append(Table("What each flow measures", columns, about, [f"{kind.times}: {kind.times_are}"]))
    if kind.measures:
        of = {metric.key: metric for metric in METRICS}
        rows = [
            [measure.key, of[measure.key].label, measure.unit, measure.path, SUMS[measure.sum]]
            for measure in kind.measures
        ]
        names = ("metric", "name", "unit", "made of", "of several flows")
        tables.append(Table("Metrics of a run", [Column(name, False) for name in names], rows))
    return tables


SUMS = {"mean": "their mean", "total": "their sum", "share_of_time": "their sum, in % of it and `played_ms`"}
"""How a metric is made of what several flows measured."""


def _keys(title: str, keys: Iterable[Key]) -> Table:
    columns = [Column(name, False) for name in ("key", "type", "default", "accepted", "what it is", "source")]
    rows = [[key["name"], type_of(key), default_of(key), accepted_of(key), key["help"], key["source"]] for key in keys]
    return Table(title, columns, rows)


def key_rows(keys: Iterable[Key]) -> list[list[str]]:
    """Return one row per key of ``keys`` with all its details, for `COLUMNS`."""
    return [
        [
            f"`{key['name']}`",
            type_of(key),
            default_of(key),
            accepted_of(key),
            f"`{key['example']}`",
            key["help"],
            key["source"] or "–",
            ", ".join(key["engines"]),
        ]
        for key in keys
    ]


COLUMNS: Sequence[str] = ("key", "type", "default", "accepted", "example", "what it is", "source", "engines")


def headings() -> Iterable[tuple[str, str, Sequence[Key]]]:
    """Yield each table of a scenario, followed by each of its kinds: heading, sentence, keys."""
    for table in tables():
        name = table["name"]
        heading = f"[{name}]" if name else ""
        needed = "" if table["required"] else " It may be left out."
        yield heading, f"{table['help']}{needed}", table["keys"]
        for kind in table["kinds"]:
            summary = kind["summary"]
            yield f'kind = "{kind["name"]}"', f"{summary[0].upper()}{summary[1:]}.", kind["keys"]
