"""The first process of Linux as a process: mounts what programs need, seeds the random numbers, starts the guest.

The root is the machine's, and what programs write there stays in memory. One folder is the host's (`FOLDER`).

Until the seed nothing may ask for random numbers: Linux would wait for them until time has passed, and no time passes.
So this runs without ``site``, and imports only modules that draw none.
"""

import ctypes
import fcntl
import hashlib
import json
import os
import struct
import sys

_RNDADDENTROPY, _RNDRESEEDCRNG = 0x40085203, 0x5207
"""random(4): the first adds bytes to the kernel's pool, and counts their bits as random. The second uses them now."""

_MOVE, _POWER_OFF = 8192, 0x4321FEDC
"""MS_MOVE of mount(2), and the word of reboot(2)."""

_LAYERS = "/dev/layers"
"""Where the root is put together: a layer in memory over the machine's files."""
_FOLDER = "/dev/goodqueue"

_libc = ctypes.CDLL(None, use_errno=True)


def _mount(kind: str, target: str, options: str = "") -> None:
    os.makedirs(target, exist_ok=True)  # noqa: PTH103 - pathlib takes a while to import
    _call("mount", kind.encode(), target.encode(), kind.encode(), 0, options.encode())


def _call(name: str, *arguments: object) -> None:
    if getattr(_libc, name)(*arguments):
        raise OSError(ctypes.get_errno(), f"{name} {arguments}: {os.strerror(ctypes.get_errno())}")


def _enter_root() -> None:
    """Mount the root, and make it this process's. The host's /proc says which folder Linux was started in."""
    _mount("devtmpfs", "/dev")
    _mount("tmpfs", _LAYERS)
    for name in ("upper", "work"):
        os.mkdir(f"{_LAYERS}/{name}")  # noqa: PTH102
    _mount("overlay", f"{_LAYERS}/root", f"lowerdir=/,upperdir={_LAYERS}/upper,workdir={_LAYERS}/work")
    os.chdir(f"{_LAYERS}/root")
    _mount("devtmpfs", "dev")
    _mount("hostfs", f"dev/{_FOLDER.rpartition('/')[2]}", "/proc/self/cwd")
    _mount("proc", "proc")
    _mount("sysfs", "sys")
    _mount("devpts", "dev/pts", "mode=620,ptmxmode=666")
    _mount("tmpfs", "dev/shm", "mode=1777")
    _call("mount", b".", b"/", None, _MOVE, None)
    _call("chroot", b".")


def _seed(number: int) -> None:
    bits = hashlib.sha256(str(number).encode()).digest()
    with open("/dev/random", "wb", buffering=0) as device:  # noqa: PTH123
        fcntl.ioctl(device, _RNDADDENTROPY, struct.pack("ii32s", 8 * len(bits), len(bits), bits))
        fcntl.ioctl(device, _RNDRESEEDCRNG)


try:
    _enter_root()
    with open(f"{_FOLDER}/job.json", encoding="utf-8") as job:  # noqa: PTH123
        _seed(json.load(job)["seed"])
    with open(f"{_FOLDER}/modules", encoding="utf-8") as modules:  # noqa: PTH123
        sys.path[:1] = json.load(modules)

    import site

    site.main()

    from goodqueue.engines.live.virtual import guest

    guest.run()
except BaseException as error:  # noqa: BLE001 - this process may not end, and whoever waits wants to know
    print(f"error: {type(error).__name__}: {error}", flush=True)
os.sync()
_libc.reboot(_POWER_OFF)
