"""Turns Python values into options of the command line, and its error messages into Python's words."""

import functools
import json
import os
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

from goodqueue import extras, store
from goodqueue.errors import UserError, quoted
from goodqueue.record import Scenario
from goodqueue.scenario import asked

Source = str | os.PathLike[str] | Mapping[str, Any]
"""A scenario: the path of a file in TOML, or its tables as a dict."""

OPTIONS = ("rate", "rtt", "up_rate", "duration", "warmup", "buffer")
"""Options of the link and the run: options of ``goodqueue compare`` that may stand beside a scenario's file."""

DESCRIBED = ("wifi", "stations", "flows", "cc", "ecn", "traffic")
"""Options of the traffic: options of ``goodqueue compare`` that may not stand beside a scenario's file."""

Args = ParamSpec("Args")
Made = TypeVar("Made")


def in_words_of_python(call: Callable[Args, Made]) -> Callable[Args, Made]:
    """Make ``call`` raise `UserError` with names of arguments (``up_rate``) instead of options (``--up-rate``)."""

    @functools.wraps(call)
    def calling(*args: Args.args, **kwargs: Args.kwargs) -> Made:
        from goodqueue._goodqueue import ScenarioError

        try:
            return call(*args, **kwargs)
        except (UserError, ScenarioError) as error:
            raise UserError(_renamed(str(error))) from None
        except ModuleNotFoundError as error:
            raise extras.missing(error, getattr(call, "__name__", "goodqueue")) or error from None

    return calling


def _renamed(message: str) -> str:
    plain = message.replace("--set ", "")
    return re.sub(r"(?<![\w-])--([a-z]+(?:-[a-z]+)*)", lambda option: option[1].replace("-", "_"), plain)


def scenario_of(source: Source | None, given: Mapping[str, Any]) -> tuple[Scenario, dict[str, str], "Given"]:
    """Return the unresolved scenario, the option that each key came from, and ``given`` as options.

    Raises UserError.
    """
    if source is not None and not isinstance(source, str | os.PathLike | Mapping):
        raise UserError("scenario", f"found {quoted(source)}; accepted: a file's path, a dict, or options by name")
    file = None if source is None else dict(source) if isinstance(source, Mapping) else os.fspath(source)
    said = Given(given)
    base, origins = asked.base(file, said.options, said.described, said.sets)
    return base, origins, said


class Given:
    """Keyword arguments: options of ``goodqueue compare``, and keys of a scenario (``path__rtt`` for ``path.rtt``)."""

    def __init__(self, given: Mapping[str, Any]) -> None:
        """Sort ``given``. Raises UserError for a value that no option can have."""
        known = {name: value for name, value in given.items() if value is not None and value is not False}
        self.options: dict[str, str | None] = {
            name: text(name, known[name]) if name in known else None for name in OPTIONS
        }
        self.described: dict[str, object] = {name: known.get(name) for name in DESCRIBED}
        if (flows := self.described["flows"]) is not None and (not _is_whole(flows) or int(str(flows)) < 1):
            raise UserError("flows", f"found {quoted(flows)}; accepted: a whole number from 1")
        if not isinstance(_plain(self.described["ecn"]), bool | None):
            raise UserError("ecn", f"found {quoted(self.described['ecn'])}; accepted: True or False")
        for name in ("wifi", "stations", "cc", "traffic"):
            if not isinstance(self.described[name], str | None):
                raise UserError(name, f"found {quoted(self.described[name])}; accepted: text")
        keys = {name: value for name, value in given.items() if name not in (*OPTIONS, *DESCRIBED)}
        if "qdisc" in keys:
            keys = {"bottleneck__qdisc": keys.pop("qdisc"), **keys}
        self.sets = [f"{name.replace('__', '.')}={text(name, value)}" for name, value in keys.items()]


def _is_whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def whole(name: str, value: object, least: int, most: int = 2**63 - 1) -> int:
    """Return ``value``, which must be a whole number within bounds. Raises UserError."""
    found = _plain(value)
    if not isinstance(found, int) or isinstance(found, bool) or not least <= found <= most:
        raise UserError(name, f"found {quoted(found)}; accepted: a whole number from {least} to {most}")
    return found


def text(name: str, value: object) -> str:
    """Return the value of a scenario's key as ``--set`` takes it. Raises UserError if ``--set`` cannot take it."""
    plain = _plain(value)
    if isinstance(plain, str):
        return plain
    if isinstance(plain, os.PathLike):
        return str(os.fspath(plain))
    accepted = "text, a finite number, True or False, or a list of these; tables stand in the scenario's dict"
    if not isinstance(plain, bool | int | float | list | tuple) or "{" in str(plain):
        raise UserError(name, f"found {quoted(plain)}; accepted: {accepted}")
    try:
        return json.dumps(plain, allow_nan=False)
    except (TypeError, ValueError):
        raise UserError(name, f"found {quoted(str(plain))}; accepted: {accepted}") from None


def _plain(value: object) -> object:
    """Return a number of numpy as a Python number, and anything else unchanged."""
    item = getattr(value, "item", None)
    return item() if callable(item) and getattr(value, "ndim", None) == 0 else value


def word(name: str, value: object) -> str:
    """Return ``value``, which must be text. Raises UserError."""
    if not isinstance(value, str):
        raise UserError(name, f"found {quoted(value)}; accepted: text")
    return value


def words(name: str, value: object) -> list[str]:
    """Return ``value`` as a list: one text, several, or None for none. Raises UserError."""
    found = [] if value is None else [value] if isinstance(value, str) else value
    if not isinstance(found, Sequence) or not all(isinstance(one, str) for one in found):
        raise UserError(name, f"found {quoted(value)}; accepted: text, or a list of texts")
    return list(found)


def place(name: str, value: object) -> str:
    """Return ``value``, which must be a path. Raises UserError."""
    found = os.fspath(value) if isinstance(value, str | os.PathLike) else None
    if not isinstance(found, str):
        raise UserError(name, f"found {quoted(value)}; accepted: a path")
    return found


def kept(out: object) -> store.Store | None:
    """Return the store in the folder ``out``, made if it is new. None if ``out`` is None. Raises UserError."""
    if out is None:
        return None
    folder = place("out", out)
    return store.create(Path(folder), f"out {folder}")
