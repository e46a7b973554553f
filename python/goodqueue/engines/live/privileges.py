"""A process's privileges: a user namespace in which it may build networks, and the capabilities of a command."""

import ctypes
import os
from collections.abc import Iterable
from pathlib import Path

from goodqueue.engines.kernel.lab.libc import call

NEW_MOUNTS = 0x00020000
NEW_USER = 0x10000000
NEW_PROCESSES = 0x20000000
"""CLONE_NEWNS, CLONE_NEWUSER, CLONE_NEWPID of ``linux/sched.h``."""

NET_ADMIN, NET_RAW, SYS_ADMIN = 12, 13, 21
"""CAP_NET_ADMIN and others of ``linux/capability.h``."""

OF_COMMANDS = (NET_ADMIN, NET_RAW)
"""With these capabilities `ip`, `tc`, `ss`, `tcpdump` and `ping` work in a network of the user's own."""

_PR_SET_KEEPCAPS = 8
_VERSION_3 = 0x20080522
_PR_CAP_AMBIENT, _PR_CAP_AMBIENT_RAISE = 47, 2


def effective() -> int:
    """Return the capabilities of this process as a number with one bit per capability."""
    status = Path("/proc/self/status").read_text(encoding="utf-8", errors="replace")
    return int(next(line.split()[1] for line in status.splitlines() if line.startswith("CapEff:")), 16)


def has(*capabilities: int) -> bool:
    """Return whether this process has all of ``capabilities`` in its present namespace."""
    mine = effective()
    return all(mine >> number & 1 for number in capabilities)


def become_builder() -> None:
    """Enter a user namespace in which this process may do anything, unless it may already.

    The process keeps its user and its group, which are mapped to themselves. No other users exist there. Raises
    OSError.
    """
    if has(SYS_ADMIN, NET_ADMIN, NET_RAW):
        return
    user, group = os.geteuid(), os.getegid()
    call("unshare", NEW_USER)
    # user_namespaces(7): without privileges outside, setgroups must be denied before groups are mapped.
    for name, text in (("setgroups", "deny"), ("uid_map", f"{user} {user} 1"), ("gid_map", f"{group} {group} 1")):
        Path("/proc/self", name).write_text(text, encoding="ascii")


def become(user: int, group: int, groups: list[int]) -> None:
    """Become the user with these numbers, and keep all capabilities. This process must be root. Raises OSError."""
    mine = effective()
    os.setgroups(groups)
    os.setgid(group)
    call("prctl", _PR_SET_KEEPCAPS, 1, 0, 0, 0)
    os.setuid(user)
    _set(mine, mine, 0)


def keep(capabilities: Iterable[int] | None = None) -> None:
    """Keep only ``capabilities`` (None: all), and keep them when this process executes another program.

    For that they must be ambient (capabilities(7)), since the program of a user who is not root gets no others.
    """
    mine = effective()
    bits = mine if capabilities is None else mine & sum(1 << number for number in capabilities)
    _set(bits, bits, bits)
    for number in range(bits.bit_length()):
        if bits >> number & 1:
            call("prctl", _PR_CAP_AMBIENT, _PR_CAP_AMBIENT_RAISE, number, 0, 0)


def _set(*sets: int) -> None:
    """Set this process's effective, permitted and inheritable capabilities."""
    header = (ctypes.c_uint32 * 2)(_VERSION_3, 0)
    halves = [bits & 0xFFFFFFFF for bits in sets] + [bits >> 32 for bits in sets]
    call("capset", header, (ctypes.c_uint32 * 6)(*halves))
