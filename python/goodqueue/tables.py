"""Tables: from records and comparisons to rows of text. `terminal` and `report` show them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from goodqueue import warmup
from goodqueue.compare import Comparison, Metric
from goodqueue.discipline import is_python
from goodqueue.record import TIMES, App, Flow, Record, statistic, times_of
from goodqueue.stats import Estimate, jain

NOTE = "delay: in the down queue; ping: round trip, base RTT included; Jain: bulk flows down, 1 is equal."
APPS_NOTE = (
    "transfer: SYN to last byte; rr: request to response; stream: a chunk's way; stalled: share of the time that its "
    "player waits."
)
CALLS_NOTE = "voip: one way; MOS: 1 to 4.5 by ITU-T G.107; page: from the lookup to the last object."
"""What the columns of a comparison mean."""

MANY_FLOWS = 12
"""Above this number flows are shown by kind, not one by one."""


@dataclass(frozen=True, slots=True)
class Column:
    """A heading (lines separated by a line break, the last one is the unit) and how its cells stand."""

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
    """How many columns name a row: where a table is cut, each part begins with them."""


def decimals(values: Iterable[float | None]) -> int:
    """Return how many decimals let the least of ``values`` keep two digits: 1 for 4.7 and 180, at most 3."""
    least = min((abs(value) for value in values if value), default=1.0)
    return 1 if least >= 0.95 else 2 if least >= 0.095 else 3


def number(value: float | None, digits: int = 1) -> str:
    """Return ``value`` with ``digits`` decimals, or a dash where there is none."""
    return "–" if value is None else f"{value:.{digits}f}"


def span(ms: float) -> str:
    """Return a time for a sentence: ``11.7 ms``, ``1.21 s``."""
    return f"{ms / 1000:.2f} s" if ms >= 1000 else f"{ms:.{decimals([ms])}f} ms"


def plus_minus(estimate: Estimate | None, digits: int = 1, mark: bool = False) -> str:
    """Return ``mean ± half-width``; with ``mark``, followed by ``*`` where the interval excludes zero."""
    if estimate is None:
        return "–"
    text = number(estimate.mean, digits)
    if estimate.half_width is not None:
        text += f" ± {number(estimate.half_width, digits)}"
    return text + ((" *" if estimate.excludes_zero else "  ") if mark else "")


def run_tables(record: Record) -> list[Table]:
    """Return what one run measured: its queues, its flows, its applications."""
    tables = [_queues(record)]
    if record["flows"]:
        tables.append(_by_kind(record) if len(record["flows"]) > MANY_FLOWS else _flows(record))
    shown = (
        (("ping",), _pings),
        (("voip",), _calls),
        (("transfer", "rr", "page"), partial(_exchanges, notes=warmup.notes(record))),
        (("stream",), _streams),
    )
    for kinds, table in shown:
        if apps := [app for app in record["apps"] if app["kind"] in kinds]:
            tables.append(table(apps))
    return tables


def _queues(record: Record) -> Table:
    names = ("mean", "p50", "p95", "p99", "max")
    queues = record["queues"].items()
    digits = decimals(statistic(queue["delay_ms"], name) for _, queue in queues for name in names)
    rows = [
        [
            direction,
            queue["qdisc"].split(" ")[0],
            number(queue["utilisation_percent"]),
            number(queue["throughput_mbps"], 2),
            *(number(statistic(queue["delay_ms"], name), digits) for name in names),
            number(queue["drop_percent"], 2),
            number(queue["mark_percent"], 2),
        ]
        for direction, queue in queues
    ]
    headings = ["used\n%", "rate\nMbit/s", "delay\nmean ms", "\np50 ms", "\np95 ms", "\np99 ms", "\nmax ms"]
    columns = [Column("queue", False), Column("qdisc", False), *map(Column, headings), Column("drops\n%")]
    notes = [f"{direction}: {queue['qdisc']}" for direction, queue in queues]
    return Table("Queues", [*columns, Column("marks\n%")], rows, notes)


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
    columns = [Column("flow", False), Column("way", False), Column("cc", False), *map(Column, headings)]
    return Table("Flows", columns, rows, _fairness(record))


def _by_kind(record: Record) -> Table:
    groups: dict[tuple[str, str, str], list[Flow]] = {}
    for flow in record["flows"]:
        groups.setdefault((flow["kind"], flow["direction"], flow.get("cc") or "–"), []).append(flow)
    rows = []
    for (kind, way, cc), flows in groups.items():
        goodputs = [flow["goodput_mbps"] for flow in flows]
        rtts = sorted(rtt for flow in flows if (rtt := statistic(flow.get("rtt_ms"), "p50")) is not None)
        losses = [flow["loss_percent"] for flow in flows if flow["loss_percent"] is not None]
        digits = max(2, decimals(goodputs))
        rows.append(
            [
                kind,
                way,
                cc,
                str(len(flows)),
                number(sum(goodputs), 2),
                number(sum(goodputs) / len(goodputs), digits),
                number(min(goodputs), digits),
                number(max(goodputs), digits),
                number(rtts[len(rtts) // 2] if rtts else None),
                number(sum(losses) / len(losses) if losses else None, 2),
                number(jain(goodputs), 3),
            ]
        )
    headings = ["flows", "goodput\nsum Mbit/s", "\nmean", "\nleast", "\nmost", "RTT\np50 ms", "loss\n%", "Jain"]
    columns = [Column("kind", False), Column("way", False), Column("cc", False), *map(Column, headings)]
    return Table(f"Flows by kind ({len(record['flows'])} flows)", columns, rows, _fairness(record), names=3)


def _fairness(record: Record) -> list[str]:
    index = record["fairness"]["jain_goodput"]
    return [f"Jain's fairness index of goodput: {number(index, 3)}"] if len(record["flows"]) > 1 else []


def _count(value: int | None) -> str:
    return "–" if value is None else str(value)


def _pings(apps: Sequence[App]) -> Table:
    names = ("p10", "p50", "p90", "p95", "p99")
    rows = []
    for app in apps:
        rtts = (number(statistic(app.get("rtt_ms"), name)) for name in names)
        rows.append([app["name"], *rtts, number(app.get("loss_percent"), 2)])
    columns = [Column("application", False), Column("RTT\np10 ms"), *(Column(f"\n{name} ms") for name in names[1:])]
    return Table("Applications", [*columns, Column("lost\n%")], rows)


def _exchanges(apps: Sequence[App], notes: Sequence[str]) -> Table:
    names = ("mean", "p10", "p50", "p90", "p95", "p99")
    times = {"transfer": "completion", "rr": "response", "page": "page load"}
    rows = [
        [
            app["name"],
            times[app["kind"]],
            _count(app.get("count")),
            _count(app.get("completed")),
            *(number(times_of(app).get(name)) for name in names),
        ]
        for app in apps[:MANY_FLOWS]
    ]
    columns = [Column("application", False), Column("time of", False), *map(Column, ("begun", "ended", "mean\nms"))]
    columns += [Column(f"\n{name} ms") for name in names[1:]]
    return Table("Transfers, exchanges, pages", columns, rows, [*notes, *_more(apps)])


def _calls(apps: Sequence[App]) -> Table:
    names = ("mean", "p50", "p95", "p99")
    rows = [
        [
            app["name"],
            *(number(times_of(app).get(name)) for name in names),
            number(app.get("jitter_ms"), 2),
            number(app.get("jitter_rfc3550_ms"), 2),
            number(app.get("loss_percent"), 2),
            number(app.get("mos"), 2),
        ]
        for app in apps[:MANY_FLOWS]
    ]
    headings = ["delay\nmean ms", *(f"\n{name} ms" for name in names[1:]), "jitter\nmean ms", "\nRFC 3550"]
    columns = [Column("call", False), *map(Column, headings), Column("lost\n%"), Column("MOS")]
    notes = ["delay: one way; MOS: 1 to 4.5, ITU-T G.107's E-model of mean delay and loss"]
    return Table("Calls", columns, rows, [*notes, *_more(apps)])


def _streams(apps: Sequence[App]) -> Table:
    names = ("mean", "p10", "p50", "p90", "p95", "p99")
    rows = [
        [
            app["name"],
            *(number(times_of(app).get(name)) for name in names),
            _count(app.get("stalls")),
            number(app.get("stalled_ms"), 0),
        ]
        for app in apps[:MANY_FLOWS]
    ]
    columns = [
        Column("stream", False),
        Column("chunks' delay\nmean ms"),
        *(Column(f"\n{name} ms") for name in names[1:]),
    ]
    return Table("Streams", [*columns, Column("stalls"), Column("stalled\nms")], rows, _more(apps))


def _more(apps: Sequence[App]) -> list[str]:
    """Return the note that some are left out, where they are many."""
    return [f"and {len(apps) - MANY_FLOWS} more, which --json shows"] if len(apps) > MANY_FLOWS else []


def compare_table(comparison: Comparison) -> Table:
    """Return one row a discipline: means over the seeds, with the interval of the mean delay."""
    shown = [metric for metric in comparison.seen() if metric.key != "delay_mean_ms"]
    columns = [Column("qdisc", False), Column("delay ms\nmean ± CI")]
    columns += [Column(_short_heading(metric)) for metric in shown]
    cells = [_mean_column(comparison, metric) for metric in shown]
    means = [entry.estimates["delay_mean_ms"] for entry in comparison.entries]
    digits = decimals(mean.mean for mean in means if mean)
    rows = [
        [entry.label, plus_minus(entry.estimates["delay_mean_ms"], digits), *(column[row] for column in cells)]
        for row, entry in enumerate(comparison.entries)
    ]
    return Table("Means over the seeds", columns, rows, _notes(comparison))


def _notes(comparison: Comparison) -> list[str]:
    """Return what the columns mean."""
    known = {metric.label.split(" ")[0] for metric in comparison.seen()}
    notes = [NOTE, APPS_NOTE] if known & {"transfer", "rr", "stream"} else [NOTE]
    return [*notes, CALLS_NOTE] if known & {"voip", "page"} else notes


def _short_heading(metric: Metric) -> str:
    short = {"utilisation": "used", "Jain": "Jain"}.get(metric.label, metric.label)
    if metric.label.split(" ")[0] in TIMES:
        short = metric.label.replace(" ", "\n") + f" {metric.unit}"
    if metric.label.startswith("delay "):
        return f"\n{metric.label.removeprefix('delay ')}"
    return short if "\n" in short or not metric.unit else f"{short}\n{metric.unit}"


def _mean_column(comparison: Comparison, metric: Metric) -> list[str]:
    means = [estimate.mean if (estimate := entry.estimates[metric.key]) else None for entry in comparison.entries]
    two = metric.unit in ("%", "Mbit/s") or metric.key == "voip_mos"
    digits = 2 if two and metric.label != "utilisation" else decimals(means)
    return [number(mean, 3 if metric.key == "jain_goodput" else digits) for mean in means]


def difference_table(comparison: Comparison) -> Table | None:
    """Return the paired differences from the first discipline, or None where there is nothing to compare."""
    found = [(entry.label, entry.differences) for entry in comparison.entries[len(comparison.engines) :]]
    note = " on the same engine" if len(comparison.engines) > 1 else ""
    return _differences(comparison, f"Difference from {comparison.entries[0].qdisc}{note}", found)


def engine_table(comparison: Comparison) -> Table | None:
    """Return each discipline's paired differences from itself on the first engine, or None where there is but one."""
    found = [(entry.label, entry.engine_differences) for entry in comparison.entries if entry.engine_differences]
    return _differences(comparison, f"Difference from engine {comparison.engines[0]}", found)


def _differences(
    comparison: Comparison, title: str, found: Sequence[tuple[str, Mapping[str, Estimate | None]]]
) -> Table | None:
    """Return a row for each of ``found``, a label and its differences by metric; None for a single seed."""
    if not found or len(comparison.seeds) < 2:
        return None
    keys = [
        *("delay_mean_ms", "delay_p95_ms", "utilisation_percent", "goodput_mbps", "ping_rtt_p95_ms"),
        *("completion_p95_ms", "response_p95_ms", "stalled_percent", "voip_mos", "page_load_mean_ms"),
    ]
    shown = [metric for metric in comparison.seen() if metric.key in keys]
    columns = [Column("qdisc", False)]
    rows = [[label] for label, _ in found]
    for metric in shown:
        columns.append(Column(f"{metric.label}\n{metric.unit}"))
        column = [differences[metric.key] for _, differences in found]
        largest = max((abs(difference.mean) for difference in column if difference), default=1.0)
        digits = 1 if largest >= 20 else 2 if largest >= 0.2 else 3
        for row, difference in zip(rows, column, strict=True):
            row.append(plus_minus(difference, digits, mark=True))
    count = len(found) * len(shown)
    notes = [f"* the 95 % interval excludes 0 ({count} comparisons, each on its own at 5 %)"]
    return Table(f"{title}, paired by seed (± 95 % CI)", columns, rows, notes)


def full_table(comparison: Comparison) -> Table:
    """Return one row a discipline with the interval of every metric, for pages that are wider than a terminal."""
    shown = comparison.seen()
    columns = [Column("qdisc", False), *(Column(f"{metric.label}\n{metric.unit}") for metric in shown)]
    rows = [[entry.label] for entry in comparison.entries]
    for metric in shown:
        estimates = [entry.estimates[metric.key] for entry in comparison.entries]
        digits = 3 if metric.key == "jain_goodput" else decimals(estimate.mean for estimate in estimates if estimate)
        for row, estimate in zip(rows, estimates, strict=True):
            row.append(plus_minus(estimate, max(digits, 2) if metric.unit == "Mbit/s" else digits))
    return Table("Means over the seeds (± 95 % CI)", columns, rows, _notes(comparison))


def findings(comparison: Comparison) -> list[str]:
    """Return what stands out, in sentences that the numbers carry: extremes of tail delay and of utilisation."""
    sentences = []
    tails = _means(comparison, "delay_p95_ms")
    if len(tails) > 1:
        (best, low), (worst, high) = tails[0], tails[-1]
        times = f", {high / low:.{0 if high / low >= 10 else 1}f} times as long" if low > 0 else ""
        sentences.append(
            f"With {best}, 95 % of the packets queue for at most {span(low)}; "
            f"with {worst}, for up to {span(high)}{times}."
        )
    used = _means(comparison, "utilisation_percent")
    if len(used) > 1:
        (least, low), (most, high) = used[0], used[-1]
        sentences.append(f"The link is used to between {number(low)} % ({least}) and {number(high)} % ({most}).")
    return sentences


def _means(comparison: Comparison, key: str) -> list[tuple[str, float]]:
    """Return each discipline's mean of a metric, ascending."""
    pairs = [(entry.label, estimate.mean) for entry in comparison.entries if (estimate := entry.estimates[key])]
    return sorted(pairs, key=lambda pair: pair[1])


def certainty(comparison: Comparison) -> list[str]:
    """Return the sentences that say how sure the numbers are."""
    n = len(comparison.seeds)
    slow = [entry.qdisc for entry in comparison.entries if is_python(entry.qdisc)]
    note = [f"Written in Python, hence slower, one run at a time: {', '.join(slow)}."] if slow else []
    if n == 1:
        return ["One seed: the spread is unknown, and so is how sure these numbers are. More: --seeds 5", *note]
    seeds = f"n = {n} seeds ({comparison.seeds[0]} to {comparison.seeds[-1]}), common to all"
    sure = [f"{seeds}; ± is the mean's 95 % confidence interval (Student's t)."]
    if comparison.spread_is_nil():
        sure.append("Every seed gave the same numbers: this scenario draws nothing at random, so n is really 1.")
    return sure + note


def qdisc_parameters(qdisc: dict[str, Any]) -> Table:
    """Return the parameters of one discipline of the registry."""
    columns = [Column(name, False) for name in ("parameter", "default", "accepted", "what it is", "source")]
    rows = [[p["name"], str(p["default"]), p["accepted"], p["help"], p["source"]] for p in qdisc["params"]]
    return Table(f"{qdisc['name']}: {qdisc['summary']}", columns, rows, [f"Source: {qdisc['source']}"])


def catalogue(title: str, items: Sequence[dict[str, Any]]) -> Table:
    """Return a list of things with a name, a summary and perhaps words and a source."""
    keys = [key for key in ("name", "words", "summary", "source") if any(item.get(key) for item in items)]
    rows = [[_cell(item.get(key)) for key in keys] for item in items]
    return Table(title, [Column(key, False) for key in keys], rows)


def _cell(value: Any) -> str:
    """Return a text, or the names of a list."""
    return ", ".join(part["name"] for part in value) if isinstance(value, list) else value or ""


def cc_words(cc: dict[str, Any]) -> Table:
    """Return the words of one congestion control."""
    columns = [Column(name, False) for name in ("word", "followed by", "what it does", "source")]
    rows = [[word["name"], word["number"] or "", word["help"], word["source"]] for word in cc["words"]]
    notes = [f"Source: {cc['source']}", f"Differs: {cc['differs']}"]
    return Table(f"{cc['name']}: {cc['summary']}", columns, rows, notes)
