"""The ``goodqueue`` command: one file a verb, and one line here.

Each verb's module imports what is heavy (rich, matplotlib, scipy, the core) inside its function, so that ``--help``
and small runs stay quick.
"""

import os
import sys
from collections.abc import Sequence
from typing import NoReturn

import typer

from goodqueue.cli import bench, compare, listing, replay, run, study
from goodqueue.errors import UserError, one_line

HELP = """goodqueue: a laboratory for active queue management.

It runs queue disciplines under real traffic and measures what people feel: delay, goodput, loss, fairness.

\b
Examples:
  goodqueue compare pfifo codel fq_codel --rate 10mbit --rtt 50ms
  goodqueue compare pie "pie target 5ms" --rate 25mbit --rtt 20ms --out report
  goodqueue run scenario.toml --set bottleneck.rate=5mbit
  goodqueue list qdiscs codel

Bad input ends with one line on standard error and exit status 2; standard output holds results only.
"""

app = typer.Typer(
    help=HELP,
    add_completion=False,
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)

# The verbs, in the order in which --help shows them.
app.command("run")(run.run)
app.command("compare")(compare.compare)
app.command("study")(study.study)
app.command("replay")(replay.replay)
app.command("list")(listing.listing)
app.command("bench")(bench.bench)


def _version(asked: bool) -> None:
    if asked:
        from goodqueue._goodqueue import VERSION

        typer.echo(f"goodqueue {VERSION}")
        raise typer.Exit


@app.callback()
def _root(
    version: bool = typer.Option(False, "--version", callback=_version, is_eager=True, help="Print the version."),
) -> None:
    pass


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run the command line ``arguments`` (the process's own by default) and exit.

    Exit status: 0 fine, 1 a replayed trace mismatches, 2 bad input, 130 interrupted, 141 the reader went away.
    """
    # Characters that the output cannot hold (a file name in another encoding) are escaped; they never end the program.
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    try:
        status = _dispatch(list(sys.argv[1:] if arguments is None else arguments))
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        status = 141
    except KeyboardInterrupt:
        status = _refuse("interrupted", 130)
    sys.exit(status)


def _dispatch(arguments: list[str]) -> int:
    command = typer.main.get_command(app)
    try:
        result = command.main(arguments, prog_name="goodqueue", standalone_mode=False)
    except UserError as error:
        return _refuse(str(error), 2)
    except typer.TyperException as error:
        return _refuse(_usage(error), getattr(error, "exit_code", 2))
    except typer.Abort:
        raise KeyboardInterrupt from None
    return result if isinstance(result, int) else 0


def _usage(error: typer.TyperException) -> str:
    """Return typer's complaint in our words: the verb, what was found, where to look."""
    context = getattr(error, "ctx", None)
    if type(error).__name__ == "NoArgsIsHelpError" and context is not None:
        return "no command given; accepted: " + ", ".join(context.command.list_commands(context))
    path: str = context.command_path if context is not None else "goodqueue"
    message = error.format_message().rstrip(".")
    verb = path.removeprefix("goodqueue").strip()
    return f"{f'{verb}: ' if verb else ''}{message}; accepted: see `{path} --help`"


def _refuse(message: str, status: int) -> int:
    print(f"goodqueue: {one_line(message)}", file=sys.stderr)
    return status
