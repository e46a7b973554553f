"""TMIX's connection vectors: files with the sends of connections' ends, and their waits (Weigle et al. 2006).

    SEQ 6851 1 1 55564          the connection begins after 6851 us, with one exchange; two numbers from the capture
    w 64800 6432                the ends' windows; r is the least round-trip time in us, l the losses
    > 245                       the initiator sends 245 bytes
    t 21217                     the acceptor has them and then waits for 21217 us
    < 510                       and sends 510 bytes

In a concurrent connection (``CONC``, then how often each end sends) the ends send and wait independently: ``c>``,
``t>``, ``c<``, ``t<``. Windows, round-trip times and losses are ignored: the simulated path has its own.
"""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from goodqueue.errors import UserError, quoted
from goodqueue.files import inputs

KEY = "vectors"
"""The key of a traffic source that may name such a file."""

ACCEPTED = "a file of TMIX's connection vectors, SEQ and CONC"
MOST_BYTES = 256 * inputs.MIB
MOST = 10**12
"""The largest number of bytes or microseconds, as in the core."""

_HEADS = {"SEQ": ("a start, the number of exchanges and two more", 4), "CONC": ("a start and four more", 5)}
_LEFT_OUT = ("w", "r", "l")
_SENDS = {"SEQ": {">": ">", "<": "<"}, "CONC": {"c>": ">", "c<": "<"}}
_WAITS = {"SEQ": {"t": ""}, "CONC": {"t>": ">", "t<": "<"}}


def expand(traffic: Any, folder: Path, pipes: bool = True) -> None:
    """Replace the file names in tables of ``traffic`` (relative to ``folder``) by the vectors in the files.

    The name stays beside the vectors, because titles show it.

    A malformed ``traffic`` is left for the core to refuse. Raises UserError for a broken file.
    """
    for source in traffic if isinstance(traffic, list) else []:
        if isinstance(source, dict) and isinstance(source.get(KEY), str):
            file = folder / source[KEY]
            source |= {KEY: read(file, pipes), "file": file.name}


def read(file: Path, pipes: bool = True) -> list[dict[str, Any]]:
    """Return the vectors in ``file`` as a scenario has them. Raises UserError with the file and the line."""
    text = inputs.read_text(file, MOST_BYTES, ACCEPTED, pipes)
    vectors: list[dict[str, Any]] = []
    lines: list[int] = []
    kind = ""
    for number, line in enumerate(text.splitlines(), 1):
        words = line.split()
        if not words or words[0].startswith("#"):
            continue
        try:
            if words[0] in _HEADS or not vectors:
                kind = words[0]
                vectors.append(_begun(words))
                lines.append(number)
            elif words[0] not in _LEFT_OUT:
                _add(vectors[-1]["sends"], kind, words)
        except ValueError as error:
            raise UserError(f"{file}:{number}", f"found {quoted(line.strip())}; accepted: {error}") from None
    if not vectors:
        raise UserError(str(file), f"found no connection; accepted: {ACCEPTED}")
    for vector, number in zip(vectors, lines, strict=True):
        if not vector["sends"]:
            raise UserError(f"{file}:{number}", "found a connection that sends nothing; accepted: one that sends")
    return vectors


def _begun(words: list[str]) -> dict[str, Any]:
    if words[0] not in _HEADS:
        raise ValueError("SEQ or CONC, with which a connection begins")
    what, count = _HEADS[words[0]]
    if len(words) != count + 1:
        raise ValueError(f"{words[0]} and {count} numbers: {what}")
    vector: dict[str, Any] = {"start_us": _whole(words[1], 0)}
    if words[0] == "CONC":
        vector["concurrent"] = True
    return vector | {"sends": []}


def _add(sends: list[list[Any]], kind: str, words: list[str]) -> None:
    """Add the content of a line to the sends of a connection of ``kind``."""
    accepted = ", ".join([*_SENDS[kind], *_WAITS[kind], *_LEFT_OUT])
    if len(words) != 2 or words[0] not in (*_SENDS[kind], *_WAITS[kind]):
        raise ValueError(f"one of {accepted}, and a number, or the next connection")
    if words[0] in _SENDS[kind]:
        sends.append([_SENDS[kind][words[0]], _whole(words[1], 1), 0])
        return
    side_that_waits = _WAITS[kind][words[0]]
    before = next((send for send in reversed(sends) if side_that_waits in ("", send[0])), None)
    if before is None:
        raise ValueError("a wait behind what was sent")
    before[2] += _whole(words[1], 0)


def _whole(word: str, least: int) -> int:
    number = int(word) if word.isascii() and word.isdecimal() and len(word) < 14 else -1
    if not least <= number <= MOST:
        raise ValueError(f"a whole number from {least} to {MOST}")
    return number


def text(vectors: Iterable[Mapping[str, Any]]) -> str:
    """Return ``vectors`` in the file's format, with ``rtt_us`` and ``windows`` of each if they are known."""
    return "".join(f"{line}\n" for number, vector in enumerate(vectors, 1) for line in _lines(number, vector))


def _lines(number: int, vector: Mapping[str, Any]) -> Iterator[str]:
    concurrent = vector.get("concurrent", False)
    sends = vector["sends"]
    up, down = (sum(send[0] == direction for send in sends) for direction in "><")
    counts = f"CONC {vector['start_us']} {up} {down}" if concurrent else f"SEQ {vector['start_us']} {max(up, down)}"
    yield f"{counts} {number} {number}"
    if windows := vector.get("windows"):
        yield f"w {windows[0]} {windows[1]}"
    if (rtt_us := vector.get("rtt_us")) is not None:
        yield f"r {rtt_us}"
    for direction, size, wait_us in sends:
        yield f"{'c' if concurrent else ''}{direction} {size}"
        if wait_us:
            yield f"t{direction if concurrent else ''} {wait_us}"
