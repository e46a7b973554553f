"""The program ``tc``: it takes the words of an operator's qdisc line, and its counters are what operators read."""

import subprocess
from typing import Any

from . import loose_json
from .commands import Words
from .errors import LabError

EACH_HAS = ("packets", "drops", "qlen")
"""The counters of each discipline that are compared with the captures."""


def batch(lines: list[Words]) -> list[str]:
    """Run the commands ``lines`` with ``tc`` in this network namespace.

    Return what ``tc`` said about them, such as the kernel's warnings. Raises LabError if it did not run all of them.
    """
    if not lines:
        return []
    text = "".join(" ".join(words) + "\n" for words in lines)
    done = _tc("-batch", "-", text=text)
    if done.returncode != 0:
        raise LabError(f"tc: {_last_words(done.stderr, lines)}")
    return said(done.stderr)


def said(stderr: str) -> list[str]:
    """Return the lines of ``stderr``, each once."""
    return list(dict.fromkeys(line.strip() for line in stderr.splitlines() if line.strip()))


def counters(devices: dict[str, str | None]) -> list[list[dict[str, Any]]]:
    """Return the disciplines of each of ``devices`` and their counters, as ``tc -s -j`` has them.

    A device has all its disciplines, or the one with the handle that stands beside it. To start ``tc`` takes much of
    what a short run takes, so it shows several devices at once where it can.
    """
    if len(devices) == 1 or any(devices.values()):
        return [_shown("dev", name, *(["handle", handle] if handle else [])) for name, handle in devices.items()]
    by_device: dict[str, list[dict[str, Any]]] = {name: [] for name in devices}
    for entry in _shown():
        by_device.get(entry.pop("dev"), []).append(entry)
    return list(by_device.values())


def _shown(*chosen: str) -> list[dict[str, Any]]:
    done = _tc("-s", "-j", "qdisc", "show", *chosen)
    if done.returncode != 0:
        raise LabError(f"tc: {'; '.join(said(done.stderr)) or f'status {done.returncode}'}")
    return disciplines(done.stdout)


def disciplines(shown: str) -> list[dict[str, Any]]:
    """Return the disciplines that ``tc -s -j qdisc show`` has ``shown``, each with the counters that all have."""
    entries = loose_json.read(shown)
    whole = [entry for entry in entries if isinstance(entry, dict)] if isinstance(entries, list) else []
    if not whole or not all(isinstance(entry.get("handle"), str) for entry in whole):
        raise LabError(
            f"tc -s -j qdisc show: found {shown.strip()[:60]!r}; accepted: a list of disciplines with handles"
        )
    for entry in whole:
        if lacking := [name for name in EACH_HAS if not isinstance(entry.get(name), int)]:
            what = f"no {' and no '.join(lacking)} of {entry.get('kind')} {entry['handle']}"
            raise LabError(f"tc -s -j qdisc show: found {what}; accepted: a number")
    return whole


def version() -> str:
    """Return the output of ``tc -V``."""
    return _tc("-V").stdout.strip()


def _last_words(stderr: str, lines: list[Words]) -> str:
    """Return tc's error message and the line with the error. tc gives the line's number (``Command failed -:3``)."""
    failed = [line.rpartition(":")[2] for line in said(stderr) if line.startswith("Command failed")]
    complaint = "; ".join(line for line in said(stderr) if not line.startswith(("Command failed", "Warning:")))
    if failed and failed[0].isdigit():
        return f"{complaint} in: {' '.join(lines[int(failed[0]) - 1])}"
    return complaint


def _tc(*arguments: str, text: str | None = None) -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(["tc", *arguments], input=text, check=False, capture_output=True, text=True)  # noqa: S607
    except FileNotFoundError:
        raise LabError("tc: not found; accepted: the program of package iproute2 on PATH") from None
