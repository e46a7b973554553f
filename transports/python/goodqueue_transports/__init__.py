"""Real QUIC stacks as traffic of goodqueue's scenarios. `goodqueue` finds this package when a scenario needs it."""

import functools
import hashlib
from pathlib import Path

from goodqueue_transports import _goodqueue_transports
from goodqueue_transports._goodqueue_transports import VERSION, Simulation, stacks

__all__ = ["STACKS", "VERSION", "Simulation", "build"]

STACKS = {name: (release, ccs) for name, release, ccs in stacks()}
"""Of each stack the release that is built in, and its congestion controls. The first is its default."""


@functools.cache
def build() -> str:
    """Return a hash of this package's compiled code: 12 hexadecimal digits."""
    return hashlib.sha256(Path(str(_goodqueue_transports.__file__)).read_bytes()).hexdigest()[:12]
