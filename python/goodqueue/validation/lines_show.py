"""Shows what ``goodqueue validate lines`` found: for the terminal and for docs/results/validation.md."""

from collections.abc import Mapping
from textwrap import fill
from typing import Any

from goodqueue.show import markdown as markdowns
from goodqueue.show.table import Column, Table

LISTS = {"tc_only": "tc only", "goodqueue_only": "goodqueue only", "values": "other values"}
"""The lists of differences, with their headings."""

PAGE_WIDTH = 120
"""The width of a page's lines in characters."""


def table(result: Mapping[str, Any]) -> Table:
    """Return the numbers of ``result`` by discipline."""
    names = ("qdisc", "lines", "taken by both", "refused by both", "decided", *LISTS.values())
    rows = [
        [
            name,
            *(str(qdisc[key]) for key in ("tried", "taken", "refused")),
            str(sum(qdisc["decided"].values())),
            *(str(len(qdisc["open"][key])) for key in LISTS),
        ]
        for name, qdisc in result["qdiscs"].items()
    ]
    notes = [f"{name}: {why}" for name, why in result["decisions"].items()]
    judge = f"{result['tc']}, Linux {result['kernel']}"
    title = f"{result['lines']} lines of seed {result['seed']}, read by goodqueue and by {judge}"
    return Table(title, [Column(name, name != "qdisc") for name in names], rows, notes)


def markdown(result: Mapping[str, Any]) -> str:
    """Return the numbers and the decisions of a stored ``result`` as Markdown."""
    shown = table(result)
    parts = [
        _wrapped(f"{shown.title}: `goodqueue validate lines {result['lines']} --draw-seed {result['seed']}`."),
        markdowns.table(shown),
        "*Decided* are differences that have a reason:",
        "\n".join(_wrapped(f"- **{name}**: {why}", "  ") for name, why in result["decisions"].items()),
    ]
    opened = [
        f"- {heading}: `{difference['line']}`"
        for qdisc in result["qdiscs"].values()
        for key, heading in LISTS.items()
        for difference in qdisc["open"][key]
    ]
    if opened:
        parts += ["Differences without a reason:", "\n".join(opened)]
    return "\n\n".join(parts)


def _wrapped(text: str, further: str = "") -> str:
    """Return ``text`` in lines that are no wider than a page's."""
    return fill(text, PAGE_WIDTH, subsequent_indent=further, break_on_hyphens=False, break_long_words=False)
