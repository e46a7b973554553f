"""Reads what ``goodqueue tune`` is asked for, and refuses it before any run."""

import copy
from collections.abc import Sequence
from dataclasses import dataclass

from goodqueue import scenario as scenarios
from goodqueue.errors import Option, UserError, quoted
from goodqueue.measures import numbers
from goodqueue.measures.needs import SERIES
from goodqueue.record import Scenario
from goodqueue.search import cases, conditions, knobs, optimising, ranges, subjects
from goodqueue.search.cases import Case
from goodqueue.search.conditions import Condition
from goodqueue.search.tuning import Goal, Plan

USUAL = (("delay_p95_ms", False), ("goodput_mbps", True))
"""The goals, unless others are asked for: a low delay and a high goodput."""

MOST_GOALS = 3
"""With more goals nearly every candidate is on the front."""


@dataclass(frozen=True, slots=True)
class Link:
    """The scenarios: files, or a link for which `cases` has some."""

    rate: str | None
    rtt: str | None
    files: Sequence[str]
    held_out: Sequence[str]


def plan(
    line: str,
    link: Link,
    vary: Sequence[str],
    wants: Sequence[str],
    large: Sequence[str],
    small: Sequence[str],
    method: str,
    seed: int,
    seeds: int,
    evaluations: int,
) -> Plan:
    """Return the plan. Raises UserError."""
    subject = subjects.read(line, "QDISC")
    if subject.is_cc:
        raise UserError("QDISC", f"found the congestion control {quoted(line)}; accepted: a discipline's line")
    if method not in optimising.METHODS:
        raise UserError(Option("method", method), f"accepted: {', '.join(optimising.METHODS)}")
    goals, wanted = _goals(large, small), _wants(wants)
    asked = [*(goal.metric for goal in goals), *(want.metric for want in wanted)]
    training, held_out = _cases(link, has_series=any(SERIES in metric.needs for metric in asked))
    found = Plan(
        knobs.Line(subject.line, knobs.find(subject.line, vary)),
        goals,
        wanted,
        training,
        held_out,
        method,
        seed,
        seeds,
        evaluations,
    )
    resolved: dict[str, Scenario] = {}
    for case in (*training, *held_out):
        made = copy.deepcopy(case.scenario)
        made["bottleneck"]["qdisc"] = subject.line
        resolved[case.name] = scenarios.resolve(made, case.name)
    for side in (training, held_out):
        on = [resolved[case.name] for case in side]
        numbers.check([goal.metric for goal in goals if goal.is_large], on, Option("max"))
        numbers.check([goal.metric for goal in goals if not goal.is_large], on, Option("min"))
        numbers.check([want.metric for want in wanted], on, Option("want"))
    for one in found.tuned.ranges:
        for end in (one.fact.low, one.fact.high):
            _check_end(subject.line, one, end)
    return found


def _check_end(line: str, one: ranges.Range, end: float) -> None:
    """Refuse a name that the line does not have. A value may be refused beside others, such as a min above the max."""
    made = subjects.resolved(line, "bottleneck.qdisc")
    made["bottleneck"]["qdisc"] = line
    ranges.put(made, [one], [end])


def _cases(link: Link, has_series: bool) -> tuple[list[Case], list[Case]]:
    if link.files:
        if link.rate is not None or link.rtt is not None:
            raise UserError(Option("on"), "found beside --rate or --rtt; accepted: files, or a link")
        training = cases.of_files(link.files)
        return training, cases.of_files(link.held_out) if link.held_out else training
    if link.rate is None or link.rtt is None:
        raise UserError(Option("rate"), "missing; accepted: --rate and --rtt, or --on SCENARIO.toml")
    training, usual = cases.on_link(link.rate, link.rtt, has_series)
    return training, cases.of_files(link.held_out) if link.held_out else usual


def _goals(large: Sequence[str], small: Sequence[str]) -> list[Goal]:
    asked = [(key, True) for key in large] + [(key, False) for key in small] or list(USUAL)
    if len(asked) > MOST_GOALS:
        raise UserError(Option("max"), f"found {len(asked)} goals; accepted: at most {MOST_GOALS}")
    for option, keys in (("max", large), ("min", small)):
        numbers.find(keys, Option(option))
    found = numbers.find([key for key, _ in asked], Option("min"))  # refuses one that is in both
    return [Goal(metric, is_large) for metric, (_, is_large) in zip(found, asked, strict=True)]


def _wants(texts: Sequence[str]) -> list[Condition]:
    found = conditions.parse(texts, Option("want"))
    for one in found:
        if one.others:
            raise UserError(Option("want", one.text), "found another run; accepted: NUMBER < BOUND of the tuned run")
    return found
