"""Files of the user's: read up to a size, and looked at before they are taken apart.

Each kind of file has a size that no honest one reaches, and a reader that takes more than memory has would end with
nothing said. What is nested deeper than any of ours would end the recursion of whoever walks it.
"""

import json
import os
import re
import stat
import tomllib
from pathlib import Path
from typing import Any

from goodqueue.errors import UserError, quoted

MIB = 1 << 20

DEEPEST = 64
"""Tables and lists within each other, and parts of a dotted key; ours have eight."""

_LONG_KEY = re.compile(
    r"""(?<![\w"'.-])(?:(?:[\w-]++|"[^"\n]*+"|'[^'\n]*+')[ \t]*+\.[ \t]*+){%d}""" % DEEPEST  # noqa: UP031 - braces
)
"""So many words with dots between; the time it takes to find them grows with the text alone."""


class TooDeepError(ValueError):
    """Tables, lists or keys are nested deeper than `DEEPEST`."""

    def __init__(self) -> None:
        """There is no more to say."""
        super().__init__(f"nested deeper than {DEEPEST}")


def read(path: Path, most: int, accepted: str) -> bytes:
    """Return what a file holds, which may be ``most`` bytes. Raises UserError: the file, what was found, ``accepted``.

    Pipes are read as files are; a device, which may have no end, is not.
    """
    name = str(path)
    try:
        number = os.open(path, os.O_RDONLY | getattr(os, "O_BINARY", 0))
        with os.fdopen(number, "rb") as file:
            mode = os.fstat(number).st_mode
            if not (stat.S_ISREG(mode) or stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode) or file.isatty()):
                found = "directory" if stat.S_ISDIR(mode) else "device"
                raise UserError(name, f"found a {found}; accepted: {accepted}")
            data = file.read(most + 1)
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


def read_text(path: Path, most: int, accepted: str) -> str:
    """Return the text that a file holds, as `read` does."""
    try:
        return read(path, most, accepted).decode("utf-8-sig")
    except UnicodeDecodeError:
        raise UserError(str(path), f"cannot be read: not UTF-8; accepted: {accepted}") from None


def toml(text: str) -> dict[str, Any]:
    """Return the table that ``text`` is in TOML. Raises ValueError; TooDeepError, which is one, where it is that.

    The parser needs memory with the square of a key's length: 50,000 dots took 6 GiB.
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
    """Return what ``text`` is in JSON. Raises ValueError; TooDeepError, which is one.

    With ``constants`` it may hold NaN and Infinity, which JSON does not have, and Python's writer has.
    """

    def refuse(word: str) -> Any:
        raise ValueError(f"found {word}, which JSON does not have")

    try:
        found = json.loads(text, parse_constant=None if constants else refuse)
    except RecursionError:
        raise TooDeepError from None
    return found


def check_depth(value: Any) -> None:
    """Raise TooDeepError where lists and tables are within each other deeper than `DEEPEST`."""
    layer = [value]
    for _ in range(DEEPEST + 1):
        holders = [one for one in layer if isinstance(one, dict | list)]
        if not holders:
            return
        layer = [inner for one in holders for inner in (one.values() if isinstance(one, dict) else one)]
    raise TooDeepError


def is_finite(value: object) -> bool:
    """Whether ``value`` is a number that a float can hold; True and False are none."""
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
