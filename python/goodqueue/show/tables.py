"""Tables: rows of text under headings, and the format of numbers in them. `terminal` and `report` print them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from goodqueue import hops, traffic
from goodqueue.measures.stats import Estimate, jain
from goodqueue.record import App, Flow, Queue, Record, statistic
from goodqueue.scenario import warmup

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
    from goodqueue.show import many  # which makes tables, too

    tables = [_queues(record), *_air(record), *(table for table in (_links(record), _wires(record)) if table.rows)]
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
    columns = [Column("station", False), Column("way", False), Column("airtime\n%"), Column("rate\nMbit/s")]
    columns += [Column("frames per\naggregate"), Column("retries\n%"), Column("lost\nframes")]
    columns += [Column("delivered\nMbit/s"), Column("delay\nmean ms"), Column("\np95 ms")]
    rows = [
        [
            station["name"],
            way,
            number(one["airtime_percent"]),
            number(one["rate_mbps"]),
            number(one["aggregate_frames"]),
            number(one["retry_percent"]),
            str(one["lost"]),
            number(one["throughput_mbps"], 2),
            number(statistic(one["delay_ms"], "mean")),
            number(statistic(one["delay_ms"], "p95")),
        ]
        for station in air["stations"]
        for way, one in (("down", station["down"]), ("up", station["up"]))
        if one["transmissions"]
    ]
    busy, collided = number(air["busy_percent"]), number(air["collision_percent"])
    notes = [
        f"on the air {busy} % of the time, without collisions; {collided} % of the transmissions collided",
        "delay: from a packet's arrival at its sender's queue until it was delivered",
    ]
    return [Table("Air", columns, rows, notes, names=2)]


def links(record: Record) -> dict[str, Queue]:
    """Return the hops that are links, by name, as queues."""
    return {hop["name"]: cast("Queue", hop) for hop in record.get("hops", []) if hops.has_queue(hop)}


def _links(record: Record) -> Table:
    up = {hop["name"] for hop in record.get("hops", []) if hop["direction"] == "up"}
    named = {f"{name}{', up' if name in up else ''}": queue for name, queue in links(record).items()}
    return _queue_table("Hops: links", named, "hop")


def _queue_table(title: str, named: Mapping[str, Queue], head: str) -> Table:
    """Return the table of queues by name. ``head`` is the heading of the names."""
    names = ("mean", "p50", "p95", "p99", "max")
    digits = decimals(statistic(queue["delay_ms"], name) for queue in named.values() for name in names)
    rows = [
        [
            name,
            queue["qdisc"].split(" ")[0],
            number(queue["utilisation_percent"]),
            number(queue["throughput_mbps"], 2),
            *(number(statistic(queue["delay_ms"], one), digits) for one in names),
            number(queue["drop_percent"], 2),
            number(queue["mark_percent"], 2),
        ]
        for name, queue in named.items()
    ]
    headings = ["used\n%", "rate\nMbit/s", "delay\nmean ms", "\np50 ms", "\np95 ms", "\np99 ms", "\nmax ms"]
    columns = [Column(head, False), Column("qdisc", False), *map(Column, headings), Column("drops\n%")]
    notes = [f"{name}: {queue['qdisc']}{_ring(queue)}" for name, queue in named.items()]
    return Table(title, [*columns, Column("marks\n%")], rows, notes)


def _ring(queue: Queue) -> str:
    """Return the note on the part of a queue's delay in the driver's ring, if there is one."""
    if "ring" not in queue:
        return ""
    mean = statistic(queue["ring"]["delay_ms"], "mean")
    return f"; in the driver below it {'–' if mean is None else span(mean)} of the mean delay"


def _wires(record: Record) -> Table:
    others = [hop for hop in record.get("hops", []) if not hops.has_queue(hop)]
    rows = [
        [
            hop["name"],
            hop["direction"],
            _count(hop["packets"]["offered"]),
            number(hop.get("loss_percent"), 2),
            _count(hop["packets"].get("duplicated")),
        ]
        for hop in others
    ]
    columns = [Column("hop", False), Column("way", False), Column("offered\npackets"), Column("lost\n%")]
    there = {hop["kind"] for hop in others}
    named = " and ".join(kind.plural for kind in hops.kinds().values() if kind.name in there)
    return Table(f"Hops: {named}", [*columns, Column("dupli-\ncated")], rows, names=2)


def _flows(record: Record) -> Table:
    rows = []
    digits = decimals(flow["goodput_mbps"] for flow in record["flows"])
    for flow in record["flows"]:
        rows.append(
            [
                flow["name"],
                flow["direction"],
                flow.get("cc") or "–",
                number(flow["goodput_mbps"], max(2, digits)),
                *(number(statistic(flow.get("rtt_ms"), name)) for name in ("p10", "p50", "p90")),
                _count(flow.get("retransmitted")),
                _count(flow.get("timeouts")),
                number(flow["loss_percent"], 2),
            ]
        )
    headings = ["goodput\nMbit/s", "RTT\np10 ms", "\np50 ms", "\np90 ms", "retrans-\nmitted", "time-\nouts", "loss\n%"]
    if any(flow.get("jitter_rfc3550_ms") is not None for flow in record["flows"]):
        headings.append("jitter\nms")
        for row, flow in zip(rows, record["flows"], strict=True):
            row.append(number(flow.get("jitter_rfc3550_ms"), 3))
    columns = [Column("flow", False), Column("way", False), Column("cc", False), *map(Column, headings)]
    return Table("Flows", columns, rows, _fairness(record))


def _by_kind(record: Record) -> Table:
    from goodqueue.show import many

    groups: dict[tuple[str, str, str], list[Flow]] = {}
    for flow in record["flows"]:
        groups.setdefault((flow["kind"], flow["direction"], flow.get("cc") or "–"), []).append(flow)
    rows = []
    for (kind, way, cc), flows in groups.items():
        goodputs = [flow["goodput_mbps"] for flow in flows]
        rtts = [rtt for flow in flows if (rtt := statistic(flow.get("rtt_ms"), "p50")) is not None]
        losses = [flow["loss_percent"] for flow in flows if flow["loss_percent"] is not None]
        digits = max(2, decimals(goodputs))
        rows.append(
            [
                kind,
                way,
                cc,
                str(len(flows)),
                number(sum(goodputs), 2),
                number(many.median(goodputs), digits),
                number(many.worst_tenth(goodputs, "high"), digits),
                number(min(goodputs), digits),
                number(max(goodputs), digits),
                number(many.median(rtts)),
                number(sum(losses) / len(losses) if losses else None, 2),
                number(jain(goodputs), 3),
            ]
        )
    headings = [
        "flows",
        "goodput\nsum Mbit/s",
        "\nmedian",
        "worst\ntenth",
        "\nleast",
        "\nmost",
        "RTT\np50 ms",
        "loss\n%",
    ]
    headings.append("Jain")
    columns = [Column("kind", False), Column("way", False), Column("cc", False), *map(Column, headings)]
    return Table(
        f"Flows by kind ({len(record['flows'])} flows)", columns, rows, [many.TENTH, *_fairness(record)], names=3
    )


def _hosts(record: Record) -> list[Table]:
    """Return the table of the hosts that the scenario names."""
    if not (hosts := record.get("hosts", [])):
        return []
    shown = sorted(hosts, key=lambda host: -sum(one or 0 for one in host["goodput_mbps"].values()))[:MANY_HOSTS]
    rows = [
        [
            host["name"],
            host["role"],
            str(host["flows"]),
            *(number(host["goodput_mbps"][way], 2) for way in ("down", "up")),
            *(number(statistic(host["rtt_ms"], name)) for name in ("p10", "p50", "p90")),
            number(host["loss_percent"], 2),
        ]
        for host in hosts
        if host in shown
    ]
    headings = ["flows", "down\nMbit/s", "up\nMbit/s", "RTT\np10 ms", "\np50 ms", "\np90 ms", "loss\n%"]
    columns = [Column("host", False), Column("role", False), *map(Column, headings)]
    left = len(hosts) - len(rows)
    notes = [f"and {left} with less goodput, which --json shows"] if left else []
    index = record["fairness"].get("jain_hosts")
    if index is not None and sum(host["role"] == "host" for host in hosts) > 1:
        notes.append(f"Jain's fairness index of the users' hosts: {number(index, 3)}")
    return [Table("Hosts", columns, rows, notes)]


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
            columns.append(Column(f"{column.heading}\n{column.detail}".rstrip("\n")))
            for row, value in zip(rows, found, strict=False):
                row.append(_count(value) if part.type == "count" else number(value, column.decimals))
            means += [f"{one.label}: {one.note}" for one in kind.measures if one.path == part.key and one.is_plain]
    return Table(kind.plural.capitalize(), columns, rows, ["; ".join(means), *notes])


def qdisc_parameters(qdisc: dict[str, Any]) -> Table:
    """Return the parameters of one discipline of the registry."""
    columns = [Column(name, False) for name in ("parameter", "default", "accepted", "what it is", "source")]
    rows = [[p["name"], str(p["default"]), p["accepted"], p["help"], p["source"]] for p in qdisc["params"]]
    return Table(f"{qdisc['name']}: {qdisc['summary']}", columns, rows, [f"Source: {qdisc['source']}"])


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
