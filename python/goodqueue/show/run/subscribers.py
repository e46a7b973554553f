"""Tables of the subscribers of an Internet provider: by plan, the worst ones, and the nodes of the tree."""

from typing import Literal

from goodqueue.measures.metrics import DIRECTIONS
from goodqueue.record import Isp, Node, Record, Spread, Subscriber, SubscriberSide
from goodqueue.record.reading import statistic
from goodqueue.show.table import Table, number

NOTES = (
    "active: with packets; best second: the most that a subscriber got within one second (median)",
    "delay p95: of each subscriber's packets in its own queue; a tenth have the worst tenth's or more",
    "own rate limits: mean share of the time in which the rate sold held packets back",
    "Jain: of what the subscribers of the plan got",
)
"""The sentences below the table of plans."""

WORST = 3
"""The number of subscribers with the highest delay that have a row of their own."""

MANY_NODES = 24
"""If there are more nodes than this, the table has those that held packets back for the longest time."""


def tables(record: Record) -> list[Table]:
    """Return the tables of a record's subscribers, if it has any."""
    if (isp := record.get("isp")) is None:
        return []
    return [by_plan(isp), _worst(isp), _nodes(isp)]


def side(subscriber: Subscriber, direction: str) -> SubscriberSide:
    """Return what ``subscriber`` got in ``direction``."""
    return subscriber["down"] if direction == "down" else subscriber["up"]


def by_plan(isp: Isp) -> Table:
    """Return a row per plan and direction: the median, the worst tenth and the worst subscriber."""
    rows = [
        {
            "plan": plan["name"],
            "direction": direction,
            "active": f"{side['active']} of {plan['subscribers']}",
            "sum\nMbit/s": number(side["throughput_mbps"], 1),
            "delay p95\nmedian ms": number(_spread(side["delay_p95_ms"], "median")),
            "worst\ntenth": number(_spread(side["delay_p95_ms"], "worst_tenth")),
            "\nworst": number(_spread(side["delay_p95_ms"], "worst")),
            "best second\n% of sold": number(_spread(side["peak_percent"], "median"), 0),
            "own rate\nlimits %": number(side["limiting_percent"]),
            "Jain": number(side["jain_throughput"], 3),
        }
        for plan in isp["plans"]
        for direction, side in (("down", plan["down"]), ("up", plan["up"]))
    ]
    return Table.of(f"Subscribers ({len(isp['subscribers'])})", rows, NOTES, ("plan", "direction"), names=2)


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


def _worst(isp: Isp) -> Table:
    rows = []
    for direction in DIRECTIONS:
        for subscriber in worst(isp, direction):
            got = side(subscriber, direction)
            rows.append(
                {
                    "subscriber": subscriber["name"],
                    "direction": direction,
                    "plan": subscriber["plan"],
                    "node": subscriber["parent"] or "the link",
                    "sold\nMbit/s": number(got["sold_mbps"], 1),
                    "got\nMbit/s": number(got["throughput_mbps"], 2),
                    "best\nsecond": number(got["peak_mbps"], 2),
                    "delay\np50 ms": number(statistic(got.get("delay_ms"), "p50")),
                    "\np95": number(statistic(got.get("delay_ms"), "p95")),
                    "\np99": number(statistic(got.get("delay_ms"), "p99")),
                    "drops\n%": number(got["drop_percent"], 2),
                }
            )
    return Table.of(
        "Worst subscribers, by delay p95", rows, ["--json shows each"], ("subscriber", "direction", "plan", "node")
    )


def _nodes(isp: Isp) -> Table:
    def limiting(node: Node) -> float:
        return max(node["down"]["limiting_percent"] or 0.0, node["up"]["limiting_percent"] or 0.0)

    shown = sorted(isp["nodes"][1:], key=limiting, reverse=True)
    largest = [isp["nodes"][0], *shown[:MANY_NODES]]
    rows = [
        {
            "node": node["name"] or "the link",
            "below": (node["parent"] or "the link") if node["name"] else "–",
            "direction": direction,
            "subscribers": str(node["subscribers"]),
            "rate\nMbit/s": number(side["rate_mbps"], 1),
            "used\n%": number(100 * side["throughput_mbps"] / side["rate_mbps"], 1),
            "limits\n%": number(side["limiting_percent"], 1),
        }
        for node in isp["nodes"]
        if node in largest
        for direction, side in (("down", node["down"]), ("up", node["up"]))
    ]
    left = len(isp["nodes"]) - len(largest)
    notes = ["limits: share of the time in which the node held back packets of subscribers below it"]
    notes += [f"and {left} nodes that limited less, which --json shows"] if left else []
    return Table.of("Nodes", rows, notes, ("node", "below", "direction"))
