"""The kernel's random numbers (random(4)).

A machine without devices has no source of randomness, and waits a second until its own timers look random. A seed is
as good here, and makes the wait and the random numbers the same in each run.
"""

import fcntl
import struct

_RNDADDENTROPY = 0x40085203
_RNDRESEEDCRNG = 0x5207
"""The first adds bytes to the kernel's pool, and counts their bits as random. The second uses them now."""


def seed_kernel(bits: bytes) -> None:
    """Let the kernel's random numbers follow from ``bits``."""
    with open("/dev/random", "wb", buffering=0) as device:  # noqa: PTH123 - before pathlib is imported
        fcntl.ioctl(device, _RNDADDENTROPY, struct.pack(f"ii{len(bits)}s", 8 * len(bits), len(bits), bits))
        fcntl.ioctl(device, _RNDRESEEDCRNG)
