"""Speed of Wi-Fi cells: two standard cells alternately with ns-3, and the cost of a cell by its number of stations.

As in `bench`, each run has its own process, and CPU time is that of the simulation alone.
"""

import json
import statistics
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from goodqueue.record import Record, Scenario
from goodqueue.record.dotted import walk
from goodqueue.speed import bench, peers
from goodqueue.speed.peers import Peer, PeerResult

FRAME_BYTES = 1514
"""A packet's size in the scenario. Its IP packet has 1500 bytes."""

STATIONS = (1, 2, 5, 10, 20, 50, 100)
"""The numbers of stations for which the cost of a cell is measured."""


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell with UDP in one direction, to or from each station. More is offered than the cell can carry."""

    name: str
    standard: str
    rate: str
    stations: int
    direction: str
    offered_mbps: float
    """The rate of all senders together, in IP packets."""
    duration_s: float

    def scenario(self, quick: bool) -> Scenario:
        """Return the scenario, a tenth as long if ``quick``."""
        rate = self.offered_mbps * 1e6 / self.stations * FRAME_BYTES / (FRAME_BYTES - 14)
        wifi: dict[str, Any] = {
            "standard": self.standard,
            "driver": "ideal" if self.standard == "802.11n" else "ath5k",
            "station": [{"name": "station", "count": self.stations, "rate": self.rate}],
        }
        traffic = {
            "kind": "cbr", "count": self.stations, "direction": self.direction, "rate": f"{rate:.0f}bit",
            "packet_size": FRAME_BYTES,
        }  # fmt: skip
        return {
            "duration": f"{self.duration_s / (bench.QUICK if quick else 1):g}s",
            "warmup": "0s",
            "seed": 1,
            "bottleneck": {"qdisc": "pfifo limit 500", "wifi": wifi},
            "path": {"rtt": "0s"},
            "traffic": [traffic],
        }

    def described(self) -> str:
        """Return the cell in words."""
        plural = "station" if self.stations == 1 else "stations"
        return f"{self.standard}, {self.rate}, {self.stations} {plural} {self.direction}"


CELLS = (
    Cell("n", "802.11n", "mcs7", 1, "down", 66.0, 100),
    Cell("g", "802.11g", "54mbit", 10, "up", 33.0, 100),
)
"""The cells of ``benches/peers/ns3-wifi.cc``, which has the same names for them."""

GROWING = {stations: Cell("growth", "802.11n", "mcs7", stations, "up", 66.0, 20) for stations in STATIONS}
"""The cells by number of stations. All stations want to send."""


@dataclass(frozen=True, slots=True)
class CellResult:
    """A cell, and its runs in goodqueue and, alternately, in ns-3."""

    cell: str
    runs: list[PeerResult]


@dataclass(frozen=True, slots=True)
class GrowthResult:
    """The cost of a cell by its number of stations: the median of its processes."""

    stations: int
    packets: int
    cpu_ms_per_simulated_s: float
    cpu_ns_per_packet: float


def peer(cell: Cell) -> Peer:
    """Return ns-3 with ``cell``."""

    def compiled(program: Path, folder: Path) -> list[str]:
        return peers.ns3(program, folder, ("wifi", "mobility", "network"))

    return Peer("ns-3", "ns3-wifi.cc", 5, compiled, (cell.name,))


def run_cell(cell: Cell, repeats: int) -> CellResult:
    """Measure ``cell`` alternately with ns-3, if that is installed. Raises UserError."""

    def ours() -> peers.Run:
        from goodqueue._goodqueue import VERSION

        figures = measure_apart(cell, quick=False)
        packets = int(figures["packets"])
        return peers.Run(
            version=VERSION,
            qdisc="pfifo",
            simulated_s=cell.duration_s,
            packets=packets,
            utilisation_percent=100 * packets * (FRAME_BYTES - 14) * 8 / (peers.RATE_BPS * cell.duration_s),
            cpu_s=figures["cpu_s"],
        )

    return CellResult(cell.described(), peers.compare(ours, repeats, [peer(cell)]))


def run_growth(stations: int, quick: bool, repeats: int = bench.REPEATS) -> GrowthResult:
    """Measure the cell with this number of stations. Raises UserError."""
    cell = GROWING[stations]
    runs = [measure_apart(cell, quick) for _ in range(repeats)]
    packets = int(runs[0]["packets"])
    cpu_s = statistics.median(run["cpu_s"] for run in runs)
    simulated_s = cell.duration_s / (bench.QUICK if quick else 1)
    return GrowthResult(stations, packets, 1e3 * cpu_s / simulated_s, 1e9 * cpu_s / packets)


def measure(cell: Cell, quick: bool) -> dict[str, float]:
    """Simulate ``cell`` in this process and return packets and CPU seconds."""
    from goodqueue._goodqueue import Simulation

    simulation = Simulation(json.dumps(cell.scenario(quick)))
    before = time.process_time()
    simulation.advance(simulation.duration_s)
    cpu_s = time.process_time() - before
    record: Record = json.loads(simulation.record())
    return {"packets": walk(record, f"queues.{cell.direction}.packets.forwarded") or 0.0, "cpu_s": cpu_s}


def measure_apart(cell: Cell, quick: bool) -> dict[str, float]:
    """Return the result of `measure` in a fresh process. Raises UserError."""
    return bench.apart("bench_wifi", f"bench_wifi.measure(bench_wifi.{cell!r}, {quick})", f"--wifi, cell {cell.name}")
