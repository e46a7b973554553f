"""Makes a tree that differs small: fewer commands and packets, while something still differs."""

import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from goodqueue.running import Progress
from goodqueue.validation.trees import comparing, machine
from goodqueue.validation.trees.job import Job

ROUNDS = 40
_MOST = 24
"""Smaller trees that one boot carries out."""


@dataclass(frozen=True, slots=True)
class _Cut:
    """What a smaller tree lacks."""

    commands: frozenset[int] = frozenset()
    packets: frozenset[int] = frozenset()
    changes: frozenset[int] = frozenset()

    def __or__(self, cut: "_Cut") -> "_Cut":
        return _Cut(self.commands | cut.commands, self.packets | cut.packets, self.changes | cut.changes)

    @property
    def size(self) -> int:
        """How much it saves: a command tells a reader more than a packet."""
        return 10 * (len(self.commands) + len(self.changes)) + len(self.packets)


def shrink(job: Job, release: str, progress: Progress, stop: threading.Event) -> tuple[Job, comparing.Verdict]:
    """Return the smallest tree found that differs, and how. Raises UserError, StoppedError."""
    (best,) = _judged([job], release, stop)
    offset = 0
    for number in range(ROUNDS):
        progress(number / ROUNDS)
        cuts = list(_cuts(best[0]))
        turned = cuts[offset % max(1, len(cuts)) :] + cuts[: offset % max(1, len(cuts))]
        tried = turned[:_MOST]
        differing = _differing(best[0], tried, release, stop)
        if differing:
            more = _differing(best[0], list(_together([cut for cut, _ in differing])), release, stop)
            best, offset = max([*differing, *more], key=lambda each: each[0].size)[1], 0
        elif (offset := offset + _MOST) >= len(cuts):
            break
    return best


def _differing(
    job: Job, cuts: Sequence[_Cut], release: str, stop: threading.Event
) -> list[tuple[_Cut, tuple[Job, comparing.Verdict]]]:
    """Return the cuts after which something still differs, each with what is left."""
    judged = _judged([_without(job, cut) for cut in cuts], release, stop)
    return [(cut, each) for cut, each in zip(cuts, judged, strict=True) if each[1].kind == comparing.DIFFERS]


def _judged(jobs: list[Job], release: str, stop: threading.Event) -> list[tuple[Job, comparing.Verdict]]:
    if not jobs:
        return []
    answers = machine.carry_out(jobs, release, lambda _: None, stop)
    return [(job, comparing.compare(job, answer, release)) for job, answer in zip(jobs, answers, strict=True)]


def _without(job: Job, cut: _Cut) -> Job:
    """Return the tree without what is cut."""
    commands = [command for place, command in enumerate(job.commands) if place not in cut.commands]
    packets = [packet for place, packet in enumerate(job.packets) if place not in cut.packets]
    changes = [change for place, change in enumerate(job.changes) if place not in cut.changes]
    return job.with_only(commands, packets, changes)


def _together(cuts: list[_Cut]) -> Iterator[_Cut]:
    """Yield what several cuts save together, the largest of them first."""
    largest = sorted(cuts, key=lambda cut: -cut.size)
    united, count = largest[0], 1
    for cut in largest[1:]:
        united, count = united | cut, count + 1
        if count <= 4 or count % 4 == 0 or count == len(largest):
            yield united


def _cuts(job: Job) -> Iterator[_Cut]:
    """Yield what a tree may lack, the largest things first."""
    packets = job.packets
    count = len(packets)
    yield from (_Cut(changes=frozenset({place})) for place in range(len(job.changes)))
    for part in (count // 2, count // 4, count // 8, count // 16, 1):
        if part:
            yield _Cut(packets=frozenset(range(count - part, count)))
            yield _Cut(packets=frozenset(range(part)))
    for flow in {packet.flow for packet in packets}:
        of_flow = frozenset(place for place, packet in enumerate(packets) if packet.flow == flow)
        if len(of_flow) < count:
            yield _Cut(packets=of_flow)
    for gone in sorted(_parts(job.commands), key=len, reverse=True):
        yield _Cut(commands=gone)
    step = max(1, count // 12)
    for place in range(0, count, step):
        yield _Cut(packets=frozenset(range(place, min(count, place + step))))


def _parts(commands: Sequence[str]) -> Iterator[frozenset[int]]:
    """Yield commands that can go together: a class or a discipline goes with all that is below it."""
    for place in range(1, len(commands)):
        gone = _below(commands, place)
        if len(gone) < len(commands):
            yield gone


def _below(commands: Sequence[str], first: int) -> frozenset[int]:
    gone, names = {first}, {_name(commands[first])} - {""}
    for place, other in enumerate(commands):
        words = other.split()
        parent = words[words.index("parent") + 1] if "parent" in words else ""
        target = words[words.index("flowid") + 1] if "flowid" in words else ""
        if parent in names or target in names or (parent and f"{parent.split(':')[0]}:" in names):
            gone.add(place)
            names |= {_name(other)} - {""}
    return frozenset(gone)


def _name(command: str) -> str:
    words = command.split()
    if words[0] == "filter":
        return ""
    return words[words.index("handle" if words[0] == "qdisc" else "classid") + 1]
