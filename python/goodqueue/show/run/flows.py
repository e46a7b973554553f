"""The table of a run's flows: one by one, or by kind if there are many."""

from goodqueue._goodqueue import jain
from goodqueue.record import Delay, Flow, Record
from goodqueue.record.reading import statistic
from goodqueue.show import layout
from goodqueue.show.run import many
from goodqueue.show.table import Table, count, decimals, number, short

MANY = 12
"""If there are more flows than this, they are shown by kind, not one by one."""

DIRECTION = "direc-\ntion"
"""The heading of a flow's direction: in two lines, so that a flow's row keeps its columns on 80 characters."""


def tables(record: Record) -> list[Table]:
    """Return the table of the flows, if there are any."""
    if not record["flows"]:
        return []
    return [_by_kind(record) if len(record["flows"]) > MANY else _flows(record)]


def _flows(record: Record) -> Table:
    flows = record["flows"]
    digits = decimals(flow["goodput_mbps"] for flow in flows)
    has_jitter = any(flow.get("jitter_rfc3550_ms") is not None for flow in flows)
    rows = [
        {
            "flow": flow["name"],
            DIRECTION: flow["direction"],
            "cc": flow.get("cc") or "–",
            "goodput\nMbit/s": number(flow["goodput_mbps"], max(2, digits)),
            **rtt_cells(flow.get("rtt_ms")),
            "retrans-\nmitted": count(flow.get("retransmitted")),
            "time-\nouts": count(flow.get("timeouts")),
            "loss\n%": number(flow["loss_percent"], 2),
            **({"jitter\nms": short(flow.get("jitter_rfc3550_ms"))} if has_jitter else {}),
        }
        for flow in flows
    ]
    table = Table.of("Flows", rows, _fairness(record), ("flow", DIRECTION, "cc"))
    return layout.fitted(table, ("RTT ms\np10", "time-\nouts", "\np90"))


def rtt_cells(rtt_ms: Delay | None) -> dict[str, str]:
    """Return the cells of a round-trip time."""
    names = {"RTT ms\np10": "p10", "\np50": "p50", "\np90": "p90"}
    return {heading: short(statistic(rtt_ms, name)) for heading, name in names.items()}


def _by_kind(record: Record) -> Table:
    """Return a row per kind, direction and congestion control."""
    groups: dict[tuple[str, str, str], list[Flow]] = {}
    for flow in record["flows"]:
        groups.setdefault((flow["kind"], flow["direction"], flow.get("cc") or "–"), []).append(flow)
    rows = []
    for (kind, direction, cc), flows in groups.items():
        goodputs = [flow["goodput_mbps"] for flow in flows]
        rtts = [rtt for flow in flows if (rtt := statistic(flow.get("rtt_ms"), "p50")) is not None]
        losses = [flow["loss_percent"] for flow in flows if flow["loss_percent"] is not None]
        digits = max(2, decimals(goodputs))
        rows.append(
            {
                "kind": kind,
                DIRECTION: direction,
                "cc": cc,
                "flows": str(len(flows)),
                "goodput\nsum Mbit/s": number(sum(goodputs), 2),
                "\nmedian": number(many.median(goodputs), digits),
                "worst\ntenth": number(many.worst_tenth(goodputs, "high"), digits),
                "\nleast": number(min(goodputs), digits),
                "\nmost": number(max(goodputs), digits),
                "RTT ms\np50": short(many.median(rtts)),
                "loss\n%": number(sum(losses) / len(losses) if losses else None, 2),
                "Jain": number(jain(goodputs) if len(goodputs) > 1 else None, 3),
            }
        )
    title = f"Flows by kind ({len(record['flows'])} flows)"
    table = Table.of(title, rows, [many.TENTH, *_fairness(record)], ("kind", DIRECTION, "cc"), names=3)
    return layout.fitted(table, ("\nmost", "\nleast", "Jain", "cc"))


def _fairness(record: Record) -> list[str]:
    index = record["fairness"]["jain_goodput"]
    return [f"Jain's fairness index of goodput: {number(index, 3)}"] if index is not None else []
