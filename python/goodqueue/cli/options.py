"""Options that several verbs share, and their parsers."""

import functools
import inspect
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from dataclasses import dataclass
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


def check_force(force: bool, *written: str | None) -> None:
    """Refuse ``--force`` if the command writes nothing that was asked for, at none of ``written``. Raises UserError."""
    if force and not any(one is not None for one in written):
        raise UserError("--force", "found without --out; accepted: with --out DIR")


def form(**asked: bool) -> str:
    """Return the form of the output that is ``asked`` for, or an empty text. Raises UserError for two of them."""
    first, *others = [name for name, is_asked in asked.items() if is_asked] or [""]
    if others:
        raise UserError(Option(others[0]), ["found beside ", Option(first), "; accepted: one of them"])
    return first


Said = dict[str, Any]
"""Options that describe a scenario, by name, with the text that the user wrote, or None."""


@dataclass(frozen=True)
class Described:
    """Stands in a verb's signature for the options of `options.DECLARED` by these ``names``, in their order."""

    names: tuple[str, ...]
    otherwise: dict[str, str]
    """What holds without an option, where it is not what the table says."""

    def parameters(self) -> Iterator[inspect.Parameter]:
        """Yield the parameters that typer makes options of."""
        for name in self.names:
            one = options.DECLARED[name]
            flag = str(one.option)
            option = typer.Option(
                flag,
                metavar=one.metavar or None,
                help=one.described(self.otherwise.get(name)),
                autocompletion=getattr(words, one.completes) if one.completes else None,
            )
            kind, default = (str | None, None) if one.metavar else (bool, False)
            yield inspect.Parameter(
                name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=Annotated[kind, option]
            )


def described(*names: str, **otherwise: str) -> Described:
    """Return what `Said` is annotated with: ``names``, and those of ``otherwise`` with what holds without them."""
    return Described((*names, *(name for name in otherwise if name not in names)), otherwise)


def prepared(verb: Callable[..., None]) -> Callable[..., None]:
    """Return ``verb`` with the options that stand for scenarios in its signature, and with ``--no-code``."""
    parameters: dict[str, inspect.Parameter] = {}
    groups: dict[str, tuple[str, ...]] = {}
    for name, parameter in inspect.signature(verb).parameters.items():
        found = [one for one in getattr(parameter.annotation, "__metadata__", ()) if isinstance(one, Described)]
        own = [one for group in found for one in group.parameters()] or [parameter]
        if found:
            groups[name] = tuple(one.name for one in own)
        parameters |= {one.name: one.replace(kind=inspect.Parameter.KEYWORD_ONLY) for one in own}
    parameters["no_code"] = inspect.Parameter(
        "no_code", inspect.Parameter.KEYWORD_ONLY, default=False, annotation=NoCode
    )

    @functools.wraps(verb)
    def run(*, no_code: bool, **given: Any) -> None:
        for group, names in groups.items():
            given[group] = {name: given.pop(name) for name in names}
        with foreign.refused() if no_code else nullcontext():
            verb(**given)

    run.__signature__ = inspect.Signature(list(parameters.values()))  # type: ignore[attr-defined]
    run.__annotations__ = {name: one.annotation for name, one in parameters.items()}
    return run


NoCode = Annotated[
    bool, typer.Option("--no-code", help="Refuse Python code of files: classes; numbers.py, figures.py of studies.")
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")]
Latex = Annotated[bool, typer.Option("--latex", help="Print the tables as LaTeX, with booktabs.")]
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
Workers = Annotated[
    int | None,
    typer.Option(
        "--workers",
        parser=whole("workers"),
        metavar="N",
        help=f"{shared.WORKERS} [all cores]",
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
