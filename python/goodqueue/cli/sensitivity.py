"""``goodqueue sensitivity``: which keys of a scenario matter."""

from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from goodqueue import options
from goodqueue.cli import planned, words
from goodqueue.cli.options import FirstSeed, Force, Json, Metrics, Sets, Workers, whole
from goodqueue.cli.planned import DataDir, StoreDir
from goodqueue.measures import FIRST_SEED

if TYPE_CHECKING:
    from pathlib import Path

    from goodqueue.errors import UserError
    from goodqueue.running import Progress

USUAL = ["delay_p95_ms", "goodput_mbps"]
"""The metrics, unless others are asked for."""


def sensitivity(
    scenario: Annotated[str, typer.Argument(metavar="SCENARIO.toml", help="The scenario file.")],
    vary: Annotated[
        list[str] | None,
        typer.Option(
            metavar="KEY=LOW..HIGH", help="A key and its range: path.rtt=10ms..100ms. Two at least.",
            autocompletion=words.assignment,
        ),
    ] = None,
    metric: Metrics = None,
    method: Annotated[str, typer.Option(metavar="NAME", help="sobol, or morris for many keys.")] = "sobol",
    samples: Annotated[
        int | None,
        typer.Option(
            parser=whole("samples", 2, 65_536), metavar="N", help="Base sample. [128 for sobol, 20 for morris]"
        ),
    ] = None,
    seeds: Annotated[int, typer.Option(parser=whole("seeds"), metavar="N", help="Runs per point.")] = 1,
    seed: FirstSeed = FIRST_SEED,
    sets: Sets = None,
    out: DataDir = None,
    force: Force = False,
    store: StoreDir = None,
    workers: Workers = None,
    json: Json = False,
) -> None:  # fmt: skip
    """Say which keys of a scenario matter, and how much.

    \b
    Examples:
      goodqueue sensitivity link.toml --vary path.rtt=5ms..200ms --vary traffic.0.count=1..32
      goodqueue sensitivity link.toml --vary bottleneck.rate=1mbit..50mbit --vary path.rtt=5ms..200ms --out matters
      goodqueue sensitivity link.toml --vary bottleneck.qdisc.target=1ms..50ms --vary traffic.0.count=1..16
      goodqueue sensitivity link.toml --method morris --vary ... --vary ...

    Sobol's first index is the share of a metric's variance that a key explains alone. The total index has its
    interactions, too. Sobol takes samples x (keys + 2) runs, Morris's effects samples x (keys + 1). A range whose end
    is 10 times its beginning or more is drawn on a logarithmic scale. With --store the same command continues.
    """
    from goodqueue import executors
    from goodqueue import scenario as scenarios
    from goodqueue.measures import numbers
    from goodqueue.search import ranges, sensitivity_show
    from goodqueue.search import sensitivity as searching

    varied = ranges.read(vary or [])
    base = scenarios.load(scenario)
    scenarios.apply(base, sets or [])
    wanted = numbers.find(metric or USUAL)
    made = searching.plan(scenario, base, varied, wanted, method, samples, seeds, seed)
    planned.check(out, force, [])
    execute = executors.local(workers)
    result = planned.carry_out(
        f"{len(made.values) * seeds} runs",
        store,
        lambda progress, kept: searching.carry_out(made, kept, execute, progress),
    )

    def pages(folder: "Path", _progress: "Progress") -> "UserError | None":
        said = {
            "vary": vary, "metric": metric, "method": method, "samples": samples, "seeds": seeds, "seed": seed,
            "set": sets,
        }  # fmt: skip
        return sensitivity_show.write(folder, result, options.command("sensitivity", scenario, **said))

    tell = planned.teller(json, partial(sensitivity_show.as_json, result), lambda: sensitivity_show.parts(result))
    planned.write(out, force, pages, ["results.json"], tell)
