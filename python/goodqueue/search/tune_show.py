"""Shows the result of tuning: the answer in a sentence, the front as a table and a figure, JSON and the report."""

import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from goodqueue.errors import UserError
from goodqueue.files import output
from goodqueue.measures.stats import Estimate
from goodqueue.pages import Code, Figure, Section, Text, draw, render
from goodqueue.search import knobs
from goodqueue.search.tuning import Goal, Judged, Tuning
from goodqueue.show.tables import Table

AGAINST = {
    "better": "is better than",
    "as good": "is as good as",
    "worse": "is worse than",
    "trade": "trades one goal for another, against",
}
"""The verdicts, as a sentence has them."""


def parts(found: Tuning) -> Iterator[str | Table]:
    """Yield what a person sees."""
    yield describe(found)
    yield answer(found)
    if found.front:
        yield ""
        yield table(found)


def describe(found: Tuning) -> str:
    """Return what was tried."""
    plan = found.plan
    varied = ", ".join(one.said.removeprefix(knobs.WHERE) for one in plan.tuned.ranges)
    wants = f"; wanted: {', '.join(one.text for one in plan.wants)}" if plan.wants else ""
    goals = ", ".join(f"{'high' if one.is_large else 'low'} {one.metric.key}" for one in plan.goals)
    tried = f"{len(found.tried)} candidates on {len(plan.training)} scenarios, {plan.seeds} seeds each"
    return f"{plan.line}: {varied}; {goals}{wants}. {tried}; {found.runs} runs."


def answer(found: Tuning) -> str:
    """Return the answer: the best line, or that the default is as good."""
    best, line = found.best, found.plan.line
    if best is None:
        missed = [one.missed for one in found.tried]
        if found.plan.wants and (not missed or min(missed) > 0):
            return f"No candidate has all that is wanted in all scenarios. {_nearest(found)}"
        return f"{line} is as good as any candidate: none gains in one goal without a loss in another."
    words = f"`{best.candidate.line}`"
    gains = ", ".join(
        f"{goal.metric.key} {ratio(one, goal)}" for goal, one in zip(found.plan.goals, best.gains, strict=True)
    )
    verdict = AGAINST[_verdict(best)]
    held = ""
    if found.plan.wants:
        held = (
            f" All wants hold in {best.wants_hold} of {found.held_out_runs} held-out runs, "
            f"and with {line} in {found.untuned_wants_hold}."
        )
    return f"On the held-out scenarios {words} {verdict} `{line}`: {gains}.{held}"


def _nearest(found: Tuning) -> str:
    nearest = min(found.tried, key=lambda one: one.missed)
    return f"The nearest is `{nearest.line}`."


def ratio(gain: Estimate | None, goal: Goal) -> str:
    """Return a gain as a ratio to the untuned line's metric: ``× 0.62 (0.55 to 0.70)``."""
    if gain is None:
        return "–"
    sign = 1 if goal.is_large else -1
    middle = math.exp(sign * gain.mean)
    if gain.half_width is None:
        return f"× {middle:.3g}"
    ends = sorted(math.exp(sign * gain.mean + half) for half in (-gain.half_width, gain.half_width))
    return f"× {middle:.3g} ({ends[0]:.3g} to {ends[1]:.3g})"


def table(found: Tuning) -> Table:
    """Return the front: each line, and its metrics beside those of the untuned line on the held-out scenarios."""
    rows = [_row(found, one) for one in found.front]
    same = found.plan.held_out is found.plan.training
    where = "the same scenarios with other seeds" if same else "scenarios that were held out"
    many = f"{len(found.plan.held_out)} {where}, with 95 % intervals over them"
    notes = [f"× 1 is `{found.plan.line}`; {many}. A loss of 1 % counts as none."]
    return Table.of("Trade-offs", rows, notes, texts=("line", "verdict"))


def _row(found: Tuning, one: Judged) -> dict[str, str]:
    goals = zip(found.plan.goals, one.gains, strict=True)
    mark = " *" if one is found.best else ""
    row = {"line": one.candidate.line + mark}
    row |= {goal.metric.key: ratio(gain, goal) for goal, gain in goals}
    if found.plan.wants:
        row["wants hold"] = f"{one.wants_hold}/{found.held_out_runs}"
    return row | {"verdict": _verdict(one)}


def _verdict(one: Judged) -> str:
    if one.is_trade:
        return "trade"
    return "better" if one.is_better else "worse" if one.is_worse else "as good"


def as_json(found: Tuning, version: str) -> dict[str, Any]:
    """Return the result as JSON."""
    plan = found.plan
    return {
        "made_by": "goodqueue tune",
        "version": version,
        "line": plan.line,
        "ranges": [one.said.removeprefix(knobs.WHERE) for one in plan.tuned.ranges],
        "goals": [{"metric": one.metric.key, "better": "high" if one.is_large else "low"} for one in plan.goals],
        "wants": [one.text for one in plan.wants],
        "training": [one.name for one in plan.training],
        "held_out": [one.name for one in plan.held_out],
        "method": plan.method,
        "seed": plan.seed,
        "seeds": plan.seeds,
        "evaluations": len(found.tried),
        "runs": found.runs,
        "answer": answer(found),
        "best": None if found.best is None else found.best.candidate.line,
        "front": [_judged(found, one) for one in found.front],
        "candidates": [
            {"values": dict(one.values), "gains": list(one.gains), "missed": one.missed} for one in found.tried
        ],
    }


def _judged(found: Tuning, one: Judged) -> dict[str, Any]:
    goals = zip(found.plan.goals, one.gains, strict=True)
    return {
        "line": one.candidate.line,
        "values": dict(one.candidate.values),
        "gains": {
            goal.metric.key: None if gain is None else {"mean": gain.mean, "half_width": gain.half_width}
            for goal, gain in goals
        },
        "wants_hold": one.wants_hold,
        "runs": found.held_out_runs,
        "is_better": one.is_better,
        "is_worse": one.is_worse,
    }


def write(folder: Path, found: Tuning, command: str) -> UserError | None:
    """Write report.html, the figure and results.json into ``folder``. Raises OSError.

    If the figure cannot be drawn, the error is returned.
    """
    from goodqueue._goodqueue import VERSION

    trouble = draw(folder, "results.json is", lambda: _page(folder, found, command))
    output.write_results(folder, as_json(found, VERSION), command)
    return trouble


def _page(folder: Path, found: Tuning, command: str) -> str:
    from goodqueue.plot import style, tuning

    sections: list[str | Text | Table | Figure | Section] = [Text(describe(found), "lead"), answer(found)]
    if len(found.plan.goals) > 1:
        across, along = found.plan.goals[:2]
        points = [_ratios(found, one.gains) for one in found.tried if not one.missed]
        front = [_ratios(found, one.candidate.gains) for one in found.front]
        drawn = tuning.figure(points, front, (across.metric.key, along.metric.key), found.plan.line)
        svg = style.save(drawn, folder, "tuning")
        caption = "Each candidate on the scenarios for tuning. The line joins those that no other beats in both goals."
        sections.append(Figure("", caption, svg, "tuning"))
    if found.front:
        sections.append(table(found))
    return render(f"Tuning {found.plan.line}", [*sections, Section("The search", [Code(command)])])


def _ratios(found: Tuning, gains: Sequence[float]) -> tuple[float, float]:
    """Return the first two metrics as ratios to those of the untuned line."""
    across, along = (
        math.exp(gain if goal.is_large else -gain) for gain, goal in zip(gains[:2], found.plan.goals[:2], strict=True)
    )
    return across, along
