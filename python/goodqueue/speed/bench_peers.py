"""Speed of the standard cases alternately with ns-2 and ns-3, and of PackMime's web traffic with ns-2."""

from dataclasses import replace
from functools import partial

from goodqueue.speed import bench, peers
from goodqueue.speed.peers import Peer, PeerResult

STEADY_S = {"i": 20, "ii": 10, "iii": 2, "iv": 2}
"""The simulated seconds of ns-3 in each case. Case iv takes it up to a minute of CPU time."""

UNITS = {"m": 1e6, "g": 1e9}


def of_case(case: bench.Case) -> list[Peer]:
    """Return the other simulators that have ``case``. ns-3 has all cases, ns-2 the first."""
    number, unit = case.rate[: -len("mbit")], case.rate[-len("mbit")]
    told = (str(case.flows), f"{number}{unit.upper()}bps", case.rtt, case.qdisc)
    ns3 = Peer("ns-3", "ns3-cases.cc", STEADY_S[case.name], peers.ns3, told, float(number) * UNITS[unit])
    return [peers.NS2, ns3] if case is bench.CASES[0] else [ns3]


def run_cases(quick: bool) -> list[PeerResult]:
    """Measure each case alternately with the installed simulators that have it. Goodqueue's result comes first.

    ``quick`` saves rounds, not simulated time: otherwise most of the time would be the others' start-up.
    """
    found: list[PeerResult] = []
    for case in bench.CASES:
        if found and found[-1].note is not None:  # without ns-3, nobody has the other cases
            break
        results = peers.compare(partial(_ours, case), 1 if quick else bench.REPEATS, of_case(case))
        found += [replace(result, case=case.name) for result in results]
    return found


def run_web(quick: bool) -> list[PeerResult]:
    """Measure `bench.PACKMIME` alternately with the simulators that have it. Goodqueue's result comes first."""
    return peers.compare(partial(_ours, bench.PACKMIME), 1 if quick else bench.REPEATS, peers.WEB_PEERS)


def _ours(case: bench.Case) -> peers.Run:
    from goodqueue._goodqueue import VERSION

    found = bench.measure_apart(case, quick=False)
    is_web = case is bench.PACKMIME
    return peers.Run(
        version=VERSION,
        qdisc=case.qdisc,
        simulated_s=case.duration_s,
        packets=None if is_web else int(found["packets"]),
        utilisation_percent=None if is_web else found["utilisation_percent"],
        cpu_s=found["cpu_s"],
        responses=int(found["responses"]) if is_web else None,
    )
