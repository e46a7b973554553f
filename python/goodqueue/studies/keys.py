"""Reads TOML tables that people wrote.

Each error message is one line: the file, the key, what was found and what is accepted.
"""

import math
from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any, NoReturn

from goodqueue.errors import UserError, quoted
from goodqueue.files import inputs

MOST_BYTES = 16 * inputs.MIB
"""The largest size of a file of a study, a suite or a set of scenarios."""


def load_toml(path: Path, what: str) -> dict[str, Any]:
    """Return the content of the TOML file at ``path``. ``what`` is the expected content, for error messages.

    Raises UserError if the file is missing, unreadable, empty, not UTF-8 or not TOML.
    """
    data = inputs.read(path, MOST_BYTES, what, pipes=False)
    try:
        content = inputs.toml(inputs.decoded(data))
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise UserError(str(path), f"line {line}: found a byte that is not UTF-8; accepted: TOML in UTF-8") from None
    except ValueError as error:
        raise UserError(str(path), f"not TOML: {error}") from None
    if not content:
        raise UserError(str(path), f"the file is empty; accepted: {what}")
    return content


def unknown(word: str, accepted: Iterable[str]) -> str:
    """Return the error message for the unknown name ``word``, with the nearest known name first."""
    names = list(accepted)
    near = get_close_matches(word, names, n=1)
    hint = f"did you mean {quoted(near[0])}? " if near else ""
    listed = ", ".join(names[:12]) + (", …" if len(names) > 12 else "") if names else "none"
    return f"found {quoted(word)}; {hint}accepted: {listed}"


class Table:
    """A TOML table that knows its file and key, returns typed values, and refuses keys that nobody asked for."""

    def __init__(self, content: Mapping[str, Any], file: Path, key: str = "") -> None:
        """Wrap ``content``, the table called ``key`` of ``file``."""
        self.content = content
        self.file = file
        self.key = key
        self._asked: set[str] = set()

    def refuse(self, key: str, message: str) -> NoReturn:
        """Raise UserError about ``key`` of this table (or about the table itself if ``key`` is empty)."""
        raise UserError(str(self.file), self.path(key), message)

    def path(self, key: str) -> str:
        """Return the dotted path of ``key`` within the file."""
        return ".".join(part for part in (self.key, key) if part)

    def __contains__(self, key: str) -> bool:
        return key in self.content

    def raw(self, key: str) -> Any:
        """Return the value of ``key`` as TOML has it, or None if it is missing."""
        self._asked.add(key)
        return self.content.get(key)

    def text(self, key: str, default: str | None = None) -> str:
        """Return a text. It is required if there is no ``default``."""
        value = self._required(key, default, "a text")
        if not isinstance(value, str):
            self.refuse(key, f"found {quoted(value)}; accepted: a text")
        return value

    def number(self, key: str, default: float | None = None, least: float = -math.inf) -> float:
        """Return a finite number of at least ``least``. It is required if there is no ``default``."""
        value = self._required(key, default, "a number")
        if not inputs.is_finite(value) or value < least:
            accepted = f"a number from {least:g}" if least > -math.inf else "a number"
            self.refuse(key, f"found {quoted(value)}; accepted: {accepted}")
        return float(value)

    def count(self, key: str, default: int | None = None) -> int:
        """Return a whole number from 1 to 10000. It is required if there is no ``default``."""
        value = self._required(key, default, "a whole number")
        if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= 10_000:
            self.refuse(key, f"found {quoted(value)}; accepted: a whole number from 1 to 10000")
        return value

    def flag(self, key: str, default: bool) -> bool:
        """Return true or false."""
        value = self._required(key, default, "true or false")
        if not isinstance(value, bool):
            self.refuse(key, f"found {quoted(value)}; accepted: true or false")
        return value

    def texts(self, key: str, default: tuple[str, ...] | None = None, lone: bool = False) -> tuple[str, ...]:
        """Return a list of texts; with ``lone``, a single text stands for a list of one."""
        value = self._required(key, default, "a list of texts")
        if lone and isinstance(value, str):
            return (value,)
        if not isinstance(value, list | tuple) or not all(isinstance(item, str) for item in value):
            self.refuse(key, f"found {quoted(value)}; accepted: a list of texts")
        return tuple(value)

    def choice(self, key: str, accepted: Iterable[str], default: str | None = None) -> str:
        """Return a text that is one of ``accepted``."""
        value = self.text(key, default)
        if value not in (names := list(accepted)):
            self.refuse(key, unknown(value, names))
        return value

    def mapping(self, key: str) -> dict[str, Any]:
        """Return a table as a plain dictionary, empty if it is missing."""
        value = self.raw(key)
        if value is None:
            return {}
        if not isinstance(value, dict):
            self.refuse(key, f"found {quoted(value)}; accepted: a table")
        return value

    def table(self, key: str) -> "Table":
        """Return an inner table, empty if it is missing."""
        return Table(self.mapping(key), self.file, self.path(key))

    def inner(self, key: str) -> dict[str, "Table"]:
        """Return the tables within the table ``key``, by name."""
        outer = self.table(key)
        return {name: outer.table(name) for name in outer.content}

    def tables(self, key: str) -> list["Table"]:
        """Return an array of tables, empty if it is missing. Each is named by its id, or by its index."""
        value = self.raw(key)
        if value is None:
            return []
        if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
            self.refuse(key, f"found {quoted(value)}; accepted: a list of tables, each headed [[{self.path(key)}]]")
        return [Table(item, self.file, self.path(f"{key}[{item.get('id', i)}]")) for i, item in enumerate(value)]

    def finish(self, *ignored: str) -> None:
        """Raise UserError for a key that nobody asked for and that is not in ``ignored``."""
        for key in self.content:
            if key not in self._asked and key not in ignored:
                near = get_close_matches(key, sorted(self._asked), n=1)
                hint = f"did you mean {quoted(near[0])}? " if near else ""
                self.refuse(key, f"unknown key; {hint}accepted: {', '.join(sorted(self._asked | set(ignored)))}")

    def _required(self, key: str, default: Any, accepted: str) -> Any:
        value = self.raw(key)
        if value is None:
            if default is None:
                self.refuse(key, f"missing; accepted: {accepted}")
            return default
        return value
