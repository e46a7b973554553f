"""Makes commands of questions: their arguments and options, their help, and what becomes of the answer."""

import inspect
from collections.abc import Callable, Iterator
from dataclasses import MISSING
from typing import TYPE_CHECKING, Annotated, Any

import typer

from goodqueue import options
from goodqueue.ask.fields import Field
from goodqueue.ask.question import UNSAID, Question
from goodqueue.cli import planned, words
from goodqueue.cli.options import All, Force, Json, Latex, Markdown, form, prepared
from goodqueue.errors import Option, UserError, warn

if TYPE_CHECKING:
    from goodqueue.show.answer import Answer


ALL = "all"
"""The option that shows every part. A terminal shows the most important ones without it."""


def verb(question: type[Question]) -> Callable[..., None]:
    """Return the function of which typer makes the command: it asks ``question`` and shows the answer."""

    def ask(
        *,
        json: bool = False,
        latex: bool = False,
        markdown: bool = False,
        context: typer.Context | None = None,
        **given: Any,
    ) -> None:
        from goodqueue.files import inputs, output

        if context is not None and context.invoked_subcommand is not None:
            _refuse_before(context)
            return
        out, force = (given.pop("out"), given.pop("force")) if question.report else (None, False)
        form_asked = form(json=json, latex=latex, markdown=markdown, all=given.pop(ALL, False))
        for name, field in question.fields().items():
            if field.of_scenario:
                given[name] = {one: given.pop(one) for one in field.of_scenario}
        asked = question.read(given)
        if json:
            asked = asked.for_json()
        others = {name: path for name in question.writes if (path := getattr(asked, name)) is not None}
        if question.needs_store:
            planned.check_beside(out, given.get("store"))
        planned.check(out, force, *others.values())
        for path in others.values():
            output.check_file(path, force)
        with inputs.noted() as read:
            work = (asked if out is None else asked.for_report()).work()
        if out is not None:
            output.spare(out, read)
        with planned.continues(store := given.get("store")):
            answer = planned.carry_out(work.label, None if question.opens_store else store, work.carry_out)
        for name, path in others.items():
            output.write_file(path, force, answer.also[name])
        show(asked, answer, out, force=force, form=form_asked)

    parameters = list(_parameters(question))
    ask.__name__ = question.verb
    ask.__doc__ = question.text().replace("\n\nExamples:\n", "\n\n\b\nExamples:\n")
    ask.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    ask.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return ask


def group(question: type[Question]) -> typer.Typer:
    """Return the typer of a verb with sub-commands. Without one it asks ``question`` itself."""
    made = typer.Typer(invoke_without_command=True, rich_markup_mode=None)
    made.callback()(prepared(verb(question)))
    for further in question.further:
        made.command(further.verb.rpartition(" ")[2])(prepared(verb(further)))
    return made


def _refuse_before(context: typer.Context) -> None:
    """Refuse options that stand before a sub-command: it has its own. Raises UserError."""
    if any(context.params.values()):
        raise UserError(
            str(context.info_name), f"found an option before {context.invoked_subcommand}; accepted: after it"
        )


def _parameters(question: type[Question]) -> Iterator[inspect.Parameter]:
    """Yield the parameters of which typer makes arguments and options, in the order of the help."""
    fields, defaults = question.fields(), question.defaults()
    if question.further:
        yield _keyword("context", typer.Context)
    for name, field in fields.items():
        if field.of_scenario:
            yield from (_declared(options.DECLARED[one], otherwise) for one, otherwise in field.of_scenario.items())
        elif field.of_scenario is None and name not in UNSAID and field.on_command_line:
            yield _parameter(name, field, defaults.get(name, MISSING))
    if question.report:
        out = Annotated[str | None, typer.Option("--out", metavar="DIR", help=question.report)]
        yield _keyword("out", out, None)
        yield _keyword("force", Force, default=False)
    yield from (_parameter(name, fields[name], None) for name in UNSAID if name in fields)
    if question.has_latex:
        yield _keyword(ALL, All, default=False)
        yield _keyword("markdown", Markdown, default=False)
        yield _keyword("latex", Latex, default=False)
    if question.has_json:
        yield _keyword("json", Json, default=False)


def _declared(one: options.Declared, otherwise: str) -> inspect.Parameter:
    """Return the parameter of an option that describes a scenario. ``otherwise`` says what holds without it."""
    option = typer.Option(
        str(one.option),
        metavar=one.metavar or None,
        help=one.described(otherwise),
        autocompletion=getattr(words, one.completes) if one.completes else None,
    )
    kind, default = (str | None, None) if one.metavar else (bool, False)
    return _keyword(one.name, Annotated[kind, option], default)


def _parameter(name: str, field: Field, default: Any) -> inspect.Parameter:
    complete = getattr(words, field.completes) if field.completes else None
    kind: Any = list[str] if field.reader.repeats else str if field.metavar else bool
    if field.is_argument:
        argument = typer.Argument(metavar=field.metavar, help=field.described(), autocompletion=complete)
        if default is MISSING or field.is_required:
            return _keyword(name, Annotated[kind, argument])
        return _keyword(name, Annotated[kind | None, argument], None)
    kind = kind | None if field.metavar and default is not MISSING else kind
    option = typer.Option(
        *map(str, (*map(Option, field.aliases), field.option(name))),
        metavar=field.metavar or None,
        help=field.described(),
        autocompletion=complete,
    )
    if default is MISSING:
        return _keyword(name, Annotated[kind, option])
    return _keyword(name, Annotated[kind, option], None if default == () else default)


def _keyword(name: str, annotation: Any, default: Any = inspect.Parameter.empty) -> inspect.Parameter:
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


def show(asked: Question, answer: "Answer", out: str | None, *, force: bool, form: str) -> None:
    """Print ``answer``, and write its report into the folder ``out``, if any.

    The ``form`` is json, latex, markdown, all (every part), or empty: the parts that a person reads first. Raises
    UserError if figures failed, or if the folder got another name.
    """
    written, failed = (None, None) if out is None else _write(asked, answer, out, force=force)
    for remark in answer.remarks:
        warn(remark)
    _print(
        asked.verb,
        answer,
        form,
        f"\nWritten: {written}." if written else answer.written and f"Written: {answer.written}.",
    )
    for trouble in (failed, answer.trouble):
        if trouble is not None:
            raise trouble
    for failure in answer.failures:
        warn(failure)
    if answer.failures or answer.status:
        raise typer.Exit(answer.status or 1)


def _write(asked: Question, answer: "Answer", out: str, *, force: bool) -> "tuple[str, UserError | None]":
    """Write the report. Return what is written in words, and the error of figures, or of a folder that was taken."""
    from goodqueue import extras, pages
    from goodqueue.files import output
    from goodqueue.show import terminal
    from goodqueue.show.answer import Gallery, Picture, flat

    with terminal.progress("figures and page") as progress:
        place, failed = output.write(
            out, force, lambda folder: pages.write(folder, answer, asked.verb, asked.command(), progress)
        )
    data = answer.beside or [*answer.files, "results.json"]
    draws = answer.write is not None or any(isinstance(part, Picture | Gallery) for part in flat(answer.parts))
    has_figures = draws and extras.has("matplotlib")
    *more, last = [*(["its figures"] if has_figures else []), *data]
    listed = f"{', '.join(more)} and {last}" if more else last
    whole = answer.folder or f"{{}}/report.html, with {listed} beside it"
    words = f"{place}/{' and '.join(data)}" if failed else whole.format(place)
    return words, failed or (output.appeared(out, place, force=force) if place != out else None)


def _print(verb: str, answer: "Answer", form: str, written: str) -> None:
    from goodqueue.show import latex, markdown, terminal

    if form == "json" and answer.text:
        terminal.emit(answer.text + "\n")
    elif form == "json":
        terminal.emit_json(answer.as_long_json(verb))
    elif form == "latex":
        terminal.emit(latex.document(answer.tables()))
    elif form == "markdown":
        terminal.emit(markdown.document(answer.parts))
    else:
        terminal.print_answer(answer.parts, shows_all=form == ALL)
        if written:
            terminal.say(written)
