"""Tables of the subscribers of an Internet provider: by plan, and the worst ones. `tree` has the nodes above them."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Literal

from goodqueue.measures.metrics import DIRECTIONS
from goodqueue.measures.scores import letter
from goodqueue.record import Isp, Plan, PlanSide, Spread, Subscriber, SubscriberSide
from goodqueue.record.reading import statistic
from goodqueue.show import layout
from goodqueue.show.run.flows import DIRECTION
from goodqueue.show.table import Table, number, short

SUFFERS_MS = letter.LIMITS_MS[letter.LETTERS.index("C") - 1]
"""A subscriber suffers if its delay p95 is this or more. From here on the bufferbloat letter is C or worse."""

RULE = f"5 % of its packets wait {SUFFERS_MS:g} ms or longer in its own queue, down or up"
"""Who suffers, in words (docs/concepts/isp.md)."""

NOTES = (
    "active: with packets; delay: the p95 of each subscriber in its own queue, of which a tenth have the worst",
    f"tenth's or more; a subscriber suffers if {RULE}",
)
"""The parts of the sentence below the table of plans."""

SHARES = (
    "best second: the most that a subscriber got within one second (median)",
    "own rate limits: mean share of the time in which the rate sold held packets back",
    "Jain: of what the subscribers of the plan got",
)
"""The sentences below the table of the rates sold."""

WORST = 3
"""The number of subscribers with the highest delay that have a row of their own."""


def suffers(subscriber: Subscriber) -> bool:
    """Return whether 5 % of the packets of ``subscriber`` wait `SUFFERS_MS` or longer in one direction."""
    tails = [statistic(side(subscriber, direction).get("delay_ms"), "p95") for direction in DIRECTIONS]
    return any(tail is not None and tail >= SUFFERS_MS for tail in tails)


def are_active(subscribers: Sequence[Subscriber]) -> list[Subscriber]:
    """Return the subscribers that have packets."""
    return [
        subscriber
        for subscriber in subscribers
        if any(side(subscriber, direction).get("delay_ms") is not None for direction in DIRECTIONS)
    ]


def side(subscriber: Subscriber, direction: str) -> SubscriberSide:
    """Return what ``subscriber`` got in ``direction``."""
    return subscriber["down"] if direction == "down" else subscriber["up"]


def by_plan(isp: Isp) -> Table:
    """Return a row per plan and direction: the median, the worst tenth and the worst subscriber."""
    suffering = Counter(one["plan"] for one in isp["subscribers"] if suffers(one))
    rows = [
        {
            "plan": plan["name"],
            DIRECTION: direction,
            "active": f"{side['active']} of {plan['subscribers']}",
            "sum\nMbit/s": number(side["throughput_mbps"], 1),
            "delay ms\nmedian": short(_spread(side["delay_p95_ms"], "median")),
            "worst\ntenth": short(_spread(side["delay_p95_ms"], "worst_tenth")),
            "\nworst": short(_spread(side["delay_p95_ms"], "worst")),
            "suffer": str(suffering[plan["name"]]) if direction == "down" else "",
            "drops\n%": short(side["drop_percent"]),
        }
        for plan, direction, side in _sides(isp)
    ]
    title = f"Subscribers ({len(isp['subscribers'])})"
    return layout.fitted(Table.of(title, rows, [" ".join(NOTES)], ("plan", DIRECTION), names=2), ("\nworst",))


def shares(isp: Isp) -> Table:
    """Return a row per plan and direction: how near its subscribers came to the rate sold."""
    rows = [
        {
            "plan": plan["name"],
            DIRECTION: direction,
            "best second\n% of sold": number(_spread(side["peak_percent"], "median"), 0),
            "own rate\nlimits %": number(side["limiting_percent"]),
            "Jain": number(side["jain_throughput"] if side["active"] > 1 else None, 3),
        }
        for plan, direction, side in _sides(isp)
    ]
    return Table.of("Rates sold", rows, SHARES, ("plan", DIRECTION), names=2)


def _sides(isp: Isp) -> Iterator[tuple[Plan, str, PlanSide]]:
    for plan in isp["plans"]:
        yield plan, "down", plan["down"]
        yield plan, "up", plan["up"]


def _spread(spread: Spread | None, name: Literal["median", "worst_tenth", "worst"]) -> float | None:
    return None if spread is None else spread[name]


def worst(isp: Isp, direction: str) -> list[Subscriber]:
    """Return the subscribers with the highest 95th percentile of delay, the worst one first."""
    having = [
        subscriber for subscriber in isp["subscribers"] if side(subscriber, direction).get("delay_ms") is not None
    ]
    return sorted(
        having, key=lambda subscriber: -(statistic(side(subscriber, direction).get("delay_ms"), "p95") or 0.0)
    )[:WORST]


def table_of_worst(isp: Isp) -> Table:
    """Return a row for each of the subscribers with the highest delay, in each direction."""
    rows = []
    for direction in DIRECTIONS:
        for subscriber in worst(isp, direction):
            got = side(subscriber, direction)
            rows.append(
                {
                    "subscriber": subscriber["name"],
                    DIRECTION: direction,
                    "plan": subscriber["plan"],
                    "node": subscriber["parent"] or "the link",
                    "sold\nMbit/s": number(got["sold_mbps"], 1),
                    "got\nMbit/s": number(got["throughput_mbps"], 2),
                    "best\nsecond": number(got["peak_mbps"], 2),
                    "delay\np50 ms": short(statistic(got.get("delay_ms"), "p50")),
                    "\np95": short(statistic(got.get("delay_ms"), "p95")),
                    "\np99": short(statistic(got.get("delay_ms"), "p99")),
                    "drops\n%": number(got["drop_percent"], 2),
                }
            )
    return Table.of(
        "Worst subscribers, by delay p95", rows, ["--json shows each"], ("subscriber", DIRECTION, "plan", "node")
    )
