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
    parts.append(advice(result))
    return Answer(f"Tuning {result.plan.line}", parts, partial(_data, result), result)


def describe(result: Tuning) -> str:
    """Return what was tried."""
    plan = result.plan
    varied = ", ".join(range_.said.removeprefix(knobs.WHERE) for range_ in plan.tuned.ranges)
    wants = f"; wanted: {', '.join(want.text for want in plan.wants)}" if plan.wants else ""
    goals = ", ".join(f"{'high' if goal.is_large else 'low'} {goal.metric.key}" for goal in plan.goals)
    tried = f"{len(result.tried)} candidates on {len(plan.training)} scenarios, {plan.seeds} seeds each"
    return f"{plan.line}: {varied}; {goals}{wants}. {tried}; {result.runs} runs."


def sentence(result: Tuning) -> str:
    """Return the answer: the best line, or that the default is as good."""
    best, line = result.best, result.plan.line
    if best is None:
        missed = [candidate.missed for candidate in result.tried]
        if result.plan.wants and (not missed or min(missed) > 0):
            return f"No candidate has all that is wanted in all scenarios. {_nearest(result)}"
        return f"{line} is as good as any candidate: none gains in one goal without a loss in another."
    words = f"`{best.candidate.line}`"
    gains = ", ".join(
        f"{goal.metric.key} {ratio(gain, goal)}" for goal, gain in zip(result.plan.goals, best.gains, strict=True)
    )
    verdict = AGAINST[_verdict(best)]
    held = ""
    if result.plan.wants:
        held = (
            f" All wants hold in {best.wants_hold} of {result.held_out_runs} held-out runs, "
            f"and with {line} in {result.untuned_wants_hold}."
        )
    return f"On the held-out scenarios {words} {verdict} `{line}`: {gains}.{held}"


def advice(result: Tuning) -> str:
    """Return what to take, in one sentence."""
    best, line = result.best, result.plan.line
    if best is None:
        return f"Keep `{line}`."
    tuned = f"`{best.candidate.line}`{' (* in the table)' if len(result.front) > 1 else ''}"
    holds_more = bool(result.plan.wants) and best.wants_hold > result.untuned_wants_hold
    if best.is_trade:
        means = [(goal.metric.key, gain.mean) for goal, gain in zip(result.plan.goals, best.gains, strict=True) if gain]
        gained, lost = ([key for key, mean in means if (mean > 0) is wanted] for wanted in (True, False))
        return f"Take {tuned} if {' and '.join(gained)} is worth {' and '.join(lost)} to you; otherwise keep `{line}`."
    if best.is_better or (holds_more and not best.is_worse):
        return f"Take {tuned}."
    verdict = "worse" if best.is_worse else "no better"
    return f"Keep `{line}`: on scenarios that the search had not seen, {tuned} is {verdict}."


def _nearest(result: Tuning) -> str:
    nearest = min(result.tried, key=lambda candidate: candidate.missed)
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
    rows = [_row(result, judged) for judged in result.front]
    same = result.plan.held_out is result.plan.training
    where = "the same scenarios with other seeds" if same else "scenarios that were held out"
    many = f"{len(result.plan.held_out)} {where}, with 95 % intervals over them"
    notes = [f"× 1 is `{result.plan.line}`; {many}. A loss of 1 % counts as none."]
    return Table.of("Trade-offs", rows, notes, texts=("line", "verdict"))


def _row(result: Tuning, judged: Judged) -> dict[str, str]:
    goals = zip(result.plan.goals, judged.gains, strict=True)
    mark = " *" if judged is result.best else ""
    row = {"line": judged.candidate.line + mark}
    row |= {goal.metric.key: ratio(gain, goal) for goal, gain in goals}
    if result.plan.wants:
        row["wants hold"] = f"{judged.wants_hold}/{result.held_out_runs}"
    return row | {"verdict": _verdict(judged)}


def _verdict(judged: Judged) -> str:
    if judged.is_trade:
        return "trade"
    return "better" if judged.is_better else "worse" if judged.is_worse else "as good"


def _data(result: Tuning) -> dict[str, Any]:
    plan = result.plan
    return {
        "line": plan.line,
        "ranges": [range_.said.removeprefix(knobs.WHERE) for range_ in plan.tuned.ranges],
        "goals": [{"metric": goal.metric.key, "better": "high" if goal.is_large else "low"} for goal in plan.goals],
        "wants": [want.text for want in plan.wants],
        "training": [case.name for case in plan.training],
        "held_out": [case.name for case in plan.held_out],
        "method": plan.method,
        "seed": plan.seed,
        "seeds": plan.seeds,
        "evaluations": len(result.tried),
        "runs": result.runs,
        "answer": sentence(result),
        "best": None if result.best is None else result.best.candidate.line,
        "front": [_judged(result, judged) for judged in result.front],
        "candidates": [
            {"values": dict(candidate.values), "gains": list(candidate.gains), "missed": candidate.missed}
            for candidate in result.tried
        ],
    }


def _judged(result: Tuning, judged: Judged) -> dict[str, Any]:
    goals = zip(result.plan.goals, judged.gains, strict=True)
    return {
        "line": judged.candidate.line,
        "values": dict(judged.candidate.values),
        "gains": {
            goal.metric.key: None if gain is None else {"mean": gain.mean, "half_width": gain.half_width}
            for goal, gain in goals
        },
        "wants_hold": judged.wants_hold,
        "runs": result.held_out_runs,
        "is_better": judged.is_better,
        "is_worse": judged.is_worse,
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
