"""Moments of virtual time from which nothing depends on what came before.

In virtual time a program's work takes no time, but each look at the clock, also Linux's own, takes 1 ns. And each new
process draws random numbers. The lab of a user without privileges has more to do than that of root: CMD would start
some microseconds later, and draw others. So SERVER and CMD start at whole moments, with fresh random numbers.
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
    """Sleep to the next moment, and let Linux draw anew. This process must be root."""
    call("prctl", _PR_SET_TIMERSLACK, _EXACT_NS, 0, 0, 0)
    at_ns = (time.monotonic_ns() // _STEP_NS + 1) * _STEP_NS
    moment = (ctypes.c_long * 2)(*divmod(at_ns, 10**9))
    with open("/dev/random", "wb", buffering=0) as device:  # noqa: PTH123
        call("clock_nanosleep", time.CLOCK_MONOTONIC, _ABSOLUTE, moment, None)
        fcntl.ioctl(device, _RNDRESEEDCRNG)
    call("prctl", _PR_SET_TIMERSLACK, _USUAL, 0, 0, 0)


def until() -> float:
    """Return the time to the next moment."""
    return (_STEP_NS - time.monotonic_ns() % _STEP_NS) / 1e9
