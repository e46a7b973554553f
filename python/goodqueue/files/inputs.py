"""Reads the user's files up to a maximum size, and checks them before parsing.

Each kind of file has a maximum size that no real file reaches: a reader that takes more than the memory would be killed
without a message. Deeper nesting than a real file has would exceed the recursion limit of the code that walks it.

All files that are not goodqueue's own are read here. A file that the user names may be a pipe. A file that a search
finds must be a regular file (`found`), since a pipe may wait for its writer for ever.
"""

import codecs
import errno
import io
import json
import os
import re
import select
import stat
import time
import tomllib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from goodqueue.errors import UserError, quoted, warn

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer as Buffer

MIB = 1 << 20

DEEPEST = 64
"""The deepest nesting of tables and lists, and the most parts of a dotted key. Our own files have eight."""

FLAGS = os.O_RDONLY | getattr(os, "O_BINARY", 0) | getattr(os, "O_NONBLOCK", 0)
"""How a file is opened. Without O_NONBLOCK the call would wait for ever at a pipe that no process writes to."""

_LONG_KEY = re.compile(
    r"""(?<![\w"'.-])(?:(?:[\w-]++|"[^"\n]*+"|'[^'\n]*+')[ \t]*+\.[ \t]*+){%d}""" % DEEPEST  # noqa: UP031 - braces
)
"""Matches a key with this many words and dots. The time to find one is proportional to the length of the text."""


_UNKNOWN = re.compile(r'("(?:[^"\\]|\\.)*+")|-?(?:\b(?:nan(?:\(\w*+\))?|inf(?:inity)?)(?!\w)|1\.#\w++)', re.IGNORECASE)
"""Matches text in JSON (group 1), or a number that is none as C writes it: `nan`, `-nan`, `inf`, `1.#QNAN`."""

_HALF = re.compile(r"\\u[dD][89a-fA-F]")
"""Matches an escape sequence in JSON that is half of a character, if its other half does not follow or precede it."""


class TooDeepError(ValueError):
    """Raised if tables, lists or keys are nested deeper than `DEEPEST`."""

    def __init__(self) -> None:
        """Set the message."""
        super().__init__(f"nested deeper than {DEEPEST}")


PATIENCE_S = 5.0
"""How long a named pipe may be without a process that has opened it for writing."""

_LOOK_S = 0.1

_notes: list[list[Path]] = []
"""The lists of `noted`."""


def read(path: Path, most: int, accepted: str, pipes: bool = True) -> bytes:
    """Return the content of a file of at most ``most`` bytes. Raises UserError: file, what was found, ``accepted``.

    Devices are refused, since they may have no end. Pipes are read like files, if the user named them. Without
    ``pipes`` they are refused, too.
    """
    try:
        with opened(path, accepted, pipes) as file:
            state = os.fstat(file.fileno())
            # A file of zeros takes no space on the disk, but it would take memory.
            is_large = stat.S_ISREG(state.st_mode) and state.st_size > most
            data = b"" if is_large else up_to(file, most + 1)
    except OSError as error:
        raise UserError(str(path), f"cannot be read: {error.strerror or error}; accepted: {accepted}") from None
    if is_large or len(data) > most:
        raise UserError(str(path), f"larger than {most // MIB} MiB; accepted: {accepted}")
    return data


def opened(path: Path, accepted: str, pipes: bool = True, stopped: Callable[[], bool] = lambda: False) -> io.RawIOBase:
    """Return ``path`` opened for reading, without a buffer. Raises UserError as `read` does.

    A wait for a pipe's data ends with OSError once ``stopped()`` is true.
    """
    name = str(path)
    try:
        number = os.open(path, FLAGS)
    except FileNotFoundError:
        raise UserError(name, f"not found; accepted: {accepted}") from None
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or str(error)
        raise UserError(name, f"cannot be read: {why}; accepted: {accepted}") from None
    mode = os.fstat(number).st_mode
    is_pipe = stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode) or os.isatty(number)
    if not (stat.S_ISREG(mode) or (is_pipe and pipes)):
        os.close(number)
        raise UserError(name, f"found a {'pipe' if is_pipe else _kind(mode)}; accepted: {accepted}")
    note(path)
    file = io.FileIO(number)
    return _Pipe(file, stopped) if is_pipe and hasattr(os, "O_NONBLOCK") else file


class _Pipe(io.RawIOBase):
    """A pipe or a terminal, opened with O_NONBLOCK."""

    def __init__(self, file: io.RawIOBase, stopped: Callable[[], bool]) -> None:
        self._file, self._stopped = file, stopped
        self._events = select.poll()
        self._events.register(file, select.POLLIN)
        # A named pipe at its end looks like one whose first writer has not come yet.
        self._has_begun = not stat.S_ISFIFO(os.fstat(file.fileno()).st_mode)

    def readable(self) -> bool:
        return True

    def fileno(self) -> int:
        return self._file.fileno()

    def close(self) -> None:
        self._file.close()
        super().close()

    def readinto(self, buffer: "Buffer") -> int:
        end = time.monotonic() + PATIENCE_S
        while not self._stopped():
            read = self._file.readinto(buffer)
            self._has_begun = self._has_begun or read != 0  # None: a process has opened it, and it is empty
            if read or (read == 0 and (self._has_begun or self._events.poll(0))):
                return read
            if not self._has_begun and time.monotonic() > end:
                raise OSError(errno.EPIPE, "no process writes to this pipe")
            self._events.poll(_LOOK_S * 1e3)
        raise InterruptedError(errno.EINTR, "stopped")


def _kind(mode: int) -> str:
    """Return what a file that is no regular file is."""
    kinds = {stat.S_IFDIR: "directory", stat.S_IFIFO: "pipe", stat.S_IFSOCK: "socket"}
    return kinds.get(stat.S_IFMT(mode), "device")


def found(paths: Iterable[Path], accepted: str) -> Iterator[Path]:
    """Yield the regular files among ``paths``, which a search found. Warn of each other one that it is left out."""
    for path in paths:
        try:
            mode = path.stat().st_mode
        except OSError as error:
            warn(f"left out: {path}: cannot be read: {error.strerror}; accepted: {accepted}")
            continue
        if stat.S_ISREG(mode):
            yield path
        else:
            warn(f"left out: {path}: found a {_kind(mode)}; accepted: {accepted}")


@contextmanager
def noted() -> Iterator[list[Path]]:
    """Yield a list to which each file is added that is read in this context (see `output.spare`)."""
    files: list[Path] = []
    _notes.append(files)
    try:
        yield files
    finally:
        _notes[:] = [other for other in _notes if other is not files]  # `remove` would take an equal one for it


def note(path: Path) -> None:
    """Add ``path`` to the lists of `noted`, also if another reader opens it, such as the core."""
    for files in _notes:
        files.append(path)


def up_to(stream: IO[bytes] | io.RawIOBase, most: int) -> bytes:
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
        return decoded(read(path, most, accepted, pipes))
    except UnicodeDecodeError:
        raise UserError(str(path), f"cannot be read: not UTF-8; accepted: {accepted}") from None


def decoded(data: bytes) -> str:
    """Return the text in ``data``: UTF-8, or UTF-16 with a byte order mark. Raises UnicodeDecodeError.

    Windows PowerShell writes what a program prints into a file (``iperf3 … > x.json``) in UTF-16.
    """
    is_utf_16 = data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    return data.decode("utf-16" if is_utf_16 else "utf-8-sig")


def parse_value(text: str) -> Any:
    """Return ``text`` as a TOML value, or unchanged if it is not one: ``4`` becomes a number, ``10mbit`` stays text."""
    if "\n" in text or "\r" in text:
        return text
    try:
        table = toml(f"value = {text}")
        json.dumps(table, allow_nan=False)
    except (ValueError, TypeError):
        return text
    return table["value"]


def toml(text: str) -> dict[str, Any]:
    """Return the TOML table in ``text``. Raises ValueError, or its subclass TooDeepError.

    The parser's memory grows with the square of a key's length: 50,000 dots took 6 GiB.
    """
    if _LONG_KEY.search(text):
        raise TooDeepError
    try:
        data = tomllib.loads(text)
    except RecursionError:
        raise TooDeepError from None
    check_depth(data)
    return data


def from_json(text: str, constants: bool = False) -> Any:
    """Return the JSON value in ``text``. Raises ValueError, or its subclass TooDeepError.

    With ``constants`` it may contain numbers that are none, which are not JSON but which programs write: NaN and
    Infinity as Python does, `-nan` and `inf` as C does. Each is None, as any number is that is unknown.
    """
    try:
        try:
            data = json.loads(text, parse_constant=(lambda _: None) if constants else refuse_constant)
        except json.JSONDecodeError:
            known = _UNKNOWN.sub(lambda match: match[1] or "null", text) if constants else text
            if known == text:
                raise
            data = json.loads(known)
        if may_have_halves(text):
            check_characters(data)
    except RecursionError:
        raise TooDeepError from None
    return data


def refuse_constant(word: str) -> Any:
    """Raise ValueError for a number that JSON does not have."""
    raise ValueError(f"found {word}, which JSON does not have")


def may_have_halves(text: str) -> bool:
    """Return whether JSON may have half of a surrogate pair somewhere, which is no character."""
    return _HALF.search(text) is not None


def check_characters(data: Any) -> None:
    """Raise ValueError if there is half of a surrogate pair in ``data``."""
    try:
        json.dumps(data, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        raise ValueError("found half of a surrogate pair, which is no character") from None


def check_depth(value: Any) -> None:
    """Raise TooDeepError if lists and tables are nested deeper than `DEEPEST`."""
    layer = [value]
    for _ in range(DEEPEST + 1):
        holders = [value for value in layer if isinstance(value, dict | list)]
        if not holders:
            return
        layer = [inner for holder in holders for inner in (holder.values() if isinstance(holder, dict) else holder)]
    raise TooDeepError


def number(text: str) -> float:
    """Return the number that ``text`` is. Raises ValueError, also for what only Python reads as one, as 1_0 or ١٠."""
    if not text.isascii() or "_" in text:
        raise ValueError(text)
    return float(text)


def is_finite(value: object) -> bool:
    """Return whether ``value`` is a number that a float can hold. True and False are not."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    try:
        return abs(float(value)) < float("inf")
    except OverflowError:
        return False


def seed(value: object, where: str) -> int:
    """Return ``value``, which must be a seed that a store can hold. Raises UserError."""
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 1 << 63:
        raise UserError(where, f"found {quoted(value)}; accepted: a whole number from 0 to {(1 << 63) - 1}")
    return value
