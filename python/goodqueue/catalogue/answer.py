"""The answer of ``goodqueue list``: a table of what there is, or the words and keys of one of it."""

import json
from collections.abc import Sequence
from typing import Any

from goodqueue import _goodqueue, examples
from goodqueue.catalogue import tables
from goodqueue.catalogue.question import TOPICS
from goodqueue.errors import UserError, quoted
from goodqueue.show import reference
from goodqueue.show.answer import Answer, Part
from goodqueue.studies import libraries
from goodqueue.validation import releases, tcp_releases

HOW = {
    "cc": "The words of one: goodqueue list cc cubic. A class of your own: FILE.py:CLASS (docs/guides/my-cc.md)",
    "qdiscs": "The parameters of one: goodqueue list qdiscs codel",
    "traffic": "The keys of one, and what it measures: goodqueue list traffic voip",
    "hops": "The keys of one: goodqueue list hops wire",
    "linux": "What changed in one, and its traces: goodqueue list linux cake --json",
    "examples": "One to edit: goodqueue init FILE --example voip-and-web",
}
"""The line below a list: how to see more about one item."""


def of_topic(topic: str) -> Answer:
    """Return all of a topic in a table, or in two."""
    items = _items(topic)
    if not items:
        return _answer(topic, [f"{TOPICS[topic]}: none in this version"], items)
    parts: list[Part] = list(_linux(items)) if topic == "linux" else [tables.listed(TOPICS[topic], items)]
    return _answer(topic, [*parts, *([HOW[topic]] if topic in HOW else [])], items)


def of_one(topic: str, name: str) -> Answer:
    """Return all details of the item ``name``. Raises UserError."""
    items = _items(topic)
    item = next((item for item in items if item["name"] == name), None)
    if item is None:
        known = ", ".join(item["name"] for item in items)
        raise UserError(f"list {topic}", f"found {quoted(name)}; accepted: {known}")
    if topic in reference.KINDS:  # which also have the keys that every kind takes
        item |= {"common_keys": reference.common_keys(topic)}
    return _answer(topic, _parts(topic, item), item)


def _parts(topic: str, item: dict[str, Any]) -> Sequence[Part]:
    if topic == "qdiscs":
        return tables.of_discipline(item)
    if topic == "cc":
        return [tables.cc_words(item)]
    if topic in reference.KINDS:
        return list(reference.of_kind(topic, item["name"]))
    return list(_linux([item])) if topic == "linux" else [tables.listed(TOPICS[topic], [item])]


def _answer(topic: str, parts: Sequence[Part], data: Any) -> Answer:
    return Answer(TOPICS[topic], parts, dict, data, text=json.dumps(data, ensure_ascii=False))


def _linux(items: Sequence[dict[str, Any]]) -> Sequence[Part]:
    """Return the tables of releases of Linux: of the disciplines ``items``, and of TCP."""
    disciplines: list[Any] = [item for item in items if "since" in item]
    features: list[Any] = [item for item in items if "since" not in item]
    tables_of_disciplines = [releases.table(disciplines)] if disciplines else []
    return [*tables_of_disciplines, *([tcp_releases.table(features)] if features else [])]


def _items(topic: str) -> list[dict[str, Any]]:
    match topic:
        case "studies":
            return libraries.STUDIES.listed()
        case "suites":
            return libraries.SUITES.listed()
        case "examples":
            return examples.available()
        case "linux":
            return [*releases.disciplines(), *tcp_releases.features()]  # type: ignore[list-item]
        case "qdiscs":
            return reference.disciplines()
    texts = {
        "cc": _goodqueue.congestion_controls,
        "traffic": _goodqueue.traffic_kinds,
        "hops": _goodqueue.hop_kinds,
    }
    items: list[dict[str, Any]] = json.loads(texts[topic]())
    return items
