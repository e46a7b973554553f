"""``guest.py SEED PLAN OUT``: seeds the kernel's random numbers and starts the laboratory in the virtual machine.

A machine without devices has no source of randomness, and waits a second until its own timers look random. The seed
is as good here, and makes the wait and the random numbers the same in each run.

After a burst Linux leaves packets and the queues' timers to the thread ksoftirqd, which shares the processor with
programs. The start of a program such as tc would delay the links by two milliseconds. Therefore ksoftirqd gets
precedence over all programs.
"""

import fcntl
import hashlib
import os
import runpy
import struct
import sys
from pathlib import Path

_RNDADDENTROPY = 0x40085203
"""random(4): adds bytes to the kernel's pool, and counts their bits as random."""

seed = hashlib.sha256(sys.argv.pop(1).encode()).digest()
with open("/dev/random", "wb", buffering=0) as device:  # noqa: PTH123
    fcntl.ioctl(device, _RNDADDENTROPY, struct.pack("ii32s", 8 * len(seed), len(seed), seed))
for name in Path("/proc").glob("[0-9]*/comm"):
    if name.read_text(encoding="ascii").startswith("ksoftirqd/"):
        os.sched_setscheduler(int(name.parent.name), os.SCHED_FIFO, os.sched_param(2))  # the hosts have 1
runpy.run_module("goodqueue.engines.kernel.lab", run_name="__main__", alter_sys=True)
