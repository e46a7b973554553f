"""The benchmark's tables."""

from collections.abc import Callable, Sequence

from goodqueue import running
from goodqueue.show.table import Table, decimals, number
from goodqueue.speed.bench import BACKLOG, BACKLOGS, FLOWS, OVERFLOW, CaseResult, CrowdResult, QdiscResult, UsersResult
from goodqueue.speed.bench_runs import RunResult
from goodqueue.speed.bench_threads import AUTO, ThreadsResult
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
        {
            "case": f"({result.case}) {result.description}",
            "speed\nM packets/CPU s": number(result.packets_per_cpu_s / 1e6, 2),
            "aim\nM/CPU s": number(result.floor_packets_per_cpu_s / 1e6, 0),
            "packet\nns": number(1e9 / result.packets_per_cpu_s, 0),
            "its memory\nns": number(result.memory_ns, 0),
            "packets\nM": number(result.packets / 1e6, 2),
            "CPU\ns": number(result.cpu_s, 2),
            "memory\nMB": number(result.max_rss_mb, 0),
        }
        for result in cases
    ]
    notes = [
        "Packets that the down bottleneck forwarded; memory in MB is the process's greatest, the interpreter included.",
        "Its memory: what a packet would take if it were only moved, and the connections' memory only touched.",
    ]
    speed = Table.of("CUBIC flows simulated by one thread", rows, notes, ("case",))
    users = [users_table([web], "(v) Users of the web simulated by one thread")] if web else []
    others = [*([_peers(peers)] if peers else []), *([_web_peers(web_peers)] if web_peers else [])]
    return [speed, *users, *others, _costs(qdiscs)]


def users_table(results: Sequence[UsersResult], title: str) -> Table:
    """Return the cost of web users."""
    rows = [
        {
            "users": str(result.users),
            "rate": result.rate,
            "speed\nk connections/CPU s": number(result.connections_per_cpu_s / 1e3, 1),
            "speed\nM packets/CPU s": number(result.packets_per_cpu_s / 1e6, 2),
            "used\n%": number(result.utilisation_percent),
            "connections\nk": number(result.connections / 1e3, 0),
            "CPU\ns": number(result.cpu_s, 2),
            "memory\nB/user": number(result.bytes_per_user, 0),
            "memory\nMB": number(result.max_rss_mb, 0),
        }
        for result in results
    ]
    note = f"{results[0].simulated_s:g} s; each connection has a base RTT of its own, from 10 to 150 ms."
    return Table.of(title, rows, [note])


def crowd_table(crowds: Sequence[CrowdResult]) -> Table:
    """Return the cost of many flows."""
    rows = [
        {
            "flows": str(result.flows),
            "qdisc": result.qdisc,
            "speed\nM packets/CPU s": number(result.packets_per_cpu_s / 1e6, 2),
            "sent\nns/packet": number(result.ns_per_sent_packet, 0),
            "memory\nB/flow": number(result.bytes_per_flow, 0),
            "packets\nM": number(result.packets / 1e6, 2),
            "sent\nM": number(result.sent_packets / 1e6, 2),
            "CPU\ns": number(result.cpu_s, 2),
        }
        for result in crowds
    ]
    notes = [
        "At 1 Gbit/s, RTT 100 ms. Memory is by how much the process grew, shared by the flows, queue and all.",
        "Packets are those that the link forwarded. It dropped the others that were sent.",
    ]
    return Table.of("Many CUBIC flows simulated by one thread", rows, notes, ("qdisc",))


def runs_table(results: Sequence[RunResult]) -> Table:
    """Return the cost of runs as users have them."""
    rows = [
        {
            "run": result.run,
            "simulated\ns": number(result.simulated_s, 0),
            "packets\nk": number(result.packets / 1e3, 0),
            "start-up\nCPU s": number(result.start_up_s, 2),
            "CPU\ns": number(result.cpu_s, 2),
            "packet\nns": number(1e9 * result.cpu_s / max(result.packets, 1), 0) if result.packets else "–",
        }
        for result in results
    ]
    notes = [
        "The packets are those that the bottleneck down forwarded. Start-up: the interpreter, and what builds the run.",
        "The CPU seconds of a verb are those of all its runs, on all cores.",
    ]
    return Table.of("Runs as users have them", rows, notes, ("run",))


def threads_table(results: Sequence[ThreadsResult]) -> Table:
    """Return the seconds of runs by their number of threads."""
    rows = [
        {
            "case": result.case,
            "threads": AUTO if result.threads is None else str(result.threads),
            "time\ns": number(result.wall_s, 2),
            "CPU\ns": number(result.cpu_s, 2),
            "times as fast": number(result.times_one, 2),
            "record": "the same" if result.same else "ANOTHER",
        }
        for result in results
    ]
    cores = running.cores()
    note = f"Seconds of the clock, building the parts included, on {cores} cores. Ratios are medians of turns."
    return Table.of("One run on several threads", rows, [note], ("case", "record"))


def _costs(qdiscs: Sequence[QdiscResult]) -> Table:
    backlogs = [str(count) for count in BACKLOGS if count != BACKLOG]  # the column "1 flow" has `BACKLOG`
    flows = [f"{count}\nflow{'s' * (count > 1)}" for count in FLOWS]
    rows = [
        {
            "qdisc": result.qdisc,
            **dict(zip(flows, map(number, result.pair_ns.values()), strict=True)),
            **{f"1 flow,\n{count}": number(result.backlog_ns[count]) for count in backlogs},
            "over-\nflow": number(result.overflow_ns),
        }
        for result in qdiscs
    ]
    notes = [
        f"In the queue wait {BACKLOG} packets of so many flows, or {' or '.join(backlogs)} of one (–: it holds less).",
        f"Overflow: each packet offered, when {OVERFLOW[0]} flows would fill {OVERFLOW[1]} places (–: they fit).",
    ]
    return Table.of("Nanoseconds of one enqueue and one dequeue", rows, notes, ("qdisc",))


def cell_tables(cells: Sequence[CellResult], growth: Sequence[GrowthResult]) -> list[Table]:
    """Return the cost of Wi-Fi cells here and in ns-3, and the cost by the number of stations."""
    ran = [(result.cell, run) for result in cells for run in result.runs if run.ran]
    rows = [
        {
            "cell": cell,
            "simulator": f"{run.simulator} {run.version}".rstrip(),
            "CPU\nms/simulated s": number(1e3 * (run.cpu_s or 0) / (run.simulated_s or 1), 2),
            "goodqueue\nas fast": _times(run.goodqueue_times_as_fast, 0),
            "carried\nMbit/s": number(run.utilisation_percent, 2),
            "simulated\ns": number(run.simulated_s, 0),
            "CPU\ns": number(run.cpu_s, 2),
        }
        for cell, run in ran
    ]
    notes = ["Run in turns; start-up is not counted. What was carried says whether the same thing was simulated."]
    absent = {f"{run.simulator}: {run.note}" for result in cells for run in result.runs if not run.ran}
    beside = Table.of("Saturated Wi-Fi cells", rows, [*notes, *sorted(absent)], ("cell", "simulator"))
    costs = [
        {
            "stations": str(result.stations),
            "CPU\nms/simulated s": number(result.cpu_ms_per_simulated_s, 2),
            "CPU\nns/packet": number(result.cpu_ns_per_packet, 0),
            "packets": str(result.packets),
        }
        for result in growth
    ]
    note = "802.11n at MCS 7; every station always has something to send to the access point."
    return [beside, Table.of("Wi-Fi by the number of stations", costs, [note])]


def _times(factor: float | None, digits: int = 1) -> str:
    """Return how many times as fast goodqueue is."""
    return "" if factor is None else f"{number(factor, digits)} ×"


def _web_peers(peers: Sequence[PeerResult]) -> Table:
    ran = [peer for peer in peers if peer.ran]
    speeds = [peer.responses_per_cpu_s / 1e3 for peer in ran if peer.responses_per_cpu_s]
    rows = [
        {
            "simulator": f"{peer.simulator} {peer.version}".rstrip(),
            "speed\nk responses/CPU s": number((peer.responses_per_cpu_s or 0) / 1e3, max(1, decimals(speeds))),
            "goodqueue\nas fast": _times(peer.goodqueue_times_as_fast),
            "responses\na second": number((peer.responses or 0) / (peer.simulated_s or 1), 0),
            "simulated\ns": number(peer.simulated_s, 0),
            "CPU\ns": number(peer.cpu_s, 2),
        }
        for peer in ran
    ]
    notes = [
        "1100 connections a second at 100 Mbit/s, RTT 80 ms, pfifo limit 1000; run in turns, without start-up.",
        *(f"{peer.simulator}: {peer.note}" for peer in peers if not peer.ran),
    ]
    return Table.of("PackMime's web traffic in other simulators", rows, notes, ("simulator",))


def _peers(peers: Sequence[PeerResult]) -> Table:
    ran = [peer for peer in peers if peer.ran]
    simulators = {peer.simulator: [result for result in ran if result.simulator == peer.simulator] for peer in ran}
    headings = {name: f"{name}\n{of_it[0].version}" for name, of_it in simulators.items()}
    rows = [
        {"case": case or "–"}
        | dict.fromkeys(headings.values(), "–")
        | {headings[peer.simulator]: _speed(peer) for peer in ran if peer.case == case}
        for case in dict.fromkeys(peer.case for peer in ran)
    ]

    def by_case(what: str, text: Callable[[PeerResult], str]) -> str:
        parts = (f"{name} {', '.join(map(text, of_it))}" for name, of_it in simulators.items())
        return f"{what}: {'; '.join(parts)}."

    notes = [
        "Million packets per CPU second, and how many times as fast goodqueue is. Run in turns.",
        by_case(
            "Utilisation in %, which says whether the same was simulated",
            lambda result: number(result.utilisation_percent),
        ),
        by_case("Start-up in CPU s, which is not counted", lambda result: number(result.start_up_s)),
        by_case("Simulated s", lambda result: number(result.simulated_s, 0)),
        by_case("Qdisc", lambda result: result.qdisc or "–"),
        *dict.fromkeys(f"{peer.simulator}: {peer.note}" for peer in peers if not peer.ran),
    ]
    return Table.of("The cases in other simulators", rows, notes, ("case",))


def _speed(peer: PeerResult) -> str:
    """Return million packets per CPU second, and how many times as fast goodqueue is."""
    speed = (peer.packets_per_cpu_s or 0) / 1e6
    return f"{number(speed, 2 if speed >= 0.095 else 4)}  {_times(peer.goodqueue_times_as_fast)}".rstrip()
