"""The programs that are calibrated: one file each, and one line each in `PROGRAMS`.

A program's file says how the program is started, how its output is read, and what truth it claims to measure.
"""

from collections.abc import Sequence

from goodqueue.calibrate.programs import flent, iperf3, irtt, mach, ping
from goodqueue.calibrate.programs.program import Program

PROGRAMS: Sequence[Program] = (iperf3.PROGRAM, irtt.PROGRAM, ping.PROGRAM, flent.PROGRAM, mach.PROGRAM)


def named(name: str) -> Program:
    """Return the program called ``name``."""
    return next(program for program in PROGRAMS if program.name == name)


def wanted(names: Sequence[str]) -> list[Program]:
    """Return the programs called ``names``, and those beside which they measure, in the order of `PROGRAMS`."""
    chosen = {named(name).beside for name in names} | set(names)
    return [program for program in PROGRAMS if program.name in chosen]
