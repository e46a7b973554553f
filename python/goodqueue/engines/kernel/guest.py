"""``guest.py MACHINE OUT``: seeds the kernel's random numbers and starts the laboratory in the machine.

In qemu everything that is the same in each run comes first: the programs, the modules. Then the machine pauses itself.
The state that is saved there is the beginning of each run. A run's order, a seed and a plan, is in files of the
firmware, which the machine reads without waiting for the host.

Linux as a process has the seed on its command line and the plan in the folder of the host that it sees. Its clock
moves only when nothing is left to do, so whoever waited for random numbers before the seed would wait forever.

A machine without devices has no source of randomness, and waits a second until its own timers look random. The seed
is as good here, and makes the wait and the random numbers the same in each run.

After a burst Linux leaves packets and the queues' timers to the thread ksoftirqd, which shares the processor with
programs. The start of a program such as tc would delay the links by two milliseconds. Therefore ksoftirqd gets
precedence over all programs.
"""

import fcntl
import os
import struct
import subprocess
import sys
from pathlib import Path

_RNDADDENTROPY = 0x40085203
_RNDRESEEDCRNG = 0x5207
"""random(4): the first adds bytes to the kernel's pool, and counts their bits as random. The second uses them now."""

_PVPANIC = 0x505
_PANICKED = b"\x01"
"""The port of qemu's device for guests that panic, and what they write there. It is the one way for a guest to stop
itself at an instruction of its own."""

_FIRMWARE = Path("/sys/firmware/qemu_fw_cfg/by_name/opt/goodqueue")


def seed_kernel(bits: bytes) -> None:
    """Let the kernel's random numbers follow from ``bits``."""
    with open("/dev/random", "wb", buffering=0) as device:  # noqa: PTH123
        fcntl.ioctl(device, _RNDADDENTROPY, struct.pack(f"ii{len(bits)}s", 8 * len(bits), len(bits), bits))
        fcntl.ioctl(device, _RNDRESEEDCRNG)


def ordered_by_firmware() -> tuple[str, Path]:
    """Pause, and return the seed and the file of the plan once the machine goes on."""
    seed_kernel(b"booted".ljust(32))
    import goodqueue.engines.kernel.lab.run  # noqa: F401 - takes a second here

    ports = os.open("/dev/port", os.O_RDWR)
    os.pwrite(ports, _PANICKED, _PVPANIC)
    os.close(ports)
    # The module lists the firmware's files when it is loaded, so it must not be loaded earlier.
    loading = ["modprobe", "qemu_fw_cfg"]
    subprocess.run(loading, check=True)
    return (_FIRMWARE / "seed/raw").read_text(encoding="ascii"), _FIRMWARE / "plan.json/raw"


for name in Path("/proc").glob("[0-9]*/comm"):
    if name.read_text(encoding="ascii").startswith("ksoftirqd/"):
        os.sched_setscheduler(int(name.parent.name), os.SCHED_FIFO, os.sched_param(2))  # the hosts have 1
machine = sys.argv.pop(1)
seed, plan = ordered_by_firmware() if machine == "qemu" else (os.environ["SEED"], Path("/host/plan.json"))
seed_kernel(bytes.fromhex(seed))
sys.argv[1:1] = [str(plan)]
try:
    import goodqueue.engines.kernel.lab.__main__  # noqa: F401 - does the run
except SystemExit as ended:
    sys.stdout.flush()
    # Python would give back its memory piece by piece first.
    os._exit(ended.code if isinstance(ended.code, int) else 1)
