"""From a resolved scenario to what the laboratory builds. What Linux cannot run is refused before anything starts."""

import json
from dataclasses import MISSING, fields
from typing import Any

from goodqueue import paths
from goodqueue.engines.kernel import tc
from goodqueue.engines.kernel.lab.addresses import MOST_FLOWS, MOST_RTTS
from goodqueue.engines.kernel.lab.kinds import ALL, TCP
from goodqueue.engines.kernel.lab.plan import Flow, Plan, Shaper
from goodqueue.errors import UserError, quoted
from goodqueue.record import Scenario
from goodqueue.scenario import seconds, to_json
from goodqueue.traffic import kinds

STACKS = ("linux-6.x",)
CONGESTION_CONTROLS = (
    "reno", "cubic", "bbr", "bic", "cdg", "dctcp", "highspeed", "htcp", "hybla", "illinois", "lp", "nv", "scalable",
    "vegas", "veno", "westwood", "yeah",
)  # fmt: skip
"""What Debian's kernel 6.1 has, built in or as a module."""

FIRST_PORT = 10_000
"""Of receivers; senders' ports are as many further on, below those that Linux hands out by itself."""

LONGEST_DRAIN_S = 60.0


def plan(scenario: Scenario) -> Plan:
    """Return what runs the resolved ``scenario``. Raises UserError: the key, what was found, what is accepted."""
    from goodqueue import _goodqueue

    _check_path(scenario)
    if scenario.get("change"):
        raise UserError("change", f"found {len(scenario['change'])}; accepted by the kernel engine: none")
    if (scenario.get("series") or {}).get("law"):
        raise UserError(
            "series.law", "found true; accepted by the kernel engine: false, as Linux does not show its laws"
        )
    for index, traffic in enumerate(scenario["traffic"]):
        _check_traffic(f"traffic[{index}]", traffic)
    down = scenario["bottleneck"]
    shapers = {
        "down": _shaper("bottleneck", down["rate"], down["qdisc"]),
        "up": _shaper("bottleneck.up", down["up"]["rate"], down["up"]["qdisc"]),
    }
    outlines = json.loads(_goodqueue.flows(to_json(scenario)))
    if len(outlines) > MOST_FLOWS:
        raise UserError(
            "traffic", f"found {len(outlines)} flows in all; accepted by the kernel engine: at most {MOST_FLOWS}"
        )
    rtts_s = sorted({outline["rtt_s"] for outline in outlines})
    if len(rtts_s) > MOST_RTTS:
        accepted = f"at most {MOST_RTTS}"
        raise UserError("traffic.rtt", f"found {len(rtts_s)} distinct RTTs; accepted by the kernel engine: {accepted}")
    flows = [_flow(outline, FIRST_PORT + index) for index, outline in enumerate(outlines)]
    lines = {"down": down["qdisc"], "up": down["up"]["qdisc"]}
    drains_s = [_drain_s(tc.parse(lines[way]), shaper.rate_bps) for way, shaper in shapers.items()]
    every = (scenario.get("series") or {}).get("interval")
    return Plan(
        duration_s=seconds(scenario["duration"]),
        warmup_s=seconds(scenario["warmup"]),
        seed=scenario["seed"],
        **shapers,
        rtts_s=rtts_s,
        flows=flows,
        sample_s=None if every is None else seconds(every),
        drain_s=1.0 + rtts_s[-1] + max(drains_s),
    )


def _check_path(scenario: Scenario) -> None:
    """Refuse what a path has beside two bottlenecks of fixed rates; where flows name hops, and changes, too."""
    if hops := scenario.get("hop"):
        found = f"found {quoted(hops[0]['name'])}, a {hops[0]['kind']}"
        raise UserError("hop", f"{found}; accepted by the kernel engine: none, the bottleneck alone")
    if mtu := scenario["path"].get("mtu"):
        raise UserError("path.mtu", f"found {mtu}; accepted by the kernel engine: 1500, or none")
    for key, link in paths.links(scenario):
        for name in ("trace", "bursts", "peak", "ring"):
            if name in link:
                raise UserError(
                    f"{key}.{name}", f"found {quoted(link[name])}; accepted by the kernel engine: a rate alone"
                )
    for index, traffic in enumerate(scenario["traffic"]):
        if "hops" in traffic:
            raise UserError(
                f"traffic[{index}].hops", f"found {', '.join(traffic['hops'])}; accepted by the kernel engine: none"
            )


def _flow(outline: dict[str, Any], port: int) -> Flow:
    """Return the flow of ``outline``, which says more of it than the laboratory needs, as a call's codec.

    Of datagrams that is all that `Flow` has a default for: it belongs to applications.
    """
    is_tcp = outline["kind"] in TCP
    wanted = {field.name for field in fields(Flow) if is_tcp or field.default is MISSING}
    known = {key: value for key, value in outline.items() if key in wanted}
    return Flow(**{"packet_size": None, "interval_s": None} | known, port=port)


def _check_traffic(key: str, traffic: Scenario) -> None:
    """Refuse what Linux's TCP, or the laboratory's hosts, do not do."""
    checks = (("kind", ALL), ("stack", STACKS), ("cc", CONGESTION_CONTROLS))
    for name, accepted in checks:
        found = traffic.get(name)
        if found is not None and found not in accepted:
            raise UserError(
                f"{key}.{name}", f"found {quoted(found)}; accepted by the kernel engine: {', '.join(accepted)}"
            )
    for one in kinds()[traffic["kind"]].keys:
        if one["name"] in traffic and "kernel" not in one["engines"]:
            found = f"found {quoted(traffic[one['name']])}"
            raise UserError(f"{key}.{one['name']}", f"{found}; accepted by the kernel engine: none")
    if traffic.get("ecn") == "accecn":
        message = 'found "accecn", which Linux 6.1 has not; accepted by the kernel engine: false, true'
        raise UserError(f"{key}.ecn", message)


def _shaper(key: str, rate: str, line: str) -> Shaper:
    from goodqueue import _goodqueue

    rate_bps = _goodqueue.rate_bps(rate)
    try:
        return Shaper(rate_bps=rate_bps, shaper=tc.shaper(line), tc=tc.translate(line, rate_bps))
    except UserError as error:
        raise UserError(f"{key}.qdisc", str(error)) from None


def _drain_s(line: tc.Line, rate_bps: int) -> float:
    """Return how long a full queue takes to run empty: what still waited when the captures end would look lost."""
    from goodqueue import _goodqueue

    if (own := tc.own_rate(line)) is not None:
        rate_bps = _goodqueue.rate_bps(own)
    if line.child is not None:
        return _drain_s(tc.parse(line.child), rate_bps)
    return min(LONGEST_DRAIN_S, tc.limit_frames(line) * tc.FULL_FRAME * 8 / rate_bps)
