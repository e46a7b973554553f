"""How often a property is tried: a few times with each change, as long as GOODQUEUE_SECONDS says in the weekly run.

Each try has random numbers of its own, of a seed that a failure names. GOODQUEUE_SEED is the first seed; with a failed
one, the failed try is the first.
"""

import os
import random
import time
from collections.abc import Iterator


def tries(usual: int) -> Iterator[random.Random]:
    """Yield the random numbers of each try. Prints how many there were."""
    first, end = int(os.environ.get("GOODQUEUE_SEED", "1")), time.monotonic() + _seconds()
    seed = first
    try:
        while seed < first + usual or time.monotonic() < end:
            yield random.Random(seed)
            seed += 1
    finally:
        print(f"tries: {seed - first}, seeds from {first} to {seed}")


def _seconds() -> float:
    return float(os.environ.get("GOODQUEUE_SECONDS", "0"))
