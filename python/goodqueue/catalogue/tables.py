"""Tables of what there is, for ``goodqueue list``: disciplines, congestion controls, and their words."""

from collections.abc import Sequence
from typing import Any

from goodqueue.show.table import Column, Table


def of_discipline(qdisc: dict[str, Any]) -> list[Table]:
    """Return the parameters of one discipline on a line, its words in a tree of classes, and those of a class."""
    about, source = f"{qdisc['name']}: {qdisc['summary']}", f"Source: {qdisc['source']}"
    tree = qdisc.get("tree")
    found = [_parameters(about, qdisc["params"], [source])] if qdisc["params"] or tree is None else []
    if tree is not None:
        note = "A tree of classes is written as tc commands (docs/concepts/trees.md)"
        title = f"{qdisc['name']} in a tree" if found else about
        found.append(_parameters(title, tree["params"], [note] if found else [source, note]))
        if tree["class_params"]:
            found.append(_parameters(f"A class of {qdisc['name']}", tree["class_params"], []))
    return found


def _parameters(title: str, params: Sequence[dict[str, Any]], notes: Sequence[str]) -> Table:
    columns = [Column(name, False) for name in ("parameter", "default", "accepted", "what it is", "source")]
    rows = [[p["name"], str(p["default"]), p["accepted"], p["help"], p["source"]] for p in params]
    return Table(title, columns, rows, [*([] if rows else ["It takes no words"]), *notes])


def listed(title: str, items: Sequence[dict[str, Any]]) -> Table:
    """Return the table of things that have a name, a summary and perhaps words and a source."""
    keys = [key for key in ("name", "words", "summary", "source") if any(item.get(key) for item in items)]
    rows = [[_cell(item.get(key)) for key in keys] for item in items]
    return Table(title, [Column(key, False) for key in keys], rows)


def _cell(value: Any) -> str:
    """Return a text, or the names in a list, separated by commas."""
    return ", ".join(part["name"] for part in value) if isinstance(value, list) else value or ""


def cc_words(cc: dict[str, Any]) -> Table:
    """Return the words of one congestion control."""
    columns = [Column(name, False) for name in ("word", "followed by", "what it does", "source")]
    rows = [[word["name"], word["number"] or "", word["help"], word["source"]] for word in cc["words"]]
    notes = [f"Source: {cc['source']}", f"Differs: {cc['differs']}"]
    return Table(f"{cc['name']}: {cc['summary']}", columns, rows, notes)
