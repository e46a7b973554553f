"""Properties by name: the conditions that each one stands for, and the kind of the first traffic."""

from collections.abc import Sequence
from dataclasses import dataclass

from goodqueue.errors import Option, UserError, quoted
from goodqueue.measures.needs import SERIES
from goodqueue.search import conditions, worlds
from goodqueue.search.conditions import Condition


@dataclass(frozen=True, slots=True)
class Property:
    """What a search tries to break."""

    conditions: Sequence[Condition]
    """All must be true in the scenario that is found."""
    main: str
    """The kind of the first traffic."""
    needs_series: bool


NAMED = {
    "delay": ["delay_targets >= 10"],
    "use": ["utilisation_percent < 50", "drop_percent > 0"],
    "share": ["share <= 0.1"],
    "starvation": ["share <= 0.01"],
    "loss": ["drop_percent >= 3"],
    "marks": ["mark_percent >= 50", "utilisation_percent < 90"],
    "oscillation": ["oscillation >= 0.2", "delay_p95_targets >= 2"],
    "recovery": ["recovery_ms >= 500"],
    "silence": ["responsive_percent < 2", "delay_p95_targets < 2", "offered_percent <= 120"],
}
"""The conditions of each name.

``delay``: the mean delay is ten targets or more. ``use``: packets are dropped, and half of the link is idle. ``share``,
``starvation``: a bulk flow has a tenth, a hundredth of another one's goodput. ``loss``: 3 % of the packets are dropped.
``marks``: half of the packets are marked, and the link is not full. ``oscillation``: the delay swings. ``recovery``: a
change of the load takes half a second. ``silence``: constant traffic leaves nothing to TCP, and the delay looks well.
"""


def read(texts: Sequence[str]) -> Property:
    """Return the property that all of ``texts`` describe: names, or conditions. Raises UserError."""
    if not texts:
        raise UserError(Option("property"), f"found none; accepted: {', '.join(NAMED)}, or a condition")
    parsed: list[Condition] = []
    for text in texts:
        where = Option("property", text)
        if text.isidentifier() and text not in NAMED:
            names = ", ".join(NAMED)
            raise UserError(where, f"found {quoted(text)}; accepted: {names}, or a condition, {conditions.ACCEPTED}")
        parsed += conditions.parse(NAMED.get(text, [text]), where)
    number_keys = {condition.number for condition in parsed}
    return Property(
        parsed, worlds.main_of(sorted(number_keys)), any(SERIES in condition.metric.needs for condition in parsed)
    )
