"""Captures of a run: the file, the points of capture, and the number of bytes per packet."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from goodqueue.errors import UserError, quoted
from goodqueue.files import drafts, output
from goodqueue.options import BOUNDS
from goodqueue.record import Scenario

SUFFIX = ".pcapng"
EPOCH_S = 946_684_800
"""Time zero of a simulated run in its captures: 2000-01-01 00:00:00 UTC."""

WHOLE_BYTES = BOUNDS["trace_snap"][1]
"""More bytes than any packet has."""

DEFAULTS = {"sim": ("sender",), "kernel": ("down-in", "up-out"), "live": ("down-in", "up-out")}
"""The default points of each engine. They see each packet once, since tools such as Wireshark take a packet that they
see at two points for two packets."""

AIR = "air"
"""The point of a Wi-Fi cell: the frames that a card in monitor mode would see."""

AT_QUEUES = {
    "kernel": ("down-in", "down-out", "up-in", "up-out"),
    "live": ("down-in", "down-out", "down-drop", "up-in", "up-out", "up-drop"),
}
"""Engines that capture only at the router with the queues, and their points."""


class Trace(NamedTuple):
    """A capture to be made."""

    path: str
    """The file that the engine writes."""
    points: tuple[str, ...]
    snap_bytes: int = WHOLE_BYTES
    file: str = ""
    """The final file, to which `settle` moves it. Empty if it is ``path``."""

    def refusal(self, error: Exception) -> UserError:
        """Return the error message for an error of the core while writing."""
        return UserError(f"--trace {str(error).replace(self.path, self.file or self.path)}")


@contextmanager
def asked(
    file: str | None,
    at: str | None,
    snap_bytes: int | None,
    engine: str,
    force: bool = False,
    read: Iterable[Path] = (),
) -> Iterator[Trace | None]:
    """Yield the capture that ``--trace``, ``--trace-at`` and ``--trace-snap`` describe, if there is one.

    ``engine`` is the kind of the engine.

    What `settle` has not moved by the end is removed. Raises UserError, also for a file that exists, cannot be written
    or is among those that the command has ``read``, so that no run is made in vain.
    """
    if file is None:
        yield None
        return
    name, path = f"--trace {file}", Path(file)
    if path.suffix != SUFFIX:
        accepted = f"a name that ends in {SUFFIX} (for other tools: editcap -F pcap)"
        raise UserError(name, f"found a name that ends in {quoted(path.suffix)}; accepted: {accepted}")
    output.check_file(file, force, "--trace")
    output.spare(file, read, "--trace")
    if engine == "kernel" and snap_bytes is not None:
        raise UserError("--trace-snap", "found with --engine kernel, whose captures hold 100 bytes; accepted: without")
    points = _points(at, engine)
    target = path.resolve()  # a link's target may be on another file system
    drafts.sweep(target.parent)
    try:
        draft = drafts.create(target)
    except OSError as error:
        raise UserError(name, f"cannot be written: {error.strerror or error}") from error
    try:
        yield Trace(str(draft), points, snap_bytes or WHOLE_BYTES, file)
    finally:
        drafts.discard(draft)


def check(scenario: Scenario, points: Sequence[str]) -> None:
    """Check that ``scenario`` can be captured at ``points``.

    The points of hosts refuse hops, interfaces of hosts and cards in front of the queue, where packets are before the
    queue that a capture knows. Raises UserError, also for the point of the air without Wi-Fi.
    """
    from goodqueue.scenario import paths  # which takes its time, and the command line starts with this module

    if AIR in points and "wifi" not in scenario["bottleneck"]:
        raise UserError("--trace-at", f"found {AIR}, and no [bottleneck.wifi]; accepted: points of a wire")
    at_host = next((point for point in points if point not in AT_QUEUES["live"]), None)
    if at_host is None:
        return
    accepted = f"accepted at the point {at_host}: none; points of a queue take all, as --trace-at down-in,up-out"
    if hops := scenario.get("hop"):
        raise UserError("hop", f"found {quoted(hops[0]['name'])}, a {hops[0]['kind']}; {accepted}")
    if any("qdisc" in host for host in scenario.get("host", [])):
        raise UserError("host", f"found one with an interface; {accepted}")
    for key, link in paths.links(scenario):
        if "rx_usecs" in link:
            raise UserError(f"{key}.rx_usecs", f"found a card; {accepted}")


def settle(trace: Trace, force: bool) -> str:
    """Move a finished capture to its place, or to a free name beside it, and return its path. Raises UserError."""
    try:
        return output.settle(Path(trace.path), trace.file, force)
    except OSError as error:
        raise UserError(f"--trace {trace.file}", f"cannot be written: {error.strerror or error}") from error


def _points(text: str | None, engine: str) -> tuple[str, ...]:
    from goodqueue import _goodqueue

    if text is None:
        return DEFAULTS[engine]
    points = AT_QUEUES.get(engine) or tuple(_goodqueue.trace_points())
    chosen = tuple(text.split(","))
    accepted = ", ".join(points) + (f" (with --engine {engine})" if engine == "kernel" else "")
    for name in chosen:
        if name not in points:
            raise UserError("--trace-at", f"found {quoted(name)}; accepted: {accepted}")
    if len(set(chosen)) < len(chosen):
        raise UserError("--trace-at", f"found {quoted(text)}, the same twice; accepted: each once")
    return chosen
