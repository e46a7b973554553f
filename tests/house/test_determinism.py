"""The optimised build gives the same bytes as the build of cargo's tests."""

import json
from pathlib import Path

import pytest

from goodqueue import _goodqueue

DATA = Path(__file__).parents[2] / "crates" / "netsim" / "tests" / "data"
RUNS = json.loads((DATA / "behaviour.json").read_text(encoding="utf-8"))


def fnv1a(data: bytes) -> int:
    """Return FNV-1a with 64 bits, as in the table's last column."""
    digest = 0xCBF29CE484222325
    for byte in data:
        digest = (digest ^ byte) * 0x100000001B3 % 2**64
    return digest


def digests() -> dict[tuple[str, str], str]:
    """Return the last column of the table, by qdisc and load. The qdisc column is 36 characters wide."""
    rows = (DATA / "behaviour.txt").read_text(encoding="utf-8").splitlines()[1:]
    return {(row[:36].strip(), row[37:43].strip()): row.split()[-1] for row in rows}


@pytest.mark.parametrize("qdisc", RUNS["qdiscs"])
def test_the_record_has_the_same_bytes_in_every_build(qdisc: str) -> None:
    for load, traffic in RUNS["loads"].items():
        scenario = json.loads(json.dumps(RUNS["scenario"])) | {"traffic": traffic}
        scenario["bottleneck"]["qdisc"] = qdisc
        simulation = _goodqueue.Simulation(json.dumps(scenario))
        simulation.advance(simulation.duration_s)
        digest = f"{fnv1a(simulation.record().encode()):016x}"
        assert digest == digests()[qdisc, load], f"{qdisc}, {load}"
