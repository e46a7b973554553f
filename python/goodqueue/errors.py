"""Error messages and warnings for the user, one line each."""

import json
import re
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass

LONGEST = 2000
"""The most characters of a line. Our own lines have some hundred."""

LONGEST_PLACE = 300
"""The most characters of a file's name or a key in it, or of a value in quotes."""

_LONG = re.compile(r'"[^"]{300,}+"|[^\s"]{300,}+')


@dataclass(frozen=True, slots=True)
class Option:
    """An option that an error names, by its name in Python. Each front end writes it in its own words.

    ``Option("set", "path.rtt")`` is a key of the scenario that the user has set.
    """

    name: str
    value: str = ""

    def __str__(self) -> str:
        """Return it as on the command line: ``--up-rate``, ``--set path.rtt``."""
        return f"--{self.name.replace('_', '-')}{' ' if self.value else ''}{self.value}"

    @property
    def in_python(self) -> str:
        """The same as an argument in Python: ``up_rate``, ``path.rtt``."""
        return self.value if self.name == "set" and self.value else f"{self.name} {self.value}".strip()


Place = str | Option
"""Where something was found: a file, a key or an option."""

Part = Place | Sequence[Place]
"""A place or a message. A message that names options is a list of texts and options."""


class UserError(Exception):
    """Raised for bad input. Its text is one line: the place, what was found, what is accepted.

    The command line prints it after ``goodqueue: `` and exits with its status. Nothing has been written by then.
    """

    status = 2
    """The exit status of the command."""

    def __init__(self, *parts: "Part | UserError") -> None:
        """Join the non-empty ``parts`` (file, key, message) with a colon. Another error is the parts that it has."""
        self.parts: list[Part] = []
        for part in parts:
            self.parts += part.parts if isinstance(part, UserError) else [part]
        super().__init__(self.text(str))

    def text(self, write: Callable[[Option], str]) -> str:
        """Return the line, with each option as ``write`` writes it."""
        *places, message = (worded(part, write) for part in self.parts)
        texts = [*(bounded(where, LONGEST_PLACE) for where in places), message]
        return one_line(": ".join(part for part in texts if part))


class NotFoundError(UserError):
    """Raised for a program that is not there. Its status is the one that a shell reports for that."""

    status = 127


def worded(part: Part, write: Callable[[Option], str]) -> str:
    """Return ``part`` as text, with each option as ``write`` writes it."""
    each = [part] if isinstance(part, str | Option) else part
    return "".join(write(item) if isinstance(item, Option) else item for item in each)


def warn(text: str) -> None:
    """Write one line to standard error, for a person. It is not part of a program's result."""
    print(f"goodqueue: {one_line(text)}", file=sys.stderr, flush=True)


def bounded(text: str, most: int) -> str:
    """Return ``text``, or its beginning and its end if it is longer than ``most``: it may be megabytes."""
    half = (most - 5) // 2
    return text if len(text) <= most else f"{text[:half]} ... {text[-half:]}"


def one_line(text: str) -> str:
    """Return ``text`` as one line for display: with limited length, and with control characters escaped.

    A long value in quotes, or a long word, is shortened by itself, so that what is accepted stays in the line.
    """
    short = _LONG.sub(lambda match: bounded(match[0], LONGEST_PLACE), text)
    return printable(bounded(short, LONGEST))


def printable(text: str, allowed: str = "") -> str:
    """Return ``text`` with control characters escaped, which a terminal would obey, except those in ``allowed``."""
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() or char in allowed else json.dumps(char)[1:-1] for char in text)


def quoted(value: object) -> str:
    """Return ``value`` as it looks in the input: text is in quotes. It has at most 60 characters."""
    try:
        text = json.dumps(value[:100] if isinstance(value, str) else value, ensure_ascii=False, default=said)
    except (ValueError, RecursionError):
        text = type(value).__name__
    return text if len(text) <= 60 else text[:57] + "..."


def said(value: object) -> str:
    """Return ``value`` as text, or an empty text if that fails: its class may be the user's."""
    try:
        return str(value)
    except Exception:  # noqa: BLE001 - a user's __str__ may raise anything
        return ""
