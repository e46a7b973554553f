"""Runs the laboratory in Linux as an ordinary process, in virtual time.

Linux calls this user mode Linux in time travel mode. Its clock stands still while it works, and jumps to the next timer
when all its programs wait. So what a program or Linux itself computes takes no time, a busy host disturbs nothing, and
two runs of one scenario and seed give the same bytes. The machine sees one folder of the host, which has its order and
takes its results.
"""

import os
import shutil
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from goodqueue.engines.kernel import image, machine, process_build, process_files, watching
from goodqueue.engines.kernel.lab.plan import Plan
from goodqueue.running import Progress

_SHARED_MEMORY = Path("/dev/shm")  # noqa: S108

STARTED_NS = 1_577_836_800_000_000_000
"""The calendar's time at the start of each run: 2020-01-01."""

_ROOT = "root"
"""The name of the root in a run's folder."""

_ENVIRONMENT = ("PATH=/usr/sbin:/usr/bin", f"PYTHONPATH=/{machine.LAB}", "PYTHONHASHSEED=0")


def run(
    system: image.Image, program: Path, plan: Plan, folder: Path, progress: Progress, stop: threading.Event
) -> None:
    """Do ``plan`` in the kernel that ``program`` is, and leave the results in ``folder``/results.

    Raises StoppedError, and UserError if the run fails.
    """
    (folder / "plan.json").write_text(plan.to_json(), encoding="utf-8")
    machine.results(folder)
    memory_mb = machine.memory_mb(plan)
    with process_files.root(system, stop) as root, core() as number:
        # Its random numbers depend on each word of the command line, so this name is the same in all runs.
        (folder / _ROOT).symlink_to(root)
        place = ["env", "-C", str(folder), f"TMPDIR={memorys_folder(folder, memory_mb)}"]
        # A folder's own name would change. This one is the folder in which the program was started.
        words = [f"mem={memory_mb}M", "hostfs=/proc/self/cwd", f"SEED={machine.seed(plan)}", *_ENVIRONMENT]
        words += [f"CAPTURES={memory_mb - machine.SYSTEM_MB}m"]
        words += ["root=/dev/root", "rootfstype=hostfs", f"rootflags=/{_ROOT}", "ro"]
        words += ["init=/usr/bin/python3", "--", "-S", process_files.FIRST]
        ran = [*place, *command(program, words, system.release, number)]
        ended = watching.watch(ran, progress, stop, machine.NAME)
    if "done" not in ended.lines:
        raise machine.failed(ended)


def command(program: Path, words: list[str], release: str, core: int, started_ns: int = STARTED_NS) -> list[str]:
    """Return the command that runs ``program``, Linux of ``release``, on a ``core`` with ``words`` on its command line.

    Random numbers depend on Linux's command line, so it has no word that changes between runs. Linux passes words that
    it does not know to the first process as environment variables.
    """
    every = ["time-travel=inf-cpu", f"time-travel-start={started_ns}"]
    every += ["con=null", "ssl=null", "con0=null,fd:1", "quiet", "panic=-1", "noreboot", "uml_dir=./", "umid=machine"]
    if process_build.has_seccomp(release):
        every.append("seccomp=auto")
    # Linux and each of its programs take turns. On two cores each turn would wake the other core, which takes five
    # times as long as one core needs for both.
    return ["taskset", "--cpu-list", str(core), *process_build.FIXED, str(program), *every, *words]


def memorys_folder(folder: Path, memory_mb: int) -> Path:
    """Return where the file lies that is the machine's memory: in memory, unless a container left too little of it."""
    try:
        can_execute = not os.statvfs(_SHARED_MEMORY).f_flag & os.ST_NOEXEC
        if can_execute and shutil.disk_usage(_SHARED_MEMORY).free >= memory_mb << 20:
            return _SHARED_MEMORY
    except OSError:
        pass
    return folder


@contextmanager
def core() -> Iterator[int]:
    """Yield the number of a core that no other run has, as long as there is one.

    A run holds its core by the name of a socket, which all users of the machine see, and which dies with the process.
    """
    cores = sorted(os.sched_getaffinity(0))
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as holder:
        for core in cores:
            try:
                holder.bind(f"\0goodqueue-core-{core}")
            except OSError:
                continue
            yield core
            return
        yield cores[os.getpid() % len(cores)]
