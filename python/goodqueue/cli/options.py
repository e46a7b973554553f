"""Options that several verbs share, and their parsers."""

import functools
import inspect
from collections.abc import Callable
from contextlib import nullcontext
from typing import Annotated, Any

import typer

from goodqueue import foreign
from goodqueue.cli import words
from goodqueue.errors import UserError, quoted


def whole(option: str, least: int, most: int = 2**63 - 1) -> Callable[[str], int]:
    """Return the parser of an option that is a whole number. Its error message says what was found."""

    def read(text: str | int) -> int:
        try:
            number = int(text)
        except ValueError:
            number = least - 1
        if not least <= number <= most:
            accepted = f"a whole number from {least}" + (f" to {most}" if number > most or most < 2**63 - 1 else "")
            raise UserError(option, f"found {quoted(text)}; accepted: {accepted}")
        return number

    return read


def check_format(json: bool, latex: bool) -> None:
    """Refuse two formats of the output. Raises UserError."""
    if json and latex:
        raise UserError("--latex", "found beside --json; accepted: one of them")


def with_no_code(verb: Callable[..., None]) -> Callable[..., None]:
    """Return ``verb`` with the option ``--no-code``."""

    @functools.wraps(verb)
    def run(*, no_code: bool, **given: Any) -> None:
        with foreign.refused() if no_code else nullcontext():
            verb(**given)

    signature = inspect.signature(verb)
    option = inspect.Parameter("no_code", inspect.Parameter.KEYWORD_ONLY, default=False, annotation=NoCode)
    run.__signature__ = signature.replace(parameters=[*signature.parameters.values(), option])  # type: ignore[attr-defined]
    run.__annotations__ = verb.__annotations__ | {"no_code": NoCode}
    return run


NoCode = Annotated[
    bool, typer.Option("--no-code", help="Refuse the Python code of files: classes, and figures.py of studies.")
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")]
Latex = Annotated[bool, typer.Option("--latex", help="Print the tables as LaTeX, with booktabs.")]
Correct = Annotated[
    str | None, typer.Option("--correct", metavar="holm", help="Correct the stars for the number of comparisons.")
]
Effect = Annotated[bool, typer.Option("--effect", help="Show effect sizes of the differences, too (Cohen's d_z).")]
Workers = Annotated[
    int | None,
    typer.Option(
        "--workers",
        parser=whole("--workers", 1, 4096),
        metavar="N",
        help="Number of threads. It does not change the result. [all cores]",
    ),
]
Sets = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="KEY=VALUE",
        help="Change a key: traffic.0.count=4. Repeatable.",
        autocompletion=words.assignment,
    ),
]
Engines = Annotated[
    str,
    typer.Option(
        "--engine", metavar="NAMES", help="sim, kernel (Linux's own), live (its TCP on our path), or several."
    ),
]
