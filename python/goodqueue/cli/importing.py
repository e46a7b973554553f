"""``goodqueue import``: turns other programs' measurements into records."""

from typing import Annotated

import typer

from goodqueue.cli.options import Json, Sets, whole
from goodqueue.errors import warn


def import_(
    files: Annotated[list[str], typer.Argument(metavar="FILE.flent.gz...", help="Flent's data files.")],
    scenario: Annotated[
        str | None, typer.Option(metavar="SCENARIO.toml", help="What the path was like: link, qdisc, RTT, traffic.")
    ] = None,
    sets: Sets = None,
    seed: Annotated[
        int,
        typer.Option(
            parser=whole("--seed", 0, 2**62),
            metavar="N",
            help="Number of the first file. Each further file has the next number.",
        ),
    ] = 1,
    out: Annotated[str | None, typer.Option(metavar="DIR", help="The store that keeps the records.")] = None,
    json: Json = False,
) -> None:
    """Read Flent's measurements of a real network.

    \b
    Examples:
      goodqueue import rrul-*.flent.gz
      goodqueue import real.flent.gz --scenario link.toml --json > real.json
      goodqueue run link.toml --json > sim.json; goodqueue report sim.json real.json
      goodqueue import real-*.flent.gz --scenario link.toml --set bottleneck.qdisc=fq_codel --out store
      goodqueue plot ellipse store --out ellipse.svg

    Each file becomes a record of the engine flent. It covers the time during which all TCP flows of the test ran. Flent
    sees only the ends of the path: goodput, window and RTT of TCP, and pings. The fields of the queue stay empty. With
    --scenario the record says what the path was, and a report compares it with runs of the same scenario. Without
    --scenario the link is unknown. --json prints one record per line.
    """
    from pathlib import Path

    from goodqueue import scenario as scenarios
    from goodqueue import store
    from goodqueue.errors import UserError
    from goodqueue.flent import importing, reading
    from goodqueue.show import tables, terminal

    if sets and scenario is None:
        raise UserError("--set", "found without --scenario; accepted: with --scenario SCENARIO.toml")
    resolved = None if scenario is None else scenarios.from_file(scenario, sets or ())
    if out is not None:
        store.check(Path(out), f"--out {out}")
    records = [importing.record(reading.read(file), resolved, seed + place) for place, file in enumerate(files)]
    if out is not None:
        importing.keep(store.create(Path(out), f"--out {out}"), records, f"--out {out}")
    for record in records:
        if left := record["flent"]["left_out"]:
            some = ", ".join(left[:3]) + (f" and {len(left) - 3} more" if len(left) > 3 else "")
            warn(f"{record['flent']['file']}: left out: {some}; a record has no place for them")
    if json:
        from json import dumps

        for record in records:
            terminal.emit(dumps(record, ensure_ascii=False) + "\n")
        return
    for record in records:
        about = record["flent"]
        begin, end = about["measured_s"]
        terminal.say(f"{about['file']}: {about['test']}, {about['title'] or 'no title'}; {begin:.1f} s to {end:.1f} s")
        terminal.say()
        for table in tables.run_tables(record)[1:]:
            terminal.print_table(table)
    if out is not None:
        terminal.say(f"Kept: {len(records)} in {out}.")
