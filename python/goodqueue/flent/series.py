"""What the series of a data file are: flows, pings, calls, pages, queues, or nothing that a record has.

The unit of a series and the keys of its samples decide, as Flent's test definitions set them. Names decide only where a
file has no units, as the format at first. A name `A::part` is a part of the series `A`, unless it ends in a number.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from goodqueue.flent import HTTP, PING, VOIP
from goodqueue.flent.reading import BETWEEN, DataFile, Sample

QUEUE_KEYS = frozenset({"backlog_pkts", "backlog_bytes", "dropped", "ecn_mark", "delay", "sent_pkts", "sent_bytes"})
"""Keys of samples of `tc -s`. Those of delay and backlog are values at that time."""

_PARTS = QUEUE_KEYS | {"bitrate", "jitter", "loss", "induced_delay"}
_DERIVED = re.compile(r".*\b(avg|sum|mean|totals)|.*fairness.*", re.DOTALL)
"""Matches the names of series that Flent derives from others."""

_RATES, _CALL_RATES = ("mbits/s", "mbit/s"), ("kbps", "kbits/s")
_TRANSFER = re.compile(r"(TCP|SCTP|UDP)\b")

NOTHING = "it holds no value"
_REASONS = (
    ("cpu_stats", "the load of a processor is no measurement of the path"),
    ("wifi_stats", "a card's airtime without the frames and rates that a record's cell has"),
    ("netstat", "counters of a whole host, not of a flow"),
    ("Dash", "video over HTTP, which no kind of traffic here is"),
)


@dataclass(slots=True)
class Found:
    """The names of a file's series by what they are."""

    flows: list[str] = field(default_factory=list)
    pings: list[str] = field(default_factory=list)
    calls: list[str] = field(default_factory=list)
    pages: list[str] = field(default_factory=list)
    queues: list[str] = field(default_factory=list)
    left_out: dict[str, str] = field(default_factory=dict)
    """Why, by the name of each series that is none of these and that Flent has not derived from another."""


def find(file: DataFile) -> Found:
    """Return what the series of ``file`` are."""
    listed = Found()
    lists = {
        "flow": listed.flows,
        "ping": listed.pings,
        "call": listed.calls,
        "page": listed.pages,
        "queue": listed.queues,
    }
    for name in sorted(set(_wholes(file))):
        if _DERIVED.fullmatch(name):
            continue
        kind = _kind(file, name)
        if kind in lists and has_values(file, name, kind):
            lists[kind].append(name)
        else:
            listed.left_out[name] = NOTHING if kind in lists else kind
    return listed


def _wholes(file: DataFile) -> Iterator[str]:
    """Yield the names of the series that are no part of another."""
    names = file.results.keys() | file.samples.keys()
    for name in names:
        base, between, part = name.rpartition(BETWEEN)
        while between and not part.isdecimal() and not _is_part(part) and base not in names:
            base, between, part = base.rpartition(BETWEEN)
        yield base if between and not part.isdecimal() and (_is_part(part) or base in names) else name


def _is_part(name: str) -> bool:
    return name in _PARTS or name.startswith("tcp_")


def _kind(file: DataFile, name: str) -> str:
    """Return what a series is: `flow`, `ping`, `call`, `page`, `queue`, or the reason why it is none of these."""
    unit = str(file.about.get(name, {}).get("UNITS") or "").lower()
    keys = {key for sample in file.samples.get(name, [])[:100] for key in sample}
    parts = {other.removeprefix(name + BETWEEN) for other in file.results if other.startswith(name + BETWEEN)}
    if why := next((why for begin, why in _REASONS if name.startswith(begin)), ""):
        return why
    if name.startswith(VOIP) or (unit in _CALL_RATES and "seq" in keys):
        return "call"
    if "val" not in keys and (keys | parts) & QUEUE_KEYS:
        return "queue"
    if unit in _RATES or (not unit and _TRANSFER.match(name)):
        return "flow"
    if unit == "ms" or name.startswith((PING, HTTP)):
        return "page" if name.startswith("HTTP") else "ping"
    return f"a series in {unit}, which no kind of traffic here measures" if unit else "nothing says what it measures"


def has_values(file: DataFile, name: str, kind: str) -> bool:
    """Return whether a series has something to read."""
    if kind == "call":
        return bool(packets(file, name) or part(file, name, "delay"))
    return bool(kind == "queue" or values(file, name))


def values(file: DataFile, name: str) -> list[Sample]:
    """Return the samples of a series that have a value: the raw ones or, without them, the values of the plot."""
    if samples := file.samples.get(name, []):
        return [sample for sample in samples if "val" in sample]
    return [{"t": at, "val": value} for at, value in _plotted(file, name)]


def packets(file: DataFile, name: str) -> list[Sample]:
    """Return the packets of the call ``name`` that arrived, with the one-way delay in ms as ``val``.

    D-ITG writes the delay so. irtt writes round trips there, and the one-way delay in ``owd_up``. The time of its
    samples is that of the echo, so ``took`` has what lies between the sending and that time.
    """
    heard = []
    for sample in file.samples.get(name, []):
        one_way = sample.get("owd_up", sample.get("val"))
        if one_way is not None and "seq" in sample:
            heard.append({**sample, "val": one_way, "took": sample.get("val", one_way)})
    return heard


def are_possible(heard: Iterable[Sample]) -> bool:
    """Return whether the one-way delays of packets can be true: none is negative, or longer than its round trip.

    Otherwise the clocks of both ends differ.
    """
    return all(0 <= packet["val"] <= packet["took"] for packet in heard)


def part(file: DataFile, name: str, key: str) -> list[Sample]:
    """Return the samples with ``key`` of a series: the raw ones or, without them, the values of the plot."""
    if samples := [sample for sample in file.samples.get(name, []) if key in sample]:
        return samples
    return [{"t": at, key: value} for at, value in _plotted(file, f"{name}{BETWEEN}{key}")]


def _plotted(file: DataFile, name: str) -> Iterator[tuple[float, float]]:
    points = zip(file.grid_s, file.results.get(name, []), strict=False)
    return ((at, value) for at, value in points if value is not None)
