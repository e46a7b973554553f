"""A scenario in words: its link, its traffic, its time."""

from typing import Any

from goodqueue.record import Record, Scenario


def whole(scenario: Scenario) -> str:
    """Return a comparison's scenario in a line: the link, the traffic, the time."""
    path = link(scenario)
    time = f"{scenario['duration']} a run, the first {scenario.get('warmup', '0s')} left out"
    path += "".join(_change(change) for change in scenario.get("change", []))
    return f"{path}, base RTT {scenario['path']['rtt']}; {traffic(scenario)}; {time}"


def run(name: str, record: Record) -> str:
    """Return what one run was, in a line: what it is called, its time, its seed, its engine."""
    from goodqueue.scenario import seconds

    scenario = record["scenario"]
    warmup = scenario.get("warmup", "0s")
    left_out = f" (the first {warmup} left out)" if seconds(warmup) > 0 else ""
    return f"{name}: {scenario['duration']}{left_out}, seed {record['seed']}, engine {record['engine']}"


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
    kind = source["kind"]
    name = f"{kind} {source['cc']}" if kind == "bulk" and source.get("cc") else kind
    rate = f" of {what}" if (what := source.get("rate") or source.get("size") or source.get("response")) else ""
    way = f" {source['direction']}" if kind != "ping" and source.get("direction") else ""
    of = "".join(f" {source[key]}" for key in ("codec", "page") if source.get(key))
    return f"{name}{of}{rate}{way}"
