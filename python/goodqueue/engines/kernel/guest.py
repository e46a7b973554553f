"""``guest.py OUT``: seeds the kernel's random numbers and starts the laboratory in the virtual machine.

Everything that is the same in each run comes first: the programs, the modules. Then the machine pauses itself. The
state that is saved there is the beginning of each run. A run's order, a seed and a plan, is in files of the firmware,
which the machine reads without waiting for the host.
"""

import os
import subprocess
import sys
from pathlib import Path

from goodqueue.engines.kernel.lab import chance, precedence

_PVPANIC = 0x505
_PANICKED = b"\x01"
"""The port of qemu's device for guests that panic, and what they write there. It is the one way for a guest to stop
itself at an instruction of its own."""

_FIRMWARE = Path("/sys/firmware/qemu_fw_cfg/by_name/opt/goodqueue")

precedence.prefer_ksoftirqd()
chance.seed_kernel(b"booted".ljust(32))
import goodqueue.engines.kernel.lab.run  # noqa: E402 - takes a second here

ports = os.open("/dev/port", os.O_RDWR)
os.pwrite(ports, _PANICKED, _PVPANIC)
os.close(ports)
# The module lists the firmware's files when it is loaded, so it must not be loaded earlier.
loading = ["modprobe", "qemu_fw_cfg"]
subprocess.run(loading, check=True)
chance.seed_kernel(bytes.fromhex((_FIRMWARE / "seed/raw").read_text(encoding="ascii")))
sys.argv[1:1] = [str(_FIRMWARE / "plan.json/raw")]
try:
    import goodqueue.engines.kernel.lab.__main__  # noqa: F401 - does the run
except SystemExit as ended:
    sys.stdout.flush()
    # Python would give back its memory piece by piece first.
    os._exit(ended.code if isinstance(ended.code, int) else 1)
