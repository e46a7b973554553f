"""Refusals: what a user got wrong, in one line."""

import json


class UserError(Exception):
    """Bad input. Its text is one line: the place, what was found, what is accepted.

    The command line prints it after ``goodqueue: `` and exits with status 2; nothing has been written by then.
    """

    def __init__(self, *parts: str) -> None:
        """Join the non-empty ``parts`` (file, key, message) with a colon."""
        super().__init__(one_line(": ".join(part for part in parts if part)))


def one_line(text: str) -> str:
    """Return ``text`` with every line break and control character written as an escape, so that it stays one line."""
    return "".join(char if char.isprintable() else json.dumps(char)[1:-1] for char in text)


def quoted(value: object) -> str:
    """Return ``value`` as a person would find it in the input: text in quotes, at most 60 characters."""
    try:
        text = json.dumps(value, ensure_ascii=False, default=str)
    except (ValueError, RecursionError):
        text = type(value).__name__
    return text if len(text) <= 60 else text[:57] + "..."
