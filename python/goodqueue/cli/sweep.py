"""``goodqueue sweep``: runs one scenario over a grid of values."""

from typing import TYPE_CHECKING, Annotated

import typer

from goodqueue.cli import planned, words
from goodqueue.cli.options import Correct, Effect, Force, Json, Latex, Metrics, OneEngine, check_format, whole
from goodqueue.cli.planned import StoreDir
from goodqueue.errors import UserError, quoted, warn
from goodqueue.measures import FIRST_SEED, SEEDS

if TYPE_CHECKING:
    from goodqueue.sweeps.result import Goal, Sweep

SEED = 2**63 - 1 - 10_000
"""The highest first seed. A store can then hold the last seed of a cell."""

MOST = 100
"""The default of the most seeds per cell with ``--until-ci``."""


def sweep(
    scenario: Annotated[str, typer.Argument(metavar="SCENARIO.toml", help="The scenario file.")],
    sets: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="KEY=V1,V2,...",
            help="Values of a key; repeatable: all combinations are run.",
            autocompletion=words.assignment,
        ),
    ] = None,
    mix: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=LIST",
            help="A mix of traffic as a value of the key traffic: calls=bulk:4,voip:10 or calls=FILE.toml; repeatable.",
        ),
    ] = None,
    seeds: Annotated[int, typer.Option(parser=whole("seeds"), metavar="N", help="Runs of each cell.")] = SEEDS,
    seed: Annotated[int, typer.Option(parser=whole("seed", 0, SEED), metavar="N", help="The first seed.")] = FIRST_SEED,
    until_ci: Annotated[
        str | None,
        typer.Option(
            metavar="P%",
            help="More seeds, until the 95 % CI of the first --metric (or delay_mean_ms) is within P % of its mean.",
        ),
    ] = None,
    max_seeds: Annotated[
        int | None,
        typer.Option(parser=whole("max_seeds", 2, 10_000), metavar="N", help=f"Most seeds of a cell. [{MOST}]"),
    ] = None,
    metric: Metrics = None,
    against: Annotated[
        str | None,
        typer.Option(metavar="KEY=VALUE", help="What all others are compared with: path.rtt=10ms. [the first qdisc]"),
    ] = None,
    correct: Correct = None,
    effect: Effect = False,
    engine: OneEngine = "sim",
    executor: Annotated[
        str, typer.Option(metavar="WHERE", help="local, or dask://HOST:PORT, a Dask scheduler.")
    ] = "local",
    jobs: Annotated[
        int | None,
        typer.Option(
            "--jobs",
            "--workers",
            parser=whole("jobs", 1, 4096),
            metavar="N",
            help="Threads; the result is the same with any. [all cores]",
        ),
    ] = None,
    out: Annotated[
        str | None, typer.Option(metavar="DIR", help="Write results.json, tables.tex, cells.csv and runs.parquet.")
    ] = None,
    force: Force = False,
    store: StoreDir = None,
    latex: Latex = False,
    json: Json = False,
) -> None:
    """Run a scenario over a grid of values; show the means.

    \b
    Examples:
      goodqueue sweep link.toml --set bottleneck.qdisc="codel,pie target 20ms" --set path.rtt=5ms,50ms
      goodqueue sweep link.toml --set bottleneck.qdisc=codel,pie --set bottleneck.qdisc.target=5ms,9ms
      goodqueue sweep link.toml --set traffic.0.count=1,4,16 --until-ci 2% --metric delay_p95_ms
      goodqueue sweep link.toml --set bottleneck.rate=5mbit,50mbit --seeds 20 --store runs
      goodqueue sweep link.toml --mix few=bulk:2,ping --mix calls=bulk:8,voip:20,ping
      goodqueue sweep link.toml --set path.rtt=10ms,100ms --store runs --executor dask://head:8786

    All cells have the same seeds, so qdiscs are compared per seed. With --store the same command continues a sweep that
    was interrupted, and gives the same tables. --out needs --store beside it. A comma inside quotes, brackets or braces
    is part of a value. If a cell is refused or fails, the command names it, runs the other cells, and exits with
    status 1.
    """
    from pathlib import Path

    from goodqueue import engines, executors
    from goodqueue import scenario as scenarios
    from goodqueue import store as stores
    from goodqueue.comparison import request
    from goodqueue.files import output
    from goodqueue.measures import metrics, numbers
    from goodqueue.show import notes, terminal
    from goodqueue.sweeps import carrying, grid, pages, result, show

    check_format(json, latex)
    by = request.correction(correct)
    (on,) = engines.parse(engine, several=False)
    wanted = numbers.find(metric or []) or list(metrics.METRICS)
    goal = _goal(until_ci, max_seeds, seeds, wanted[0].key)
    mixes = grid.mixes(mix or [])
    axes = grid.with_mixes(grid.axes(sets or []), mixes)
    first = None if against is None else result.baseline(against, axes)
    base = scenarios.load(scenario)
    cells = grid.cells(base, axes, scenario, on, mixes, jobs)
    if metric:
        numbers.check(wanted, [cell.scenario for cell in cells if cell.scenario is not None])
    notes.warn_of_grid(base, [(axis.key, axis.values) for axis in axes if axis.key != grid.MIX])
    origin = f"--store {store}"
    planned.check_beside(out, force, store)
    if store is not None:
        stores.check(Path(store), origin)
    execute = executors.parse(executor, jobs, warn)
    kept = stores.create(Path(store), origin) if store is not None else None
    plan = carrying.Plan(scenario, base, axes, cells, on, wanted, seed, seeds, goal, first, by, mixes)
    try:
        found, computed = carrying.carry_out(plan, kept, execute, terminal.progress, warn)
    except OSError as error:
        stays = "what is stored stays, and the same command goes on from there"
        raise UserError(origin, f"cannot be written: {error.strerror or error}; {stays}") from error
    written = str(pages.write(kept, found)) if kept else None
    if out is not None:
        written, _ = output.write(out, force, lambda folder: pages.fill(folder, found))
    if kept:
        keys = {key for cell in found.cells for key in cell.keys}
        warn(f"{len(keys)} runs in {store}, {computed} of them new")
    _print(found, "json" if json else "latex" if latex else "", effect, written)
    if out is not None and written is not None and written != out:
        raise output.appeared(out, written, force=force)
    failures = show.failures(found)
    for line in failures:
        warn(line)
    if failures:
        raise typer.Exit(1)


def _print(found: "Sweep", form: str, effect: bool, written: str | None) -> None:
    """Print the sweep as ``form``: json, latex, or tables, and then the folder that was ``written``."""
    from goodqueue.show import latex, terminal
    from goodqueue.sweeps import result, show

    if form == "json":
        terminal.emit_json(result.as_json(found))
        return
    if form == "latex":
        terminal.emit(latex.document(show.tables(found, effect)))
        return
    terminal.show([show.describe(found), "", *show.tables(found, effect), *show.certainty(found)])
    if written is not None:
        files = "results.json, cells.csv, tables.tex, and runs.parquet with one row per run"
        terminal.say(f"Written: {written}: {files}.")


def _goal(until_ci: str | None, most: int | None, seeds: int, metric: str) -> "Goal | None":
    """Return the goal of ``--until-ci``. Raises UserError."""
    from goodqueue.sweeps.result import Goal

    if until_ci is None:
        if most is not None:
            raise UserError("--max-seeds", "there is no --until-ci; accepted: --seeds alone, or both")
        return None
    try:
        percent = float(until_ci.strip().removesuffix("%")) if until_ci.strip().endswith("%") else 0.0
    except ValueError:
        percent = 0.0
    if not 0 < percent < 1000:
        raise UserError("--until-ci", f"found {quoted(until_ci)}; accepted: a percentage, as 2%")
    if seeds < 2:
        raise UserError("--seeds", "found 1, and --until-ci needs a spread; accepted: a whole number from 2")
    cap = most if most is not None else max(MOST, seeds)
    if seeds > cap:
        raise UserError("--max-seeds", f"found {cap}, less than --seeds {seeds}; accepted: at least as many")
    return Goal(percent, metric, cap)
