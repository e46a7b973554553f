"""``goodqueue suite``: runs the tests that a standard asks for."""

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


def suite(
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME|FOLDER", help="One of `goodqueue list suites`, or a folder.", autocompletion=words.suite
        ),
    ],
    tested: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[QDISC|CC]...",
            help="What is tested: qdisc lines, or congestion controls.",
            autocompletion=words.qdisc,
        ),
    ] = None,
    only: Annotated[
        list[str] | None, typer.Option(metavar="SECTION", help="A section of the standard: 5.1; repeatable.")
    ] = None,
    stack: Annotated[
        str | None, typer.Option(metavar="NAME", help="A QUIC stack, whose congestion controls are tested.")
    ] = None,
    quick: Quick = False,
    seeds: Seeds = None,
    out: Annotated[str | None, typer.Option(metavar="DIR", help="Write one page: sheet, figures, data.")] = None,
    junit: Annotated[
        str | None, typer.Option(metavar="FILE", help="Write the verdicts as JUnit XML, which CI systems show.")
    ] = None,
    force: Force = False,
    engine: OneEngine = "sim",
    store: StoreDir = None,
    workers: Workers = None,
    json: Json = False,
) -> None:
    """Run a standard's tests and print a pass sheet.

    \b
    Examples:
      goodqueue suite rfc7928 codel pie fq_codel
      goodqueue suite rfc7928 ./my_aqm.py:MyAqm --quick
      goodqueue suite rfc7928 "codel target 10ms" --only 6 --only 8.2.6
      goodqueue suite rfc9743 bbr3 "cubic hystart++"    tests congestion controls
      goodqueue suite rfc7928 codel --out sheet         one page to attach to a draft
      goodqueue suite bbr bbr3 --junit bbr.xml          the cases of BBR's draft, for CI
      goodqueue suite bbr --stack quinn                 the same of a QUIC stack (docs/guides/transports.md)
      goodqueue suite rfc7928 codel --store runs        a suite that was killed continues where it stopped

    The sheet has one row per section. A suite is a folder: suite.toml and scenarios. Copy one of ours to begin your
    own.
    """
    from goodqueue import engines
    from goodqueue.files import inputs, output
    from goodqueue.studies import libraries
    from goodqueue.suites import junit as xml
    from goodqueue.suites import loading, sheet, show, stacks, subjects

    (on,) = engines.parse(engine, several=False)
    with inputs.noted() as read:
        found = loading.load(libraries.SUITES.find(name))
    if stack is not None:
        found = stacks.fitting(found, stack)
    named = subjects.read(found, tested or [], stack or "")
    rows = sheet.choose(found, only or [])
    plan = sheet.plan(found, named, rows, quick, seeds, on, workers)
    planned.check(out, force, read, junit)
    if junit is not None:
        output.check_file(junit, force)
    result = planned.carry_out(
        f"{len(plan.scenarios)} runs",
        store,
        lambda progress, kept: sheet.carry_out(found, named, rows, plan, workers, progress, kept, warn),
    )

    def pages(folder: "Path", progress: "Progress") -> UserError | None:
        from goodqueue.suites import pages as sheets

        said = {"only": only, "stack": stack, "quick": quick, "seeds": seeds, "engine": None if on == "sim" else on}
        command = options.command("suite", name, *result.subjects, **said)
        return sheets.write(folder, result, command, progress)

    if junit is not None:
        output.write_file(junit, force, xml.document(result))
    tell = planned.teller(json, partial(sheet.as_json, result), lambda: show.parts(result))
    planned.write(out, force, pages, ["results.json"], tell)
