"""Makes a tree that differs small: fewer commands and packets, while something still differs."""

import threading
from collections.abc import Iterator

from goodqueue.validation.trees import comparing, machine
from goodqueue.validation.trees.job import Job

ROUNDS = 40
_MOST = 24
"""Smaller trees that one boot carries out."""


def shrink(job: Job, release: str, stop: threading.Event) -> tuple[Job, comparing.Verdict]:
    """Return the smallest tree found that differs, and how. Raises UserError, StoppedError."""
    (best,) = _judged([job], release, stop)
    offset = 0
    for _ in range(ROUNDS):
        candidates = list(_smaller(best[0]))
        turned = candidates[offset % max(1, len(candidates)) :] + candidates[: offset % max(1, len(candidates))]
        tried = turned[:_MOST]
        differing = [each for each in _judged(tried, release, stop) if each[1].kind == comparing.DIFFERS]
        if differing:
            best, offset = min(differing, key=lambda each: _size(each[0])), 0
        elif (offset := offset + _MOST) >= len(candidates):
            break
    return best


def _judged(jobs: list[Job], release: str, stop: threading.Event) -> list[tuple[Job, comparing.Verdict]]:
    if not jobs:
        return []
    answers = machine.carry_out(jobs, release, lambda _: None, stop)
    return [(job, comparing.compare(job, answer, release)) for job, answer in zip(jobs, answers, strict=True)]


def _size(job: Job) -> int:
    return 10 * len(job.commands) + len(job.packets)


def _smaller(job: Job) -> Iterator[Job]:
    """Yield trees that lack something, the largest things first."""
    packets, commands = job.packets, job.commands
    half = len(packets) // 2
    for part in (half, half // 2, half // 4, half // 8, 1):
        if part:
            yield job.with_only(commands, packets[:-part])
            yield job.with_only(commands, packets[part:])
    flows = {packet.flow for packet in packets}
    for flow in flows if len(flows) > 1 else ():
        yield job.with_only(commands, [packet for packet in packets if packet.flow != flow])
    for gone in _parts(commands):
        yield job.with_only([command for command in commands if command not in gone], packets)
    step = max(1, len(packets) // 12)
    for place in range(0, len(packets), step):
        yield job.with_only(commands, packets[:place] + packets[place + step :])


def _parts(commands: tuple[str, ...]) -> Iterator[set[str]]:
    """Yield sets of commands that can go together: a class or a discipline goes with all that is below it."""
    whole = [_below(commands, command) for command in commands[1:]]
    yield from sorted((each for each in whole if len(each) < len(commands)), key=len, reverse=True)


def _below(commands: tuple[str, ...], command: str) -> set[str]:
    gone, names = {command}, {_name(command)} - {""}
    for other in commands:
        words = other.split()
        parent = words[words.index("parent") + 1] if "parent" in words else ""
        target = words[words.index("flowid") + 1] if "flowid" in words else ""
        if parent in names or target in names or (parent and f"{parent.split(':')[0]}:" in names):
            gone.add(other)
            names |= {_name(other)} - {""}
    return gone


def _name(command: str) -> str:
    words = command.split()
    if words[0] == "filter":
        return ""
    return words[words.index("handle" if words[0] == "qdisc" else "classid") + 1]
