"""The answers of ``replay`` and ``record``: a line for each trace, and both states where a decision differs."""

from collections.abc import Iterator, Sequence

from goodqueue.decisions.recording import Totals
from goodqueue.decisions.replay import Mismatch, Outcome
from goodqueue.show.answer import Answer, Code

DETAILED = 5
"""The number of mismatched traces that are shown in detail. Of the others one line is shown."""


def of_replay(outcomes: Sequence[Outcome]) -> Answer:
    """Return the answer. Its status is 1 if a trace does not match, or if nothing was checked."""
    mismatched = any(outcome["mismatches"] for outcome in outcomes)
    return Answer(
        "Decision traces",
        [Code("\n".join(_lines(outcomes)))],
        lambda: {"traces": outcomes},
        outcomes,
        status=int(mismatched or not _played(outcomes)),
    )


def of_record(file: str, totals: Totals) -> Answer:
    """Return the answer: what the trace in ``file`` has."""
    told = f"{file}: {totals['offered']} offered, {totals['delivered']} delivered"
    told += f", {totals['dropped']} dropped, {totals['marked']} marked"
    return Answer("A decision trace", [Code(told)], lambda: {"file": file, **totals}, totals)


def _lines(outcomes: Sequence[Outcome]) -> Iterator[str]:
    shown = 0
    for outcome in outcomes:
        yield _line(outcome)
        if outcome["first"] is not None and (shown := shown + 1) <= DETAILED:
            yield from _details(outcome["first"])
    yield _summary(outcomes)


def _line(outcome: Outcome) -> str:
    name, first = outcome["file"], outcome["first"]
    if outcome["unsupported"] is not None:
        return f"unsupported  {name}: {outcome['unsupported']}"
    if first is not None:
        where = f"line {first['line']}: expected {first['expected']}, got {first['got']}"
        return f"MISMATCH     {name}: {where} (replayed no further)"
    return f"ok           {name}: {outcome['packets']} packets"


def _details(first: Mismatch) -> list[str]:
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


def _played(outcomes: Sequence[Outcome]) -> Sequence[Outcome]:
    return [outcome for outcome in outcomes if outcome["unsupported"] is None]


def _summary(outcomes: Sequence[Outcome]) -> str:
    played = _played(outcomes)
    wrong = sum(outcome["mismatches"] > 0 for outcome in played)
    packets = sum(outcome["packets"] for outcome in played)
    parts = [f"{len(played) - wrong} of {len(outcomes)} traces ok", f"{wrong} mismatched"]
    parts += [f"{len(outcomes) - len(played)} unsupported", f"{packets} packets replayed"]
    return ", ".join(parts)
