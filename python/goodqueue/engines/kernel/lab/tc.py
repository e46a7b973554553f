"""The program ``tc``: it takes the words of an operator's qdisc line, and its counters are what operators read."""

import json
import subprocess
from typing import Any

from .commands import Words
from .errors import LabError


def batch(lines: list[Words]) -> None:
    """Run the commands ``lines`` with ``tc`` in this network namespace."""
    if not lines:
        return
    text = "".join(" ".join(words) + "\n" for words in lines)
    done = _tc("-batch", "-", text=text)
    if done.returncode != 0 or done.stderr:
        raise LabError(f"tc: {_last_words(done.stderr, lines)}")


def counters(device: str, handle: str | None = None) -> Any:
    """Return the disciplines of ``device`` and their counters, as ``tc -s -j`` has them: all, or ``handle`` alone."""
    only = [] if handle is None else ["handle", handle]
    done = _tc("-s", "-j", "qdisc", "show", "dev", device, *only)
    if done.returncode != 0:
        raise LabError(f"tc: {done.stderr.strip()}")
    return json.loads(done.stdout)


def version() -> str:
    """Return the output of ``tc -V``."""
    return _tc("-V").stdout.strip()


def _last_words(stderr: str, lines: list[Words]) -> str:
    """Return tc's error message and the line with the error. tc gives the line's number (``Command failed -:3``)."""
    stderr_lines = [line for line in stderr.splitlines() if line.strip()]
    failed = [line.rpartition(":")[2] for line in stderr_lines if line.startswith("Command failed")]
    complaint = "; ".join(line for line in stderr_lines if not line.startswith("Command failed"))
    if failed and failed[0].isdigit():
        return f"{complaint} in: {' '.join(lines[int(failed[0]) - 1])}"
    return complaint


def _tc(*arguments: str, text: str | None = None) -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(["tc", *arguments], input=text, check=False, capture_output=True, text=True)  # noqa: S607
    except FileNotFoundError:
        raise LabError("tc: not found; accepted: the program of package iproute2 on PATH") from None
