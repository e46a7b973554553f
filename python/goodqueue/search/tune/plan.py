"""Makes the plan of a tuning, and refuses what cannot be tuned before any run."""

import copy
from collections.abc import Sequence

from goodqueue.engines import loads
from goodqueue.errors import Option, UserError, quoted
from goodqueue.measures import numbers
from goodqueue.measures.needs import SERIES
from goodqueue.record import Scenario
from goodqueue.search import cases, conditions, knobs, optimising, ranges, subjects
from goodqueue.search.cases import Case
from goodqueue.search.conditions import Condition
from goodqueue.search.tune.question import Tune
from goodqueue.search.tune.work import Goal, Plan

USUAL = (("delay_p95_ms", False), ("goodput_mbps", True))
"""The goals, unless others are asked for: a low delay and a high goodput."""

MOST_GOALS = 3
"""With more goals nearly every candidate is on the front."""


def of(question: Tune) -> Plan:
    """Return the plan. Raises UserError."""
    subject = subjects.read(question.qdisc, "QDISC")
    if subject.is_cc:
        raise UserError(
            "QDISC", f"found the congestion control {quoted(question.qdisc)}; accepted: a discipline's line"
        )
    optimising.check(question.method, question.verb)
    goals, wants = _goals(question.max, question.min), _wants(question.want)
    metrics = [*(goal.metric for goal in goals), *(want.metric for want in wants)]
    training, held_out = _cases(question, has_series=any(SERIES in metric.needs for metric in metrics))
    plan = Plan(
        knobs.Line(subject.line, knobs.find(subject.line, question.vary)),
        goals,
        wants,
        training,
        held_out,
        question.method,
        question.draw_seed,
        question.seeds,
        question.evaluations,
    )
    _check(plan, subject.line)
    return plan


def _check(plan: Plan, line: str) -> None:
    """Refuse a metric that a scenario does not have, and a name that the line does not have. Raises UserError."""
    resolved: dict[str, Scenario] = {}
    for case in (*plan.training, *plan.held_out):
        scenario = copy.deepcopy(case.scenario)
        scenario["bottleneck"]["qdisc"] = line
        resolved[case.name] = loads.resolve(scenario, case.name)
    for side in (plan.training, plan.held_out):
        on = [resolved[case.name] for case in side]
        numbers.check([goal.metric for goal in plan.goals if goal.is_large], on, Option("max"))
        numbers.check([goal.metric for goal in plan.goals if not goal.is_large], on, Option("min"))
        numbers.check([want.metric for want in plan.wants], on, Option("want"))
    for varied in plan.tuned.ranges:
        for end in (varied.fact.low, varied.fact.high):
            _check_end(line, varied, end)


def _check_end(line: str, varied: ranges.Range, end: float) -> None:
    """Refuse a name that the line does not have. A value may be refused beside others, such as a min above the max."""
    scenario = subjects.resolved(line, "bottleneck.qdisc")
    scenario["bottleneck"]["qdisc"] = line
    ranges.put(scenario, [varied], [end])


def _cases(link: Tune, has_series: bool) -> tuple[list[Case], list[Case]]:
    if link.on:
        if link.rate is not None or link.rtt is not None:
            raise UserError(
                Option("on"), ["found beside ", Option("rate"), " or ", Option("rtt"), "; accepted: files, or a link"]
            )
        training = cases.of_files(link.on)
        return training, cases.of_files(link.held_out) if link.held_out else training
    if link.rate is None or link.rtt is None:
        raise UserError(
            Option("rate"),
            ["missing; accepted: ", Option("rate"), " and ", Option("rtt"), ", or ", Option("on", "SCENARIO.toml")],
        )
    training, usual = cases.on_link(link.rate, link.rtt, has_series)
    return training, cases.of_files(link.held_out) if link.held_out else usual


def _goals(large: Sequence[str], small: Sequence[str]) -> list[Goal]:
    goals_wanted = [(key, True) for key in large] + [(key, False) for key in small] or list(USUAL)
    if len(goals_wanted) > MOST_GOALS:
        raise UserError(Option("max"), f"found {len(goals_wanted)} goals; accepted: at most {MOST_GOALS}")
    for option, keys in (("max", large), ("min", small)):
        numbers.find(keys, Option(option))
    metrics = numbers.find([key for key, _ in goals_wanted], Option("min"))  # refuses one that is in both
    return [Goal(metric, is_large) for metric, (_, is_large) in zip(metrics, goals_wanted, strict=True)]


def _wants(texts: Sequence[str]) -> list[Condition]:
    wants = conditions.parse(texts, Option("want"))
    for want in wants:
        if want.others:
            raise UserError(Option("want", want.text), "found another run; accepted: NUMBER < BOUND of the tuned run")
    return wants
