"""Moments of virtual time from which nothing depends on what came before.

In virtual time a program's work takes no time, but each look at the clock, also Linux's own, takes 1 ns, and each new
process draws random numbers. How often either happens before SERVER starts depends on the machine. So SERVER and CMD
start at whole moments, and Linux draws anew before the lab makes its networks.
"""

import ctypes
import fcntl
import time

from goodqueue.engines.kernel.lab.libc import call

WHOLE_S = 0.25
"""What a moment is a multiple of, by the clock that counts from Linux's start."""

_STEP_NS = round(WHOLE_S * 1e9)
_PR_SET_TIMERSLACK = 29
_EXACT_NS, _USUAL = 1, 0
"""How much later than asked for Linux may wake a program. 0 restores what the program had at first."""
_ABSOLUTE = 1
"""TIMER_ABSTIME of clock_nanosleep(2)."""

_RNDRESEEDCRNG = 0x5207
"""random(4): Linux draws from now on by a new key, which follows from its pool and not from what was drawn."""


def wait() -> None:
    """Sleep to the next moment."""
    call("prctl", _PR_SET_TIMERSLACK, _EXACT_NS, 0, 0, 0)
    at_ns = (time.monotonic_ns() // _STEP_NS + 1) * _STEP_NS
    call("clock_nanosleep", time.CLOCK_MONOTONIC, _ABSOLUTE, (ctypes.c_long * 2)(*divmod(at_ns, 10**9)), None)
    call("prctl", _PR_SET_TIMERSLACK, _USUAL, 0, 0, 0)


def wait_and_draw_anew() -> None:
    """Sleep to the next moment, and give Linux's random numbers a key that follows from the moment. Needs root.

    Only where nothing else runs: a look at the clock more, and all later numbers are others.
    """
    with open("/dev/random", "wb", buffering=0) as device:  # noqa: PTH123
        wait()
        fcntl.ioctl(device, _RNDRESEEDCRNG)


def until() -> float:
    """Return the time to the next moment."""
    return (_STEP_NS - time.monotonic_ns() % _STEP_NS) / 1e9
