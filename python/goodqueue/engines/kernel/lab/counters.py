"""The kernel's own counters of a namespace, from ``/proc/net/netstat`` and ``/proc/net/snmp``."""

from pathlib import Path

Counters = dict[str, int]


def read() -> Counters:
    """Return all counters of this network namespace, under names such as ``TcpExt.TCPTimeouts``."""
    counters: Counters = {}
    for file in ("netstat", "snmp"):
        lines = Path("/proc/self/net", file).read_text(encoding="ascii").splitlines()
        for names, values in zip(lines[::2], lines[1::2], strict=True):
            group, *words = names.split()
            counts = map(int, values.split()[1:])
            counters |= {f"{group[:-1]}.{word}": count for word, count in zip(words, counts, strict=True)}
    return counters


def since(before: Counters, after: Counters) -> Counters:
    """Return the differences between two readings. Counters that did not change are left out."""
    return {name: count - before[name] for name, count in after.items() if count != before[name]}
