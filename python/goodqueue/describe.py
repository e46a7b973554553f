"""A scenario in words: its link, its traffic, its time."""

from typing import Any

from goodqueue.record import Scenario
from goodqueue.traffic import BULK, kinds


def whole(scenario: Scenario) -> str:
    """Return a comparison's scenario in a line: the link, the traffic, the time."""
    path = link(scenario)
    time = f"{scenario['duration']} a run, the first {scenario.get('warmup', '0s')} left out"
    path += "".join(_change(change) for change in scenario.get("change", []))
    return f"{path}, base RTT {scenario['path']['rtt']}; {traffic(scenario)}; {time}"


def link(scenario: Scenario) -> str:
    """Return the rate of a scenario's link, or both rates where they differ."""
    bottleneck = scenario["bottleneck"]
    rate = bottleneck["rate"]
    up = (bottleneck.get("up") or {}).get("rate", rate)
    return f"{rate} down, {up} up" if up != rate else f"{rate}"


def traffic(scenario: Scenario) -> str:
    """Return a scenario's traffic in a line: what, how many, and which way."""
    counts: dict[str, int] = {}
    for source in scenario.get("traffic", []):
        what = _source(source)
        counts[what] = counts.get(what, 0) + source.get("count", 1)
    return ", ".join(f"{count} × {what}" for what, count in counts.items())


def _change(change: dict[str, Any]) -> str:
    way = " up" if change.get("direction") == "up" else ""
    what = [change["rate"] + way] if change.get("rate") else []
    what += [f"another qdisc line{way}"] if change.get("qdisc") else []
    return f", {' and '.join(what)} from {change['at']}"


def _source(source: dict[str, Any]) -> str:
    kind = kinds()[source["kind"]]
    name = f"{kind.name} {source['cc']}" if kind.name == BULK and source.get("cc") else kind.name
    detail = source.get(kind.option.detail)
    what = f" {'of ' if kind.option.example else ''}{detail}" if detail else ""
    way = f" {source['direction']}" if not kind.is_probe and source.get("direction") else ""
    return f"{name}{what}{way}"
