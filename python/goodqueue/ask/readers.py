"""How the value of a field is read: from the text of the command line, or from what a caller in Python gives."""

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from goodqueue import options
from goodqueue.errors import Option, UserError, quoted


class Reader(NamedTuple):
    """Reads the values of a field."""

    read: Callable[[Option, Any], Any]
    """Returns the value as the question has it. Raises UserError, which names the option."""
    accepts: str
    """The type of what a caller in Python may give, as a signature shows it."""
    repeats: bool = False
    """Whether the option may be given several times."""
    note: str = ""
    """A sentence of Python's help: what else a caller may give."""


def plain(value: object) -> object:
    """Return a number of numpy as a Python number, a path as text, and anything else unchanged."""
    if isinstance(value, os.PathLike):
        return str(os.fspath(value))
    item = getattr(value, "item", None)
    return item() if callable(item) and getattr(value, "ndim", None) == 0 else value


def _path(option: Option, value: Any) -> str:
    path = os.fspath(value) if isinstance(value, str | os.PathLike) else None
    if not isinstance(path, str):
        raise UserError(option, f"found {quoted(value)}; accepted: a path")
    return path


def _paths(option: Option, value: Any) -> tuple[str, ...]:
    paths = value if isinstance(value, list | tuple) else [value]
    return tuple(_path(option, path) for path in paths)


def _flag(option: Option, value: Any) -> bool:
    return options.flag(option, value) or False


def _texts(option: Option, value: Any) -> tuple[str, ...]:
    texts = [value] if isinstance(value, str) else value
    if not isinstance(texts, Sequence) or not all(isinstance(text, str) for text in texts):
        raise UserError(option, f"found {quoted(value)}; accepted: text, or a list of texts")
    return tuple(texts)


def _pairs(option: Option, value: Any) -> tuple[str, ...]:
    if not isinstance(value, Mapping):
        return _texts(option, value)
    return tuple(f"{key}={text if isinstance(text, str) else ','.join(map(str, text))}" for key, text in value.items())


def _listed(option: Option, value: Any) -> str:
    return ",".join(_texts(option, value))


def _scenario(option: Option, value: Any) -> Any:
    if isinstance(value, Mapping):
        return dict(value)
    if not isinstance(value, str | os.PathLike):
        raise UserError(option, f"found {quoted(value)}; accepted: a file's path, or a dict")
    return _path(option, value)


def _sets(option: Option, value: Any) -> Any:
    return dict(value) if isinstance(value, Mapping) else _texts(option, value)


def _options(_: Option, value: Any) -> dict[str, Any]:
    return {name: given for name, given in dict(value).items() if given is not None and given is not False}


def whole(least: int, most: int = options.MOST) -> Reader:
    """Return the reader of a whole number within bounds."""
    return Reader(lambda option, value: options.whole(option, plain(value), least, most), "int")


def word(*known: str) -> Reader:
    """Return the reader of one of the words ``known``."""

    def read(option: Option, value: Any) -> str:
        if value not in known:
            raise UserError(option, f"found {quoted(value)}; accepted: {', '.join(known)}")
        return str(value)

    return Reader(read, "str")


Source = str | dict[str, Any]
"""A scenario: the path of its file, or its tables."""

NUMBER = Reader(lambda option, value: options.number(option, plain(value)), "float")
SCENARIO = Reader(
    _scenario, "str | os.PathLike[str] | Mapping[str, Any]", note="A path, or the tables of a scenario as a dict."
)
TEXT = Reader(options.text, "str")
PATH = Reader(_path, "str | os.PathLike[str]")
PATHS = Reader(_paths, "str | os.PathLike[str] | Sequence[str | os.PathLike[str]]", repeats=True)
FLAG = Reader(_flag, "bool")
TEXTS = Reader(_texts, "str | Sequence[str]", repeats=True)
"""Texts: the option may be repeated, and Python takes a text or a list."""
SETS = Reader(_sets, "Mapping[str, Any]", repeats=True, note='A dict: {"path.rtt": ["5ms", "50ms"]}.')
"""Keys of a scenario: ``KEY=VALUE``, repeated; in Python a dict of values, which stay as they are."""
OPTIONS = Reader(_options, "Any")
"""Options of a scenario by name. `scenario.asked` reads their values."""
PAIRS = Reader(_pairs, "Mapping[str, Any] | Sequence[str]", repeats=True, note='Or a dict: {"NAME": "VALUE"}.')
"""``KEY=VALUE``, repeated. Python takes a dict, too; several values of a key are joined by commas."""
LISTED = Reader(_listed, "str | Sequence[str]", note="Or a list.")
"""A list in one text, with commas. Python takes a list, too."""
