"""``goodqueue study``: a paper's numbers and claims, published beside measured."""

from typing import TYPE_CHECKING, Annotated

import typer

from goodqueue.cli.options import Json, Workers, whole
from goodqueue.errors import UserError

if TYPE_CHECKING:
    from goodqueue.studies.outcome import Outcome


def study(
    name: Annotated[str, typer.Argument(metavar="NAME|FOLDER", help="One of `goodqueue list studies`, or a folder.")],
    only: Annotated[
        list[str] | None,
        typer.Option(metavar="ID", help="A published scenario, value or claim: table1a, v001, c04; repeatable."),
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Shorter runs, fewer seeds: a look, in seconds.")] = False,
    seeds: Annotated[
        int | None,
        typer.Option(parser=whole("--seeds", 1, 10_000), metavar="N", help="Seeds a cell. [as the study]"),
    ] = None,
    out: Annotated[str | None, typer.Option(metavar="DIR", help="Write a report: HTML, figures, data.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace what is in --out; files of others stay.")] = False,
    reconstructed: Annotated[
        bool, typer.Option("--reconstructed", help="Beside it, with choices that the paper's numbers imply.")
    ] = False,
    engine: Annotated[
        str, typer.Option(metavar="NAME", help="sim, or kernel: Linux's own (see `kernel doctor`).")
    ] = "sim",
    store: Annotated[
        str | None, typer.Option(metavar="DIR", help="Keeps each run; what is in it is not run again.")
    ] = None,
    workers: Workers = None,
    json: Json = False,
) -> None:
    """Run a published evaluation again and compare, number by number and claim by claim.

    \b
    Examples:
      goodqueue study schwardmann2014 --quick
      goodqueue study schwardmann2014 --only table1b --only c17
      goodqueue study schwardmann2014 --out report --json > results.json
      goodqueue study hoiland2015 --store runs          killed half-way, it goes on where it was
      goodqueue study schwardmann2014 --reconstructed   what its numbers imply beside what it says
      goodqueue study path/to/my-study

    A study is a folder: study.toml, published.toml, scenarios. Copy one of ours to begin your own.
    """
    from pathlib import Path

    from goodqueue import engines, library, output, terminal
    from goodqueue import store as stores
    from goodqueue.studies import loading, outcome, planning, selection

    (on,) = engines.parse(engine, several=False)
    found = loading.load(library.STUDIES.find(name))
    chosen = selection.select(found, only or [])
    if reconstructed and not found.reconstructions:
        raise UserError("--reconstructed", f"{name} names no reconstruction; accepted: a study with [[reconstruction]]")
    plan = planning.plan(found, chosen, quick, seeds, on, reconstructed)
    draw = None
    if out is not None:
        from goodqueue.studies import figures

        output.check(out, force)
        draw = figures.own(found.folder)
    origin = f"--store {store}"
    kept = stores.create(Path(store), origin) if store is not None else None
    with terminal.progress(f"{len(plan.scenarios)} runs") as progress:
        try:
            result = outcome.carry_out(plan, chosen, workers, progress, kept, terminal.warn)
        except OSError as error:
            stays = "what is stored stays, and the same command goes on from there"
            raise UserError(origin, f"cannot be written: {error.strerror or error}; {stays}") from error
    place = failed = None
    if out is not None:
        from goodqueue.studies import pages

        command = _command(name, only or [], quick, seeds, on, reconstructed)
        with terminal.progress("figures and report") as progress:
            place, failed = output.write(
                out, force, lambda folder: pages.write(folder, result, command, draw, progress)
            )
    written = "report.html, with its figures, results.json and measured.csv beside it"
    _print(result, json, place and f"{place}/{'results.json and measured.csv' if failed else written}")
    if failed:
        raise failed
    if out is not None and place is not None and place != out:
        raise output.appeared(out, place)


def _command(name: str, only: list[str], quick: bool, seeds: int | None, engine: str, reconstructed: bool) -> str:
    """Return the command that does this again."""
    import shlex

    words = ["goodqueue", "study", name]
    for id_ in only:
        words += ["--only", id_]
    words += ["--quick"] if quick else []
    words += ["--seeds", str(seeds)] if seeds is not None else []
    words += ["--reconstructed"] if reconstructed else []
    words += ["--engine", engine] if engine != "sim" else []
    return shlex.join(words)


def _print(result: "Outcome", json: bool, written: str | None) -> None:
    from goodqueue import terminal

    if json:
        from json import dumps

        from goodqueue._goodqueue import VERSION
        from goodqueue.studies.outcome import as_json

        terminal.emit(dumps(as_json(result, VERSION), ensure_ascii=False) + "\n")
        return
    from goodqueue.studies import show, show_readings

    for sentence in show.describe(result):
        terminal.say(sentence)
    terminal.say()
    for table in show.tables(result):
        terminal.print_table(table)
    for table in show.claims_tables(result):
        terminal.print_table(table)
    if result.summary:
        terminal.print_table(show.summary_table(result))
    for table in show_readings.tables(result):
        terminal.print_table(table)
    for sentence in [*show.counts(result), *show_readings.counts(result)]:
        terminal.say(sentence)
    if written is not None:
        terminal.say(f"\nWritten: {written}.")
