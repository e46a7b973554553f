"""``goodqueue tune``: the best values of a line's parameters."""

from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from goodqueue import options
from goodqueue.cli import planned, words
from goodqueue.cli.options import Force, Json, Workers, whole
from goodqueue.cli.planned import DataDir, DrawSeed, Method, StoreDir

if TYPE_CHECKING:
    from pathlib import Path

    from goodqueue.errors import UserError
    from goodqueue.running import Progress


def tune(
    qdisc: Annotated[str, typer.Argument(metavar="QDISC", help="The tc line to tune.", autocompletion=words.qdisc)],
    rate: Annotated[str | None, typer.Option(metavar="RATE", help="The link's rate: 10mbit.")] = None,
    rtt: Annotated[str | None, typer.Option(metavar="TIME", help="The base RTT: 50ms.")] = None,
    on: Annotated[
        list[str] | None,
        typer.Option("--on", metavar="SCENARIO.toml", help="Tune on this scenario, not on a link. Repeatable."),
    ] = None,
    held_out: Annotated[
        list[str] | None,
        typer.Option("--held-out", metavar="SCENARIO.toml", help="Judge on this scenario. Repeatable."),
    ] = None,
    vary: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME[=LOW..HIGH]", help="A parameter to vary. [times and real numbers, x 1/8..8]"),
    ] = None,
    want: Annotated[
        list[str] | None,
        typer.Option(metavar="CONDITION", help="What must hold: 'delay_p95_ms < 20'. Repeatable."),
    ] = None,
    large: Annotated[
        list[str] | None, typer.Option("--max", metavar="METRIC", help="Make it large. [goodput_mbps]")
    ] = None,
    small: Annotated[
        list[str] | None, typer.Option("--min", metavar="METRIC", help="Make it small. [delay_p95_ms]")
    ] = None,
    evaluations: Annotated[
        int, typer.Option(parser=whole("evaluations", 1, 100_000), metavar="N", help="Candidates to try.")
    ] = 128,
    seeds: Annotated[int, typer.Option(parser=whole("seeds"), metavar="N", help="Runs per scenario.")] = 2,
    method: Method = "tpe",
    draw_seed: DrawSeed = 1,
    out: DataDir = None,
    force: Force = False,
    store: StoreDir = None,
    workers: Workers = None,
    json: Json = False,
) -> None:
    """Find the best values of a line's parameters.

    \b
    Examples:
      goodqueue tune codel --rate 4mbit --rtt 100ms
      goodqueue tune pie --rate 20mbit --rtt 30ms --vary target --vary tupdate --vary alpha=1..8
      goodqueue tune cake --rate 10mbit --rtt 300ms --vary rtt=20ms..1000ms --max goodput_mbps \\
          --want "delay_p95_ms < 60"
      goodqueue tune fq_codel --on mine.toml --on other.toml --held-out third.toml --out tuned

    A link has four scenarios for tuning and six others, on which the result is judged. The answer has 95 % intervals
    over these: better than the line that was given, as good, or a trade. With --store the same command continues.
    """
    from goodqueue import executors
    from goodqueue.search import tune_request, tune_show, tuning
    from goodqueue.search.runner import Runner

    link = tune_request.Link(rate, rtt, on or [], held_out or [])
    plan = tune_request.plan(
        qdisc, link, vary or [], want or [], large or [], small or [], method, draw_seed, seeds, evaluations
    )
    planned.check(out, force, [])
    execute = executors.local(workers)
    result = planned.carry_out(
        f"{evaluations} candidates",
        store,
        lambda progress, kept: tuning.carry_out(plan, Runner(execute, kept), progress),
    )

    def pages(folder: "Path", _progress: "Progress") -> "UserError | None":
        said = {
            "rate": rate, "rtt": rtt, "on": on, "held-out": held_out, "vary": vary, "want": want, "max": large,
            "min": small, "evaluations": evaluations, "seeds": seeds, "method": method, "draw-seed": draw_seed,
        }  # fmt: skip
        return tune_show.write(folder, result, options.command("tune", qdisc, **said))

    tell = planned.teller(json, partial(tune_show.as_json, result), lambda: tune_show.parts(result))
    planned.write(out, force, pages, ["results.json"], tell)
