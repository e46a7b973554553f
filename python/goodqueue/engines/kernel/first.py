"""The first process of Linux as a process (process.py): it mounts, seeds, does the run, and hands over the results.

The root is the files of the machine's system, which the host has and nobody writes. Another folder of the host has the
run's plan, and takes its results. They are in memory first: tcpdump makes its file root's own, and a host that runs
this as another user forbids that. What is printed here is read line by line: progress, error, done.

The clock moves only when nothing is left to do, so whoever waited for random numbers before the seed would wait
forever. Linux has passed on the seed, and Python's own, from its command line as environment variables.
"""

import ctypes
import os
import sys

from goodqueue.engines.kernel.lab import chance

_FOLDER, _OUT = "/host", "/out"

_BUFFER_KIB = 2048
"""The memory of a tcpdump. It is never late here, as what a program does takes no time. Each boot fills this memory
with zeros: with 32 MB that took a tenth of it.
"""

_MOST_AT_ONCE = 1 << 30

_POWER_OFF = 0x4321FEDC
"""The word of reboot(2)."""

_libc = ctypes.CDLL(None, use_errno=True)


def _mount(kind: str, folder: str, options: str = "") -> None:
    if _libc.mount(kind.encode(), folder.encode(), kind.encode(), 0, options.encode()):
        raise OSError(ctypes.get_errno(), f"mount {kind}: {os.strerror(ctypes.get_errno())}")


def _run() -> int | str | None:
    """Do the run. Return its exit status."""
    from goodqueue.engines.kernel.lab import precedence

    precedence.prefer_ksoftirqd()
    sys.argv[1:] = [f"{_FOLDER}/plan.json", _OUT, str(_BUFFER_KIB)]
    try:
        import goodqueue.engines.kernel.lab.__main__  # noqa: F401 - does the run
    except SystemExit as ended:
        return ended.code
    return None


def _hand_over() -> None:
    """Copy the results to the host."""
    for name in os.listdir(_OUT):  # noqa: PTH208
        with open(f"{_OUT}/{name}", "rb") as result, open(f"{_FOLDER}/results/{name}", "wb") as copy:  # noqa: PTH123
            while os.sendfile(copy.fileno(), result.fileno(), None, _MOST_AT_ONCE):
                pass


try:
    for kind, folder in (("proc", "/proc"), ("sysfs", "/sys"), ("devtmpfs", "/dev"), ("hostfs", _FOLDER)):
        _mount(kind, folder)
    _mount("tmpfs", _OUT, f"size={os.environ['CAPTURES']}")
    chance.seed_kernel(bytes.fromhex(os.environ["SEED"]))
    if (status := _run()) == 0:
        _hand_over()
    print("done" if status == 0 else f"the laboratory ended with status {status}", flush=True)
except BaseException as error:  # noqa: BLE001 - Linux panics if its first process ends
    print(f"error: {type(error).__name__}: {error}", flush=True)
_libc.reboot(_POWER_OFF)
