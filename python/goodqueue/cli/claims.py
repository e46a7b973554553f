"""``goodqueue claims``: runs every study whole, and compares all claims and values with those of an earlier result."""

from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from goodqueue.cli import planned, words
from goodqueue.cli.options import Force, Json, Workers, check_force
from goodqueue.cli.planned import Quick, StoreDir
from goodqueue.errors import Option, UserError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from goodqueue.claims.result import Part, Result
    from goodqueue.running import Progress
    from goodqueue.store import Store
    from goodqueue.studies.model import Study


def claims(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[NAME|FOLDER]...", help="Studies. [all that the package has]", autocompletion=words.study
        ),
    ] = None,
    beside: Annotated[
        str | None,
        typer.Option(
            metavar="FILE|DIR", help="The earlier result, or a folder: its newest whole one. [the one of --out]"
        ),
    ] = None,
    out: Annotated[str | None, typer.Option(metavar="DIR", help="Keep the result there: DATE-COMMIT.json.")] = None,
    force: Force = False,
    from_: Annotated[
        list[str] | None,
        typer.Option(
            "--from",
            metavar="FILE",
            help="Take it in place of runs: a kept result, or answers of `goodqueue study --json`; repeatable.",
        ),
    ] = None,
    date: Annotated[str | None, typer.Option(metavar="DATE", help="The day of the answers' runs.")] = None,
    commit: Annotated[
        str | None, typer.Option(metavar="ID", help="The commit of the source that made the answers.")
    ] = None,
    quick: Quick = False,
    store: StoreDir = None,
    workers: Workers = None,
    json: Json = False,
) -> None:
    """Run all studies and say which claims and values moved.

    \b
    Examples:
      goodqueue claims --out claims --store runs             all of them, whole; keeps the result
      goodqueue claims --beside claims/2026-11-28-33c32b7b.json
      goodqueue claims le2003 ./mine2026 --quick             a look, which is not kept
      goodqueue claims --from new.json --beside old.json     two kept results, without runs
      goodqueue claims --from a.json --from b.json --date 2026-11-28 --commit 33c32b7b --out claims

    Each study runs whole, one after the other. With --store the same command goes on where it was killed. A result has
    each claim and each value with its measured number and its verdict. It is compared with the newest whole one in
    --out. A look (--quick) is not kept, and is compared with --beside alone, with a line that says so. The last example
    keeps what `goodqueue study a --json > a.json` printed on an earlier day.
    """
    from dataclasses import replace

    from goodqueue.claims import making, moved, result, show
    from goodqueue.show import terminal
    from goodqueue.studies import libraries, loading

    check_force(force, out)
    if quick and out:
        raise UserError("--quick", "found with --out; accepted: one of them, since a look is not kept")
    if from_ and (quick or store):
        raise UserError(
            "--from", f"found with {'--quick' if quick else '--store'}; accepted: without, as nothing is run"
        )
    studies = [loading.load(libraries.STUDIES.find(name)) for name in names or libraries.STUDIES.available()]
    keys = [study.key for study in studies]
    if twice := [key for key in keys if keys.count(key) > 1]:
        raise UserError("NAME", f"found {twice[0]} twice; accepted: each study once")
    if from_:
        made = _taken(from_, studies, bool(names), date, commit)
    elif date or commit:
        raise UserError("--date" if date else "--commit", "found without --from; accepted: with answers of studies")
    else:
        made = making.begun()
    place = _place(out, made, force) if out else None
    earlier = _earlier(beside, out, place)
    if not from_:
        made = replace(made, parts=making.carry_out(studies, quick, workers, partial(_carried, store)))
    change = moved.compare(earlier, made) if earlier else None
    written = _written(place, force, result.text(made)) if place else ""
    if json:
        terminal.emit_json({**result.as_json(made), "moved": moved.as_json(change) if change else None})
        return
    terminal.show(show.parts(made, change))
    if written:
        terminal.say(f"\nWritten: {written}.")


def _taken(
    files: "Sequence[str]", studies: "Sequence[Study]", named: bool, date: str | None, commit: str | None
) -> "Result":
    """Return the result that ``files`` hold: one result, or answers of ``studies``. Raises UserError."""
    from pathlib import Path

    from goodqueue.claims import making, result

    answers = {file: result.load(Path(file), making.ANSWER) for file in files}
    if len(answers) != len(files):
        raise UserError("--from", "found a file twice; accepted: each once")
    first = next(iter(answers.values()))
    if len(files) == 1 and isinstance(first, dict) and first.get("made_by") == result.MADE_BY:
        for option, is_said in (("--date", date), ("--commit", commit), ("NAME", named)):
            if is_said:
                raise UserError(option, "found with a result of `goodqueue claims`, which says it; accepted: without")
        return result.parse(first, files[0])
    if date is None or commit is None:
        missing = "--date" if date is None else "--commit"
        raise UserError(missing, "missing; accepted: with --from, the day and the commit of the answers")
    return making.of_answers(answers, studies, making.commit(commit), making.day(date))


def _place(out: str, made: "Result", force: bool) -> "Path":
    """Return the file of ``made`` in the folder ``out``. Raises UserError if it cannot or must not be written."""
    from goodqueue.files import output

    file = output.check_place(out, Option("out", out)) / made.name
    if not made.is_whole:
        raise UserError("--from", "found an answer of --quick or --only; accepted with --out: whole studies")
    if file.parent.is_dir():
        output.check_file(file, force)
    return file


def _written(place: "Path", force: bool, text: str) -> str:
    """Write the ``text`` of a result to ``place``, and return the name of the file. Raises UserError."""
    from goodqueue.files import output

    try:
        place.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UserError(f"--out {place.parent}", f"cannot be written: {error.strerror or error}") from error
    return output.write_file(place, force, text.encode())


def _earlier(beside: str | None, out: str | None, own: "Path | None") -> "Result | None":
    """Return the result to compare with: the file ``beside``, or the newest whole one of a folder, except ``own``.

    The folder is ``beside``, or else ``out``. Returns None if there is none. Raises UserError.
    """
    from pathlib import Path

    from goodqueue.claims import result

    if beside is not None and not Path(beside).is_dir():
        return result.read(Path(beside))
    folder = beside or out
    stored = result.stored(Path(folder)) if folder else []
    return next((one for file, one in stored if file.resolve() != own and one.is_whole), None)


def _carried(store: str | None, label: str, work: "Callable[[Progress, Store | None], Part]") -> "Part":
    return planned.carry_out(label, store, work)
