"""Options that several verbs share, and how they read them."""

from typing import Annotated

import typer

Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")]
Workers = Annotated[
    int | None,
    typer.Option("--workers", min=1, metavar="N", help="Threads; the result is the same with any. [all cores]"),
]
Sets = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="KEY=VALUE", help="Change a key, as traffic.0.count=4. Repeatable."),
]
