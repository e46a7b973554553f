"""``goodqueue replay``: decision traces."""

from typing import TYPE_CHECKING, Annotated

import typer

from goodqueue.cli.options import Json, Workers

if TYPE_CHECKING:
    from goodqueue.replay import Outcome


def replay(
    traces: Annotated[list[str], typer.Argument(metavar="TRACE|FOLDER...", help=".csv, .csv.gz, or folders of them.")],
    workers: Workers = None,
    json: Json = False,
) -> None:
    """Replay decision traces and compare every decision.

    A trace holds each call that a qdisc got, with what it decided. Our qdisc gets the same calls and must decide the
    same, packet by packet. Exit status 1 if any trace mismatches; what cannot be replayed is listed, not passed.

    \b
    Examples:
      goodqueue replay golden/codel golden/fq_codel
      goodqueue replay my-trace.csv.gz --json
    """
    from goodqueue import replay as replaying
    from goodqueue import terminal

    found = replaying.find(traces)
    with terminal.progress(f"{len(found)} traces") as progress:
        outcomes = replaying.replay(found, workers, progress)
    if json:
        from json import dumps

        terminal.emit(dumps({"traces": outcomes}, ensure_ascii=False) + "\n")
    else:
        for outcome in outcomes:
            typer.echo(terminal.fit(_line(outcome)))
        typer.echo(_summary(outcomes))
    if any(outcome["mismatches"] for outcome in outcomes):
        raise typer.Exit(1)


def _line(outcome: "Outcome") -> str:
    name, first = outcome["file"], outcome["first"]
    if outcome["unsupported"] is not None:
        return f"unsupported  {name}: {outcome['unsupported']}"
    if first is not None:
        where = f"line {first['line']}: expected {first['expected']}, got {first['got']}"
        return f"MISMATCH     {name}: {where} (replayed no further)"
    return f"ok           {name}: {outcome['packets']} packets"


def _summary(outcomes: "list[Outcome]") -> str:
    played = [outcome for outcome in outcomes if outcome["unsupported"] is None]
    wrong = sum(outcome["mismatches"] > 0 for outcome in played)
    packets = sum(outcome["packets"] for outcome in played)
    parts = [f"{len(played) - wrong} of {len(outcomes)} traces ok", f"{wrong} mismatched"]
    parts += [f"{len(outcomes) - len(played)} unsupported", f"{packets} packets replayed"]
    return ", ".join(parts)
