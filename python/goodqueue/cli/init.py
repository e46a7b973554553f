"""``goodqueue init``: writes a scenario to start from."""

from typing import Annotated

import typer

from goodqueue.cli import words
from goodqueue.cli.options import Force
from goodqueue.examples import FIRST


def init(
    file: Annotated[str, typer.Argument(metavar="[FILE]", help="The file to write.")] = "scenario.toml",
    example: Annotated[
        str | None,
        typer.Option(
            "--example",
            metavar="NAME",
            help=f"The name of an example: see `goodqueue list examples`. Default: {FIRST}.",
            autocompletion=words.example,
        ),
    ] = None,
    source: Annotated[
        str | None,
        typer.Option(
            "--from",
            metavar="SETTINGS",
            help="A file of settings of a router: /etc/config/sqm, /etc/config/qosmate, config.primary.sh.",
        ),
    ] = None,
    force: Force = False,
) -> None:
    """Write a scenario to edit.

    It is small and has every line explained. With --example it is one of the examples. With --from it has the queues
    that SQM, qosmate or cake-autorate makes of its settings, and names what it leaves out.

    \b
    Examples:
      goodqueue init                       # writes scenario.toml
      goodqueue init call.toml --example voip-and-web
      goodqueue init home.toml --from /etc/config/sqm
    """
    from goodqueue.errors import Option, UserError
    from goodqueue.files import output
    from goodqueue.show import terminal

    if example is not None and source is not None:
        raise UserError(Option("from"), ["found with ", Option("example"), "; accepted: one of them"])
    output.check_file(file, force, "init")
    text, left_out = _example(example or FIRST, file) if source is None else _settings(source, file)
    written = output.write_file(file, force, text.encode())
    if written != file:
        raise output.appeared(file, written, "init")
    named = f", which names {left_out} settings that it leaves out" if left_out else ""
    terminal.say(f"{written}: written{named}. Next: goodqueue run {written}")


def _example(name: str, file: str) -> tuple[str, int]:
    from goodqueue import examples

    # The commands at the top are those of this file.
    return examples.read(name).replace(f"examples/{name}.toml", file), 0


def _settings(source: str, file: str) -> tuple[str, int]:
    """Return the scenario of a file of settings, and how many settings it leaves out. Raises UserError."""
    from goodqueue import scenario, settings
    from goodqueue.errors import UserError
    from goodqueue.files import inputs

    draft = settings.read(source)
    text = draft.toml(file)
    try:
        scenario.resolve(inputs.toml(text))
    except UserError as error:
        raise UserError(source, "makes a scenario that is refused", error) from None
    return text, len(draft.left_out)
