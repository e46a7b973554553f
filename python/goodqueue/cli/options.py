"""Options that several verbs share, and their parsers."""

import functools
import inspect
from collections.abc import Callable
from contextlib import nullcontext
from typing import Annotated, Any

import typer

from goodqueue import foreign, options
from goodqueue.ask import shared
from goodqueue.cli import words
from goodqueue.errors import Option, UserError


def whole(name: str, least: int | None = None, most: int = options.MOST) -> Callable[[str], int]:
    """Return the parser of the option ``name``, a whole number: within `options.BOUNDS` if no bounds are given."""
    bounds = options.BOUNDS[name] if least is None else (least, most)
    return lambda text: options.whole(Option(name), text, *bounds)


def form(**asked: bool) -> str:
    """Return the form of the output that is ``asked`` for, or an empty text. Raises UserError for two of them."""
    first, *others = [name for name, is_asked in asked.items() if is_asked] or [""]
    if others:
        raise UserError(Option(others[0]), ["found beside ", Option(first), "; accepted: one of them"])
    return first


def prepared(verb: Callable[..., None]) -> Callable[..., None]:
    """Return ``verb`` with ``--no-code`` in its signature."""
    parameters = {
        name: parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY)
        for name, parameter in inspect.signature(verb).parameters.items()
    }
    parameters["no_code"] = inspect.Parameter(
        "no_code", inspect.Parameter.KEYWORD_ONLY, default=False, annotation=NoCode
    )

    @functools.wraps(verb)
    def run(*, no_code: bool, **given: Any) -> None:
        with foreign.refused() if no_code else nullcontext():
            verb(**given)

    run.__signature__ = inspect.Signature(list(parameters.values()))  # type: ignore[attr-defined]
    run.__annotations__ = {name: one.annotation for name, one in parameters.items()}
    return run


NoCode = Annotated[
    bool, typer.Option("--no-code", help="Refuse Python code of files: classes; numbers.py, figures.py of studies.")
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")]
Latex = Annotated[bool, typer.Option("--latex", help="Print the tables as LaTeX, with booktabs and siunitx.")]
Markdown = Annotated[bool, typer.Option("--markdown", help="Print everything as Markdown.")]
All = Annotated[bool, typer.Option("--all", help="Print all tables and columns, also those without a value.")]
Force = Annotated[bool, typer.Option("--force", help=shared.FORCE)]
Metrics = Annotated[
    list[str] | None,
    typer.Option(
        "--metric",
        metavar="NAME",
        help=shared.METRIC,
        autocompletion=words.metric,
    ),
]
Sets = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="KEY=VALUE",
        help=shared.KEYS,
        autocompletion=words.assignment,
    ),
]
Kernel = Annotated[
    str | None,
    typer.Option("--kernel", metavar="RELEASE", help=f"{shared.KERNEL} [this machine's packages]"),
]
Machine = Annotated[
    str | None,
    typer.Option("--machine", metavar="NAME", help=f"{shared.MACHINE} [{shared.WITHOUT_MACHINE}]"),
]
