"""What makes a run of this engine, as a hash: it stands in the run's key in a store, before anything runs.

In a virtual machine it is made by the image (the packages, and the recipe that makes an image of them), by qemu, and
by our own code: the laboratory in the machine, what plans the run and what reads its captures. On this host it is the
host's kernel and `tc` in place of image and qemu. Of qemu its version counts, not Debian's revision of it.
"""

import functools
import hashlib
import json
import os
import shutil
import subprocess
from pathlib import Path

from goodqueue.engines.kernel import host, image, planning, vm
from goodqueue.record import Scenario

_FOLDER = Path(__file__).parent


def build(scenario: Scenario) -> str:
    """Return 12 hexadecimal digits: two runs of one ``scenario`` here that share them are made by the same.

    Raises UserError for what Linux cannot run, and where apt must be asked what an image would be of and does not say.
    """
    in_vm = vm.why_not(planning.plan(scenario)) is None
    made_of = ["vm", image.wanted(), vm.version()] if in_vm else ["host", *_host()]
    return hashlib.sha256(json.dumps([*made_of, laboratory()]).encode()).hexdigest()[:12]


@functools.cache
def laboratory() -> str:
    """Return a hash of every file of this package: its names and bytes, 12 hexadecimal digits."""
    found = hashlib.sha256()
    for path in sorted(path for ending in ("py", "sh") for path in _FOLDER.rglob(f"*.{ending}")):
        content = hashlib.sha256(path.read_bytes()).hexdigest()
        found.update(f"{path.relative_to(_FOLDER).as_posix()} {content}\n".encode())
    return found.hexdigest()[:12]


@functools.cache
def _host() -> tuple[str, str, str]:
    """Return this host's kernel, its build, and its ``tc``."""
    tc = shutil.which("tc", path=host.path())
    said = subprocess.run([tc, "-V"], check=False, capture_output=True, text=True).stdout if tc else ""
    return os.uname().release, os.uname().version, said.strip()
