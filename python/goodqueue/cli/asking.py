"""Makes commands of questions: their arguments and options, their help, and what becomes of the answer."""

import inspect
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Annotated, Any

import typer

from goodqueue.ask.fields import Field
from goodqueue.ask.question import UNSAID, Question
from goodqueue.cli import planned, words
from goodqueue.cli.options import Force, Json
from goodqueue.errors import Option

if TYPE_CHECKING:
    from goodqueue.show.answer import Answer


def verb(question: type[Question]) -> Callable[..., None]:
    """Return the function of which typer makes the command: it asks ``question`` and shows the answer."""

    def ask(*, out: str | None, force: bool, json: bool, **given: Any) -> None:
        from goodqueue.files import inputs

        asked = question.read(given)
        with inputs.noted() as read:
            work = asked.work()
        planned.check(out, force, read)
        answer = planned.carry_out(work.label, given.get("store"), work.carry_out)
        show(asked, answer, out, force=force, json=json)

    parameters = list(_parameters(question))
    ask.__name__ = question.verb
    ask.__doc__ = question.text().replace("\n\nExamples:\n", "\n\n\b\nExamples:\n")
    ask.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    ask.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return ask


def _parameters(question: type[Question]) -> Iterator[inspect.Parameter]:
    """Yield the parameters of which typer makes arguments and options, in the order of the help."""
    fields, defaults = question.fields(), question.defaults()
    made = {name: _parameter(name, field, defaults.get(name)) for name, field in fields.items()}
    yield from (parameter for name, parameter in made.items() if name not in UNSAID)
    out = Annotated[str | None, typer.Option("--out", metavar="DIR", help=question.report)]
    yield _keyword("out", out, None)
    yield _keyword("force", Force, default=False)
    yield from (made[name] for name in UNSAID if name in made)
    yield _keyword("json", Json, default=False)


def _parameter(name: str, field: Field, default: Any) -> inspect.Parameter:
    complete = getattr(words, field.completes) if field.completes else None
    if field.is_argument:
        argument = typer.Argument(metavar=field.metavar, help=field.help, autocompletion=complete)
        return _keyword(name, Annotated[str, argument])
    kind: Any = list[str] | None if field.reader.repeats else str | None if field.metavar else bool
    option = typer.Option(
        str(Option(name)), metavar=field.metavar or None, help=field.described(), autocompletion=complete
    )
    return _keyword(name, Annotated[kind, option], None if default == () else default)


def _keyword(name: str, annotation: Any, default: Any = inspect.Parameter.empty) -> inspect.Parameter:
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


def show(asked: Question, answer: "Answer", out: str | None, *, force: bool, json: bool) -> None:
    """Print ``answer`` as parts or JSON, and write its report into the folder ``out``, if any. Raises UserError."""
    from goodqueue import pages
    from goodqueue.show import terminal

    def tell(written: str | None) -> None:
        if json:
            terminal.emit_json(answer.as_json(asked.verb))
            return
        terminal.print_parts(answer.parts)
        if written is not None:
            terminal.say(f"\nWritten: {written}.")

    planned.write(
        out,
        force,
        lambda folder, progress: pages.write(folder, answer, asked.verb, asked.command(), progress),
        [*answer.files, "results.json"],
        tell,
    )
