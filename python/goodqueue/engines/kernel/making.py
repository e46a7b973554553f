"""The hash of everything that computes a run of this engine. It is part of the run's key in a store.

For a run in a virtual machine the hash covers the image (the packages and the recipe), qemu, and goodqueue's own
code: the laboratory, the planning and the reading of captures. For a run in Linux as a process, what it is built with
replaces qemu. For a run on this host, the host's kernel and `tc` replace image and qemu. Only qemu's version counts,
not Debian's revision of it.
"""

import functools
import hashlib
import json
import os
import shutil
import subprocess
from pathlib import Path

from goodqueue.engines.kernel import host, image, planning, process_build, vm
from goodqueue.record import Scenario

_FOLDER = Path(__file__).parent


def build(scenario: Scenario, release: str | None = None, machine: str | None = None) -> str:
    """Return 12 hexadecimal digits, which are equal for two runs of ``scenario`` if the same things compute them.

    ``release`` and ``machine`` are the release of Linux and the machine that are asked for. The host's kernel is none.

    Raises UserError if Linux cannot run the scenario, or if apt must be asked for an image's packages and fails.
    """
    if machine == "process" or process_build.is_taken(release, machine):
        made_of = ["process", image.wanted(release), process_build.recipe_of(release)]
    elif release is not None or machine is not None or vm.why_not(planning.plan(scenario)) is None:
        made_of = ["vm", image.wanted(release), vm.version()]
    else:
        made_of = ["host", *_host()]
    return hashlib.sha256(json.dumps([*made_of, laboratory()]).encode()).hexdigest()[:12]


@functools.cache
def laboratory() -> str:
    """Return a hash of the names and bytes of every file of this package: 12 hexadecimal digits."""
    digest = hashlib.sha256()
    for path in sorted(path for ending in ("py", "sh") for path in _FOLDER.rglob(f"*.{ending}")):
        content = hashlib.sha256(path.read_bytes()).hexdigest()
        digest.update(f"{path.relative_to(_FOLDER).as_posix()} {content}\n".encode())
    return digest.hexdigest()[:12]


@functools.cache
def _host() -> tuple[str, str, str]:
    """Return this host's kernel release, kernel build, and ``tc`` version."""
    tc = shutil.which("tc", path=host.path())
    tc_version = subprocess.run([tc, "-V"], check=False, capture_output=True, text=True).stdout if tc else ""
    return os.uname().release, os.uname().version, tc_version.strip()
