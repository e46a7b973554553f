"""Reads the user's files up to a maximum size, and checks them before parsing.

Each kind of file has a maximum size that no real file reaches: a reader that takes more than the memory would be killed
without a message. Deeper nesting than a real file has would exceed the recursion limit of the code that walks it.
"""

import io
import json
import os
import re
import stat
import tomllib
from pathlib import Path
from typing import IO, Any

from goodqueue.errors import UserError, quoted

MIB = 1 << 20

DEEPEST = 64
"""The deepest nesting of tables and lists, and the most parts of a dotted key. Our own files have eight."""

_LONG_KEY = re.compile(
    r"""(?<![\w"'.-])(?:(?:[\w-]++|"[^"\n]*+"|'[^'\n]*+')[ \t]*+\.[ \t]*+){%d}""" % DEEPEST  # noqa: UP031 - braces
)
"""Matches a key with this many words and dots. The time to find one is proportional to the length of the text."""


_HALF = re.compile(r"\\u[dD][89a-fA-F]")
"""Matches an escape sequence in JSON that is half of a character, if its other half does not follow or precede it."""


class TooDeepError(ValueError):
    """Raised if tables, lists or keys are nested deeper than `DEEPEST`."""

    def __init__(self) -> None:
        """Set the message."""
        super().__init__(f"nested deeper than {DEEPEST}")


def read(path: Path, most: int, accepted: str, pipes: bool = True) -> bytes:
    """Return the content of a file of at most ``most`` bytes. Raises UserError: file, what was found, ``accepted``.

    Devices are refused, since they may have no end. Pipes are read like files, if the user named them. Without
    ``pipes`` they are refused, too: a pipe that lies in a folder may wait for its writer for ever.
    """
    name = str(path)
    try:
        patience = 0 if pipes else getattr(os, "O_NONBLOCK", 0)
        number = os.open(path, os.O_RDONLY | getattr(os, "O_BINARY", 0) | patience)
        with os.fdopen(number, "rb") as file:
            mode = os.fstat(number).st_mode
            is_pipe = stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode) or file.isatty()
            if not (stat.S_ISREG(mode) or (is_pipe and pipes)):
                found = "directory" if stat.S_ISDIR(mode) else "pipe" if is_pipe else "device"
                raise UserError(name, f"found a {found}; accepted: {accepted}")
            data = up_to(file, most + 1)
    except FileNotFoundError:
        raise UserError(name, f"not found; accepted: {accepted}") from None
    except IsADirectoryError:
        raise UserError(name, f"found a directory; accepted: {accepted}") from None
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or str(error)
        raise UserError(name, f"cannot be read: {why}; accepted: {accepted}") from None
    if len(data) > most:
        raise UserError(name, f"larger than {most // MIB} MiB; accepted: {accepted}")
    return data


def up_to(stream: IO[bytes], most: int) -> bytes:
    """Return what is left in ``stream``, at most ``most`` bytes.

    Unlike ``stream.read(most)``, it takes no more memory than there are bytes.
    """
    held = io.BytesIO()
    while held.tell() < most and (piece := stream.read(min(MIB, most - held.tell()))):
        held.write(piece)
    return held.getvalue()


def read_text(path: Path, most: int, accepted: str, pipes: bool = True) -> str:
    """Return the text in a file. Otherwise as `read`."""
    try:
        return read(path, most, accepted, pipes).decode("utf-8-sig")
    except UnicodeDecodeError:
        raise UserError(str(path), f"cannot be read: not UTF-8; accepted: {accepted}") from None


def toml(text: str) -> dict[str, Any]:
    """Return the TOML table in ``text``. Raises ValueError, or its subclass TooDeepError.

    The parser's memory grows with the square of a key's length: 50,000 dots took 6 GiB.
    """
    if _LONG_KEY.search(text):
        raise TooDeepError
    try:
        found = tomllib.loads(text)
    except RecursionError:
        raise TooDeepError from None
    check_depth(found)
    return found


def from_json(text: str, constants: bool = False) -> Any:
    """Return the JSON value in ``text``. Raises ValueError, or its subclass TooDeepError.

    With ``constants`` it may contain NaN and Infinity, which are not JSON but which Python writes.
    """

    def refuse(word: str) -> Any:
        raise ValueError(f"found {word}, which JSON does not have")

    try:
        found = json.loads(text, parse_constant=None if constants else refuse)
        if _HALF.search(text):
            json.dumps(found, ensure_ascii=False).encode()
    except RecursionError:
        raise TooDeepError from None
    except UnicodeEncodeError:
        raise ValueError("found half of a surrogate pair, which is no character") from None
    return found


def check_depth(value: Any) -> None:
    """Raise TooDeepError if lists and tables are nested deeper than `DEEPEST`."""
    layer = [value]
    for _ in range(DEEPEST + 1):
        holders = [one for one in layer if isinstance(one, dict | list)]
        if not holders:
            return
        layer = [inner for one in holders for inner in (one.values() if isinstance(one, dict) else one)]
    raise TooDeepError


def is_finite(value: object) -> bool:
    """Return whether ``value`` is a number that a float can hold. True and False are not."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    try:
        return abs(float(value)) < float("inf")
    except OverflowError:
        return False


def seed(value: object, place: str) -> int:
    """Return ``value``, which must be a seed that a store can hold. Raises UserError."""
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 1 << 63:
        raise UserError(place, f"found {quoted(value)}; accepted: a whole number from 0 to {(1 << 63) - 1}")
    return value
