"""Claims: does a statement of the paper hold on given rows?

Each kind has the meaning that the published-facts format gives it. Rows are published numbers or measured ones, under
the same keys. Rows may be intervals: then a comparison is true or false only if the intervals decide it, and otherwise
None. Of the rows that match a term, a lookup takes the most specific one. A row holds for all values of the keys that
it does not have.

| kind | condition |
|---|---|
| less_than, greater_than | left < factor · right, left > factor · right |
| within | low ≤ left ≤ high, both widened by the tolerance |
| ratio_between | low ≤ left / right ≤ high |
| ordering | the items ascend strictly |
| monotone | left rises or falls along all points; opposite steps up to the tolerance are allowed |
| approximately_equal | left and right differ by at most the tolerance (times right, if it is relative) |
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise, product

from goodqueue.measures import stats
from goodqueue.studies.published import At, Claim, Term


@dataclass(frozen=True, slots=True)
class Row:
    """A number, or an interval that contains it."""

    scenario: str
    algorithm: str
    metric: str
    at: At
    low: float
    high: float
    runs: tuple[float | None, ...] = ()
    """The number of each seed, if the row is the interval of their mean."""


@dataclass(frozen=True, slots=True)
class Found:
    """The number of a term and where it was looked up. `goodqueue.studies.sentences` writes both in words."""

    name: str
    """The name of a looked-up value in the results: ``codel delay_mean_ms[rtt_ms=50]``."""
    row: Row | None
    constant: bool = False
    scenario: str = ""
    algorithm: str = ""
    metric: str = ""
    """The metric, or the swept parameter whose value is the number."""
    at: At = field(default_factory=dict)

    @property
    def low(self) -> float:
        """Its lower end. There must be a row."""
        assert self.row is not None
        return self.row.low

    @property
    def high(self) -> float:
        """Its upper end. There must be a row."""
        assert self.row is not None
        return self.row.high

    @property
    def number(self) -> float | None:
        """The middle of the interval, or None if nothing was found."""
        return None if self.row is None else (self.row.low + self.row.high) / 2


@dataclass(frozen=True, slots=True)
class Check:
    """One elementary comparison of a claim."""

    verdict: bool | None
    """None if a number is missing, or if intervals do not decide the comparison."""
    found: tuple[Found, ...]
    """The numbers that were compared: left and right, the items, or the points."""

    @property
    def terms(self) -> Mapping[str, float | None]:
        """The numbers that were looked up, by name (of an interval, its middle)."""
        return {term.name: term.number for term in self.found if not term.constant}


def evaluate(claim: Claim, rows: Sequence[Row], steps: bool = False) -> tuple[bool | None, list[Check]]:
    """Return whether ``claim`` holds on ``rows`` (None if they do not decide it), and the comparisons behind that.

    With the quantifier ``all``, one false comparison is enough. Any other verdict needs all comparisons decided. In the
    format only numbers decide a monotone claim. With ``steps``, intervals that do not overlap decide it too, and
    ``some`` and ``most`` are decided as soon as enough comparisons are.
    """
    checks = [check for scenario in claim.scenarios for check in _checks(claim, scenario, rows, steps)]
    verdicts = [check.verdict for check in checks]
    # The verdicts if none of the open comparisons holds, and if all of them do.
    least, most = (
        _held(claim, [open_ if verdict is None else verdict for verdict in verdicts]) for open_ in (False, True)
    )
    decided = least == most and (steps or claim.quantifier == "all" or None not in verdicts)
    return (least if decided else None), checks


def _held(claim: Claim, verdicts: Sequence[bool]) -> bool:
    holding = sum(verdicts)
    return {"all": holding == len(verdicts), "some": holding > 0, "most": 2 * holding > len(verdicts)}[claim.quantifier]


def lookup(rows: Sequence[Row], term: Term, point: At) -> Found:
    """Return the row of ``term``, of one algorithm and metric, at ``point``. The term's own ``at`` has priority."""
    if term.constant is not None:
        return Found("", Row("", "", "", {}, term.constant, term.constant), constant=True)
    if term.param is not None:
        at = point.get(term.param)
        row = Row("", "", "", {}, float(at), float(at)) if at is not None else None
        return Found(term.param, row, constant=row is not None, metric=term.param)
    want = {**point, **term.at}
    algorithm, metric = (names[0] if names and len(names) == 1 else "?" for names in (term.algorithms, term.metrics))
    fitting = [
        row
        for row in rows
        if (row.scenario, row.algorithm, row.metric) == (term.scenario, algorithm, metric)
        and all(key in want and want[key] == value for key, value in row.at.items())
    ]
    where = ", ".join(f"{key}={value}" for key, value in want.items())
    name = f"{algorithm} {metric}" + (f"[{where}]" if where else "")
    row = max(fitting, key=lambda row: len(row.at), default=None)
    return Found(name, row, scenario=term.scenario or "", algorithm=algorithm, metric=metric, at=want)


def inherited(first: Term, term: Term) -> Term:
    """Return ``term`` with its missing parts taken from ``first``."""
    if not term.is_lookup:
        return term
    return Term(
        scenario=term.scenario or first.scenario,
        algorithms=term.algorithms or first.algorithms,
        metrics=term.metrics or first.metrics,
        at={**first.at, **term.at},
    )


def _each(term: Term) -> Iterator[Term]:
    """Yield ``term`` once per algorithm and metric."""
    for algorithm, metric in product(term.algorithms or ("?",), term.metrics or ("?",)):
        yield replace(term, algorithms=(algorithm,), metrics=(metric,)) if term.is_lookup else term


def _checks(claim: Claim, scenario: str, rows: Sequence[Row], steps: bool) -> Iterator[Check]:
    here = Term(scenario=scenario)
    if claim.kind == "ordering":
        first = inherited(here, claim.items[0])
        terms = [inherited(first, item) for item in claim.items]
        for point in claim.points:
            yield _ordering([lookup(rows, term, point) for term in terms])
        return
    assert claim.left is not None
    for left in _each(inherited(here, claim.left)):
        left_terms = [lookup(rows, left, point) for point in claim.points]
        if claim.kind == "monotone":
            yield _monotone(claim, left_terms, steps)
        elif claim.kind == "within":
            yield from (_within(claim, term) for term in left_terms)
        else:
            assert claim.right is not None
            for point, left_term in zip(claim.points, left_terms, strict=True):
                for right in _each(inherited(left, claim.right)):
                    yield _pair(claim, left_term, lookup(rows, right, point))


def _decide(yes: bool, no: bool) -> bool | None:
    return True if yes else False if no else None


def _check(terms: Sequence[Found], verdict: bool | None) -> Check:
    return Check(None if any(term.row is None for term in terms) else verdict, tuple(terms))


def _paired(left: Found, right: Found, factor: float = 1) -> tuple[float, float] | None:
    """Return the 95 % interval of left − factor · right, seed by seed. None if they do not have the same seeds."""
    left_runs, other = (side.row.runs if side.row else () for side in (left, right))
    if len(left_runs) != len(other):
        return None
    scaled = [None if value is None else factor * value for value in other]
    difference = stats.paired(left_runs, scaled)
    return (
        None
        if difference is None or difference.low is None or difference.high is None
        else (difference.low, difference.high)
    )


def _minus(left: Found, right: Found, factor: float = 1) -> tuple[float, float]:
    """Return the interval of left − factor · right: seed by seed if possible, otherwise from the ends of the two."""
    apart = (left.low - factor * right.high, left.high - factor * right.low)
    return _paired(left, right, factor) or apart


def _ordering(terms: Sequence[Found]) -> Check:
    if any(term.row is None for term in terms):
        return _check(terms, None)
    steps = [_minus(b, a) for a, b in pairwise(terms)]
    return _check(terms, _decide(all(low > 0 for low, _ in steps), any(high <= 0 for _, high in steps)))


def _monotone(claim: Claim, terms: Sequence[Found], steps: bool) -> Check:
    missing = any(term.row is None for term in terms)
    if missing or len(terms) < 2 or not (steps or all(term.low == term.high for term in terms)):
        return _check(terms, None)
    directions = [_minus(b, a) if claim.direction == "increasing" else _minus(a, b) for a, b in pairwise(terms)]
    surely = all(low >= -claim.tolerance for low, _ in directions)
    return _check(terms, _decide(surely, any(high < -claim.tolerance for _, high in directions)))


def _within(claim: Claim, left: Found) -> Check:
    if left.row is None:
        return _check([left], None)
    low, high = claim.low - claim.tolerance, claim.high + claim.tolerance
    return _check([left], _decide(low <= left.low and left.high <= high, left.high < low or left.low > high))


def _pair(claim: Claim, left: Found, right: Found) -> Check:
    missing = left.row is None or right.row is None
    return _check([left, right], None if missing else _compare(claim, left, right))


def _compare(claim: Claim, left: Found, right: Found) -> bool | None:
    if claim.kind in ("greater_than", "less_than"):
        low, high = _minus(left, right, claim.factor)
        if claim.kind == "greater_than":
            return _decide(low > 0 or (claim.or_equal and low >= 0), high < 0 or (high == 0 and not claim.or_equal))
        equal = high == 0 and left.low == left.high
        return _decide(high < 0 or (claim.or_equal and high <= 0), low > 0 or (equal and not claim.or_equal))
    if claim.kind == "ratio_between":
        (least, most), (less, more) = _minus(left, right, claim.low), _minus(left, right, claim.high)
        return _decide(least >= 0 and more <= 0, most < 0 or less > 0)
    return _about(claim, left, right)


def _about(claim: Claim, left: Found, right: Found) -> bool | None:
    below, above = (1 - claim.tolerance, 1 + claim.tolerance) if claim.relative else (1, 1)
    lower, upper = _paired(left, right, below), _paired(left, right, above)
    if lower and upper:
        room = 0 if claim.relative else claim.tolerance
        return _decide(lower[0] >= -room and upper[1] <= room, lower[1] < -room or upper[0] > room)
    room = claim.tolerance * abs(right.low) if claim.relative else claim.tolerance
    yes = left.low >= right.high - room and left.high <= right.low + room
    return _decide(yes, left.high < right.low - room or left.low > right.high + room)
