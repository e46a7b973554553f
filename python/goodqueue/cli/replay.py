"""``goodqueue replay``: replays decision traces."""

from typing import TYPE_CHECKING, Annotated

import typer

from goodqueue.cli.options import Json, Workers

if TYPE_CHECKING:
    from goodqueue.decisions.replay import Mismatch, Outcome

DETAILED = 5
"""The number of mismatched traces that are shown in detail. Of the others one line is shown."""


def replay(
    traces: Annotated[
        list[str] | None,
        typer.Argument(metavar="TRACE|FOLDER...", help=".csv, .csv.gz, or folders of them. [goodqueue's own traces]"),
    ] = None,
    release: Annotated[
        str | None,
        typer.Option(
            metavar="RELEASE", help="The Linux release whose law decides. [that of the trace's kernel, or 6.1]"
        ),
    ] = None,
    workers: Workers = None,
    json: Json = False,
) -> None:
    """Replay decision traces and compare every decision.

    A decision trace holds each call of a qdisc, and what the qdisc decided. goodqueue's qdisc gets the same calls and
    must decide the same, packet by packet. The exit status is 1 if a trace does not match, or if no trace could be
    replayed. A trace that could not be replayed is listed, and does not count as passed.

    For a mismatch the command shows the line, both decisions and both inner states. To check your own implementation,
    let it write a trace: golden/README.md says how.

    \b
    Examples:
      goodqueue replay                              # all that come with goodqueue
      goodqueue replay golden/codel golden/fq_codel
      goodqueue replay golden/pie --release 7.3     # what one release recorded, by the law of another
      goodqueue replay my-trace.csv.gz --json
    """
    from goodqueue.decisions import replay as replaying
    from goodqueue.show import terminal

    found = replaying.find(traces or [str(replaying.GOLDEN)])
    with terminal.progress(f"{len(found)} traces") as progress:
        outcomes = replaying.replay(found, release, workers, progress)
    if json:
        terminal.emit_json({"traces": outcomes})
    else:
        shown = 0
        for outcome in outcomes:
            typer.echo(terminal.fit(_line(outcome)))
            if outcome["first"] is not None and (shown := shown + 1) <= DETAILED:
                for line in _details(outcome["first"]):
                    typer.echo(terminal.fit(line))
        typer.echo(_summary(outcomes))
    if any(outcome["mismatches"] for outcome in outcomes) or not _played(outcomes):
        raise typer.Exit(1)  # if all traces are unsupported, nothing was checked


def _line(outcome: "Outcome") -> str:
    name, first = outcome["file"], outcome["first"]
    if outcome["unsupported"] is not None:
        return f"unsupported  {name}: {outcome['unsupported']}"
    if first is not None:
        where = f"line {first['line']}: expected {first['expected']}, got {first['got']}"
        return f"MISMATCH     {name}: {where} (replayed no further)"
    return f"ok           {name}: {outcome['packets']} packets"


def _details(first: "Mismatch") -> list[str]:
    """Return the line that differs, then both decisions and both states side by side, one variable per row."""
    state = first["state"]
    told = "never told" if state["theirs_line"] is None else f"told in line {state['theirs_line']}"
    decision = _side_by_side(first["expected"], first["got"], " ", mark=True)
    # An older state may differ from ours and still be right.
    states = _side_by_side(state["theirs"] or "", state["ours"], ",", mark=state["theirs_line"] == first["line"])
    lines = [f"    line {first['line']}: {first['text']}", ""]
    if decision:
        lines += [_row("decision", "the trace", "goodqueue"), *decision, ""]
    return [*lines, _row("state", f"the trace, {told}", "goodqueue, now"), *states, ""]


def _side_by_side(theirs: str, ours: str, separator: str, mark: bool) -> list[str]:
    left, right = (dict(pair.split("=", 1) for pair in text.split(separator) if "=" in pair) for text in (theirs, ours))
    rows = []
    for name in dict.fromkeys([*left, *right]):
        differs = name in left and name in right and left[name] != right[name]
        note = "<- differs" if mark and differs else ""
        rows.append(_row(name, left.get(name, "-"), right.get(name, "-"), note))
    return rows


def _row(name: str, theirs: str, ours: str, note: str = "") -> str:
    return f"    {name:16} {theirs or 'none':32} {ours or 'none':32} {note}".rstrip()


def _played(outcomes: "list[Outcome]") -> "list[Outcome]":
    return [outcome for outcome in outcomes if outcome["unsupported"] is None]


def _summary(outcomes: "list[Outcome]") -> str:
    played = _played(outcomes)
    wrong = sum(outcome["mismatches"] > 0 for outcome in played)
    packets = sum(outcome["packets"] for outcome in played)
    parts = [f"{len(played) - wrong} of {len(outcomes)} traces ok", f"{wrong} mismatched"]
    parts += [f"{len(outcomes) - len(played)} unsupported", f"{packets} packets replayed"]
    return ", ".join(parts)
