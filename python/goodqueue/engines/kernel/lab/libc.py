"""System calls that Python 3.11 lacks: network namespaces, and to die with the parent process."""

import ctypes
import os
import signal
from typing import Any

_CLONE_NEWNET = 0x40000000
_PR_SET_PDEATHSIG = 1

_libc = ctypes.CDLL(None, use_errno=True)


def new_network() -> None:
    """Enter a new network namespace. It vanishes with the last process and descriptor that hold it."""
    call("unshare", _CLONE_NEWNET)


def enter_network(descriptor: int) -> None:
    """Enter the network namespace that ``descriptor`` refers to."""
    call("setns", descriptor, _CLONE_NEWNET)


def die_with_parent() -> None:
    """Make the kernel kill this process as soon as its parent dies, for any reason."""
    call("prctl", _PR_SET_PDEATHSIG, int(signal.SIGKILL), 0, 0, 0)


def call(name: str, *arguments: Any) -> None:
    """Call the C library's function ``name``. Raises OSError if the function does not return 0."""
    if getattr(_libc, name)(*arguments) != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{name}: {os.strerror(number)}")
