"""Refusals: what a user got wrong, in one line. Warnings, likewise."""

import json
import sys

LONGEST = 2000
"""Characters of a line; ours have some hundred."""

LONGEST_PLACE = 300
"""Characters of a file's name or a key in it."""


class UserError(Exception):
    """Bad input. Its text is one line: the place, what was found, what is accepted.

    The command line prints it after ``goodqueue: `` and exits with status 2; nothing has been written by then.
    """

    def __init__(self, *parts: str) -> None:
        """Join the non-empty ``parts`` (file, key, message) with a colon."""
        *places, message = parts
        known = [*(bounded(place, LONGEST_PLACE) for place in places), message]
        super().__init__(one_line(": ".join(part for part in known if part)))


def warn(text: str) -> None:
    """Write one line to standard error. It is for a person, and no part of a program's result."""
    print(f"goodqueue: {one_line(text)}", file=sys.stderr, flush=True)


def bounded(text: str, most: int) -> str:
    """Return ``text``, or its beginning and its end where it is longer than ``most``: it may be megabytes."""
    half = (most - 5) // 2
    return text if len(text) <= most else f"{text[:half]} ... {text[-half:]}"


def one_line(text: str) -> str:
    """Return ``text`` as one line that can be shown: bounded, and with each control character as an escape."""
    return printable(bounded(text, LONGEST))


def printable(text: str, kept: str = "") -> str:
    """Return ``text`` with what a terminal would act on written as an escape, but for the characters ``kept``."""
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() or char in kept else json.dumps(char)[1:-1] for char in text)


def quoted(value: object) -> str:
    """Return ``value`` as a person would find it in the input: text in quotes, at most 60 characters."""
    try:
        text = json.dumps(value[:100] if isinstance(value, str) else value, ensure_ascii=False, default=said)
    except (ValueError, RecursionError):
        text = type(value).__name__
    return text if len(text) <= 60 else text[:57] + "..."


def said(value: object) -> str:
    """Return ``value`` as text, and nothing where that fails: its class may be anybody's."""
    try:
        return str(value)
    except Exception:  # noqa: BLE001 - whatever a stranger's __str__ raises
        return ""
