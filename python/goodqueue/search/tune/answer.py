"""The answer of a tuning: a sentence, and the front as a figure and a table."""

import math
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from goodqueue.measures.stats import Estimate
from goodqueue.search import knobs
from goodqueue.search.tune.work import Goal, Judged, Tuning
from goodqueue.show.answer import Answer, Part, Picture, Text
from goodqueue.show.table import Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

AGAINST = {
    "better": "is better than",
    "as good": "is as good as",
    "worse": "is worse than",
    "trade": "trades one goal for another, against",
}
"""The verdicts, as a sentence has them."""


CAPTION = "Each candidate on the scenarios for tuning. The line joins those that no other beats in both goals."


def of(result: Tuning) -> Answer:
    """Return the answer."""
    parts: list[Part] = [Text(describe(result), "lead"), sentence(result)]
    if len(result.plan.goals) > 1:
        parts.append(Picture("tuning", CAPTION, partial(_figure, result)))
    if result.front:
        parts.append(table(result))
    return Answer(f"Tuning {result.plan.line}", parts, _data(result), result)


def describe(result: Tuning) -> str:
    """Return what was tried."""
    plan = result.plan
    varied = ", ".join(one.said.removeprefix(knobs.WHERE) for one in plan.tuned.ranges)
    wants = f"; wanted: {', '.join(one.text for one in plan.wants)}" if plan.wants else ""
    goals = ", ".join(f"{'high' if one.is_large else 'low'} {one.metric.key}" for one in plan.goals)
    tried = f"{len(result.tried)} candidates on {len(plan.training)} scenarios, {plan.seeds} seeds each"
    return f"{plan.line}: {varied}; {goals}{wants}. {tried}; {result.runs} runs."


def sentence(result: Tuning) -> str:
    """Return the answer: the best line, or that the default is as good."""
    best, line = result.best, result.plan.line
    if best is None:
        missed = [one.missed for one in result.tried]
        if result.plan.wants and (not missed or min(missed) > 0):
            return f"No candidate has all that is wanted in all scenarios. {_nearest(result)}"
        return f"{line} is as good as any candidate: none gains in one goal without a loss in another."
    words = f"`{best.candidate.line}`"
    gains = ", ".join(
        f"{goal.metric.key} {ratio(one, goal)}" for goal, one in zip(result.plan.goals, best.gains, strict=True)
    )
    verdict = AGAINST[_verdict(best)]
    held = ""
    if result.plan.wants:
        held = (
            f" All wants hold in {best.wants_hold} of {result.held_out_runs} held-out runs, "
            f"and with {line} in {result.untuned_wants_hold}."
        )
    return f"On the held-out scenarios {words} {verdict} `{line}`: {gains}.{held}"


def _nearest(result: Tuning) -> str:
    nearest = min(result.tried, key=lambda one: one.missed)
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


def table(result: Tuning) -> Table:
    """Return the front: each line, and its metrics beside those of the untuned line on the held-out scenarios."""
    rows = [_row(result, one) for one in result.front]
    same = result.plan.held_out is result.plan.training
    where = "the same scenarios with other seeds" if same else "scenarios that were held out"
    many = f"{len(result.plan.held_out)} {where}, with 95 % intervals over them"
    notes = [f"× 1 is `{result.plan.line}`; {many}. A loss of 1 % counts as none."]
    return Table.of("Trade-offs", rows, notes, texts=("line", "verdict"))


def _row(result: Tuning, one: Judged) -> dict[str, str]:
    goals = zip(result.plan.goals, one.gains, strict=True)
    mark = " *" if one is result.best else ""
    row = {"line": one.candidate.line + mark}
    row |= {goal.metric.key: ratio(gain, goal) for goal, gain in goals}
    if result.plan.wants:
        row["wants hold"] = f"{one.wants_hold}/{result.held_out_runs}"
    return row | {"verdict": _verdict(one)}


def _verdict(one: Judged) -> str:
    if one.is_trade:
        return "trade"
    return "better" if one.is_better else "worse" if one.is_worse else "as good"


def _data(result: Tuning) -> dict[str, Any]:
    plan = result.plan
    return {
        "line": plan.line,
        "ranges": [one.said.removeprefix(knobs.WHERE) for one in plan.tuned.ranges],
        "goals": [{"metric": one.metric.key, "better": "high" if one.is_large else "low"} for one in plan.goals],
        "wants": [one.text for one in plan.wants],
        "training": [one.name for one in plan.training],
        "held_out": [one.name for one in plan.held_out],
        "method": plan.method,
        "seed": plan.seed,
        "seeds": plan.seeds,
        "evaluations": len(result.tried),
        "runs": result.runs,
        "answer": sentence(result),
        "best": None if result.best is None else result.best.candidate.line,
        "front": [_judged(result, one) for one in result.front],
        "candidates": [
            {"values": dict(one.values), "gains": list(one.gains), "missed": one.missed} for one in result.tried
        ],
    }


def _judged(result: Tuning, one: Judged) -> dict[str, Any]:
    goals = zip(result.plan.goals, one.gains, strict=True)
    return {
        "line": one.candidate.line,
        "values": dict(one.candidate.values),
        "gains": {
            goal.metric.key: None if gain is None else {"mean": gain.mean, "half_width": gain.half_width}
            for goal, gain in goals
        },
        "wants_hold": one.wants_hold,
        "runs": result.held_out_runs,
        "is_better": one.is_better,
        "is_worse": one.is_worse,
    }


def _figure(result: Tuning) -> "Figure":
    from goodqueue.plot import tuning

    across, along = result.plan.goals[:2]
    points = [_ratios(result, candidate.gains) for candidate in result.tried if not candidate.missed]
    front = [_ratios(result, judged.candidate.gains) for judged in result.front]
    return tuning.figure(points, front, (across.metric.key, along.metric.key), result.plan.line)


def _ratios(result: Tuning, gains: Sequence[float]) -> tuple[float, float]:
    """Return the first two metrics as ratios to those of the untuned line."""
    across, along = (
        math.exp(gain if goal.is_large else -gain) for gain, goal in zip(gains[:2], result.plan.goals[:2], strict=True)
    )
    return across, along
