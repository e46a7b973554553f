"""What a search reads in lines and values: the target of a discipline, and rates."""

from functools import cache

from goodqueue import _goodqueue


@cache
def target_ms(line: str) -> float | None:
    """Return the target of the discipline of a canonical ``line`` in milliseconds, or None if it has none."""
    words = line.split()
    if "target" not in words[:-1]:
        return None
    return _goodqueue.time_ns(words[words.index("target") + 1]) / 1e6


@cache
def rate_mbps(text: str) -> float:
    """Return the rate ``text`` in Mbit/s."""
    return _goodqueue.rate_bps(text) / 1e6
