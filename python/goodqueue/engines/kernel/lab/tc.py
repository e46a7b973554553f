"""The program ``tc``: an operator's qdisc line is made of its words, and its counters are what operators read."""

import json
import subprocess
from typing import Any

from .commands import Words
from .errors import LabError


def batch(lines: list[Words]) -> None:
    """Have ``tc`` do ``lines`` in this network namespace."""
    if not lines:
        return
    text = "".join(" ".join(words) + "\n" for words in lines)
    done = _tc("-batch", "-", text=text)
    if done.returncode != 0 or done.stderr:
        raise LabError(f"tc: {_last_words(done.stderr, lines)}")


def counters(device: str) -> Any:
    """Return the disciplines of ``device`` and their counters, as ``tc -s -j`` tells them."""
    done = _tc("-s", "-j", "qdisc", "show", "dev", device)
    if done.returncode != 0:
        raise LabError(f"tc: {done.stderr.strip()}")
    return json.loads(done.stdout)


def version() -> str:
    """Return what ``tc -V`` says."""
    return _tc("-V").stdout.strip()


def _last_words(stderr: str, lines: list[Words]) -> str:
    """Return tc's complaint and the line it is about, which tc gives by number (``Command failed -:3``)."""
    said = [line for line in stderr.splitlines() if line.strip()]
    failed = [line.rpartition(":")[2] for line in said if line.startswith("Command failed")]
    complaint = "; ".join(line for line in said if not line.startswith("Command failed"))
    if failed and failed[0].isdigit():
        return f"{complaint} in: {' '.join(lines[int(failed[0]) - 1])}"
    return complaint


def _tc(*arguments: str, text: str | None = None) -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(["tc", *arguments], input=text, check=False, capture_output=True, text=True)  # noqa: S607
    except FileNotFoundError:
        raise LabError("tc: not found; accepted: the program of package iproute2 on PATH") from None
