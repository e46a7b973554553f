"""The benchmark's tables."""

from collections.abc import Sequence

from goodqueue.show.tables import Column, Table, decimals, number
from goodqueue.speed.bench import BACKLOG, BACKLOGS, FLOWS, OVERFLOW, CaseResult, CrowdResult, QdiscResult, UsersResult
from goodqueue.speed.bench_wifi import CellResult, GrowthResult
from goodqueue.speed.peers import PeerResult


def bench_tables(
    cases: Sequence[CaseResult],
    qdiscs: Sequence[QdiscResult],
    peers: Sequence[PeerResult] | None = None,
    web: UsersResult | None = None,
    web_peers: Sequence[PeerResult] | None = None,
) -> list[Table]:
    """Return the speed of the standard cases, of the peers if asked for, and the cost of the disciplines."""
    rows = [
        [
            f"({result.case}) {result.description}",
            number(result.packets_per_cpu_s / 1e6, 2),
            number(result.floor_packets_per_cpu_s / 1e6, 0),
            number(result.packets / 1e6, 2),
            number(result.cpu_s, 2),
            number(result.max_rss_mb, 0),
        ]
        for result in cases
    ]
    headings = ["speed\nM packets/CPU s", "aim\nM/CPU s", "packets\nM", "CPU\ns", "memory\nMB"]
    note = "Packets that the down bottleneck forwarded; memory is the process's greatest, the interpreter included."
    speed = Table("CUBIC flows simulated by one thread", [Column("case", False), *map(Column, headings)], rows, [note])
    users = [users_table([web], "(v) Users of the web simulated by one thread")] if web else []
    others = [*([_peers(peers)] if peers else []), *([_web_peers(web_peers)] if web_peers else [])]
    return [speed, *users, *others, _costs(qdiscs)]


def users_table(results: Sequence[UsersResult], title: str) -> Table:
    """Return the cost of web users."""
    rows = [
        [
            str(result.users),
            result.rate,
            number(result.connections_per_cpu_s / 1e3, 1),
            number(result.packets_per_cpu_s / 1e6, 2),
            number(result.utilisation_percent),
            number(result.connections / 1e3, 0),
            number(result.cpu_s, 2),
            number(result.bytes_per_user, 0),
            number(result.max_rss_mb, 0),
        ]
        for result in results
    ]
    headings = ["speed\nk connections/CPU s", "speed\nM packets/CPU s", "used\n%", "connections\nk", "CPU\ns"]
    columns = [Column("users"), Column("rate"), *map(Column, headings), Column("memory\nB/user"), Column("memory\nMB")]
    note = f"{results[0].simulated_s:g} s; each connection has a base RTT of its own, from 10 to 150 ms."
    return Table(title, columns, rows, [note])


def crowd_table(crowds: Sequence[CrowdResult]) -> Table:
    """Return the cost of many flows."""
    rows = [
        [
            str(result.flows),
            result.qdisc,
            number(result.packets_per_cpu_s / 1e6, 2),
            number(result.bytes_per_flow, 0),
            number(result.packets / 1e6, 2),
            number(result.cpu_s, 2),
        ]
        for result in crowds
    ]
    headings = ["speed\nM packets/CPU s", "memory\nB/flow", "packets\nM", "CPU\ns"]
    columns = [Column("flows"), Column("qdisc", False), *map(Column, headings)]
    note = "At 1 Gbit/s, RTT 100 ms. Memory is by how much the process grew, shared by the flows, queue and all."
    return Table("Many CUBIC flows simulated by one thread", columns, rows, [note])


def _costs(qdiscs: Sequence[QdiscResult]) -> Table:
    backlogs = [str(count) for count in BACKLOGS if count != BACKLOG]  # the column "1 flow" has `BACKLOG`
    headings = [*(f"{count}\nflow{'s' * (count > 1)}" for count in FLOWS), *(f"1 flow,\n{count}" for count in backlogs)]
    columns = [Column("qdisc", False), *map(Column, headings), Column("over-\nflow")]
    rows = [
        [
            result.qdisc,
            *map(number, result.pair_ns.values()),
            *(number(result.backlog_ns[count]) for count in backlogs),
            number(result.overflow_ns),
        ]
        for result in qdiscs
    ]
    notes = [
        f"In the queue wait {BACKLOG} packets of so many flows, or {' or '.join(backlogs)} of one (–: it holds less).",
        f"Overflow: each packet offered, when {OVERFLOW[0]} flows would fill {OVERFLOW[1]} places (–: they fit).",
    ]
    return Table("Nanoseconds of one enqueue and one dequeue", columns, rows, notes)


def cell_tables(cells: Sequence[CellResult], growth: Sequence[GrowthResult]) -> list[Table]:
    """Return the cost of Wi-Fi cells here and in ns-3, and the cost by the number of stations."""
    ran = [(result.cell, run) for result in cells for run in result.runs if run.note is None]
    rows = [
        [
            cell,
            f"{run.simulator} {run.version}".rstrip(),
            number(1e3 * (run.cpu_s or 0) / (run.simulated_s or 1), 2),
            "" if run.goodqueue_times_as_fast is None else f"{number(run.goodqueue_times_as_fast, 0)} ×",
            number(run.utilisation_percent, 2),
            number(run.simulated_s, 0),
            number(run.cpu_s, 2),
        ]
        for cell, run in ran
    ]
    headings = ["CPU\nms/simulated s", "goodqueue\nas fast", "carried\nMbit/s", "simulated\ns", "CPU\ns"]
    notes = ["Run in turns; start-up is not counted. What was carried says whether the same thing was simulated."]
    absent = {f"{run.simulator}: {run.note}" for result in cells for run in result.runs if run.note is not None}
    columns = [Column("cell", False), Column("simulator", False), *map(Column, headings)]
    beside = Table("Saturated Wi-Fi cells", columns, rows, [*notes, *sorted(absent)])
    costs = [
        [
            str(result.stations),
            number(result.cpu_ms_per_simulated_s, 2),
            number(result.cpu_ns_per_packet, 0),
            str(result.packets),
        ]
        for result in growth
    ]
    headings = ["CPU\nms/simulated s", "CPU\nns/packet", "packets"]
    note = "802.11n at MCS 7; every station always has something to send to the access point."
    return [beside, Table("Wi-Fi by the number of stations", [*map(Column, ("stations", *headings))], costs, [note])]


def _web_peers(peers: Sequence[PeerResult]) -> Table:
    ran = [peer for peer in peers if peer.note is None]
    speeds = [peer.responses_per_cpu_s / 1e3 for peer in ran if peer.responses_per_cpu_s]
    rows = [
        [
            f"{peer.simulator} {peer.version}".rstrip(),
            number((peer.responses_per_cpu_s or 0) / 1e3, max(1, decimals(speeds))),
            "" if peer.goodqueue_times_as_fast is None else f"{number(peer.goodqueue_times_as_fast)} ×",
            number((peer.responses or 0) / (peer.simulated_s or 1), 0),
            number(peer.simulated_s, 0),
            number(peer.cpu_s, 2),
        ]
        for peer in ran
    ]
    headings = ["speed\nk responses/CPU s", "goodqueue\nas fast", "responses\na second", "simulated\ns", "CPU\ns"]
    notes = [
        "1100 connections a second at 100 Mbit/s, RTT 80 ms, pfifo limit 1000; run in turns, without start-up.",
        *(f"{peer.simulator}: {peer.note}" for peer in peers if peer.note is not None),
    ]
    title = "PackMime's web traffic in other simulators"
    return Table(title, [Column("simulator", False), *map(Column, headings)], rows, notes)


def _peers(peers: Sequence[PeerResult]) -> Table:
    ran = [peer for peer in peers if peer.note is None]
    speeds = [peer.packets_per_cpu_s / 1e6 for peer in ran if peer.packets_per_cpu_s]
    digits = max(2, decimals(speeds))
    rows = [
        [
            f"{peer.simulator} {peer.version}".rstrip(),
            peer.qdisc or "–",
            number((peer.packets_per_cpu_s or 0) / 1e6, digits),
            "" if peer.goodqueue_times_as_fast is None else f"{number(peer.goodqueue_times_as_fast)} ×",
            number(peer.utilisation_percent),
            number(peer.simulated_s, 0),
            number(peer.cpu_s, 2),
        ]
        for peer in ran
    ]
    headings = ["speed\nM packets/CPU s", "goodqueue\nas fast", "utilisation\n%", "simulated\ns", "CPU\ns"]
    columns = [Column("simulator", False), Column("qdisc", False), *map(Column, headings)]
    notes = ["Run in turns; start-up is not counted. The utilisation says whether the same thing was simulated."]
    stand_ins = [peer for peer in ran if peer.qdisc != ran[0].qdisc]
    notes += [f"{peer.simulator} has no {ran[0].qdisc} here; {peer.qdisc} stands in for it." for peer in stand_ins]
    notes += [f"{peer.simulator}: {peer.note}" for peer in peers if peer.note is not None]
    return Table("Case (i) in other simulators", columns, rows, notes)
