"""The ``goodqueue`` command: one file per verb, and one line per verb here.

Each verb's module imports slow modules (rich, matplotlib, scipy, the core) inside its function, so that ``--help`` and
small runs stay fast.
"""

import functools
import os
import sys
from collections.abc import Sequence
from typing import NoReturn

import typer

from goodqueue import extras, interrupts
from goodqueue.cli import (
    advise,
    attack,
    bench,
    calibrate,
    cite,
    compare,
    completion,
    export,
    fit,
    generate,
    importing,
    init,
    kernel,
    link,
    listing,
    options,
    plot,
    process,
    record,
    replay,
    report,
    run,
    schema,
    sensitivity,
    serve,
    study,
    suite,
    sweep,
    tune,
    validate,
    vectors,
)
from goodqueue.errors import UserError, one_line, quoted

HELP = """goodqueue: a laboratory for active queue management.

It runs queue disciplines under real traffic and measures what people feel: delay, goodput, loss, fairness.

\b
Examples:
  goodqueue compare pfifo codel fq_codel --rate 10mbit --rtt 50ms
  goodqueue compare pie "pie target 5ms" --rate 25mbit --rtt 20ms --out report
  goodqueue run scenario.toml --set bottleneck.rate=5mbit
  goodqueue list qdiscs codel

If the input is wrong, the command prints one line on standard error and exits with status 2. Standard output has
results only.
"""

app = typer.Typer(
    help=HELP,
    add_completion=False,
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)

# The verbs, in their order in --help.
app.command("init")(init.init)
app.command("run")(run.run)
app.command("compare")(compare.compare)
app.command("link")(link.link)
app.command("advise")(advise.advise)
app.command("sweep")(sweep.sweep)
app.command("attack")(attack.attack)
app.command("tune")(tune.tune)
app.command("sensitivity")(sensitivity.sensitivity)
app.command("fit")(fit.fit)
app.command("report")(report.report)
app.command("serve")(serve.serve)
app.command("plot")(plot.plot)
app.command("export")(export.export)
app.command("import")(importing.import_)
app.command("study")(study.study)
app.command("suite")(suite.suite)
app.command("validate")(validate.validate)
app.command("calibrate")(calibrate.calibrate)
app.add_typer(kernel.app, name="kernel")
app.command("replay")(replay.replay)
app.command("record")(record.record)
app.command("generate")(generate.generate)
app.command("vectors")(vectors.vectors)
app.command("list")(listing.listing)
app.command("schema")(schema.schema)
app.command("bench")(bench.bench)
app.command("completion")(completion.completion)
app.command("cite")(cite.cite)
for command in (*app.registered_commands, *kernel.app.registered_commands):
    assert command.callback is not None
    command.callback = options.prepared(command.callback)


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


command_line = functools.cache(functools.partial(typer.main.get_command, app))
"""Returns all verbs as typer runs them. Making them takes 20 ms, so they are made once."""


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run the command line ``arguments`` (default: the process's own) and exit.

    Exit status: 0 success, 1 a replayed trace mismatches, no trace could be replayed or a cell of a sweep failed, 2 bad
    input, 130 interrupted, 141 the reader of the output closed it, 143 terminated.
    """
    process.prepare_streams()
    process.draw_into_files()
    interrupts.answer()
    try:
        status = completion.answer(app)
        if status is None:
            status = _dispatch(list(sys.argv[1:] if arguments is None else arguments))
        sys.stdout.flush()
    except BrokenPipeError:
        status = process.give_up_output(141)
    except OSError as error:
        status = process.give_up_output(_refuse(f"{error.filename or 'standard output'}: {error.strerror or error}", 2))
    except MemoryError:
        status = _refuse("found no more memory; accepted: fewer or smaller inputs, or more memory", 2)
    except KeyboardInterrupt:
        status = _refuse("interrupted", interrupts.STATUS)
    sys.exit(status)


def _dispatch(arguments: list[str]) -> int:
    command = command_line()
    try:
        _refuse_bytes(arguments)
        _refuse_twice(command, arguments)
        # Not command.main(), which handles Ctrl-C and a closed output in its own way.
        with command.make_context("goodqueue", arguments) as context:
            command.invoke(context)
    except typer.Exit as ended:
        return ended.exit_code
    except UserError as error:
        return _refuse(str(error), 2)
    except ModuleNotFoundError as error:
        if (refusal := extras.missing(error, arguments[0])) is None:
            raise
        return _refuse(str(refusal), 2)
    except typer.TyperException as error:
        if type(error).__name__ == "NoArgsIsHelpError":
            typer.echo(error.format_message())
            return 0
        return _refuse(_usage(error), getattr(error, "exit_code", 2))
    return 0


def _refuse_bytes(arguments: Sequence[str]) -> None:
    """Raise UserError for words that are not UTF-8 if files are written, since they contain the command in UTF-8."""
    if any(word.partition("=")[0] in ("--out", "--store", "--trace") for word in arguments):
        for word in arguments:
            if not word.isascii() and any("\ud800" <= char <= "\udfff" for char in word):
                raise UserError(quoted(word), "not UTF-8; accepted: names in UTF-8, as results hold them")


def _refuse_twice(command: object, arguments: Sequence[str]) -> None:
    """Raise UserError if an option that takes one value is given several times."""
    verb = next((word for word in arguments if not word.startswith("-")), "")
    own = getattr(command, "commands", {}).get(verb)
    options = {name: param for param in own.params for name in param.opts if name[0] == "-"} if own else {}
    seen: set[str] = set()
    words = iter(arguments)
    for word in words:
        if word == "--":
            return
        name, equals, _ = word.partition("=")
        if (option := options.get(name)) is None:
            continue
        if name in seen and not option.multiple:
            raise UserError(name, "given twice; accepted: once")
        seen.add(name)
        if not option.is_flag and not equals:
            next(words, None)


def _usage(error: typer.TyperException) -> str:
    """Return typer's error message in our words: the verb, what was found, what is accepted."""
    context = getattr(error, "ctx", None)
    message = error.format_message().rstrip(".")
    if context is None:
        return f"{message}; accepted: see `goodqueue --help`"
    path: str = context.command_path
    verb = path.removeprefix("goodqueue").strip()
    if option := getattr(error, "option_name", None):
        options = [max(param.opts, key=len) for param in context.command.params if param.param_type_name == "option"]
        message = f"found option {quoted(option)}; accepted: {', '.join(options) or f'see `{path} --help`'}"
    elif not verb and hasattr(context.command, "list_commands"):
        commands = ", ".join(context.command.list_commands(context))
        message = f"{message[0].lower()}{message[1:]}; accepted: {commands}"
    else:
        message = f"{message[0].lower()}{message[1:]}; accepted: see `{path} --help`"
    return f"{verb}: {message}" if verb else message


def _refuse(message: str, status: int) -> int:
    try:
        print(f"goodqueue: {one_line(message)}", file=sys.stderr, flush=True)
    except OSError:  # stderr is closed: only the status reports the error
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stderr.fileno())
    return status
