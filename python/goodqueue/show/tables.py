"""Tables: rows of text under headings, and the format of numbers in them. `terminal` and `report` print them."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from goodqueue import hops, traffic
from goodqueue._goodqueue import jain
from goodqueue.measures.stats import Estimate
from goodqueue.record import App, Card, Delay, Flow, Queue, Record
from goodqueue.record.reading import statistic
from goodqueue.scenario import discipline, warmup

MANY_FLOWS = 12
"""If there are more flows than this, they are shown by kind, not one by one."""

MANY_HOSTS = 24
"""If there are more hosts than this, the table has those with the highest goodput."""


@dataclass(frozen=True, slots=True)
class Column:
    """A heading (its lines separated by line breaks; the last one is the unit) and the alignment of its cells."""

    heading: str
    numeric: bool = True


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of text under headings."""

    title: str
    columns: Sequence[Column]
    rows: Sequence[Sequence[str]]
    notes: Sequence[str] = field(default=())
    """Sentences below the table."""
    names: int = 1
    """The number of columns that name a row. If a table is split, each part begins with them."""

    @classmethod
    def of(
        cls,
        title: str,
        rows: Sequence[Mapping[str, str]],
        notes: Sequence[str] = (),
        texts: Collection[str] = (),
        names: int = 1,
    ) -> "Table":
        """Return the table of ``rows``, each a cell by heading. The columns ``texts`` are no numbers."""
        columns = [Column(heading, heading not in texts) for heading in (rows[0] if rows else ())]
        return cls(title, columns, [list(row.values()) for row in rows], notes, names)


def decimals(values: Iterable[float | None]) -> int:
    """Return the number of decimals that leaves the least of ``values`` two digits: 1 for 4.7 and 180, at most 3."""
    least = min((abs(value) for value in values if value), default=1.0)
    return 1 if least >= 0.95 else 2 if least >= 0.095 else 3


def number(value: float | None, digits: int = 1) -> str:
    """Return ``value`` with ``digits`` decimals, or a dash if it is None."""
    if value is None:
        return "–"
    text = f"{value:.{digits}f}"
    return text.removeprefix("-") if float(text) == 0 else text


def span(ms: float) -> str:
    """Return a time in words: ``11.7 ms``, ``1.21 s``."""
    return f"{ms / 1000:.2f} s" if ms >= 1000 else f"{ms:.{decimals([ms])}f} ms"


def plus_minus(estimate: Estimate | None, digits: int = 1, star: bool | None = None) -> str:
    """Return ``mean ± half-width``, followed by ``*`` if ``star``. With False the star's place is empty.

    A difference that is zero with the digits shown has no star.
    """
    if estimate is None:
        return "–"
    text = number(estimate.mean, digits)
    mark_it = star and float(text) != 0
    if estimate.half_width is not None:
        text += f" ± {number(estimate.half_width, digits)}"
    return text + ("" if star is None else " *" if mark_it else "  ")


def run_tables(record: Record) -> list[Table]:
    """Return the tables of one run: its queues, its other hops, its flows, its applications."""
    from goodqueue.show import many, subscribers  # which make tables, too

    tables = [_queues(record), *_air(record), *(table for table in (_links(record), _wires(record)) if table.rows)]
    tables += subscribers.tables(record)
    if record["flows"]:
        tables.append(_by_kind(record) if len(record["flows"]) > MANY_FLOWS else _flows(record))
    tables += _hosts(record)
    for kind in traffic.probes_first():
        if apps := [app for app in record["apps"] if app["kind"] == kind.name]:
            several = many.applications if len(apps) > MANY_FLOWS else _applications
            tables.append(several(kind, apps, warmup.notes(record, kind.name)))
    return tables


def _queues(record: Record) -> Table:
    return _queue_table("Queues", record["queues"], "queue")


def _air(record: Record) -> list[Table]:
    """Return the table of a Wi-Fi cell's stations: airtime, rate, aggregation, retries, throughput and delay."""
    if (air := record.get("wifi")) is None:
        return []
    rows = [
        {
            "station": station["name"],
            "way": direction,
            "airtime\n%": number(one["airtime_percent"]),
            "rate\nMbit/s": number(one["rate_mbps"]),
            "frames per\naggregate": number(one["aggregate_frames"]),
            "retries\n%": number(one["retry_percent"]),
            "lost\nframes": str(one["lost"]),
            "delivered\nMbit/s": number(one["throughput_mbps"], 2),
            "delay\nmean ms": number(statistic(one["delay_ms"], "mean")),
            "\np95 ms": number(statistic(one["delay_ms"], "p95")),
        }
        for station in air["stations"]
        for direction, one in (("down", station["down"]), ("up", station["up"]))
        if one["transmissions"]
    ]
    busy, collided = number(air["busy_percent"]), number(air["collision_percent"])
    notes = [
        f"on the air {busy} % of the time, without collisions; {collided} % of the transmissions collided",
        "delay: from a packet's arrival at its sender's queue until it was delivered",
    ]
    return [Table.of("Air", rows, notes, ("station", "way"), names=2)]


def links(record: Record) -> dict[str, Queue]:
    """Return the hops that are links, by name, as queues."""
    return {hop["name"]: cast("Queue", hop) for hop in record.get("hops", []) if hops.has_queue(hop)}


def _links(record: Record) -> Table:
    up = {hop["name"] for hop in record.get("hops", []) if hop["direction"] == "up"}
    named = {f"{name}{', up' if name in up else ''}": queue for name, queue in links(record).items()}
    return _queue_table("Hops: links", named, "hop")


def _queue_table(title: str, named: Mapping[str, Queue], head: str) -> Table:
    """Return the table of queues by name. ``head`` is the heading of the names."""
    names = {"delay\nmean": "mean", "\np50": "p50", "\np95": "p95", "\np99": "p99", "\nmax": "max"}
    digits = decimals(statistic(queue["delay_ms"], name) for queue in named.values() for name in names.values())
    rows = [
        {
            head: name,
            "qdisc": queue["qdisc"].split(" ")[0],
            "used\n%": number(queue["utilisation_percent"]),
            "rate\nMbit/s": number(queue["throughput_mbps"], 2),
            **{f"{over} ms": number(statistic(queue["delay_ms"], one), digits) for over, one in names.items()},
            "drops\n%": number(queue["drop_percent"], 2),
            "marks\n%": number(queue["mark_percent"], 2),
        }
        for name, queue in named.items()
    ]
    notes = [f"{name}: {discipline.told(queue['qdisc'])}{_ring(queue)}" for name, queue in named.items()]
    notes += [f"{name}: {_card(queue['card'])}" for name, queue in named.items() if "card" in queue]
    return Table.of(title, rows, notes, (head, "qdisc"))


def _ring(queue: Queue) -> str:
    """Return the note on the part of a queue's delay in the driver's ring, if there is one."""
    if "ring" not in queue:
        return ""
    mean = statistic(queue["ring"]["delay_ms"], "mean")
    return f"; in the driver below it {'–' if mean is None else span(mean)} of the mean delay"


def _card(card: Card) -> str:
    """Return the note on what the host took from a card."""
    words = f"its card delivered {card['packets']} packets at {card['interrupts']} interrupts"
    if card["handed_on"] == card["packets"]:
        return words
    return f"{words}, merged to {card['handed_on']} of {number(card['mean_bytes'], 0)} bytes on average"


def _wires(record: Record) -> Table:
    others = [hop for hop in record.get("hops", []) if not hops.has_queue(hop)]
    rows = [
        {
            "hop": hop["name"],
            "way": hop["direction"],
            "offered\npackets": _count(hop["packets"]["offered"]),
            "lost\n%": number(hop.get("loss_percent"), 2),
            "dupli-\ncated": _count(hop["packets"].get("duplicated")),
        }
        for hop in others
    ]
    there = {hop["kind"] for hop in others}
    named = " and ".join(kind.plural for kind in hops.kinds().values() if kind.name in there)
    return Table.of(f"Hops: {named}", rows, texts=("hop", "way"), names=2)


def _flows(record: Record) -> Table:
    flows = record["flows"]
    digits = decimals(flow["goodput_mbps"] for flow in flows)
    has_jitter = any(flow.get("jitter_rfc3550_ms") is not None for flow in flows)
    rows = [
        {
            "flow": flow["name"],
            "way": flow["direction"],
            "cc": flow.get("cc") or "–",
            "goodput\nMbit/s": number(flow["goodput_mbps"], max(2, digits)),
            **_rtt(flow.get("rtt_ms")),
            "retrans-\nmitted": _count(flow.get("retransmitted")),
            "time-\nouts": _count(flow.get("timeouts")),
            "loss\n%": number(flow["loss_percent"], 2),
            **({"jitter\nms": number(flow.get("jitter_rfc3550_ms"), 3)} if has_jitter else {}),
        }
        for flow in flows
    ]
    return Table.of("Flows", rows, _fairness(record), ("flow", "way", "cc"))


def _rtt(rtt_ms: Delay | None) -> dict[str, str]:
    """Return the cells of a round-trip time."""
    names = {"RTT\np10 ms": "p10", "\np50 ms": "p50", "\np90 ms": "p90"}
    return {heading: number(statistic(rtt_ms, name)) for heading, name in names.items()}


def _by_kind(record: Record) -> Table:
    from goodqueue.show import many

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
                "way": direction,
                "cc": cc,
                "flows": str(len(flows)),
                "goodput\nsum Mbit/s": number(sum(goodputs), 2),
                "\nmedian": number(many.median(goodputs), digits),
                "worst\ntenth": number(many.worst_tenth(goodputs, "high"), digits),
                "\nleast": number(min(goodputs), digits),
                "\nmost": number(max(goodputs), digits),
                "RTT\np50 ms": number(many.median(rtts)),
                "loss\n%": number(sum(losses) / len(losses) if losses else None, 2),
                "Jain": number(jain(goodputs), 3),
            }
        )
    title = f"Flows by kind ({len(record['flows'])} flows)"
    return Table.of(title, rows, [many.TENTH, *_fairness(record)], ("kind", "way", "cc"), names=3)


def _hosts(record: Record) -> list[Table]:
    """Return the table of the hosts that the scenario names."""
    if not (hosts := record.get("hosts", [])):
        return []
    shown = sorted(hosts, key=lambda host: -sum(one or 0 for one in host["goodput_mbps"].values()))[:MANY_HOSTS]
    rows = [
        {
            "host": host["name"],
            "role": host["role"],
            "flows": str(host["flows"]),
            **{f"{direction}\nMbit/s": number(host["goodput_mbps"][direction], 2) for direction in ("down", "up")},
            **_rtt(host["rtt_ms"]),
            "loss\n%": number(host["loss_percent"], 2),
        }
        for host in hosts
        if host in shown
    ]
    left = len(hosts) - len(rows)
    notes = [f"and {left} with less goodput, which --json shows"] if left else []
    notes += [f"{host['name']}: {_card(host['card'])}" for host in hosts if host in shown and "card" in host]
    index = record["fairness"].get("jain_hosts")
    if index is not None and sum(host["role"] == "host" for host in hosts) > 1:
        notes.append(f"Jain's fairness index of the users' hosts: {number(index, 3)}")
    return [Table.of("Hosts", rows, notes, ("host", "role"))]


def _fairness(record: Record) -> list[str]:
    index = record["fairness"]["jain_goodput"]
    return [f"Jain's fairness index of goodput: {number(index, 3)}"] if len(record["flows"]) > 1 else []


def _count(value: int | None) -> str:
    return "–" if value is None else str(value)


def _applications(kind: traffic.Kind, apps: Sequence[App], notes: Sequence[str]) -> Table:
    """Return one row per application of ``apps``, all of ``kind``. The columns are the kind's record fields."""
    columns = [Column("application", False)]
    rows = [[app["name"]] for app in apps]
    means = []
    for part in kind.fields:
        if (column := part.column) is None:
            continue
        found: list[Any] = [app.get(part.key) for app in apps]
        if part.type == "times":
            for place, name in enumerate(column.detail.split()):
                columns.append(Column(f"{'' if place else column.heading}\n{name} ms"))
                for row, times in zip(rows, found, strict=False):
                    row.append(number(statistic(times, name), column.decimals))
            means.append(f"{column.heading}: {kind.times_are}")
        else:
            columns.append(Column(f"{column.heading}\n{column.detail}".rstrip("\n"), part.type != "text"))
            for row, value in zip(rows, found, strict=False):
                row.append(_of_field(part, value))
            means += [f"{one.label}: {one.note}" for one in kind.measures if one.path == part.key and one.is_plain]
    return Table(kind.plural[:1].upper() + kind.plural[1:], columns, rows, ["; ".join(means), *notes])


def _of_field(part: traffic.Field, value: Any) -> str:
    """Return a value of a field that has one column."""
    if part.type == "text":
        return value or "–"
    return _count(value) if part.type == "count" else number(value, part.column.decimals if part.column else 1)


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


def catalogue(title: str, items: Sequence[dict[str, Any]]) -> Table:
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
