"""Carries out trees on Linux as a process, with the `tc` of its release: many trees for each boot."""

import json
import re
import struct
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from goodqueue.engines.kernel import cpio, folders, image, machine, process, process_build, watching
from goodqueue.errors import UserError
from goodqueue.running import Progress
from goodqueue.validation.trees import guest
from goodqueue.validation.trees.job import Job, for_linux, number_of, tos_of

NAME = "validate trees"
MEMORY_MB = 512

_TICKS = "nohz=off"
"""An idle Linux stops its ticks, and timers that may be deferred (`sfq perturb`) wait until it works."""

_FIRST = """#!/usr/bin/busybox sh
export PATH=/usr/sbin:/usr/bin
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t devtmpfs dev /dev
mount -t hostfs host /host
PYTHONHASHSEED=0 python3 -S /lab/guest.py /host/jobs /host/answers </dev/null 2>&1 && echo done
poweroff -f
"""

Sent = tuple[int, int, int, int, int]
"""A packet that left: when (nanoseconds after the tree was made), its number, its segment, its length, codepoints."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What Linux made of a tree."""

    said: str
    """What `tc` said of commands that were refused."""
    sent: tuple[Sent, ...]
    left: int
    """Packets that waited at the end."""
    moved: tuple[tuple[int, int], ...] = ()
    """Packets that came later than planned, with their times."""


def version(release: str | None) -> str:
    """Return the version of Linux and the recipe of the program: what the answers follow from."""
    system = _system(release)
    return f"{system.version}-{process_build.recipe(system.release)}"


def release_of(release: str | None) -> str:
    """Return the release that is meant, as 6.1."""
    return _system(release).release


def carry_out(jobs: Sequence[Job], release: str | None, progress: Progress, stop: threading.Event) -> list[Answer]:
    """Return what Linux makes of each job. ``progress`` gets the share that is done. Raises UserError, StoppedError."""
    system = _system(release)
    added = cpio.files({"init": _FIRST.encode(), "lab/guest.py": Path(guest.__file__).read_bytes(), "host/empty": b""})
    with folders.private() as folder:
        (folder / "jobs").write_bytes(for_linux(jobs))
        with machine.first_files(system, added, folder) as first, process.core() as core:
            place = ["env", "-C", str(folder), f"TMPDIR={process.memorys_folder(folder, MEMORY_MB)}"]
            words = [f"mem={MEMORY_MB}M", f"initrd={first.name}", "hostfs=/proc/self/cwd", _TICKS]
            run = process.command(process_build.program(system), words, system.release, core)
            ended = watching.watch([*place, *run], lambda done: progress(done / len(jobs)), stop, NAME)
        if "done" not in ended.lines:
            raise machine.failed(ended)
        return list(_answers((folder / "answers").read_bytes(), jobs))


def _system(release: str | None) -> image.Image:
    system = image.find(release)
    if system is None or (why := process_build.why_not(release)) is not None:
        why = "no image" if system is None else why
        raise UserError(NAME, f"found {why}; accepted: {process_build.how_to_build(release)}")
    return system


def _answers(written: bytes, jobs: Sequence[Job]) -> Iterator[Answer]:
    at = 0
    for job in jobs:
        size, sent_size = struct.unpack_from("<II", written, at)
        text: dict[str, Any] = json.loads(written[at + 8 : at + 8 + size])
        at += 8 + size
        yield _answer(job, text, written[at : at + sent_size])
        at += sent_size


def _answer(job: Job, text: dict[str, Any], sent: bytes) -> Answer:
    if text["made_ns"] > guest.LONGEST_NS:
        raise UserError(NAME, f"tree {job.number}: it took {text['made_ns']} ns until Linux had made it")
    size = guest.SENT.size + guest.SHOWN
    sizes = [packet.size for packet in job.packets]
    left = []
    for place in range(0, len(sent), size):
        when, length = guest.SENT.unpack_from(sent, place)
        head = sent[place + guest.SENT.size : place + size]
        left.append((when, *number_of(head, sizes), length, tos_of(head)))
    waiting = re.search(r" root .*?^ backlog \S+ (\d+)p", text["counters"], re.DOTALL | re.MULTILINE)
    moved = tuple((number, at) for number, at in text["moved"])
    return Answer(text["said"], tuple(left), int(waiting[1]) if waiting else 0, moved)
