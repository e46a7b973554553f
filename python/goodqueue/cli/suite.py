"""``goodqueue suite``: the tests that a standard asks for, in one command."""

from typing import TYPE_CHECKING, Annotated

import typer

from goodqueue.cli.options import Json, Workers, whole
from goodqueue.errors import UserError

if TYPE_CHECKING:
    from goodqueue.suites.sheet import Sheet


def suite(
    name: Annotated[str, typer.Argument(metavar="NAME|FOLDER", help="One of `goodqueue list suites`, or a folder.")],
    tested: Annotated[
        list[str] | None,
        typer.Argument(metavar="[QDISC|CC]...", help="What is tested: qdisc lines, or congestion controls."),
    ] = None,
    only: Annotated[
        list[str] | None, typer.Option(metavar="SECTION", help="A section of the standard: 5.1; repeatable.")
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Shorter runs, fewer seeds: a look, in seconds.")] = False,
    seeds: Annotated[
        int | None,
        typer.Option(parser=whole("--seeds", 1, 10_000), metavar="N", help="Seeds a cell. [as the suite]"),
    ] = None,
    out: Annotated[str | None, typer.Option(metavar="DIR", help="Write one page: sheet, figures, data.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace what is in --out; files of others stay.")] = False,
    engine: Annotated[
        str, typer.Option(metavar="NAME", help="sim, or kernel: Linux's own (see `kernel doctor`).")
    ] = "sim",
    store: Annotated[
        str | None, typer.Option(metavar="DIR", help="Keeps each run; what is in it is not run again.")
    ] = None,
    workers: Workers = None,
    json: Json = False,
) -> None:
    """Run the tests that a standard asks for, and print a pass sheet: a row per section.

    \b
    Examples:
      goodqueue suite rfc7928 codel pie fq_codel
      goodqueue suite rfc7928 ./my_aqm.py:MyAqm --quick
      goodqueue suite rfc7928 "codel target 10ms" --only 6 --only 8.2.6
      goodqueue suite rfc9743 bbr3 "cubic hystart++"    tests congestion controls
      goodqueue suite rfc7928 codel --out sheet         one page to attach to a draft
      goodqueue suite rfc7928 codel --store runs        killed half-way, it goes on where it was

    A suite is a folder: suite.toml and scenarios. Copy one of ours to begin your own.
    """
    from pathlib import Path

    from goodqueue import engines, library, output, terminal
    from goodqueue import store as stores
    from goodqueue.suites import loading, sheet, subjects

    (on,) = engines.parse(engine, several=False)
    found = loading.load(library.SUITES.find(name))
    named = subjects.read(found, tested or [])
    rows = sheet.choose(found, only or [])
    plan = sheet.plan(found, named, rows, quick, seeds, on)
    if out is not None:
        output.check(out, force)
    origin = f"--store {store}"
    kept = stores.create(Path(store), origin) if store is not None else None
    with terminal.progress(f"{len(plan.scenarios)} runs") as progress:
        try:
            result = sheet.carry_out(found, named, rows, plan, workers, progress, kept, terminal.warn)
        except OSError as error:
            stays = "what is stored stays, and the same command goes on from there"
            raise UserError(origin, f"cannot be written: {error.strerror or error}; {stays}") from error
    place = failed = None
    if out is not None:
        from goodqueue.suites import pages

        command = _command(name, result, only or [], quick, seeds, on)
        with terminal.progress("figures and page") as progress:
            place, failed = output.write(out, force, lambda folder: pages.write(folder, result, command, progress))
    written = "report.html, with its figures and results.json beside it"
    _print(result, json, place and f"{place}/{'results.json' if failed else written}")
    if failed:
        raise failed
    if out is not None and place is not None and place != out:
        raise output.appeared(out, place)


def _command(name: str, result: "Sheet", only: list[str], quick: bool, seeds: int | None, engine: str) -> str:
    """Return the command that does this again."""
    import shlex

    words = ["goodqueue", "suite", name, *result.subjects]
    for section in only:
        words += ["--only", section]
    words += ["--quick"] if quick else []
    words += ["--seeds", str(seeds)] if seeds is not None else []
    words += ["--engine", engine] if engine != "sim" else []
    return shlex.join(words)


def _print(result: "Sheet", json: bool, written: str | None) -> None:
    from goodqueue import terminal

    if json:
        from json import dumps

        from goodqueue._goodqueue import VERSION
        from goodqueue.suites.sheet import as_json

        terminal.emit(dumps(as_json(result, VERSION), ensure_ascii=False) + "\n")
        return
    from goodqueue.suites import show

    for sentence in show.describe(result):
        terminal.say(sentence)
    for found in result.rows:
        terminal.say()
        terminal.say(show.heading(found), style="bold")
        terminal.say(found.row.asked)
        for table in show.tables(result, found):
            terminal.print_table(table)
        for line in show.checks(result, found):
            terminal.say(line)
    terminal.say()
    terminal.print_table(show.overview(result))
    for sentence in show.conclusion(result):
        terminal.say(sentence)
    if written is not None:
        terminal.say(f"\nWritten: {written}.")
