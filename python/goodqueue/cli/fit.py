"""``goodqueue fit``: which settings explain what was measured."""

from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from goodqueue import options
from goodqueue.cli import planned, words
from goodqueue.cli.options import Force, Json, Sets, Workers, whole
from goodqueue.cli.planned import DataDir, DrawSeed, StoreDir

if TYPE_CHECKING:
    from pathlib import Path

    from goodqueue.errors import UserError
    from goodqueue.running import Progress


def fit(
    file: Annotated[
        str, typer.Argument(metavar="FILE", help="A file of Flent, iperf3 or irtt; or a scenario (.toml).")
    ],
    vary: Annotated[
        list[str] | None,
        typer.Option(
            metavar="KEY=LOW..HIGH|WORD,WORD", help="An unknown setting. Repeatable.", autocompletion=words.assignment
        ),
    ] = None,
    observed: Annotated[
        list[str] | None,
        typer.Option(metavar="METRIC=VALUE[+-ERROR]", help="A measured number, for a scenario. Repeatable."),
    ] = None,
    qdisc: Annotated[
        list[str] | None,
        typer.Option(metavar="QDISC", help="A line that the link may have; repeatable.", autocompletion=words.qdisc),
    ] = None,
    evaluations: Annotated[
        int, typer.Option(parser=whole("evaluations", 1, 1_000_000), metavar="N", help="Settings to try.")
    ] = 1000,
    draw_seed: DrawSeed = 1,
    sets: Sets = None,
    out: DataDir = None,
    force: Force = False,
    store: StoreDir = None,
    workers: Workers = None,
    json: Json = False,
) -> None:
    """Say which unknown settings explain what was measured.

    \b
    Examples:
      goodqueue fit rrul_be.flent.gz                              What queue is in this modem?
      goodqueue fit rrul_be.flent.gz --qdisc pfifo --qdisc "pie target 10ms" --out modem
      goodqueue fit link.toml --vary bottleneck.buffer.bdp=0.1..10 --vary bottleneck.qdisc=pfifo,codel,pie \\
          --observed delay_p95_ms=48+-3 --observed goodput_mbps=9.4

    For a measurement the rates, the base RTT, the buffer and the discipline are unknown; others are added by --vary.
    For a scenario they are what --vary says. The answer has probabilities and 90 % intervals, and says what the numbers
    cannot tell. It is inferred, not measured. With --store the same command continues.
    """
    from goodqueue import executors
    from goodqueue import scenario as scenarios
    from goodqueue.search import fit_request, fit_show, fitting
    from goodqueue.search.runner import Runner

    asked = fit_request.Asked(vary or [], observed or [], sets or [], qdisc or [])
    if file.endswith(".toml"):
        plan = fit_request.of_scenario(file, scenarios.load(file), asked, evaluations, draw_seed)
    else:
        plan = fit_request.of_measurement(file, asked, evaluations, draw_seed)
    planned.check(out, force, [])
    execute = executors.local(workers)
    result = planned.carry_out(
        f"{evaluations} settings",
        store,
        lambda progress, kept: fitting.carry_out(plan, Runner(execute, kept), progress),
    )

    def pages(folder: "Path", _progress: "Progress") -> "UserError | None":
        said = {
            "vary": vary, "observed": observed, "qdisc": qdisc, "evaluations": evaluations, "draw-seed": draw_seed,
            "set": sets,
        }  # fmt: skip
        return fit_show.write(folder, result, options.command("fit", file, **said))

    tell = planned.teller(json, partial(fit_show.as_json, result), lambda: fit_show.parts(result))
    planned.write(out, force, pages, ["nearest.toml", "results.json"], tell)
