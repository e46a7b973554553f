"""Runs the laboratory on this machine's own kernel, in real time.

It becomes the first process of a process namespace of its own: when that is killed, or we are, the kernel kills all
that it started, and with them go their network namespaces, interfaces and queue disciplines. None has a name outside.
"""

import os
import sys
import threading
from dataclasses import replace
from pathlib import Path

from goodqueue.engines.kernel import folders, watching
from goodqueue.engines.kernel.lab.plan import Plan
from goodqueue.errors import UserError
from goodqueue.run import Progress

_TRIAL_S = 0.2

_alone = threading.Lock()
"""Runs in real time take turns: two at once would disturb each other."""

_PACKAGES = Path(__file__).resolve().parents[3]
_SYSTEM_FOLDERS = ("/usr/sbin", "/sbin")
"""Where tc and tcpdump are, though a user's PATH may not lead there."""


def run(plan: Plan, folder: Path, progress: Progress, stop: threading.Event, name: str = "kernel engine") -> None:
    """Do ``plan`` here for the engine ``name``; its results stand in ``folder``/results then.

    Raises StoppedError, and UserError where the run fails.
    """
    with _alone:
        failed = _attempt(plan, folder, progress, stop, name)
    if failed is not None:
        raise UserError(name, failed)


def why_not(plan: Plan, stop: threading.Event) -> str | None:
    """Return why this machine cannot do ``plan``, or None where it can: its network is built and used for a moment."""
    flows = [replace(flow, start_s=0.0, stop_s=_TRIAL_S) for flow in plan.flows]
    trial = replace(plan, duration_s=_TRIAL_S, warmup_s=0.0, drain_s=0.0, sample_s=None, flows=flows)
    with folders.private() as folder:
        return _attempt(trial, folder, lambda _: None, stop, "kernel engine")


def _attempt(plan: Plan, folder: Path, progress: Progress, stop: threading.Event, name: str) -> str | None:
    """Do ``plan`` and return None, or why it failed."""
    task, results = folder / "plan.json", folder / "results"
    task.write_text(plan.to_json(), encoding="utf-8")
    results.mkdir()
    ended = watching.watch(_command(task, results), progress, stop, name)
    if ended.status == 0:
        return None
    said = [line for line in ended.lines if line.strip()]
    return ended.error or (said[-1] if said else f"the laboratory ended with status {ended.status}")


def path() -> str:
    """Return where ``tc`` and ``tcpdump`` are looked for."""
    return os.pathsep.join([os.environ.get("PATH", os.defpath), *_SYSTEM_FOLDERS])


def _command(task: Path, results: Path) -> list[str]:
    # In a user namespace whoever may make one can build networks; root needs none. Not as root there: tcpdump would
    # become another user then, which it may not.
    user = [] if os.geteuid() == 0 else ["--user", "--map-current-user", "--keep-caps"]
    modules = os.pathsep.join(filter(None, [str(_PACKAGES), os.environ.get("PYTHONPATH")]))
    command = ["unshare", *user, "--net", "--mount", "--pid", "--fork", "--kill-child=KILL", "--mount-proc"]
    command += ["env", f"PATH={path()}", f"PYTHONPATH={modules}", sys.executable, "-m", "goodqueue.engines.kernel.lab"]
    return [*command, str(task), str(results)]
