"""Turns a resolved scenario into the laboratory's plan. Scenarios that Linux cannot run are refused before the start.

`plan` is for the kernel engine. `lay_out` is shared with the live engine, which has other paths.
"""

import json
from dataclasses import fields, replace
from ipaddress import AddressValueError, IPv4Address, IPv4Network, collapse_addresses
from itertools import count
from typing import Any

from goodqueue.engines import releases
from goodqueue.engines.kernel import path as paths
from goodqueue.engines.kernel import tc, trees
from goodqueue.engines.kernel.lab.addresses import LISTENING, MOST_FLOWS, MOST_ROUTES, MOST_STACKS
from goodqueue.engines.kernel.lab.plan import Flow, Plan, Route, Shaper, Stack
from goodqueue.errors import UserError, quoted
from goodqueue.record import Scenario
from goodqueue.scenario import seconds, to_json
from goodqueue.scenario.paths import links, rate_bps
from goodqueue.traffic import BULK, kinds

STACK = "linux-6.1"
"""The stack of a scenario that names none. It stands for whatever Linux runs."""
CONGESTION_CONTROLS = (
    "reno", "cubic", "bbr", "bic", "cdg", "dctcp", "highspeed", "htcp", "hybla", "illinois", "lp", "nv", "scalable",
    "vegas", "veno", "westwood", "yeah",
)  # fmt: skip
"""The congestion controls of Debian's kernel 6.1, built in or as a module. 7.3 has the same."""

PRAGUE = "prague"
"""The congestion control of L4S, which is in no kernel that Debian's packages bring, and in none of their sources."""

RTT_STEPS = 12
"""The number of base RTTs if each connection has its own. All flows together have at most `MOST_ROUTES` ways."""


OF_THE_LABORATORY = IPv4Network("10.0.0.0/12")
"""The network with the laboratory's own addresses (`lab.addresses`)."""

SIDE_OF = {"host": "client", "server": "server"}
"""The laboratory's side that has the hosts of a role."""

ACCECN = ("7.3",)
"""The releases with AccECN (RFC 9768), which Linux has had since 7.0."""


def plan(scenario: Scenario, release: str | None = None) -> Plan:
    """Return the plan of the resolved ``scenario`` on ``release``, or on the release of this machine's own packages.

    Raises UserError: the key, what was found, what is accepted.
    """
    scenario = expanded(scenario)
    check_stated(scenario, release)
    for index, traffic in enumerate(scenario["traffic"]):
        check_traffic(f"traffic[{index}]", traffic, release=release)
    planned = lay_out(scenario, paths.path(scenario), release=release)
    check_disciplines(scenario, release)
    return planned


def exact(planned: Plan) -> Plan:
    """Return the plan with links as exact as the simulator's, for a Linux whose timers are never late.

    htb lets packets out early by the time of one byte, and does not ask an empty discipline for a packet.
    """
    down, up = _exact(planned.down), _exact(planned.up)
    hops = [hop if hop.link is None else replace(hop, link=_exact(hop.link)) for hop in planned.hops]
    stacks = [stack if stack.link is None else replace(stack, link=_exact(stack.link)) for stack in planned.stacks]
    return replace(planned, down=down, up=up, hops=hops, stacks=stacks)


def _exact(link: Shaper) -> Shaper:
    return replace(link, is_exact=True, shaper="cbs" if link.shaper == "htb" else link.shaper)


def check_stated(scenario: Scenario, release: str | None) -> None:
    """Refuse what ``scenario`` says beside traffic and path, and Linux cannot do or ``release`` is not."""
    if (scenario.get("series") or {}).get("law"):
        raise UserError(
            "series.law", "found true; accepted by the kernel engine: false, as Linux does not show its laws"
        )
    check_series(scenario)
    if (stated := scenario.get("linux", {}).get("release")) and stated != release:
        accepted = f"{release or 'none'}, or the same release of the kernel: --kernel {stated}"
        raise UserError("linux.release", f"found {quoted(stated)}; accepted by the kernel engine: {accepted}")
    if mtu := scenario["path"].get("mtu"):
        raise UserError("path.mtu", f"found {mtu}; accepted by the kernel engine: 1500, or none")


def expanded(scenario: Scenario) -> Scenario:
    """Return ``scenario`` with the trees and the traffic of its subscribers, instead of their tables.

    A subscriber's traffic of the same kind has the same name. Here each but the first gets a number.
    """
    from goodqueue import _goodqueue

    if not scenario.get("subscriber"):
        return scenario
    written: Scenario = json.loads(_goodqueue.expanded(to_json(scenario))[0])
    names: set[str] = set()
    for source in written["traffic"]:
        if (name := source.get("name")) in names:
            source["name"] = name = next(new for n in count(2) if (new := f"{name} {n}") not in names)
        names.add(name)
    return written


def _buffers(scenario: Scenario, release: str | None) -> dict[str, str]:
    """Return the sysctls of TCP's buffers that ``scenario`` says. "stock" is ``release``'s own, or that of `STACK`."""
    from goodqueue import _goodqueue

    stacks = json.loads(_goodqueue.stacks())["buffers"]
    stock = stacks[f"linux-{release}" if release else STACK]
    stated = {name: scenario.get("linux", {}).get(name) for name in stock}
    return {name: stock[name] if text == "stock" else text for name, text in stated.items() if text}


def check_disciplines(scenario: Scenario, release: str | None) -> None:
    """Refuse disciplines that are newer than ``release``. This machine's own packages count as the oldest release."""
    from goodqueue import _goodqueue

    oldest, *_ = known_releases = list(releases.RELEASES)
    newer = known_releases[known_releases.index(release or oldest) + 1 :]
    since = {discipline["name"]: discipline["since"] for discipline in json.loads(_goodqueue.linux())["disciplines"]}
    others = [
        (f"{kind}[{index}]", table)
        for kind in ("host", "change")
        for index, table in enumerate(scenario.get(kind) or [])
    ]
    for key, table in [*links(scenario), *others]:
        qdisc = table.get("qdisc", "")
        for leaf in dict.fromkeys(trees.leaves(qdisc) if trees.is_tree(qdisc) else [qdisc] if qdisc else []):
            line: str | None = leaf
            while line is not None:
                name, line = (parsed := tc.parse(line)).name, parsed.child
                if (first := since.get(name)) in newer:
                    problem = f"found {quoted(name)}, which Linux {release or oldest} does not have"
                    accepted = f"--kernel {first}, or another"
                    raise UserError(f"{key}.qdisc", f"{problem}; accepted by the kernel engine: {accepted}")


def _ecn(scenario: Scenario) -> dict[str, dict[str, str]]:
    """Return the sysctls of ECN by side, as far as the scenario says them. Linux has one setting for a namespace."""
    by_key = {
        f"traffic[{index}].ecn": source.get("ecn", False)
        for index, source in enumerate(scenario["traffic"])
        if kinds()[source["kind"]].is_tcp
    }
    is_accurate = "accecn" in by_key.values()
    for key, ecn in by_key.items() if is_accurate else ():
        if ecn != "accecn":
            raise UserError(
                key, f'found {quoted(ecn)} beside "accecn"; accepted by the kernel engine: "accecn" for all TCP'
            )
    by_side: dict[str, dict[str, str]] = {}
    for role, side in SIDE_OF.items():
        for name in ("tcp_ecn", "tcp_ecn_option"):
            values: set[int | None] = {
                _sysctl(scenario, source, role, name)
                for source in scenario["traffic"]
                if kinds()[source["kind"]].is_tcp
            }
            if is_accurate and name == "tcp_ecn":  # accepts AccECN, and asks for it
                values = values - {None}
                values.add(3)
            if len(values) > 1:
                found_values = " and ".join(sorted("none" if value is None else str(value) for value in values))
                raise UserError(
                    name, f"found {found_values} of a {role}; accepted by the kernel engine: one value per role"
                )
            if (value := next(iter(values), None)) is not None:
                by_side.setdefault(side, {})[name] = str(value)
    return by_side


def _sysctl(scenario: Scenario, traffic: Scenario, role: str, name: str) -> int | None:
    """Return the sysctl ``name`` of the host that is ``role`` in ``traffic``, if the scenario says it."""
    tables = [host_table for host_table in scenario.get("host") or [] if host_table["role"] == role]
    named_tables = [table for table in tables if "name" in table and table["name"] == traffic.get(role)]
    host: dict[str, Any] = next(iter(named_tables or [table for table in tables if "name" not in table]), {})
    value: int | None = host.get(name, scenario.get("linux", {}).get(name))
    return value


def lay_out(scenario: Scenario, path: paths.Path, engine: str = "kernel", release: str | None = None) -> Plan:
    """Return the plan of the resolved ``scenario`` on ``path``. `check_traffic` must accept its traffic.

    Raises UserError, which says what ``engine`` accepts.
    """
    from goodqueue import _goodqueue

    if scenario.get("subscriber"):
        raise UserError("subscriber", f"found subscribers; accepted by the {engine} engine: none")
    if scenario.get("autorate"):
        raise UserError("autorate", f"found a program that sets rates; accepted by the {engine} engine: none")
    if scenario.get("host") and engine != "kernel":
        raise UserError(
            "host[0]", f"found the stack of a host; accepted by the {engine} engine: none, as its hosts are real"
        )
    outlines = json.loads(_goodqueue.flows(to_json(scenario)))
    if len(outlines) > MOST_FLOWS:
        raise UserError(
            "traffic", f"found {len(outlines)} flows in all; accepted by the {engine} engine: at most {MOST_FLOWS}"
        )
    described = [traffic for traffic in scenario["traffic"] for _ in range(traffic["count"])]
    chosen = [
        [Route(rtt_s, paths.skipped(traffic, path.hops)) for rtt_s in _rtts_s(outline)]
        for outline, traffic in zip(outlines, described, strict=True)
    ]
    different = {(route.rtt_s, tuple(route.skips)): route for of_flow in chosen for route in of_flow}
    routes = sorted(different.values(), key=lambda route: route.rtt_s)
    if len(routes) > MOST_ROUTES:
        what = f"{len(routes)} distinct RTTs" + (" and choices of hops" if any(route.skips for route in routes) else "")
        raise UserError("traffic.rtt", f"found {what}; accepted by the {engine} engine: at most {MOST_ROUTES}")
    flows = []
    addresses = own_addresses(outlines)
    hosts = zip(_hosts(outlines, "host"), _hosts(outlines, "server"), strict=True)
    for outline, routes_of_flow, (user, server) in zip(outlines, chosen, hosts, strict=True):
        places = [routes.index(route) for route in routes_of_flow]
        about = {"route": places[0], "routes": places if len(places) > 1 else [], "user": user, "server": server}
        about["addresses"] = {
            side: outline[role] for role, side in SIDE_OF.items() if outline.get(role) in addresses[side]
        }
        flows.append(_flow(outline | about))
    stacks = _stacks(scenario, outlines, flows)
    every = (scenario.get("series") or {}).get("interval")
    planned = Plan(
        duration_s=seconds(scenario["duration"]),
        warmup_s=seconds(scenario["warmup"]),
        seed=scenario["seed"],
        down=path.down,
        up=path.up,
        routes=routes,
        flows=flows,
        scenario=to_json(_without_files(scenario)),
        sample_s=None if every is None else seconds(every),
        drain_s=1.0 + routes[-1].rtt_s + path.drain_s + max((drain_s for _, drain_s in stacks), default=0.0),
        hops=path.hops,
        rows=path.rows,
        stacks=[stack for stack, _ in stacks],
        buffers=_buffers(scenario, release),
        ecn=_ecn(scenario),
        networks={
            side: [str(network) for network in collapse_addresses(address.values())]
            for side, address in addresses.items()
        },
    )
    _check_rates(scenario, planned, engine)
    return planned


def _without_files(scenario: Scenario) -> Scenario:
    """Return ``scenario`` with mean rates in place of files of rates.

    The applications run where these files may not exist, as in the virtual machine, and the plan has the rates.
    """
    copied: Scenario = json.loads(json.dumps(scenario))
    for _, link in links(copied):
        if "trace" in link:
            link["rate"] = f"{rate_bps(link)}bit"
            del link["trace"]
    return copied


def _rtts_s(outline: dict[str, Any]) -> list[float]:
    """Return the base RTTs of a flow's connections."""
    least, most = outline["rtt_s"], outline.get("rtt_max_s")
    if most is None or most == least:
        return [least]
    step = (most - least) / RTT_STEPS
    return [least + step * (index + 0.5) for index in range(RTT_STEPS)]


def _hosts(outlines: list[dict[str, Any]], key: str) -> list[int]:
    """Return the number of each flow's host, from 1: its own, or that of the first flow that names the same ``key``."""
    numbers: dict[str | int, int] = {}
    return [numbers.setdefault(outline.get(key, index), index + 1) for index, outline in enumerate(outlines)]


def own_addresses(outlines: list[dict[str, Any]]) -> dict[str, dict[str, IPv4Network]]:
    """Return the hosts whose names are IPv4 addresses, by side: these are the addresses of their packets.

    Raises UserError for an address that the laboratory's hosts cannot have.
    """
    networks: dict[str, dict[str, IPv4Network]] = {side: {} for side in SIDE_OF.values()}
    for role, side in SIDE_OF.items():
        for name in dict.fromkeys(str(outline[role]) for outline in outlines if outline.get(role)):
            try:
                address = IPv4Address(name)
            except AddressValueError:
                continue
            if address.is_loopback or address.is_multicast or address.is_unspecified or address in OF_THE_LABORATORY:
                accepted = f"an address of a host, outside {OF_THE_LABORATORY}"
                raise UserError(f"traffic.{role}", f"found {quoted(name)}; accepted by the kernel engine: {accepted}")
            networks[side][name] = IPv4Network(address)
    for outline in outlines:
        if outline.get("host") in networks["client"] and outline.get("server") in networks["server"]:
            has = f"found {quoted(outline['server'])} beside the host {outline['host']}"
            raise UserError("traffic.server", f"{has}; accepted by the kernel engine: an address of one end of a flow")
    return networks


def _stacks(scenario: Scenario, outlines: list[dict[str, Any]], flows: list[Flow]) -> list[tuple[Stack, float]]:
    """Return the stacks of hosts that `scenario` describes, each with the time in which its full queue drains."""
    tables = scenario.get("host") or []
    if len(tables) > MOST_STACKS:
        raise UserError("host", f"found {len(tables)} hosts; accepted by the kernel engine: at most {MOST_STACKS}")
    named_hosts = {(table["role"], table["name"]) for table in tables if "name" in table}
    stacks = []
    for index, table in enumerate(tables):
        key, role = f"host[{index}]", table["role"]
        for name, (accepted, why) in _OF_HOSTS.items():
            if name in table and table[name] != accepted:
                has = f"found {quoted(table[name])}; accepted by the kernel engine: {quoted(accepted)}, {why}"
                raise UserError(f"{key}.{name}", has)
        addresses = [
            (flow.user if role == "host" else flow.server)
            for outline, flow in zip(outlines, flows, strict=True)
            if (outline.get(role) == table["name"] if "name" in table else (role, outline.get(role)) not in named_hosts)
        ]
        side = SIDE_OF[role]
        name = f"{role} {table.get('name', '')}"
        changes = scenario.get("change") or []
        link, drain_s = paths.interface(key, table, name, changes) if "rate" in table else (None, 0.0)
        stacks.append((Stack(index, name, side, sorted(set(addresses)), link), drain_s))
    return stacks


_OF_HOSTS = {
    "small_queues": (True, "which Linux always has"),
    "pacing_shift": (10, "as the laboratory's interfaces ask for no more time"),
    "tso": (False, "as its interfaces send single packets"),
    "rx_usecs": (0, "as its cards are virtual and have no interrupts"),
    "gro": (False, "as it switches merging off, so that one captured packet is one packet"),
    "reads_after_poll": (False, "as each packet comes alone, and is read before the next"),
}
"""The keys of hosts that have one value on Linux here, and why."""


def _check_rates(scenario: Scenario, planned: Plan, engine: str) -> None:
    """Refuse TCP whose data cross no link, since only the processor would limit it."""
    keys = [
        f"traffic[{index}].hops" for index, source in enumerate(scenario["traffic"]) for _ in range(source["count"])
    ]
    for key, flow in zip(keys, planned.flows, strict=True):
        route = planned.routes[flow.route]
        if flow.is_tcp and planned.narrowest_bps(flow.direction, route) is None:
            crossed = [hop.name for index, hop in enumerate(planned.hops) if index not in route.skips]
            problem = f"found {', '.join(crossed)}, where {quoted(flow.name)} sends through no link"
            raise UserError(key, f"{problem}; accepted by the {engine} engine: a link among them")


def _flow(outline: dict[str, Any]) -> Flow:
    """Return the flow of ``outline``. The hosts read the keys of its kind from the scenario."""
    is_tcp = kinds()[outline["kind"]].is_tcp
    field_names = {field.name for field in fields(Flow)}
    values = {key: value for key, value in outline.items() if key in field_names}
    return Flow(**values | {"is_tcp": is_tcp, "interval_s": None if is_tcp else outline.get("interval_s")})


def check_series(scenario: Scenario, engine: str = "kernel") -> None:
    """Refuse the variables of congestion controls, which only the simulator's TCP shows."""
    if (scenario.get("series") or {}).get("cc"):
        accepted = "false; series.tcp has what the hosts' TCP shows"
        raise UserError("series.cc", f"found true; accepted by the {engine} engine: {accepted}")


def check_traffic(key: str, traffic: Scenario, engine: str = "kernel", release: str | None = None) -> None:
    """Refuse traffic that the TCP of ``release`` or the laboratory's hosts cannot do."""
    own_stack = f"linux-{release}" if release else STACK
    checks = (("stack", tuple(dict.fromkeys((STACK, own_stack)))), ("cc", CONGESTION_CONTROLS))
    for name, accepted in checks if kinds()[traffic["kind"]].is_tcp else ():
        found = traffic.get(name)
        if found is not None and found not in accepted:
            why = (
                ", which no release of Linux has: neither Debian's kernels nor their source" if found == PRAGUE else ""
            )
            raise UserError(
                f"{key}.{name}", f"found {quoted(found)}{why}; accepted by the {engine} engine: {', '.join(accepted)}"
            )
    for key_of_kind in kinds()[traffic["kind"]].keys:
        if key_of_kind["name"] in traffic and "kernel" not in key_of_kind["engines"]:
            found = f"found {quoted(traffic[key_of_kind['name']])}"
            raise UserError(f"{key}.{key_of_kind['name']}", f"{found}; accepted by the {engine} engine: none")
    if traffic.get("mark"):
        why = f"accepted by the {engine} engine: 0, as a mark stays in the host that sets it"
        raise UserError(f"{key}.mark", f"found {traffic['mark']}; {why}")
    opens = kinds()[traffic["kind"]].is_tcp and traffic["kind"] != BULK
    if "port" in traffic and (opens or traffic.get("direction") == "up" or traffic["port"] >= LISTENING):
        ports = f'one below {LISTENING} of {quoted(BULK)} or datagrams that go "down", where the server sends first'
        raise UserError(f"{key}.port", f"found {traffic['port']}; accepted by the {engine} engine: {ports}")
    if traffic.get("ecn") == "accecn" and release not in ACCECN:
        has_it = f"--kernel {ACCECN[0]}, or " if engine == "kernel" else ""
        found = f'found "accecn", which Linux has had since 7.0; accepted by the {engine} engine: {has_it}false, true'
        raise UserError(f"{key}.ecn", found)
