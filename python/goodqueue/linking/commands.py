"""The words of a link: a scenario's file, and one command or two."""

from collections.abc import Sequence
from itertools import pairwise
from pathlib import PurePath
from shutil import which

from goodqueue.errors import NotFoundError, UserError, quoted

BETWEEN = "--"
"""Separates SERVER from CLIENT."""


def file_and_commands(words: Sequence[str]) -> tuple[str | None, list[str] | None, list[str]]:
    """Return the scenario's file and SERVER, if they are there, and CMD. Raises UserError as `commands` does."""
    file = words[0] if words and words[0].endswith(".toml") else None
    others = list(words[0 if file is None else 1 :])
    return file, *commands(others[1:] if others[:1] == [BETWEEN] else others)


def commands(given: list[str]) -> tuple[list[str] | None, list[str]]:
    """Return SERVER, if there is one, and CMD. Raises UserError if a command is missing or not found."""
    found = [given]
    if BETWEEN in given:
        at = given.index(BETWEEN)
        if not _is_link(given[:at]):
            found = [given[:at], given[at + 1 :]]
    if not all(found):
        raise UserError("link", "found no CMD; accepted: -- CMD..., or -- SERVER... -- CLIENT...")
    for command in found:
        if which(command[0]) is None:
            raise NotFoundError(quoted(command[0]), "command not found")
    return (found[0] if found[1:] else None), found[-1]


def _is_link(command: list[str]) -> bool:
    """Return whether ``command`` is itself a link, whose own words may contain the separator."""
    return any(PurePath(word).name == "goodqueue" and after == "link" for word, after in pairwise(command))
