"""Writes and reads JSON of which a list is long: each of its items is made, written and forgotten.

The text is that of Python's ``json.dumps(value, ensure_ascii=False)``, with or without ``indent=1``.
"""

import io
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import IO, Any

from goodqueue.files import inputs

TOGETHER = 1 << 16
"""The characters of a piece, about: many small ones would take long to write."""

PIECE = 1 << 20
"""The characters that are read at once."""

MOST_OF_ONE = 1 << 28
"""The most characters of one value, and of the rest of a file that is no JSON."""

_BLANKS = re.compile(r"[ \t\n\r]*")

_DECODER = json.JSONDecoder(parse_constant=inputs.refuse_constant)


class Each:
    """A long list, as the value of a key of the outermost table."""

    def __init__(self, make: Callable[[], Iterable[Any]]) -> None:
        """``make`` returns the items. It is called each time that they are written."""
        self._make = make

    def __iter__(self) -> Iterator[Any]:
        """Yield the items."""
        return iter(self._make())


def pieces(data: Mapping[str, Any], is_indented: bool = True) -> Iterator[str]:
    """Yield the text of ``data`` in pieces, and a line break."""
    held: list[str] = []
    size = 0
    for token in _tokens(data, is_indented):
        held.append(token)
        size += len(token)
        if size >= TOGETHER:
            yield "".join(held)
            held, size = [], 0
    yield "".join([*held, "\n"])


def _tokens(data: Mapping[str, Any], is_indented: bool) -> Iterator[str]:
    lines = ("\n", "\n ", "\n  ") if is_indented else ("", "", "")
    between = "," if is_indented else ", "
    yield "{"
    for number, (key, value) in enumerate(data.items()):
        yield f"{between if number else ''}{lines[1]}{_json(key)}: "
        if not isinstance(value, Each):
            yield _json(value, lines[1])
            continue
        count = -1
        for count, item in enumerate(value):
            yield f"{between if count else '['}{lines[2]}"
            yield _json(item, lines[2])
        yield "[]" if count < 0 else f"{lines[1]}]"
    yield f"{lines[0] if data else ''}}}"


def _json(value: Any, margin: str = "") -> str:
    """Return ``value`` as JSON, with an indentation of 1 if its lines have a ``margin``."""
    text = json.dumps(value, ensure_ascii=False, indent=1 if margin else None)
    return text.replace("\n", margin) if margin else text  # a line break in a string is no character here


def read_file(path: Path, accepted: str, name: str, take: Callable[[int, Any], Any]) -> Any:
    """Return what `read` returns for the file ``path``. Raises what `inputs.opened` and `read` raise, and OSError."""
    with io.TextIOWrapper(io.BufferedReader(inputs.opened(path, accepted, pipes=False)), "utf-8-sig") as text:
        return read(text, name, take)


def read(file: IO[str], name: str, take: Callable[[int, Any], Any]) -> Any:
    """Return the JSON in ``file``. Of the list ``name`` in its outermost table it has what ``take`` makes of each item.

    Raises ValueError, or its subclass TooDeepError, as `inputs.from_json` does.
    """
    text = _Text(file)
    if text.next() != "{":
        return text.whole()
    data: dict[str, Any] = {}
    for _ in text.items("{}"):
        key = text.value()
        if not isinstance(key, str) or text.take() != ":":
            raise ValueError("found no key, or no value after it")
        if key == name and text.next() == "[":
            data[key] = [take(number, text.value()) for number, _ in enumerate(text.items("[]"))]
        else:
            data[key] = text.value()
    if text.next():
        raise ValueError("found more after its end")
    return data


class _Text:
    """The text of a file, of which a part is in memory."""

    def __init__(self, file: IO[str]) -> None:
        self._file, self._text, self._at = file, "", 0
        self._has_halves = False

    def next(self) -> str:
        """Return the next character that is no blank, or nothing at the end."""
        while True:
            found = _BLANKS.match(self._text, self._at)
            self._at = found.end() if found else self._at
            if self._at < len(self._text):
                return self._text[self._at]
            if not self._more():
                return ""

    def take(self) -> str:
        """Return the next character, and go on behind it."""
        character = self.next()
        self._at += len(character)
        return character

    def items(self, ends: str) -> Iterator[None]:
        """Go to each item of a list or a table, which begins and ``ends`` with these two characters."""
        if self.take() != ends[0]:
            raise ValueError(f"found no {ends[0]}")
        if self.next() == ends[1]:
            self._at += 1
            return
        while True:
            yield
            if (mark := self.take()) == ends[1]:
                return
            if mark != ",":
                raise ValueError(f"found {mark or 'its end'} where , or {ends[1]} belongs")

    def value(self) -> Any:
        """Return the next value."""
        self.next()
        while True:
            try:
                value, end = _DECODER.raw_decode(self._text, self._at)
            except json.JSONDecodeError:
                if not self._more():
                    raise
                continue
            except RecursionError:
                raise inputs.TooDeepError from None
            if end < len(self._text) or not self._more():  # at the end of what is in memory, a number may go on
                break
        self._at = end
        if self._has_halves:
            inputs.check_characters(value)
        return value

    def whole(self) -> Any:
        """Return the value that is all of the file."""
        value = self.value()
        if self.next():
            raise ValueError("found more after its end")
        return value

    def _more(self) -> bool:
        """Read on. Return whether there was more. What is in memory at least doubles, so no value is read often."""
        left = self._text[self._at :]
        if len(left) > MOST_OF_ONE or not (piece := self._file.read(max(PIECE, len(left)))):
            return False
        self._text, self._at = left + piece, 0
        self._has_halves = self._has_halves or inputs.may_have_halves(self._text)
        return True
