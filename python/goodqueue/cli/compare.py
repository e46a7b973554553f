"""``goodqueue compare``: several disciplines on the same traffic."""

from typing import TYPE_CHECKING, Annotated

import typer

from goodqueue.cli import words
from goodqueue.cli.options import (
    Correct,
    Effect,
    Engines,
    FirstSeed,
    Force,
    Json,
    Kernels,
    Latex,
    Metrics,
    Said,
    Sets,
    Workers,
    check_force,
    check_format,
    described,
    whole,
)
from goodqueue.measures import FIRST_SEED, SEEDS
from goodqueue.options import COMPARED

if TYPE_CHECKING:
    from goodqueue.comparison import Comparison

INTERVALS = 600
"""The number of intervals of a run in the figure of delay over time."""

WRITTEN = "report.html, with its figures and results.json beside it"
"""The files in the folder of --out."""


def compare(
    qdiscs: Annotated[
        list[str],
        typer.Argument(
            metavar="QDISC...",
            help="tc lines, or FILE.py:CLASS; quote one with spaces. 'DOWN / UP' is one each way.",
            autocompletion=words.qdisc,
        ),
    ],
    said: Annotated[Said, described(*COMPARED, up_qdisc="as each QDISC")],
    seeds: Annotated[int, typer.Option(parser=whole("seeds"), metavar="N", help="Runs of each qdisc.")] = SEEDS,
    seed: FirstSeed = FIRST_SEED,
    scenario: Annotated[str | None, typer.Option(metavar="FILE", help="Link and traffic from a scenario file.")] = None,
    metric: Metrics = None,
    against: Annotated[
        str | None,
        typer.Option(
            metavar="QDISC", help="The qdisc from which the others differ. [the first]", autocompletion=words.qdisc
        ),
    ] = None,
    correct: Correct = None,
    effect: Effect = False,
    sets: Sets = None,
    out: Annotated[
        str | None, typer.Option(metavar="DIR", help="Write figures, report.html and results.json to this folder.")
    ] = None,
    force: Force = False,
    engine: Engines = "sim",
    kernel: Kernels = None,
    workers: Workers = None,
    latex: Latex = False,
    json: Json = False,
) -> None:
    """Compare qdiscs on the same traffic, seed by seed.

    \b
    Examples:
      goodqueue compare pfifo codel fq_codel --rate 10mbit --rtt 50ms
      goodqueue compare codel "codel target 15ms" pie --flows 16 --cc reno --seeds 10
      goodqueue compare fq_codel sfq --traffic bulk:4,bulk:2:up,cbr:1mbit,ping --up-rate 1mbit
      goodqueue compare pfifo fq_codel --traffic bulk:2,transfer:100kB,rr:10kB,stream:1mbit
      goodqueue compare pfifo codel --traffic rrul,voip:up,page:huffpost --up-rate 1mbit
      goodqueue compare pfifo codel --traffic bulk:4:up,voip:up --metric voip_mos
      goodqueue compare "cake flows" "cake dual-dsthost" --traffic bulk:1:host=ann,bulk:4:host=bob
      goodqueue compare codel "codel / fq_codel" --traffic bulk:4,bulk:2:up,ping --up-rate 1mbit
      goodqueue compare pfifo fq_codel mac80211 --wifi 802.11n --stations fast:mcs15*2,slow:mcs0
      goodqueue compare pfifo codel --scenario my-link.toml --out report --json
      goodqueue compare codel pie --engine sim,kernel --seeds 3
      goodqueue compare pfifo codel --engine sim,kernel,live --seeds 1
      goodqueue compare codel cake --engine sim,kernel --kernel 6.1,7.3

    Every qdisc runs with the same seeds. So the difference of two qdiscs is computed per seed, and has a smaller error
    than either result. Tables and figures show the loaded direction, or both directions if both are loaded; --json has
    both. The default traffic is 4 bulk flows that start at random within the first second, and a ping; `goodqueue list
    traffic` shows all kinds. A DETAIL is a rate, a size, a codec, or a page (its name or a HAR file). With --engine
    sim,kernel,live each qdisc runs in the simulator, on Linux's own qdiscs and TCP, and with Linux's TCP across the
    simulated path in real time. The engines are then compared too.
    """
    from goodqueue import comparison as comparing
    from goodqueue import engines
    from goodqueue.comparison import request
    from goodqueue.files import inputs, output
    from goodqueue.measures import metrics, numbers
    from goodqueue.scenario import seconds
    from goodqueue.scenario.asked import base as scenario_of
    from goodqueue.show import notes, terminal

    check_format(json, latex)
    check_force(force, out)
    by = request.correction(correct)
    on = engines.parse(engine, linux=kernel)
    wanted = numbers.find(metric or []) or metrics.METRICS
    with inputs.noted() as read:
        base, origins = scenario_of(scenario, said, sets or [])
        lines, resolved = request.check(base, qdiscs, seed, scenario or "", origins, on)
    first = request.against(against, lines)
    notes.warn(base, origins, lines)
    if out is not None:
        output.check(out, force)
        output.spare(out, read)
        duration_s = seconds(resolved["duration"])
        interval = f"{max(1, round(duration_s / INTERVALS * 1e6))}us"
        base.setdefault("series", {}).setdefault("interval", interval)
    if metric:
        numbers.check(wanted, [{**resolved, "series": base.get("series")}])
    chosen = list(range(seed, seed + seeds))
    what = f"{len(lines)} qdiscs x {seeds} seeds" + (f" x {len(on)} engines" if on[1:] else "")
    with terminal.progress(what) as progress:
        result = comparing.compare(base, lines, chosen, workers, progress, on, wanted, first, by)
    written = failed = None
    if out is not None:
        from goodqueue import report

        command = request.command(
            lines, scenario, said, sets or [], seeds=seeds, seed=seed, metric=metric, engine=",".join(on),
            against=against, correct=correct, effect=effect,
        )  # fmt: skip
        with terminal.progress("figures and report") as progress:
            written, failed = output.write(out, force, lambda folder: report.write(folder, result, command, progress))
    form = "json" if json else "latex" if latex else ""
    _print(result, form, effect, written and f"{written}/{'results.json and records.jsonl' if failed else WRITTEN}")
    if failed:
        raise failed
    if out is not None and written is not None and written != out:
        raise output.appeared(out, written, force=force)


def _print(result: "Comparison", form: str, effect: bool, out: str | None) -> None:
    from goodqueue.comparison import as_json
    from goodqueue.show import terminal

    if form == "json":
        from json import dumps

        from goodqueue._goodqueue import VERSION

        terminal.emit(dumps(as_json(result, VERSION), ensure_ascii=False) + "\n")
        return
    from goodqueue.comparison import tables
    from goodqueue.show import describe

    differences = tables.difference_tables(result, effect)
    if form == "latex":
        from goodqueue.show import latex

        terminal.emit(latex.document([*tables.full_tables(result), *differences]))
        return

    terminal.say(describe.whole(result.scenario))
    terminal.say()
    for table in tables.tables(result):
        terminal.print_table(table)
    for direction in result.loaded():
        pictures = [(one.label, delays) for one in result.entries if (delays := one.delay_percentiles_ms[direction])]
        if pictures:
            terminal.print_picture(f"Queueing delay, {direction}, all seeds", pictures)
    for table in differences:
        terminal.print_table(table)
    for sentence in (*tables.findings(result), *tables.certainty(result)):
        terminal.say(sentence)
    if out is not None:
        terminal.say(f"\nWritten: {out}.")
