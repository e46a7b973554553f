"""``goodqueue report``: writes one page of stored results."""

from typing import Annotated

import typer

from goodqueue.cli.options import Force


def report(
    paths: Annotated[
        list[str],
        typer.Argument(metavar="PATH...", help="A store, a record in JSON, or a folder of study, compare, validate."),
    ],
    out: Annotated[str, typer.Option(metavar="FILE", help="The page.")] = "report.html",
    force: Force = False,
) -> None:
    """Write stored results as one HTML page.

    \b
    Examples:
      goodqueue report store --out report.html
      goodqueue run one-flow.toml --json > record.json; goodqueue report record.json
      goodqueue report store study-folder validation --out everything.html

    The page has tables and figures, and needs no network. The command runs nothing. Each sweep of a store is a section.
    Runs outside a sweep are compared with runs that differ only in the qdisc and the engine.
    """
    import shlex

    from goodqueue.files import inputs, output
    from goodqueue.report import stored
    from goodqueue.show import terminal

    output.check_file(out, force)
    command = shlex.join(["goodqueue", "report", *paths, "--out", out])
    with terminal.progress("figures and report") as progress, inputs.noted() as read:
        text = stored.page(paths, command, progress)
    output.spare(out, read)
    written = output.write_file(out, force, text.encode())
    terminal.say(f"Written: {written}")
    if written != out:
        raise output.appeared(out, written)
