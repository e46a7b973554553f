"""A study's outcome as tables: published values beside measured ones, claims, and a summary."""

import math
from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass

from goodqueue.show.answer import Section, Text
from goodqueue.show.table import Column, Table, number
from goodqueue.studies import judging
from goodqueue.studies.judging import PERCENT, Judged, is_difference, tolerance
from goodqueue.studies.measuring import Measurement
from goodqueue.studies.model import Study
from goodqueue.studies.outcome import Outcome
from goodqueue.studies.published import At, Claim, order
from goodqueue.studies.selection import LEFT_OUT
from goodqueue.studies.sentences import NOT_SHOWN
from goodqueue.studies.summary import Error
from goodqueue.studies.verdicts import CONTRADICTED
from goodqueue.studies.wording import UNITS, Words, bounds


def tables(outcome: Outcome, scenarios: Container[str] | None = None) -> list[Table]:
    """Return the published numbers beside the measured ones, by published scenario in the paper's order.

    Numbers for the same points and algorithms are in one table. ``scenarios`` are the scenarios asked for; None is all
    of them.
    """
    groups: dict[str, dict[str, list[Judged]]] = {}
    for judged in outcome.values:
        if judged.measured is not None and (scenarios is None or judged.value.scenario in scenarios):
            groups.setdefault(judged.value.scenario, {}).setdefault(judged.value.metric, []).append(judged)
    shown = []
    printed = outcome.study.published.scenarios
    for scenario, metrics in sorted(groups.items(), key=lambda group: order(printed[group[0]].name)):
        facts = printed[scenario]
        alike: dict[frozenset[str], list[Judged]] = {}
        for rows in metrics.values():
            places = frozenset(f"{judged.value.algorithm} {sorted(judged.value.at.items())}" for judged in rows)
            alike.setdefault(places, []).extend(rows)
        for group in alike.values():
            title = f"{facts.name}: {facts.title}" if facts.title else facts.name
            if len(alike) > 1:
                names = dict.fromkeys(outcome.study.words.name(judged.value.metric).words for judged in group)
                title += f"; {', '.join(names)}"
            shown.append(_table(outcome.study, title, group))
    return shown


def _table(study: Study, title: str, group: Sequence[Judged]) -> Table:
    words = study.words
    parameters = list(dict.fromkeys(name for judged in group for name in judged.value.at))
    metrics = list(dict.fromkeys(judged.value.metric for judged in group))
    columns = [
        Column(f"{name.words}\n{name.unit}", numeric=not any(isinstance(j.value.at.get(key), str) for j in group))
        for key, name in ((key, words.name(key)) for key in parameters)
    ]
    columns.append(Column("qdisc", numeric=False))
    if len(metrics) <= 2:
        for metric in metrics:
            name = words.name(metric)
            columns += [Column(f"{name.words}\npaper {name.unit}"), Column("\nhere"), Column("", numeric=False)]
        rows = _wide(words, group, metrics, parameters)
    else:
        columns += [Column("metric", numeric=False), Column("unit", numeric=False), Column("paper"), Column("here")]
        columns.append(Column("", numeric=False))
        rows = _long(words, group, parameters)
    notes = sorted({f"{words.algorithm(judged.value.algorithm)}: {judged.why}" for judged in group if judged.why})
    return Table(title, columns, rows, notes, names=len(parameters) + (1 if len(metrics) <= 2 else 3))


def _wide(words: Words, group: Sequence[Judged], metrics: Sequence[str], parameters: Sequence[str]) -> list[list[str]]:
    """Return one row per point and algorithm, with the metrics side by side."""
    digits = {metric: _digits(judged for judged in group if judged.value.metric == metric) for metric in metrics}
    places: dict[tuple[str, str], dict[str, Judged]] = {}
    for judged in group:
        where = str(sorted(judged.value.at.items())), judged.value.algorithm
        places.setdefault(where, {})[judged.value.metric] = judged
    rows = []
    for by_metric in places.values():
        value = next(iter(by_metric.values())).value
        row = [*_point(words, value.at, parameters), words.algorithm(value.algorithm)]
        for metric in metrics:
            row += _cells(by_metric[metric], digits[metric])
        rows.append(row)
    return rows


def _long(words: Words, group: Sequence[Judged], parameters: Sequence[str]) -> list[list[str]]:
    """Return one row per value."""
    rows = []
    for judged in group:
        value, name = judged.value, words.name(judged.value.metric)
        digits = _digits(other for other in group if other.value.metric == value.metric)
        about = [words.algorithm(value.algorithm), name.words, name.unit]
        rows.append([*_point(words, value.at, parameters), *about, *_cells(judged, digits)])
    return rows


def _point(words: Words, at: At, parameters: Sequence[str]) -> list[str]:
    """Return one cell per parameter: a bare number, since the heading has its unit, or words for other values."""
    return [
        words.place(name, value) if isinstance(value := at.get(name, "–"), str) and name in at else str(value)
        for name in parameters
    ]


def _cells(judged: Judged, digits: int) -> list[str]:
    value, measured = judged.value, judged.measured
    published = number(value.number, digits) if value.number is not None else bounds(value.low, value.high)
    if value.band is not None:
        published += f" ± {number(value.band, digits)}"
    if measured is None or measured.value is None:
        return [published, "–", judged.verdict]
    return [published, number(measured.value, digits) + interval(measured, digits), judged.verdict]


def interval(measured: Measurement, digits: int) -> str:
    """Return the interval as ± its half-width, or by its two ends if it is not symmetric."""
    if measured.value is None or measured.low is None or measured.high is None:
        return ""
    above, below = measured.high - measured.value, measured.value - measured.low
    if abs(above - below) > 1e-6 * (above + below):
        return f" ({number(measured.low, digits)} to {number(measured.high, digits)})"
    return f" ± {number(above, digits)}"


def _digits(group: Iterable[Judged]) -> int:
    """Return the largest number of decimals that the paper prints in ``group``. Bounds below 100 add one."""
    values = [judged.value for judged in group]
    printed = [_decimals(value.number) for value in values if value.number is not None]
    ends = [end for value in values if value.number is None for end in (value.low, value.high)]
    near = [_decimals(end) + (abs(end) < 100) for end in ends if end is not None and math.isfinite(end)]
    return max([*printed, *near], default=0)


def _decimals(number: float) -> int:
    text = repr(number)
    return 0 if text.endswith(".0") or "e" in text else len(text.partition(".")[2])


NOT_TESTED = "not tested: "
"""The beginning of the reason of a claim without a verdict."""

UNSURE = "unsure"
"""The word beside a verdict that could turn round within the 95 % intervals."""

MEANING = f"{UNSURE}: within the 95 % intervals, of numbers or of differences seed by seed, the verdict could turn."
"""What the word means. It stands above the claims."""


@dataclass(frozen=True, slots=True)
class Told:
    """A claim as a report shows it."""

    id: str
    verdict: str
    """``holds`` or ``fails``, with a word below it if it is not certain. Empty if it is not tested."""
    statement: str
    why: str


def tested(outcome: Outcome) -> list[Told]:
    """Return the claims that were asked for and have a verdict."""
    marks = {True: "", False: f" ({UNSURE})", None: ""}
    return [
        Told(_short(judged.claim), f"{judged.verdict}{marks[judged.certain]}", judged.claim.statement, judged.why)
        for judged in outcome.claims
        if judged.verdict != "not_run"
    ]


def untested(outcome: Outcome) -> dict[str, list[Told]]:
    """Return the claims that were asked for and not tested, by reason: the most common reason first.

    A remark on a single claim is its ``why``.
    """
    groups: dict[str, list[Told]] = {}
    for judged in outcome.claims:
        if judged.verdict != "not_run" or judged.why == LEFT_OUT:
            continue
        reason, note = judged.why, ""
        if judged.why.startswith(CONTRADICTED):
            reason, note = CONTRADICTED, judged.claim.note
        elif judged.why.startswith(NOT_SHOWN):
            reason, note = f"{NOT_SHOWN} a number that it needs", judged.why.replace(NOT_SHOWN, "missing:")
        row = Told(_short(judged.claim), "", judged.claim.statement, note)
        groups.setdefault(reason.removeprefix(NOT_TESTED), []).append(row)
    return dict(sorted(groups.items(), key=lambda group: -len(group[1])))


def claims(outcome: Outcome) -> Iterator[Section | Table]:
    """Yield the claims with their verdicts and what decided them, then one table per reason of those not tested."""
    if judged := tested(outcome):
        rows = [[row.id, row.verdict, f"{row.statement}\n{row.why}"] for row in judged]
        columns = [Column("claim", numeric=False), Column("verdict", numeric=False), Column("statement", numeric=False)]
        meaning = [Text(MEANING, "note")] if any(UNSURE in row.verdict for row in judged) else []
        yield Section("Claims", [*meaning, Table("", columns, rows)])
    for reason, group in untested(outcome).items():
        rows = [[row.id, f"{row.statement}\n{row.why}".rstrip()] for row in group]
        columns = [Column("claim", numeric=False), Column("statement", numeric=False)]
        yield Table(f"Not tested ({len(group)}): {reason}", columns, rows)


def _short(claim: Claim) -> str:
    return claim.id.rpartition("/")[2]


def summary_table(outcome: Outcome) -> Table:
    """Return the distances between measured and published values: overall, by table and by algorithm."""
    several = [metric for metric in outcome.summary if len(metric.by_scenario) > 1]
    scenarios = list(dict.fromkeys(name for metric in several for name in metric.by_scenario))
    algorithms = list(dict.fromkeys(name for metric in outcome.summary for name in metric.by_algorithm))
    words = outcome.study.words
    rows = []
    for metric in outcome.summary:
        difference = is_difference(metric.unit)
        rows.append(
            [
                words.name(metric.metric).words,
                "points" if difference else "ln",
                str(metric.overall.n),
                _error(metric.overall, difference),
                *(str(metric.verdicts[verdict]) for verdict in judging.VERDICTS[:3]),
                *(_error(metric.by_scenario.get(name), difference) if metric in several else "" for name in scenarios),
                *(_error(metric.by_algorithm.get(name), difference) for name in algorithms),
            ]
        )
    printed = outcome.study.published.scenarios
    counts = [Column(heading) for heading in ("n", "all", *judging.VERDICTS[:3])]
    parts = [*(printed[name].name for name in scenarios), *map(words.algorithm, algorithms)]
    notes = [
        "points: mean |measured - published|; ln: median |ln(measured / published)|, 0.1 is about 10 %.",
        *_rules(outcome.study, sorted({judged.value.unit for judged in outcome.values if judged.distance is not None})),
    ]
    names = [Column("metric", numeric=False), Column("in", numeric=False)]
    columns = [*names, *counts, *(Column(part, is_detail=True) for part in parts)]
    return Table("How far apart", columns, rows, notes, names=2)


def _error(error: Error | None, difference: bool) -> str:
    return "" if error is None else number(error.value, 2 if difference else 3)


def _rules(study: Study, units: Sequence[str]) -> list[str]:
    rules = []
    for unit in units:
        limits = tolerance(study, unit)
        what, name = "points" if is_difference(unit) else "of ln", UNITS.get(unit, unit)
        rules.append(f"{name}: reproduced within {limits.reproduced:g}, close within {limits.close:g} {what}")
        if unit == PERCENT:
            parts = tolerance(study, "ratio")
            rules[-1] += f", and {parts.reproduced:g} and {parts.close:g} of ln of the smaller part (lost, unused)"
    extra = "; reproduced too where the published number lies in a 95 % interval no wider than close."
    return ["; ".join(rules) + extra] if rules else []
