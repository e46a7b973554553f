"""The ``goodqueue`` command: one file per verb, and one line per verb here.

A command imports its own verb only. Each verb's module imports slow modules (rich, matplotlib, scipy, the core) inside
its function, so that ``--help`` and small runs stay fast.
"""

import functools
import inspect
import os
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Any, NoReturn

import typer

from goodqueue import extras, interrupts, threads
from goodqueue.ask.question import Question
from goodqueue.cli import asking, completion, options, process
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

GROUPS = {
    "Ask": {
        "run": "runs.question:Run",
        "compare": "comparison.question:Compare",
        "sweep": "sweeps.question:Sweep",
        "advise": "advice.question:Advise",
        "link": "linking.question:Link",
    },
    "Search": {
        "attack": "search.attack.question:Attack",
        "tune": "search.tune.question:Tune",
        "sensitivity": "search.sensitivity.question:Sensitivity",
        "fit": "search.fit.question:Fit",
    },
    "Prove": {
        "study": "studies.question:Study",
        "claims": "claims.question:Claims",
        "suite": "suites.question:Suite",
        "validate": "validation.question:Validate",
        "calibrate": "calibrate.question:Calibrate",
        "replay": "decisions.question:Replay",
        "record": "decisions.question:Record",
    },
    "Look": {
        "plot": "plot.question:Plot",
        "report": "report.question:Report",
        "serve": "serve.serve",
        "list": "catalogue.question:List",
    },
    "Files": {
        "init": "init.init",
        "import": "flent.question:Import",
        "export": "flent.question:Export",
        "generate": "generate.generate",
        "vectors": "vectors.vectors",
        "schema": "schema.schema",
    },
    "Machine": {
        "bench": "bench.app",
        "kernel": "kernel.app",
        "completion": "completion.completion",
        "cite": "cite.cite",
    },
}
"""The verbs in their groups, in the order of --help: a question (``MODULE:CLASS``), or a function beside this file.

A verb is a question if it has an answer that several faces can show. The others act: they serve a page, write a file
that somebody edits or reads next, or are about this machine.
"""

VERBS = {name: where for verbs in GROUPS.values() for name, where in verbs.items()}
"""The verbs of all groups."""


class Grouped(typer.core.TyperGroup):
    """The command, whose help lists the verbs by group."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:  # noqa: ARG002 - the signature is typer's
        """Write one section per group. A verb's sentence needs its docstring only, so its options are not made."""
        longest = max(map(len, VERBS))
        width = formatter.width - 6 - longest
        for group, verbs in GROUPS.items():
            commands = [typer.core.TyperCommand(name, help=_text(_declared(where))) for name, where in verbs.items()]
            with formatter.section(group):
                formatter.write_dl([(one.name, one.get_short_help_str(width)) for one in commands], col_max=longest)


RENAMED = {"--out": "--store", "--seed": "--draw-seed"}
"""Options that verbs had before 0.1, with their present names. ``import --out`` was the folder of a store."""


MOVED = {
    "--flows": "bench flows N,N",
    "--users": "bench users N,N",
    "--wifi": "bench wifi",
    "--threads": "bench threads N,N",
    "--lines": "validate lines N",
}
"""Options of verbs that are sub-commands now, with what is typed today."""


NO_VERB: tuple[list[str], ...] = ([], ["-h"], ["--help"], ["--version"])
"""The words of a command line that asks for no verb, so that none is made."""


def _version(asked: bool) -> None:
    if asked:
        from goodqueue._goodqueue import VERSION

        typer.echo(f"goodqueue {VERSION}")
        raise typer.Exit


def _root(
    version: bool = typer.Option(False, "--version", callback=_version, is_eager=True, help="Print the version."),
) -> None:
    pass


def _declared(where: str) -> Any:
    """Return what declares a verb: a question, a function, or the typer of several. `VERBS` says where it is."""
    module, is_question, question = where.partition(":")
    if is_question:
        return getattr(import_module(f"goodqueue.{module}"), question)
    module, _, function = where.partition(".")
    return getattr(import_module(f"goodqueue.cli.{module}"), function)


def _text(verb: Any) -> str:
    """Return the text of a verb's help."""
    return str(verb.info.help) if isinstance(verb, typer.Typer) else inspect.getdoc(verb) or ""


@functools.cache
def command_line(verbs: tuple[str, ...] = tuple(VERBS)) -> Any:
    """Return the command with ``verbs`` as typer runs it. All verbs take 150 ms: their options are made."""
    app = typer.Typer(
        cls=Grouped,
        help=HELP,
        add_completion=False,
        no_args_is_help=True,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    )
    app.callback()(_root)
    for name in verbs:
        verb = _declared(VERBS[name])
        if isinstance(verb, type) and issubclass(verb, Question):
            verb = asking.group(verb) if verb.further else asking.verb(verb)
        if isinstance(verb, typer.Typer):
            app.add_typer(verb, name=name)
        else:
            app.command(name)(options.prepared(verb))
    return typer.main.get_command(app)


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run the command line ``arguments`` (default: the process's own) and exit.

    Exit status: 0 success, 1 a replayed trace mismatches, no trace could be replayed, a cell of a sweep failed or a
    row of a suite fails, 2 bad input, 127 the program of a link is not there, 130 interrupted, 141 the reader of the
    output closed it, 143 terminated. That of a link is its program's.
    """
    process.prepare_streams()
    process.draw_into_files()
    interrupts.answer()
    try:
        status = completion.answer(command_line)
        if status is None:
            status = _dispatch(list(sys.argv[1:] if arguments is None else arguments))
        sys.stdout.flush()
    except BrokenPipeError:
        status = process.give_up_output(141)
    except OSError as error:
        status = process.give_up_output(_refuse(f"{error.filename or 'standard output'}: {error.strerror or error}", 2))
    except MemoryError:
        status = _refuse("found no more memory; accepted: fewer or smaller inputs, or more memory", 2)
    except RuntimeError as error:
        if str(error) != threads.NO_THREAD:
            raise
        status = _refuse("found no thread that the machine starts; accepted: a higher limit of threads", 2)
    except interrupts.TerminatedError as ended:
        status = int(str(ended.code))
    except KeyboardInterrupt as ended:
        status = _refuse(f"interrupted; {ended}" if ended.args else "interrupted", interrupts.STATUS)
    interrupts.leave(status)


def _dispatch(arguments: list[str]) -> int:
    if arguments in NO_VERB:
        verbs: tuple[str, ...] = ()
    else:
        verbs = (arguments[0],) if arguments and arguments[0] in VERBS else tuple(VERBS)
    command = command_line(verbs)
    try:
        _refuse_bytes(arguments)
        _refuse_twice(command, arguments)
        # Not command.main(), which handles Ctrl-C and a closed output in its own way.
        with command.make_context("goodqueue", arguments) as context:
            command.invoke(context)
    except typer.Exit as ended:
        return ended.exit_code
    except UserError as error:
        return _refuse(str(error), error.status)
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
        if (present := RENAMED.get(option)) in options:
            return f"{verb}: found option {quoted(option)}; accepted: {present}, as it is called now"
        if (command := MOVED.get(option, "")).partition(" ")[0] == verb:
            return f"{verb}: found option {quoted(option)}; accepted: goodqueue {command}, as it is called now"
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
