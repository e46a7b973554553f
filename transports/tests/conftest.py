"""Scenarios that the tests of the QUIC stacks share. `make transports-test` runs them; the package must be installed."""

import pytest

from goodqueue.record import Scenario

STACKS = ("quinn", "noq", "aioquic")


@pytest.fixture
def cable() -> Scenario:
    """A short run of one connection: 20 Mbit/s, 40 ms."""
    return {
        "duration": "3s",
        "warmup": "1s",
        "bottleneck": {"rate": "20mbit", "qdisc": "fq_codel"},
        "path": {"rtt": "40ms"},
        "traffic": [{"kind": "quic", "stack": "quinn"}],
    }
