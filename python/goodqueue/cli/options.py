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


def check_format(json: bool, latex: bool) -> None:
    """Refuse two formats of the output. Raises UserError."""
    if json and latex:
        raise UserError("--latex", "found beside --json; accepted: one of them")


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
