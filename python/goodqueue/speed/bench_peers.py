"""Speed of the standard cases alternately with ns-2, ns-3 and htsim, and of PackMime's web traffic with ns-2."""

from dataclasses import replace
from functools import partial
from pathlib import Path

from goodqueue.speed import bench, peers
from goodqueue.speed.peers import Peer, PeerResult

STEADY_S = {"i": 20, "ii": 10, "iii": 2, "iv": 2}
"""The simulated seconds of ns-3 in each case. Case iv takes it up to a minute of CPU time."""

UNITS = {"m": 1e6, "g": 1e9}


def of_case(case: bench.Case, htsim: Path | None = None) -> list[Peer]:
    """Return the other simulators with ``case``: ns-2 without measuring its queues and with, ns-3, and ``htsim``."""
    number, unit = case.rate[: -len("mbit")], case.rate[-len("mbit")]
    arguments = (str(case.flows), f"{number}{unit.upper()}bps", case.rtt)
    rate_bps = float(number) * UNITS[unit]
    ns2 = [
        Peer(f"ns-2 {measures}", "ns2-cases.tcl", case.duration_s, peers.ns2, (*arguments, measures), rate_bps)
        for measures in ("bare", "monitored")
    ]
    ns3 = Peer("ns-3", "ns3-cases.cc", STEADY_S[case.name], peers.ns3, (*arguments, case.qdisc), rate_bps)
    if htsim is None:
        return [*ns2, ns3]
    build = partial(peers.htsim, htsim)
    return [*ns2, ns3, Peer("htsim", "htsim-cases.cc", case.duration_s, build, arguments, rate_bps)]


def run_cases(quick: bool, htsim: Path | None = None) -> list[PeerResult]:
    """Measure each case alternately with the installed simulators that have it. Goodqueue's result comes first.

    ``htsim`` is a checkout in which htsim is built.

    ``quick`` saves rounds, not simulated time: otherwise most of the time would be the others' start-up.
    """
    every_result: list[PeerResult] = []
    for case in bench.CASES:
        results = peers.compare(partial(_ours, case), 1 if quick else bench.REPEATS, of_case(case, htsim))
        every_result += [replace(result, case=case.name) for result in results]
        if not any(result.ran for result in results[1:]):  # alone, goodqueue need not run the cases again
            break
    return every_result


def run_web(quick: bool) -> list[PeerResult]:
    """Measure `bench.PACKMIME` alternately with the simulators that have it. Goodqueue's result comes first."""
    return peers.compare(partial(_ours, bench.PACKMIME), 1 if quick else bench.REPEATS, peers.WEB_PEERS)


def _ours(case: bench.Case) -> peers.Run:
    from goodqueue._goodqueue import VERSION

    figures = bench.measure_apart(case, quick=False)
    is_web = case is bench.PACKMIME
    return peers.Run(
        version=VERSION,
        qdisc=case.qdisc,
        simulated_s=case.duration_s,
        packets=None if is_web else int(figures["packets"]),
        utilisation_percent=None if is_web else figures["utilisation_percent"],
        cpu_s=figures["cpu_s"],
        start_up_s=figures["start_up_s"],
        responses=int(figures["responses"]) if is_web else None,
    )
