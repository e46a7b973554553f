"""Runs the laboratory on this machine's own kernel, in real time.

The laboratory becomes the first process of its own process namespace. If it or this process is killed, the kernel
kills everything that the laboratory started. Its network namespaces, interfaces and queue disciplines vanish with it.
None of them has a name outside.
"""

import os
import sys
import threading
from dataclasses import replace
from pathlib import Path

from goodqueue.engines.kernel import folders, watching
from goodqueue.engines.kernel.lab.plan import Plan
from goodqueue.errors import UserError
from goodqueue.files import drafts
from goodqueue.running import Progress

_TRIAL_S = 0.2

_alone = threading.Lock()
"""Runs in real time take turns, since two at once would disturb each other."""

_PACKAGES = Path(__file__).resolve().parents[3]
_SYSTEM_FOLDERS = ("/usr/sbin", "/sbin")
"""Folders of tc and tcpdump that may be missing from a user's PATH."""


def run(plan: Plan, folder: Path, progress: Progress, stop: threading.Event, name: str = "kernel engine") -> None:
    """Do ``plan`` on this machine for the engine ``name``, and leave the results in ``folder``/results.

    Raises StoppedError, and UserError if the run fails.
    """
    with _alone:
        failed = _attempt(plan, folder, progress, stop, name)
    if failed is not None:
        raise UserError(name, failed)


def why_not(plan: Plan, stop: threading.Event) -> str | None:
    """Return why this machine cannot do ``plan``, or None. Builds the plan's network and uses it for a moment."""
    flows = [replace(flow, start_s=0.0, stop_s=_TRIAL_S) for flow in plan.flows]
    trial = replace(plan, duration_s=_TRIAL_S, warmup_s=0.0, drain_s=0.0, sample_s=None, flows=flows)
    with folders.private() as folder:
        return _attempt(trial, folder, lambda _: None, stop, "kernel engine")


def _attempt(plan: Plan, folder: Path, progress: Progress, stop: threading.Event, name: str) -> str | None:
    """Do ``plan`` and return None, or the reason of the failure."""
    task, results = folder / "plan.json", folder / "results"
    task.write_text(plan.to_json(), encoding="utf-8")
    results.mkdir()
    trace = plan.own.trace if plan.own else None
    inherited = drafts.inherited(trace["path"] if trace else None)
    ended = watching.watch(_command(task, results), progress, stop, name, inherited)
    if ended.status == 0:
        return None
    words = [line for line in ended.lines if line.strip()]
    return ended.error or (words[-1] if words else f"the laboratory ended with status {ended.status}")


def path() -> str:
    """Return the folders in which ``tc`` and ``tcpdump`` are searched."""
    return os.pathsep.join([os.environ.get("PATH", os.defpath), *_SYSTEM_FOLDERS])


def _command(task: Path, results: Path) -> list[str]:
    # Any user who may make a user namespace can build networks in it; root needs none. The user is not mapped to
    # root: tcpdump would then try to change its user, which is not permitted there.
    user = [] if os.geteuid() == 0 else ["--user", "--map-current-user", "--keep-caps"]
    modules = os.pathsep.join(filter(None, [str(_PACKAGES), os.environ.get("PYTHONPATH")]))
    command = ["unshare", *user, "--net", "--mount", "--pid", "--fork", "--kill-child=KILL", "--mount-proc"]
    command += ["env", f"PATH={path()}", f"PYTHONPATH={modules}", sys.executable, "-m", "goodqueue.engines.kernel.lab"]
    return [*command, str(task), str(results)]
