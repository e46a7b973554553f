"""A scenario in words: its link, its traffic, its time."""

from collections.abc import Mapping
from pathlib import PurePath
from typing import Any

from goodqueue import hops
from goodqueue.measures.scores import letter
from goodqueue.record import Live, Record, Scenario
from goodqueue.scenario import air, discipline
from goodqueue.show import labels
from goodqueue.show.table import span
from goodqueue.traffic import BULK, kinds


def whole(scenario: Scenario) -> str:
    """Return a comparison's scenario in one line: the link, the other hops, the traffic, the time."""
    time = f"{scenario['duration']} a run, the first {scenario.get('warmup', '0s')} left out"
    return f"{path(scenario)}; {traffic(scenario)}; {time}"


def path(scenario: Scenario) -> str:
    """Return the path of a scenario in words: its rates, the other hops, its changes, its RTT."""
    words = link(scenario) + _up(scenario) + "".join(_hop(hop) for hop in scenario.get("hop", []))
    words += "".join(_host(host) for host in scenario.get("host", []) if "qdisc" in host)
    words += "".join(_change(change) for change in scenario.get("change", []))
    return f"{words}, base RTT {scenario['path']['rtt']}"


def run(name: str, record: Record) -> str:
    """Return the description of one run in one line: its name, time, seed and engine."""
    from goodqueue.scenario import seconds

    scenario = record["scenario"]
    warmup = scenario.get("warmup", "0s")
    linux = f", Linux {record['kernel']['release'].split()[0]}" if "kernel" in record else ""
    left_out = f" (the first {warmup} left out)" if seconds(warmup) > 0 else ""
    return f"{name}: {scenario['duration']}{left_out}, seed {record['seed']}, engine {record['engine']}{linux}"


def lateness(record: Record) -> str:
    """Return a sentence on how long a link ran, and how late its packets were."""
    live = record["live"]
    text = f"Ran {live['elapsed_s']:.1f} s"
    if "kernel" in record and record["kernel"]["clock"] == "virtual":
        return f"{text} of virtual time, in which no packet was late and what programs computed took no time."
    if (late := live["late_us"]) is None:
        return f"{text}; no packet crossed."
    times = [f"{late[name] / 1e3:.3f} ms" for name in ("p50", "p99", "max")]
    return (
        f"{text}. Packets left late by {times[0]} (median), {times[1]} (p99), {times[2]} at most: the emulator's part."
    )


def bufferbloat(live: Live) -> list[str]:
    """Return the score of a live run in a sentence, or nothing without one."""
    if (bufferbloat := live.get("bufferbloat")) is None:
        return []
    return [f"{letter.SAYS} {bufferbloat['letter']}: the load adds {span(bufferbloat['added_ms'])}."]


def link(scenario: Scenario) -> str:
    """Return the rate of the bottleneck, or of both directions if they differ."""
    rates = directions(scenario)
    return "{down} down, {up} up".format_map(rates) if rates["up"] != rates["down"] else rates["down"]


def _up(scenario: Scenario) -> str:
    """Return the discipline up if a comparison varies only the discipline down."""
    bottleneck = scenario["bottleneck"]
    line = (bottleneck.get("up") or {}).get("qdisc")
    return f", {discipline.name_of(line)} up" if line and "qdisc" not in bottleneck else ""


def directions(scenario: Scenario) -> dict[str, str]:
    """Return the rate of the bottleneck, by direction."""
    down = scenario["bottleneck"]
    up = down.get("up") or {}
    return {"down": sends(down), "up": sends(up if up.keys() & {"rate", "trace"} else down)}


def sends(link: Mapping[str, Any]) -> str:
    """Return a link in words: its rate or file of rates, its bursts or access network, its ring, and its card."""
    if "wifi" in link:
        return air.described(link["wifi"])
    words = f"the rates of {PurePath(link['trace']).name}" if link.get("trace") else str(link["rate"])
    if link.get("bursts"):
        words += f" in bursts every {link['bursts']}" + (f" at {link['peak']}" if link.get("peak") else "")
    words += f" of {discipline.name_of(link['access'])}" if link.get("access") else ""
    words += f" below a ring of {link['ring']}" if link.get("ring") else ""
    merges = " that merges" if link.get("gro") else ""
    return words + (f" behind a card{merges} ({link['rx_usecs']} us)" if "rx_usecs" in link else "")


def _hop(hop: Mapping[str, Any]) -> str:
    """Return a hop as ``, then modem (20mbit bfifo)``, or as ``, after …`` if it comes before the bottleneck."""
    kind = hops.kinds()[hop["kind"]]
    what = f"{sends(hop)} {discipline.name_of(hop['qdisc'])}" if kind.has_queue else kind.described(hop)
    direction = " up" if hop.get("direction") == "up" else ""
    return f", {'after' if hop.get('before') else 'then'} {hop['name']}{direction} ({what})"


def _host(host: Mapping[str, Any]) -> str:
    """Return the interface of a host as ``, host alice (1gbit fq)``."""
    return f", {host['role']} {host['name']} ({sends(host)} {discipline.name_of(host['qdisc'])})"


def traffic(scenario: Scenario) -> str:
    """Return a scenario's traffic in one line: kinds, counts and directions."""
    counts: dict[str, int] = {}
    for source in scenario.get("traffic", []):
        what = _source(source)
        counts[what] = counts.get(what, 0) + source.get("count", 1)
    subscribers = sum(group.get("count", 1) for group in scenario.get("subscriber", []))
    words = [f"{subscribers} subscribers"] if subscribers else []
    return ", ".join([*words, *(f"{count} × {what}" for what, count in counts.items())])


def _change(change: dict[str, Any]) -> str:
    direction = " up" if change.get("direction") == "up" else ""
    direction = f" of {change['hop']}" if change.get("hop") else direction
    what = [change["rate"] + direction] if change.get("rate") else []
    what += [f"another qdisc line{direction}"] if change.get("qdisc") else []
    what += [f"base RTT {change['rtt']}"] if change.get("rtt") else []
    what += [f"{name} {change[name]}{direction}" for name in ("delay", "jitter") if change.get(name)]
    return f", {' and '.join(what)} from {change['at']}"


def _source(source: dict[str, Any]) -> str:
    kind = kinds()[source["kind"]]
    cc = source.get("cc") if kind.name == BULK else None
    name = f"{kind.name} {labels.called([cc])[cc]}" if cc else kind.name
    detail = _title_value(source, kind.option.detail)
    what = f" {'of ' if kind.option.example else ''}{detail}" if detail else ""
    direction = f" {source['direction']}" if not kind.is_probe and source.get("direction") else ""
    return f"{name}{what}{direction}"


def _title_value(source: dict[str, Any], key: str) -> Any:
    """Return what a title shows of a key: its value, or the file or the number of the data that are its value."""
    value = source.get(key)
    if isinstance(value, list | dict):
        return source.get("file") or f"{len(value)} {key}"
    return value
