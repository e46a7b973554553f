"""The nodes of an Internet provider's tree: which of them limits, and what the subscribers below it get."""

import re
from collections.abc import Iterator, Sequence
from typing import cast

from goodqueue import traffic
from goodqueue.measures.metrics import DIRECTIONS
from goodqueue.record import Delay, Isp, Node, NodeSide, Record, Subscriber
from goodqueue.record.reading import statistic
from goodqueue.show import layout
from goodqueue.show.run import many, subscribers
from goodqueue.show.run.flows import DIRECTION
from goodqueue.show.table import Table, number, short

MANY = 5
"""If there are more nodes than this below the link, the table has those that held packets back for the longest time."""

FULL_PERCENT = 50.0
"""A node that holds packets back for at least this share of the time is full."""

TARGETED = ("cake", "fq_codel", "codel", "cobalt")
"""The disciplines that keep packets below a target delay (RFC 8289)."""

MANY_DROPS_PERCENT = 5.0
"""Drops that are more than this want a word: bulk flows alone would settle below it."""


OF_PAGES = re.compile("page( |$)")
"""The heading of a column with times of pages."""


def table(record: Record) -> list[Table]:
    """Return the table of the nodes, if the record has subscribers."""
    if (isp := record.get("isp")) is None:
        return []
    order = sorted(isp["nodes"][1:], key=lambda node: -max(_limits(side(node, each)) for each in DIRECTIONS))
    largest = [isp["nodes"][0], *order[:MANY]]
    pages = page_times(record)
    rows = []
    for node in isp["nodes"]:
        if node not in largest:
            continue
        own = below(isp, node)
        times = [time for one in own for time in pages.get(one["name"], ())]
        for direction in DIRECTIONS:
            got, is_down = side(node, direction), direction == "down"
            rows.append(
                {
                    "node": name(node),
                    "below": (node["parent"] or "the link") if node["name"] else "–",
                    DIRECTION: direction,
                    "sub-\nscribers": str(node["subscribers"]) if is_down else "",
                    "rate\nMbit/s": short(got["rate_mbps"]),
                    "used\n%": short(100 * got["throughput_mbps"] / got["rate_mbps"]),
                    "limits\n%": number(got["limiting_percent"], 1),
                    "suffer": str(sum(map(subscribers.suffers, own))) if is_down else "",
                    "page s\nmedian": short(_median_s(times)) if is_down else "",
                }
            )
    left = len(isp["nodes"]) - len(largest)
    notes = ["limits: share of the time in which the node held back packets of subscribers below it"]
    notes += [f"and {left} nodes that limited less, which --json shows"] if left else []
    return [layout.fitted(Table.of("Nodes", rows, notes, ("node", "below", DIRECTION)), ("below",))]


def name(node: Node) -> str:
    """Return the name of ``node`` for a person."""
    return node["name"] or "the link"


def side(node: Node, direction: str) -> NodeSide:
    """Return what passed ``node`` in ``direction``."""
    return node["down"] if direction == "down" else node["up"]


def _limits(side: NodeSide) -> float:
    return side["limiting_percent"] or 0.0


def limiting(isp: Isp) -> list[tuple[Node, str, float]]:
    """Return each node, a direction, and the percentage of the time in which it limits, the highest first."""
    every = [(node, each, _limits(side(node, each))) for node in isp["nodes"] for each in DIRECTIONS]
    return sorted(every, key=lambda one: -one[2])


def below(isp: Isp, node: Node) -> list[Subscriber]:
    """Return the subscribers below ``node``, at any distance."""
    parents = {one["name"]: one["parent"] for one in isp["nodes"]}

    def is_below(place: str) -> bool:
        while place and place != node["name"]:
            place = parents[place]
        return place == node["name"]

    return [one for one in isp["subscribers"] if is_below(one["parent"])]


def page_times(record: Record) -> dict[str, list[float]]:
    """Return the median times of pages (ms) by the subscriber that loads them. A flow's name begins with its name."""
    names = {one["name"] for one in record["isp"]["subscribers"]} if "isp" in record else set()
    times: dict[str, list[float]] = {}
    for app in record["apps"]:
        words = app["name"].split(" ")
        owner = next((head for at in range(len(words), 0, -1) if (head := " ".join(words[:at])) in names), None)
        for key in _page_keys(traffic.kinds()[app["kind"]]):
            found = statistic(cast("dict[str, Delay | None]", app).get(key), "p50")
            if owner is not None and found is not None:
                times.setdefault(owner, []).append(found)
    return times


def _page_keys(kind: traffic.Kind) -> Iterator[str]:
    """Yield the fields of ``kind`` that are times of pages."""
    for part in kind.fields:
        if part.type == "times" and part.column is not None and OF_PAGES.match(part.column.heading):
            yield part.key


def drops(record: Record) -> list[str]:
    """Return why a discipline with a target drops so much below a full node, or nothing if it does not."""
    return [
        f"drops {direction}: {node_name} leaves each of {active} active subscribers {short(share)} Mbit/s, which many "
        f"short connections divide; at such a rate a packet alone takes longer than the target of {discipline} (5 ms), "
        "so it drops, and most connections are over before they slow down"
        for direction, node_name, active, share, discipline in _crowded(record)
    ]


def _crowded(record: Record) -> Iterator[tuple[str, str, int, float, str]]:
    """Yield direction, node, active subscribers, their share (Mbit/s) and discipline where many packets are dropped."""
    if (isp := record.get("isp")) is None:
        return
    for direction in DIRECTIONS:
        queue = record["queues"][direction]
        discipline = queue["qdisc"].split(" ")[0]
        full = [one for one in limiting(isp) if one[1] == direction and one[2] >= FULL_PERCENT]
        if full and discipline in TARGETED and (queue["drop_percent"] or 0.0) > MANY_DROPS_PERCENT:
            node = full[0][0]
            active = len(subscribers.are_active(below(isp, node)))
            if active > 1:
                yield direction, name(node), active, side(node, direction)["rate_mbps"] / active, discipline


def _median_s(times_ms: Sequence[float]) -> float | None:
    median_ms = many.median(times_ms)
    return None if median_ms is None else median_ms / 1e3
