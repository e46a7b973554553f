"""Carries out JOB.in on Linux of a release: `guest.py` in Linux as a process, with the `tc` of that release.

`python tools/tc/machine.py RELEASE JOB...`, after `goodqueue kernel image --kernel RELEASE --machine process`. The
devices are an `ifb` of one queue and one of four, with the `txqueuelen` of an Ethernet device.
"""

import os
import pathlib
import subprocess
import sys
import tempfile

from goodqueue.engines.kernel import cpio, image, machine, process_build

_FIRST = """#!/usr/bin/busybox sh
export PATH=/usr/sbin:/usr/bin
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t devtmpfs dev /dev
mount -t hostfs host /host
PYTHONHASHSEED=0 python3 -S /lab/guest.py /host/{job}.in /host/{job}.out </dev/null 2>&1 && echo done
poweroff -f
"""


def run(release: str, job: pathlib.Path) -> None:
    """Carry out one job."""
    system = image.find(release)
    if system is None or not (program := process_build.program(system)).exists():
        sys.exit(f"found no Linux {release} as a process; accepted: {process_build.how_to_build(release)}")
    guest = pathlib.Path(__file__).with_name("guest.py").read_bytes()
    added = cpio.files({"init": _FIRST.format(job=job.name).encode(), "lab/guest.py": guest, "host/empty": b""})
    with tempfile.TemporaryDirectory() as folder, machine.first_files(system, added, pathlib.Path(folder)) as first:
        words = ["mem=512M", f"initrd={first}", "time-travel=inf-cpu", "con=null", "ssl=null", "con0=null,fd:1"]
        words += ["quiet", "panic=-1", "noreboot", "uml_dir=./", "hostfs=/proc/self/cwd", "seccomp=auto"]
        # Linux and its programs take turns, which is fastest on one core.
        core = sorted(os.sched_getaffinity(0))[sum(job.name.encode()) % len(os.sched_getaffinity(0))]
        command = ["taskset", "--cpu-list", str(core), str(program), *words]
        done = subprocess.run(command, cwd=job.parent, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if "done" not in done.stdout.splitlines():
        sys.exit(f"Linux {release} ended early:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")


if __name__ == "__main__":
    for name in sys.argv[2:]:
        run(sys.argv[1], pathlib.Path(name).resolve())
