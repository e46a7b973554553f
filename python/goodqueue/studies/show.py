"""A study's outcome as tables: published beside measured, claim by claim, and in a few numbers."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from goodqueue.studies.judging import Judged, is_difference, tolerance
from goodqueue.studies.metrics import Measurement
from goodqueue.studies.model import Study
from goodqueue.studies.outcome import Outcome
from goodqueue.studies.published import At, Claim
from goodqueue.studies.selection import LEFT_OUT
from goodqueue.studies.summary import Error
from goodqueue.tables import Column, Table, number

UNITS = {"ms": "ms", "s": "s", "percent": "%", "mbps": "Mbit/s", "points": "points", "packets": "packets"}
"""The last word of a metric's or parameter's name, as a unit."""


@dataclass(frozen=True, slots=True)
class Name:
    """A published name taken apart: ``delay_mean_ms`` is delay mean, in ms."""

    words: str
    unit: str

    @classmethod
    def of(cls, name: str) -> "Name":
        """Take ``name`` apart."""
        head, _, tail = name.rpartition("_")
        return cls(head.replace("_", " "), UNITS[tail]) if tail in UNITS and head else cls(name.replace("_", " "), "")


def tables(outcome: Outcome) -> list[Table]:
    """Return one table for each published scenario of which something was compared."""
    groups: dict[str, list[Judged]] = {}
    for judged in outcome.values:
        if judged.measured is not None:
            groups.setdefault(judged.value.scenario, []).append(judged)
    return [_table(outcome.study, scenario, group) for scenario, group in groups.items()]


def _table(study: Study, scenario: str, group: Sequence[Judged]) -> Table:
    facts = study.published.scenarios[scenario]
    parameters = list(dict.fromkeys(name for judged in group for name in judged.value.at))
    metrics = list(dict.fromkeys(judged.value.metric for judged in group))
    columns = [Column(f"{Name.of(name).words}\n{Name.of(name).unit}") for name in parameters]
    columns.append(Column("qdisc", numeric=False))
    if len(metrics) <= 2:
        for metric in metrics:
            name = Name.of(metric)
            columns += [Column(f"{name.words}\npaper {name.unit}"), Column("\nhere"), Column("", numeric=False)]
        rows = _wide(group, metrics, parameters)
    else:
        columns += [Column("metric", numeric=False), Column("unit", numeric=False), Column("paper"), Column("here")]
        columns.append(Column("", numeric=False))
        rows = _long(group, parameters)
    notes = sorted({f"{judged.value.algorithm}: {judged.why}" for judged in group if judged.why})
    title = f"{scenario.rpartition('/')[2]}: {facts.title}" + (f" ({facts.where})" if facts.where else "")
    return Table(title, columns, rows, notes, names=len(parameters) + (1 if len(metrics) <= 2 else 3))


def _wide(group: Sequence[Judged], metrics: Sequence[str], parameters: Sequence[str]) -> list[list[str]]:
    """Return a row a point and algorithm, the metrics side by side."""
    digits = {metric: _digits(judged for judged in group if judged.value.metric == metric) for metric in metrics}
    places: dict[tuple[str, str], dict[str, Judged]] = {}
    for judged in group:
        place = str(sorted(judged.value.at.items())), judged.value.algorithm
        places.setdefault(place, {})[judged.value.metric] = judged
    rows = []
    for found in places.values():
        value = next(iter(found.values())).value
        row = [*_point(value.at, parameters), value.algorithm]
        for metric in metrics:
            row += _cells(found[metric], digits[metric]) if metric in found else ["–", "–", ""]
        rows.append(row)
    return rows


def _long(group: Sequence[Judged], parameters: Sequence[str]) -> list[list[str]]:
    """Return a row a value."""
    rows = []
    for judged in group:
        value, name = judged.value, Name.of(judged.value.metric)
        digits = _digits(other for other in group if other.value.metric == value.metric)
        rows.append([*_point(value.at, parameters), value.algorithm, name.words, name.unit, *_cells(judged, digits)])
    return rows


def _point(at: At, parameters: Sequence[str]) -> list[str]:
    return [str(at.get(name, "–")) for name in parameters]


def _cells(judged: Judged, digits: int) -> list[str]:
    value, measured = judged.value, judged.measured
    published = number(value.number, digits) if value.number is not None else _range(value.low, value.high)
    if measured is None or measured.value is None:
        return [published, "–", judged.verdict]
    return [published, number(measured.value, digits) + _interval(measured, digits), judged.verdict]


def _interval(measured: Measurement, digits: int) -> str:
    """Return the interval as ± its half, or by its two ends where it is not symmetric."""
    if measured.value is None or measured.low is None or measured.high is None:
        return ""
    above, below = measured.high - measured.value, measured.value - measured.low
    if abs(above - below) > 1e-6 * (above + below):
        return f" ({number(measured.low, digits)} to {number(measured.high, digits)})"
    return f" ± {number(above, digits)}"


def _range(low: float | None, high: float | None) -> str:
    return "–" if low is None or high is None else f"{low:g} to {high:g}"


def _digits(group: Iterable[Judged]) -> int:
    """Return the largest number of decimals that the paper prints in ``group``."""
    texts = [repr(judged.value.number) for judged in group if judged.value.number is not None]
    printed = [text.partition(".")[2] for text in texts if not text.endswith(".0") and "e" not in text]
    return max(map(len, printed), default=0)


def claims_table(outcome: Outcome) -> Table | None:
    """Return the claims that were asked for, each with its verdict and what decided it."""
    rows = []
    for judged in outcome.claims:
        if judged.why == LEFT_OUT:
            continue
        mark = {True: "", False: " ?", None: ""}[judged.certain]
        text = f"{judged.claim.statement}: {judged.why}"
        rows.append([_short(judged.claim), f"{judged.verdict}{mark}", text])
    if not rows:
        return None
    note = "?: within the 95 % intervals, of the numbers or of differences seed by seed, the verdict could turn round."
    columns = [Column("claim", numeric=False), Column("verdict", numeric=False), Column("statement", numeric=False)]
    return Table("Claims", columns, rows, [note] if any("?" in row[1] for row in rows) else [])


def _short(claim: Claim) -> str:
    return claim.id.rpartition("/")[2]


def summary_table(outcome: Outcome) -> Table:
    """Return the distances between measured and published values: overall, by table and by algorithm."""
    scenarios = list(dict.fromkeys(name for found in outcome.summary for name in found.by_scenario))
    algorithms = list(dict.fromkeys(name for found in outcome.summary for name in found.by_algorithm))
    rows = []
    for found in outcome.summary:
        difference = is_difference(found.unit)
        several = len(found.by_scenario) > 1
        rows.append(
            [
                Name.of(found.metric).words,
                "points" if difference else "ln",
                str(found.overall.n),
                _error(found.overall, difference),
                *(_error(found.by_scenario.get(name), difference) if several else "" for name in scenarios),
                *(_error(found.by_algorithm.get(name), difference) for name in algorithms),
            ]
        )
    headings = ["n", "all", *(name.rpartition("/")[2] for name in scenarios), *algorithms]
    notes = [
        "points: mean |measured - published|; ln: median |ln(measured / published)|, 0.1 is about 10 %.",
        *_rules(outcome.study, sorted({judged.value.unit for judged in outcome.values if judged.distance is not None})),
    ]
    columns = [Column("metric", numeric=False), Column("in", numeric=False), *map(Column, headings)]
    return Table("How far apart", columns, rows, notes, names=2)


def _error(error: Error | None, difference: bool) -> str:
    return "" if error is None else number(error.value, 2 if difference else 3)


def _rules(study: Study, units: Sequence[str]) -> list[str]:
    rules = []
    for unit in units:
        limits = tolerance(study, unit)
        what = "points" if is_difference(unit) else "of ln"
        rules.append(f"{unit}: reproduced within {limits.reproduced:g}, close within {limits.close:g} {what}")
    extra = "; reproduced too where the published number lies in a 95 % interval no wider than close."
    return ["; ".join(rules) + extra] if rules else []


def counts(outcome: Outcome) -> list[str]:
    """Return the verdicts in two sentences."""
    values = [judged.verdict for judged in outcome.values if judged.distance is not None]
    said = ", ".join(f"{values.count(word)} {word}" for word in ("reproduced", "close", "differs") if word in values)
    claims = [judged.verdict for judged in outcome.claims if judged.why != LEFT_OUT]
    sentences = [f"Values: {said}, of {len(values)} compared." if values else "Values: none compared."]
    if claims:
        decided = f"{claims.count('holds')} hold, {claims.count('fails')} fail, {claims.count('not_run')} not tested"
        sentences.append(f"Claims: {decided}.")
    return sentences


def describe(outcome: Outcome) -> list[str]:
    """Return what the study is and what was run, in sentences."""
    facts, study = outcome.study.published, outcome.study
    who = facts.authors[0].split()[-1] + (" et al." if len(facts.authors) > 2 else "") if facts.authors else ""
    head = f"{study.title} ({who}, {facts.year})" if who and facts.year else study.title
    seeds = sorted({len(cell.seeds) for cell in outcome.cells})
    repeats = " to ".join(map(str, dict.fromkeys([seeds[0], seeds[-1]]))) if seeds else ""
    quick = " Quick: shorter runs and fewer seeds than the paper's; the numbers are rough." if outcome.quick else ""
    where = "" if outcome.engine == "sim" else f" on engine {outcome.engine}"
    counted = f"{len(outcome.cells)} cells from {outcome.runs} runs{where}, {repeats} seeds each"
    runs = f"{counted}; ± is half of the 95 % interval."
    return [head, runs + quick] if outcome.cells else [head, "Nothing to run."]
