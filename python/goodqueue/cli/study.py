"""``goodqueue study``: compares a paper's published numbers and claims with measured ones."""

from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from goodqueue import options
from goodqueue.cli import planned, words
from goodqueue.cli.options import Force, Json, OneEngine, Workers
from goodqueue.cli.planned import Quick, Seeds, StoreDir
from goodqueue.errors import UserError, warn

if TYPE_CHECKING:
    from pathlib import Path

    from goodqueue.running import Progress


def study(
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME|FOLDER", help="One of `goodqueue list studies`, or a folder.", autocompletion=words.study
        ),
    ],
    only: Annotated[
        list[str] | None,
        typer.Option(metavar="ID", help="A published scenario, value or claim: table1a, v001, c04; repeatable."),
    ] = None,
    quick: Quick = False,
    seeds: Seeds = None,
    out: Annotated[str | None, typer.Option(metavar="DIR", help="Write a report: HTML, figures, data.")] = None,
    force: Force = False,
    reconstructed: Annotated[
        bool, typer.Option("--reconstructed", help="Run it also with the choices that the paper's numbers imply.")
    ] = False,
    fit: Annotated[
        bool, typer.Option("--fit", help="Try all combinations of what the paper leaves open; say which explain most.")
    ] = False,
    engine: OneEngine = "sim",
    store: StoreDir = None,
    workers: Workers = None,
    json: Json = False,
) -> None:
    """Run a published evaluation again and judge each claim.

    \b
    Examples:
      goodqueue study schwardmann2014 --quick
      goodqueue study schwardmann2014 --only table1b --only c17
      goodqueue study schwardmann2014 --out report --json > results.json
      goodqueue study hoiland2015 --store runs          a killed study continues where it stopped
      goodqueue study schwardmann2014 --reconstructed   what its numbers imply beside what it says
      goodqueue study schwardmann2014 --fit --quick     what must they have run? all combinations
      goodqueue study path/to/my-study

    A study is a folder: study.toml, published.toml, scenarios. Copy one of ours to begin your own. A folder from
    somebody else may contain Python code, which runs with your rights. --no-code refuses it.
    """
    from goodqueue import engines
    from goodqueue.files import inputs
    from goodqueue.studies import combining, libraries, loading, outcome, planning, selection, show

    (on,) = engines.parse(engine, several=False)
    with inputs.noted() as read:
        found = loading.load(libraries.STUDIES.find(name))
    if fit:
        found = combining.combined(found, name)
    chosen = selection.select(found, only or [])
    if reconstructed and not found.reconstructions:
        raise UserError("--reconstructed", f"{name} names no reconstruction; accepted: a study with [[reconstruction]]")
    plan = planning.plan(found, chosen, quick, seeds, on, reconstructed or fit, workers)
    draw = None
    if planned.check(out, force, read):
        from goodqueue.studies import figures

        draw = figures.own(found.folder)
    result = planned.carry_out(
        f"{len(plan.scenarios)} runs",
        store,
        lambda progress, kept: outcome.carry_out(plan, chosen, workers, progress, kept, warn),
    )

    def pages(folder: "Path", progress: "Progress") -> UserError | None:
        from goodqueue.studies import pages as reports

        command = options.command(
            "study", name, only=only, quick=quick, seeds=seeds, reconstructed=reconstructed, fit=fit,
            engine=None if on == "sim" else on,
        )  # fmt: skip
        return reports.write(folder, result, command, draw, progress)

    data = ["results.json", "measured.csv"]
    planned.write(
        out, force, pages, data, planned.teller(json, partial(outcome.as_json, result), lambda: show.parts(result))
    )
