"""``goodqueue init``: writes a scenario to start from."""

from typing import Annotated

import typer

from goodqueue.cli import words
from goodqueue.cli.options import Force
from goodqueue.examples import FIRST


def init(
    file: Annotated[str, typer.Argument(metavar="[FILE]", help="The file to write.")] = "scenario.toml",
    example: Annotated[
        str,
        typer.Option(
            "--example",
            metavar="NAME",
            help="The name of an example: see `goodqueue list examples`.",
            autocompletion=words.example,
        ),
    ] = FIRST,
    force: Force = False,
) -> None:
    """Write a scenario to edit.

    It is small and has every line explained. With --example it is one of the examples.

    \b
    Examples:
      goodqueue init                       # writes scenario.toml
      goodqueue init call.toml --example voip-and-web
    """
    from goodqueue import examples
    from goodqueue.files import output
    from goodqueue.show import terminal

    text = examples.read(example)
    output.check_file(file, force, "init")
    text = text.replace(f"examples/{example}.toml", file)  # in the commands at the top of the file
    written = output.write_file(file, force, text.encode())
    if written != file:
        raise output.appeared(file, written, "init")
    terminal.say(f"{written}: written. Next: goodqueue run {written}")
