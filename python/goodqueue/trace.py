"""Captures of a run: which file, taken where, and how much of each packet."""

from dataclasses import dataclass
from pathlib import Path

from goodqueue.errors import UserError, quoted
from goodqueue.output import remove_drafts

SUFFIX = ".pcapng"
WHOLE_BYTES = 65536
"""More than any packet has."""

LEAST_BYTES = 54
"""The headers of Ethernet, IPv4 and TCP without options."""

DEFAULTS = {"sim": ("sender",), "kernel": ("down-in", "up-out")}
"""Where each engine captures if nothing is said: at points that see each packet once, for tools such as Wireshark take
a packet that they see at two places for two packets."""

OF_KERNEL = ("down-in", "down-out", "up-in", "up-out")
"""The laboratory captures at the router that has the queues."""


@dataclass(frozen=True, slots=True)
class Trace:
    """A capture that is asked for."""

    path: str
    points: tuple[str, ...]
    snap_bytes: int = WHOLE_BYTES


def parse(file: str, at: str | None, snap_bytes: int | None, engine: str) -> Trace:
    """Return what ``--trace``, ``--trace-at`` and ``--trace-snap`` ask of ``engine``.

    Raises UserError, for a file that cannot be written too, so that nothing is simulated in vain.
    """
    name, path = f"--trace {file}", Path(file)
    if path.suffix != SUFFIX:
        accepted = f"a name that ends in {SUFFIX} (for other tools: editcap -F pcap)"
        raise UserError(name, f"found a name that ends in {quoted(path.suffix)}; accepted: {accepted}")
    if not path.parent.is_dir():
        raise UserError(name, f"cannot be written: {path.parent} is no folder")
    if engine == "kernel" and snap_bytes is not None:
        raise UserError("--trace-snap", "found with --engine kernel, whose captures hold 100 bytes; accepted: without")
    points = _points(at, engine)
    remove_drafts(path.parent)
    return Trace(file, points, snap_bytes or WHOLE_BYTES)


def _points(text: str | None, engine: str) -> tuple[str, ...]:
    from goodqueue import _goodqueue

    if text is None:
        return DEFAULTS[engine]
    known = OF_KERNEL if engine == "kernel" else tuple(_goodqueue.trace_points())
    found = tuple(text.split(","))
    accepted = ", ".join(known) + ("" if engine == "sim" else f" (with --engine {engine})")
    for name in found:
        if name not in known:
            raise UserError("--trace-at", f"found {quoted(name)}; accepted: {accepted}")
    if len(set(found)) < len(found):
        raise UserError("--trace-at", f"found {quoted(text)}, the same twice; accepted: each once")
    return found
