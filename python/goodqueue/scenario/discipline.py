"""Disciplines and congestion controls written in Python: finds the class that a line names, and makes an object of it.

A line such as ``./my_aqm.py:MyAqm target 5ms`` has a file, a class in it, and the class's parameters: pairs of a name
and a value. `goodqueue.qdisc` and `goodqueue.congestion` describe such classes; this module only loads and checks them.
"""

import inspect
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

from goodqueue import foreign
from goodqueue.errors import UserError, quoted, said
from goodqueue.files import inputs
from goodqueue.scenario import paths

ACCEPTED = "a file and a class in it, as ./my_aqm.py:MyAqm"

STAB = "stab"
"""The word before a size table, which may stand in front of a line of the registry."""

TREE = "tc"
"""The first word of the line of a tree of classes, which is its commands."""

_OF_STAB = ("mtu", "mpu", "overhead", "tsize", "linklayer")
"""The words of a size table. Each has a value."""


@dataclass(frozen=True, slots=True)
class Sort:
    """What a class must have."""

    methods: tuple[str, str]
    wanted: str
    """The methods with their arguments, for refusals."""
    no_argument: str
    """The refusal of an ``__init__`` without its first argument."""
    may: tuple[str, ...]
    """The methods that it may have, too."""


LAW = Sort(
    ("enqueue", "dequeue"),
    "a class with enqueue(self, now, packet, queue) and dequeue(self, now, queue)",
    "__init__ takes no link; accepted: def __init__(self, link, …)",
    ("on_timer", "probe"),
)
CONGESTION_CONTROL = Sort(
    ("on_ack", "ssthresh"),
    "a class with on_ack(self, ack, window) and ssthresh(self, congestion), as docs/guides/my-cc.md has it",
    "__init__ takes no connection; accepted: def __init__(self, connection, …)",
    (
        *("on_ecn_agreed", "on_rate", "on_transmit_start", "probe", "on_open", "on_delivered", "undo_cwnd", "on_undo"),
        *("on_state", "on_rto", "on_restart"),
    ),
)

ECN_USES = ("dctcp", "l4s")
"""How a congestion control may use ECN beside RFC 3168, by its attribute ``ecn``."""

MOST_BYTES = 16 * inputs.MIB
"""The largest size of a file."""

_codes: dict[tuple[str, int, int], CodeType] = {}
"""Compiled files, by name, modification time and size."""


def is_python(line: object) -> bool:
    """Return whether ``line`` names a class in a Python file, and not a discipline or congestion control of ours."""
    return isinstance(line, str) and ".py:" in (line.split() or [""])[0]


def code_in(value: Any) -> str | None:
    """Return the first text in a scenario, or in a part of it, that names a class in a Python file, or None."""
    if isinstance(value, str):
        return value if any(".py:" in word for word in value.split()) else None
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return next((code for one in inner if (code := code_in(one)) is not None), None)


def split_stab(line: str) -> tuple[list[str], list[str]]:
    """Return the words of the size tables in front of a ``line``, and the words of the discipline's own line."""
    words = line.split()
    at = 0
    while words[at : at + 1] == [STAB]:
        at += 1
        while at < len(words) and any(word.startswith(words[at]) for word in _OF_STAB):
            at += 2
    return words[:at], words[at:]


def name_of(line: str) -> str:
    """Return the name of a line's discipline, behind a size table."""
    return next(iter(split_stab(line)[1]), "")


def shortened(line: str) -> str:
    """Return ``line`` as a person reads it: of a tree of many classes the first command, and how many there are."""
    commands = line.split("; ") if name_of(line) == TREE else []
    return f"{commands[0]}; … ({len(commands)} commands)" if len(commands) > 1 else line


def rebase(scenario: dict[str, Any], folder: Path) -> None:
    """Make the paths in the lines of ``scenario``, which are relative to ``folder``, relative to this process."""
    for _, table in paths.links(scenario):
        if "qdisc" in table:
            table["qdisc"] = rebased(table["qdisc"], folder)
    for _, table in controlled(scenario):
        table["cc"] = rebased(table["cc"], folder)


def controlled(scenario: Mapping[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    """Return the tables of traffic whose congestion control is a class in a Python file, with their keys."""
    tables = scenario.get("traffic")
    listed = enumerate(tables if isinstance(tables, list) else [])
    return [(f"traffic[{n}]", table) for n, table in listed if isinstance(table, dict) and is_python(table.get("cc"))]


def rebased(line: str, folder: Path) -> str:
    """Return ``line`` with the path of its class, which is relative to ``folder``, relative to this process."""
    return os.path.normpath(folder / line.lstrip()) if is_python(line) else line


def make(line: str, link: Any) -> tuple[Any, str, str]:
    """Make the discipline that ``line`` describes, on the link ``link``.

    Return the object, the name of its class, and the line with every parameter. Raises UserError.
    """
    file, name, class_, values, whole = _read(line, LAW)
    with blaming([file]):
        thing = class_(link, **values)
    return thing, name, whole


def control(line: str) -> tuple[Callable[[Any], Any], str, str, bool, bool, str]:
    """Read the congestion control that ``line`` describes.

    Return what makes the object of a connection, the name of its class, the line with every parameter, whether the
    class paces, whether it is model-based (it has ``on_rate``), and how it uses ECN. Raises UserError.
    """
    file, name, class_, values, whole = _read(line, CONGESTION_CONTROL)
    ecn = getattr(class_, "ecn", "")
    if ecn not in ("", *ECN_USES):
        raise UserError(
            file, f"{name}.ecn", f"found {quoted(ecn)}; accepted: {', '.join(map(quoted, ECN_USES))}, or none"
        )
    has_model = callable(getattr(class_, "on_rate", None))
    paces = has_model or bool(getattr(class_, "paces", False))
    return lambda connection: class_(connection, **values), name, whole, paces, has_model, ecn


@dataclass(frozen=True, slots=True)
class Maker:
    """Makes the disciplines and the congestion controls of a run, and adds their files to ``files``."""

    files: list[str]

    def __call__(self, line: str, link: Any) -> tuple[Any, ...]:
        """Return what `make` returns, or without a ``link`` what `control` returns."""
        self.files.append(split(line.split(maxsplit=1)[0])[0])
        return control(line) if link is None else make(line, link)


def _read(line: str, sort: Sort) -> tuple[str, str, type, dict[str, Any], str]:
    target, *words = line.split()
    file, name = split(target)
    class_, parameters = _class(file, name, sort), _given(target, words)
    values, shown = _arguments(class_, target, parameters, sort)
    return file, name, class_, values, " ".join([target, *shown])


def split(target: str) -> tuple[str, str]:
    """Return the file and the class name in the first word of a line."""
    file, _, name = target.rpartition(":")
    return file, name


@contextmanager
def blaming(files: list[str], *also: type[BaseException]) -> Iterator[None]:
    """Run the disciplines in ``files`` in this block, or none if it stays empty. Raises UserError if one of them fails.

    Refusals of the core, and exceptions of the types ``also``, already say what is wrong and where.
    """
    from goodqueue._goodqueue import ScenarioError, TraceError

    def blamed(error: BaseException) -> UserError | None:
        return None if not files or isinstance(error, (ScenarioError, TraceError, *also)) else blame(error, files)

    with foreign.running(blamed):
        yield


def blame(error: BaseException, files: list[str]) -> UserError:
    """Return ``error`` as a UserError of one line that says where in the user's ``files`` it comes from."""
    from goodqueue._goodqueue import DisciplineError

    where, trace = " or ".join(dict.fromkeys(files)), error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename in files:
            where = f"{trace.tb_frame.f_code.co_filename}:{trace.tb_lineno}"
        trace = trace.tb_next
    if isinstance(error, DisciplineError | UserError):
        return UserError(where, said(error))
    return UserError(where, ": ".join(part for part in (type(error).__name__, said(error)) if part))


def read(file: str) -> bytes:
    """Return the code in a file. Raises UserError."""
    return inputs.read(Path(file), MOST_BYTES, ACCEPTED, pipes=False)  # it is read again for the run's key


def _module(file: str) -> ModuleType:
    """Run ``file`` as a module of its own, so that disciplines do not share globals."""
    inputs.note(Path(file))
    try:
        state = Path(file).stat()
        key = (file, state.st_mtime_ns, state.st_size)
        code = _codes.get(key)
        if code is None:
            text = read(file)
            code = _codes[key] = compile(text, file, "exec", dont_inherit=True)
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or str(error)
        raise UserError(file, f"cannot be read: {why}; accepted: {ACCEPTED}") from None
    except SyntaxError as error:
        raise UserError(f"{file}:{error.lineno}", f"SyntaxError: {error.msg}") from None
    module = ModuleType("goodqueue_discipline_" + Path(file).stem)
    module.__file__ = file
    sys.modules[module.__name__] = module  # dataclasses look up their module
    foreign.check(file)
    with blaming([file]):
        exec(code, module.__dict__)  # noqa: S102 - running the user's class is what was asked for
    return module


def _class(file: str, name: str, sort: Sort) -> type:
    module = _module(file)
    class_ = getattr(module, name, None)
    if not isinstance(class_, type):
        classes = [key for key, value in vars(module).items() if _is_one(value, module, sort)]
        accepted = ", ".join(classes) or f"a class with {' and '.join(sort.methods)}"
        raise UserError(file, f"has no class {quoted(name)}; accepted: {accepted}")
    missing = [method for method in sort.methods if not callable(getattr(class_, method, None))]
    if missing:
        raise UserError(file, f"{name} has no method {missing[0]}; accepted: {sort.wanted}")
    for method in (*sort.methods, *sort.may):
        if word := _defers(getattr(class_, method, None)):
            raise UserError(file, f"{name}.{method} is {word}, whose call does nothing yet; accepted: a plain def")
    return class_


def _defers(method: object) -> str:
    """Return what ``method`` is if a call of it only makes an object that would do the work, else nothing."""
    if inspect.iscoroutinefunction(method) or inspect.isasyncgenfunction(method):
        return "an async def"
    return "a generator (it has a yield)" if inspect.isgeneratorfunction(method) else ""


def _is_one(value: object, module: ModuleType, sort: Sort) -> bool:
    return isinstance(value, type) and value.__module__ == module.__name__ and hasattr(value, sort.methods[1])


def _given(target: str, words: list[str]) -> dict[str, str]:
    """Return the parameters of a line: its words are names and values, alternately."""
    if len(words) % 2:
        raise UserError(target, f"{words[-1]}: no value; accepted: a name and a value each, as target 5ms")
    values: dict[str, str] = {}
    for name, value in zip(words[::2], words[1::2], strict=True):
        if name in values:
            raise UserError(target, f"{name}: given twice")
        values[name] = value
    return values


def _arguments(class_: type, target: str, given: dict[str, str], sort: Sort) -> tuple[dict[str, Any], list[str]]:
    """Return the arguments of the class's ``__init__`` after the first one, by name and as words."""
    try:
        parameters = list(inspect.signature(class_).parameters.values())
    except (TypeError, ValueError):
        parameters = []
    if not parameters or parameters[0].kind not in (
        inspect.Parameter.POSITIONAL_ONLY,
        inspect.Parameter.POSITIONAL_OR_KEYWORD,
        inspect.Parameter.VAR_POSITIONAL,
    ):
        raise UserError(target, sort.no_argument)
    by_name = {p.name: p for p in parameters[1:] if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)}
    anything = any(p.kind == p.VAR_KEYWORD for p in parameters)
    accepted_names = ", ".join(by_name) or "no parameters"
    if unknown := [] if anything else [name for name in given if name not in by_name]:
        raise UserError(target, f"unknown word {quoted(unknown[0])}; accepted: {accepted_names}")
    values: dict[str, Any] = {}
    for name, text in given.items():
        read, accepted = _reader(by_name.get(name))
        try:
            values[name] = read(text)
        except ValueError:
            raise UserError(target, f"{name}: found {quoted(text)}; accepted: {accepted}") from None
    defaults = {name: p.default for name, p in by_name.items() if p.default is not p.empty and p.default is not None}
    if missing := [name for name in by_name if by_name[name].default is by_name[name].empty and name not in given]:
        raise UserError(target, f"{missing[0]}: no value, and it has no default; accepted: {accepted_names}")
    shown = {
        name: _show(values.get(name, defaults.get(name))) for name in [*by_name, *given] if name in defaults | given
    }
    return values, [word for pair in shown.items() for word in pair]


def _reader(parameter: inspect.Parameter | None) -> tuple[Callable[[str], Any], str]:
    """Return the function that reads the text of ``parameter``, chosen by its default or annotation, and its format."""
    kind: Any = None
    if parameter is not None:
        default = parameter.default
        kind = parameter.annotation if default is parameter.empty or default is None else type(default)
    if kind in (bool, "bool"):
        return _flag, "true or false"
    if kind in (int, "int"):
        return _whole, "a whole number"
    if kind in (float, "float"):
        return inputs.number, "a number"
    return str, "text"


def _whole(text: str) -> int:
    inputs.number(text)  # refuses what only Python reads as a number
    return int(text)


def _flag(text: str) -> bool:
    words = {"true": True, "on": True, "false": False, "off": False}
    if text.lower() not in words:
        raise ValueError(text)
    return words[text.lower()]


def _show(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else "".join(said(value).split()) or "-"
