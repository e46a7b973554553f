"""Checks a comparison before any run."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from goodqueue.comparison.question import Compare
from goodqueue.errors import Option, UserError, quoted

if TYPE_CHECKING:
    from goodqueue.measures.metrics import Metric
    from goodqueue.record import Scenario
    from goodqueue.scenario import Origins

INTERVALS = 600
"""The number of intervals of a run in the figure of delay over time."""


@dataclass(frozen=True, slots=True)
class Checked:
    """What a comparison runs."""

    base: "Scenario"
    """The scenario without the disciplines. Each ``load`` in it is a number of users."""
    lines: list[str]
    """The disciplines' lines, with single spaces."""
    engines: Sequence[str]
    metrics: "Sequence[Metric]"
    against: str
    correction: str


def check(question: Compare) -> Checked:
    """Return what to run. Errors come before any run. Raises UserError."""
    from goodqueue import engines
    from goodqueue.measures import metrics, numbers
    from goodqueue.scenario import asked, seconds
    from goodqueue.show import notes

    by = correction(question.correct)
    on = engines.parse(question.engine, linux=question.kernel)
    shown = numbers.find(question.metric) or metrics.METRICS
    base, origins = asked.base(question.scenario, question.described, question.keys)
    file = question.scenario if isinstance(question.scenario, str) else ""
    lines, resolved = resolve(base, question.qdiscs, question.seed, file, origins, on)
    first = against(question.against, lines)
    notes.warn(base, origins, lines)
    if question.is_drawn:
        interval_us = max(1, round(seconds(resolved["duration"]) / INTERVALS * 1e6))
        base.setdefault("series", {}).setdefault("interval", f"{interval_us}us")
    if question.metric:
        numbers.check(shown, [{**resolved, "series": base.get("series")}])
    return Checked(base, lines, on, shown, first, by)


def resolve(
    base: "Scenario", qdiscs: Sequence[str], seed: int, file: str, origins: "Origins", on: Sequence[str]
) -> "tuple[list[str], Scenario]":
    """Resolve ``base`` with each qdisc and let each engine check it, so that errors come before any run.

    Each ``load`` becomes a number of users. Return the lines with single spaces, and the resolved scenario
    of the last one.
    """
    from goodqueue import engines
    from goodqueue import scenario as reading
    from goodqueue.comparison.comparing import scenarios
    from goodqueue.engines import loads
    from goodqueue.show import labels

    loads.settle(base, file, origins)
    lines = [" ".join(line.split()) for line in qdiscs]
    for line in lines:
        if lines.count(line) > 1:
            raise UserError("QDISC", f"found {quoted(line)} twice; accepted: each qdisc once")
    if not isinstance(base.get("bottleneck"), dict):
        found = quoted(base["bottleneck"]) if "bottleneck" in base else "none"
        raise UserError(origins.get("bottleneck", file), f"bottleneck: found {found}; accepted: a table with a rate")
    resolved, up = base, "bottleneck.up.qdisc"
    both = [line for line in lines if labels.BOTH in line]
    if both and up in origins and "qdisc" in (base["bottleneck"].get("up") or {}):
        found = f"found for the way up beside {quoted(both[0])}, which names both"
        raise UserError(origins[up], f"{found}; accepted: one of them")
    for scenario, line in zip(scenarios(base, lines, [seed]), lines, strict=True):
        said = f"QDISC {quoted(line)}"
        own = {up: said} if line in both else {}
        resolved = reading.resolve(scenario, file, {"bottleneck.qdisc": said, "seed": Option("seed"), **origins, **own})
        for name in on:
            engines.check(name, resolved)
    return lines, resolved


def against(asked: str | None, lines: Sequence[str]) -> str:
    """Return the line from which the others differ, one of ``lines``, or an empty text if nobody asks."""
    if asked is None:
        return ""
    line = " ".join(asked.removeprefix("qdisc=").split())
    if line not in lines:
        raise UserError(Option("against"), f"found {quoted(asked)}; accepted: {', '.join(lines)}")
    return line


def correction(text: str | None) -> str:
    """Return the correction that ``--correct`` names, or an empty text. Raises UserError."""
    if text not in (None, "", "holm"):
        raise UserError(Option("correct"), f"found {quoted(text)}; accepted: holm")
    return text or ""
