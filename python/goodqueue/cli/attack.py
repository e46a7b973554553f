"""``goodqueue attack``: searches for scenarios in which a property breaks."""

from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from goodqueue import options
from goodqueue.cli import planned, words
from goodqueue.cli.options import Force, Json, Kernel, Workers, whole
from goodqueue.cli.planned import DrawSeed, Method, StoreDir

if TYPE_CHECKING:
    from pathlib import Path

    from goodqueue.errors import UserError
    from goodqueue.running import Progress


def attack(
    subject: Annotated[
        str,
        typer.Argument(
            metavar="QDISC|CC", help="A tc line, a congestion control, or FILE.py:CLASS.", autocompletion=words.qdisc
        ),
    ],
    broken: Annotated[
        list[str] | None,
        typer.Option(
            "--property",
            metavar="NAME|CONDITION",
            help="delay, use, share, loss, ... or 'drop_percent >= 5 x cubic'. All must break.",
        ),
    ] = None,
    bound: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=LOW..HIGH", help="Narrower bounds: rate=10..100 (mbit), flows=1..8. Repeatable."),
    ] = None,
    without: Annotated[
        str | None, typer.Option(metavar="LIST", help="Leave out: cbr, bulk, jitter, loss, bursts, changes.")
    ] = None,
    qdisc: Annotated[
        list[str] | None,
        typer.Option(
            metavar="QDISC", help="Lines of the link, for a CC; repeatable. [pfifo]", autocompletion=words.qdisc
        ),
    ] = None,
    cc: Annotated[
        list[str] | None,
        typer.Option(metavar="CC", help="Flows' CCs; repeatable. [cubic, reno, bbr]", autocompletion=words.cc),
    ] = None,
    ecn: Annotated[bool, typer.Option("--ecn", help="The flows use ECN.")] = False,
    evaluations: Annotated[
        int, typer.Option(parser=whole("evaluations", 1, 1_000_000), metavar="N", help="Scenarios to try at most.")
    ] = 2000,
    finds: Annotated[
        int, typer.Option(parser=whole("finds", 1, 100), metavar="N", help="Stop after so many different finds.")
    ] = 1,
    method: Method = "tpe",
    draw_seed: DrawSeed = 1,
    kernel: Kernel = None,
    out: Annotated[str | None, typer.Option(metavar="DIR", help="Write a report, and each find as a scenario.")] = None,
    force: Force = False,
    store: StoreDir = None,
    workers: Workers = None,
    json: Json = False,
) -> None:
    """Find scenarios in which a property breaks; shrink them.

    \b
    Examples:
      goodqueue attack codel --property delay
      goodqueue attack bbr --property "drop_percent >= 3" --property "drop_percent >= 5 x cubic"
      goodqueue attack cubic --property "completion_p50_ms >= 1.5 x cubic nohystart"
      goodqueue attack vegas --property share --bound jitter=0.5..10 --out found
      goodqueue attack ./my_aqm.py:MyAqm --property delay --property "delay_targets of pie < 5"
      goodqueue attack pie --property recovery --kernel 6.1     Linux confirms what is found

    A find holds with three seeds that the search has not seen. It is then shrunk: facts that do not matter are left
    out, and numbers become round. 20 more seeds say how often it holds. `x OTHER` compares with another discipline, CC
    or KEY=VALUE in the same scenario. With --store the same command continues a search that was killed.
    """
    from goodqueue import executors
    from goodqueue.search import attack as attacking
    from goodqueue.search import attack_pages, attack_show, request
    from goodqueue.search.evaluating import Evaluator
    from goodqueue.search.runner import Runner

    said = request.World(bound or [], without, qdisc or [], cc or [], ecn)
    plan = request.attack(subject, broken or [], said, method, draw_seed, evaluations, finds, kernel)
    planned.check(out, force, [])
    execute = executors.local(workers)
    result = planned.carry_out(
        f"{evaluations} scenarios",
        store,
        lambda progress, kept: attacking.carry_out(
            plan, Evaluator(plan.subject, plan.broken.conditions, Runner(execute, kept)), progress
        ),
    )

    def pages(folder: "Path", progress: "Progress") -> "UserError | None":
        options_said = {
            "property": broken, "bound": bound, "without": without, "qdisc": qdisc, "cc": cc, "ecn": ecn,
            "evaluations": evaluations, "finds": finds, "method": method, "draw-seed": draw_seed, "kernel": kernel,
        }  # fmt: skip
        return attack_pages.write(folder, result, options.command("attack", subject, **options_said), progress)

    tell = planned.teller(json, partial(attack_show.as_json, result), lambda: attack_show.parts(result))
    planned.write(out, force, pages, ["results.json", "find-1.toml"] if result.finds else ["results.json"], tell)
