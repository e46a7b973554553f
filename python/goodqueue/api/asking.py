"""Arguments in Python: checked, given to the scenario as they are, and named in errors as Python writes them."""

import functools
import inspect
import os
import re
import textwrap
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

from goodqueue import extras
from goodqueue import store as stores
from goodqueue.ask.fields import Field
from goodqueue.ask.question import Question
from goodqueue.ask.readers import PATH, plain
from goodqueue.errors import Option, Place, UserError, quoted
from goodqueue.options import DECLARED
from goodqueue.record import Scenario
from goodqueue.running import Progress
from goodqueue.scenario import asked as scenarios
from goodqueue.show.answer import Answer

Source = str | os.PathLike[str] | Mapping[str, Any]
"""A scenario: the path of a file in TOML, or its tables as a dict."""

RENAMED = {"out": "store", "seed": "draw_seed"}
"""Arguments that functions had before 0.1, with their present names. ``out`` was the folder of a store."""

Args = ParamSpec("Args")
Made = TypeVar("Made")


def in_words_of_python(
    call: Callable[Args, Made], named: Callable[[Option], str] = lambda option: option.in_python
) -> Callable[Args, Made]:
    """Make ``call`` raise `UserError` that names arguments (``up_rate``) instead of options (``--up-rate``).

    ``named`` writes an option. The options of a scenario are listed in its docstring, if that has them as ``**sets``.
    An argument that has another name today is refused, with that name.
    """
    names = inspect.signature(call).parameters
    renamed = {old: new for old, new in RENAMED.items() if old not in names and new in names}

    @functools.wraps(call)
    def calling(*args: Args.args, **kwargs: Args.kwargs) -> Made:
        from goodqueue._goodqueue import ScenarioError

        for old in renamed.keys() & kwargs.keys():
            raise UserError(old, f"found {quoted(kwargs[old])}; accepted: {renamed[old]}, as it is called now")
        try:
            return call(*args, **kwargs)
        except UserError as error:
            raise UserError(error.text(named)) from None
        except ScenarioError as error:
            raise UserError(str(error)) from None
        except ModuleNotFoundError as error:
            raise extras.missing(error, getattr(call, "__name__", "goodqueue")) or error from None

    calling.__doc__ = _with_options(call.__doc__ or "")
    return calling


def function(
    question: type[Question], shown: Callable[[Answer, Any], Made], kind: str, returns: str
) -> Callable[..., Made]:
    """Return the function that asks ``question``. It returns what ``shown`` makes of the answer.

    ``kind`` is the type of that, and ``returns`` says in a sentence what it is. The arguments, their defaults and
    their sentences are the question's.
    """
    fields, defaults = question.fields(), question.defaults()
    described = next((name for name, field in fields.items() if field.of_scenario is not None), None)
    parameters = [
        _parameter(name, field, defaults)
        for name, field in fields.items()
        if field.in_python and field.of_scenario is None
    ]
    parameters.append(inspect.Parameter("progress", inspect.Parameter.KEYWORD_ONLY, default=True, annotation="bool"))
    if described is not None:
        parameters.append(inspect.Parameter("sets", inspect.Parameter.VAR_KEYWORD, annotation="Any"))
    signature = inspect.Signature(parameters, return_annotation=kind)

    fields_of = {field.name: name for name, field in fields.items() if field.name and field.in_python}

    def named(option: Option) -> str:
        return option.in_python if option.value else fields_of.get(option.name, option.in_python)

    def ask(*args: Any, **kwargs: Any) -> Made:
        given = signature.bind(*args, **kwargs).arguments
        is_shown = given.pop("progress", True)
        if described is not None:
            given[described], given["keys"] = said(given.pop("sets", {}))
        asked = question.read(given).for_python()
        work = asked.work()
        answer = working(work.label, given.get("store"), is_shown, work.carry_out)
        return shown(answer, asked)

    ask.__name__ = ask.__qualname__ = question.verb
    ask.__doc__ = _documented(question, returns)
    ask.__signature__ = signature  # type: ignore[attr-defined]
    return in_words_of_python(ask, named)


def _parameter(name: str, field: Field, defaults: Mapping[str, Any]) -> inspect.Parameter:
    if field.is_argument and field.reader.repeats:
        return inspect.Parameter(name, inspect.Parameter.VAR_POSITIONAL, annotation="str")
    return inspect.Parameter(
        name,
        inspect.Parameter.POSITIONAL_OR_KEYWORD if field.is_positional else inspect.Parameter.KEYWORD_ONLY,
        default=defaults.get(name, inspect.Parameter.empty),
        annotation=f"{field.reader.accepts} | None" if defaults.get(name, ()) is None else field.reader.accepts,
    )


PROGRESS = "Whether a terminal shows a progress bar."
"""The sentence of the argument that Python alone has."""

SETS = (
    'Options, and any key of the scenario with ``__`` for the dot: ``path__rtt="10ms"``, ``traffic__0__count=4``. '
    "Rates and times are text with their unit."
)
"""The sentence of the keyword arguments that describe a scenario."""

WIDTH = 92
"""The width of a docstring, which stands in no file."""


def _documented(question: type[Question], returns: str) -> str:
    """Return the docstring of a question's function: the text of its help, in Python's words, and its arguments."""
    first, *others = question.text().split("\n\n")
    paragraphs = [first, *(part for part in others if not part.startswith(("Examples:", "\b")))]
    fields = question.fields()
    stars = {name: "*" for name, field in fields.items() if field.is_argument and field.reader.repeats}
    listed = [
        f"{stars.get(name, '')}{name}: {field.described()} {field.reader.note}".rstrip()
        for name, field in fields.items()
        if field.in_python and field.of_scenario is None
    ]
    listed.append(f"progress: {PROGRESS}")
    if any(field.of_scenario is not None for field in fields.values()):
        listed.append(f"**sets: {SETS}")
    parts = [
        *(textwrap.fill(_in_python(paragraph, question), WIDTH, break_on_hyphens=False) for paragraph in paragraphs),
        _section("Args", [_in_python(line, question) for line in listed]),
        _section("Returns", [returns]),
        _section("Raises", ["UserError: An argument is refused. One line says what was found and what is accepted."]),
    ]
    return "\n\n".join(parts)


def _section(title: str, lines: Sequence[str]) -> str:
    wrapped = [
        textwrap.fill(line, WIDTH, initial_indent=" " * 4, subsequent_indent=" " * 8, break_on_hyphens=False)
        for line in lines
    ]
    return "\n".join([f"{title}:", *wrapped])


def _in_python(text: str, question: type[Question]) -> str:
    """Return ``text`` with options as arguments: ``--draw-seed`` becomes ``draw_seed``.

    An option that the function has not, such as ``--json``, is the command's.
    """

    def written(option: re.Match[str]) -> str:
        name = option[1].replace("-", "_")
        field = question.fields().get(name)
        return f"`{name}`" if field is not None and field.in_python else f"``goodqueue {question.verb} {option[0]}``"

    return re.sub(r"--([a-z][a-z-]*)", written, text)


def _with_options(doc: str) -> str:
    """Return the docstring ``doc`` with the options of a scenario after its arguments, if it takes them."""
    if "**sets" not in doc:
        return doc
    lines = [f"{one.name}: {one.described(named=lambda option: option.in_python)}" for one in DECLARED.values()]
    listed = "\n".join(["Options of a scenario:", *(f"    {line}" for line in lines)])
    return re.sub(r"\n\n( *)Returns:", lambda head: f"\n\n{textwrap.indent(listed, head[1])}{head[0]}", doc, count=1)


def scenario_of(source: Source | None, given: Mapping[str, Any]) -> tuple[Scenario, dict[str, Place]]:
    """Return the unresolved scenario, and the argument that each key came from.

    ``given`` are keyword arguments: options, and keys of the scenario (``path__rtt`` for ``path.rtt``). Raises
    UserError.
    """
    if source is not None and not isinstance(source, str | os.PathLike | Mapping):
        raise UserError("scenario", f"found {quoted(source)}; accepted: a file's path, a dict, or options by name")
    file = None if source is None else dict(source) if isinstance(source, Mapping) else os.fspath(source)
    return scenarios.base(file, *said(given))


def said(given: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the options among the keyword arguments ``given``, and the others as keys of the scenario."""
    found = {name: plain(value) for name, value in given.items()}
    keys = {name.replace("__", "."): value for name, value in found.items() if name not in DECLARED}
    return {name: value for name, value in found.items() if name in DECLARED}, keys


def kept(store: object) -> stores.Store | None:
    """Return the store in the folder ``store``, made if it is new. None if ``store`` is None. Raises UserError."""
    if store is None:
        return None
    folder = PATH.read(Option("store"), store)
    return stores.create(Path(folder), f"store {folder}")


def working(label: str, store: object, progress: bool, work: Callable[[Progress, stores.Store | None], Made]) -> Made:
    """Return the result of ``work``, which gets a progress bar called ``label``, and the store in the folder ``store``.

    Raises UserError, also if the store cannot be written.
    """
    from goodqueue.show import terminal

    folder = kept(store)
    shows = terminal.progress if progress else terminal.silent
    try:
        with shows(label) as note:
            return work(note, folder)
    except OSError as error:
        raise UserError(f"store {store}", f"cannot be written: {error.strerror or error}") from error
