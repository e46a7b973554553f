"""What the tests of the QUIC stacks share. `make transports-test` runs them; the package must be installed."""

from pathlib import Path

import pytest

from goodqueue.record import Scenario

STACKS = ("quinn", "noq", "quiche", "s2n-quic", "aioquic")
EXAMPLES = Path(__file__).parent.parent / "examples"


@pytest.fixture
def cable() -> Scenario:
    """Return a short run of one connection: 20 Mbit/s, 40 ms."""
    return {
        "duration": "3s",
        "warmup": "1s",
        "bottleneck": {"rate": "20mbit", "qdisc": "codel ecn"},
        "path": {"rtt": "40ms"},
        "traffic": [{"kind": "quic", "stack": "quinn"}],
    }
