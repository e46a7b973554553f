"""Options that several verbs share, and how they read them."""

from collections.abc import Callable
from typing import Annotated

import typer

from goodqueue.errors import UserError, quoted


def whole(option: str, least: int, most: int = 2**63 - 1) -> Callable[[str], int]:
    """Return the reader of an option that is a whole number, with a refusal that names what was found."""

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


Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")]
Workers = Annotated[
    int | None,
    typer.Option(
        "--workers",
        parser=whole("--workers", 1, 4096),
        metavar="N",
        help="Threads; the result is the same with any. [all cores]",
    ),
]
Sets = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="KEY=VALUE", help="Change a key, as traffic.0.count=4. Repeatable."),
]
Engines = Annotated[
    str,
    typer.Option(
        "--engine", metavar="NAMES", help="sim, kernel (Linux's own), live (its TCP on our path), or several."
    ),
]
