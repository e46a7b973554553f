"""Claims: each kind by hand-made rows, our own study's by the paper's numbers, and the format's reference evaluator."""

import importlib.util
import random
import tomllib
from pathlib import Path
from typing import Any

import pytest

import needs
from goodqueue.studies import libraries, loading, published, verdicts
from goodqueue.studies.claims import Row, evaluate
from goodqueue.studies.published import Claim, Term, Value
from goodqueue.studies.selection import Selection

ROOT = Path(__file__).resolve().parents[2]
OURS = sorted((ROOT / "studies").glob("*/published.toml"))
SHARED = needs.SHARED / "published"
KEYS = ["khademi2013", "hoiland2015", "schwardmann2014", "le2003", "nichols2012"]
needs_shared = pytest.mark.needs("shared")

A, B = Term(algorithms=("a",), metrics=("m",)), Term(algorithms=("b",))


def claim(kind: str, **more: Any) -> Claim:
    left = None if kind == "ordering" else A
    return Claim(**({"id": "c", "scenarios": ("s",), "statement": "", "kind": kind, "left": left, "right": B} | more))


def rows(**numbers: Any) -> list[Row]:
    """Return rows: ``a=1`` is a number, ``a=(1, 2)`` an interval, ``a=[1, 2]`` numbers at x = 0, 1."""
    found = []
    for algorithm, number in numbers.items():
        for x, one in enumerate(number) if isinstance(number, list) else [(None, number)]:
            low, high = one if isinstance(one, tuple) else (one, one)
            found.append(Row("s", algorithm, "m", {} if x is None else {"x": x}, low, high))
    return found


ALONG = {"points": ({"x": 0}, {"x": 1}, {"x": 2})}

CASES = [
    (claim("less_than"), rows(a=1, b=2), True),
    (claim("less_than"), rows(a=2, b=2), False),
    (claim("less_than", or_equal=True), rows(a=2, b=2), True),
    (claim("less_than", factor=0.5), rows(a=1.1, b=2), False),
    (claim("less_than"), rows(a=(1, 3), b=2), None),
    (claim("less_than"), rows(a=(1, 1.9), b=2), True),
    (claim("less_than"), rows(a=(2, 3), b=2), None),  # the format only has "more than": numbers fail at equality
    (claim("less_than", or_equal=True), rows(a=(1, 2), b=2), True),
    (claim("less_than", or_equal=True), rows(a=(2, 3), b=2), None),
    (claim("less_than"), rows(a=2.5, b=2), False),
    (claim("less_than", or_equal=True), rows(a=(1.5, 2.5), b=2), None),
    (claim("greater_than"), rows(a=(1.5, 2.5), b=2), None),
    (claim("greater_than"), rows(a=(1, 2), b=2), False),
    (claim("greater_than"), rows(a=(2, 3), b=2), None),
    (claim("less_than"), rows(a=1), None),
    (claim("greater_than"), rows(a=2, b=2), False),
    (claim("greater_than", or_equal=True), rows(a=2, b=2), True),
    (claim("greater_than", or_equal=True), rows(a=(2, 3), b=2), True),
    (claim("greater_than", or_equal=True), rows(a=(1, 2), b=2), None),
    (claim("greater_than", or_equal=True), rows(a=1.9, b=2), False),
    (claim("greater_than", factor=4), rows(a=9, b=2), True),
    (claim("greater_than", right=Term(constant=5.0)), rows(a=5.1), True),
    (claim("greater_than", right=Term(param="x"), **ALONG), rows(a=[1, 2, 3]), True),
    (claim("greater_than", right=Term(param="y"), **ALONG), rows(a=[1, 2, 3]), None),
    (claim("within", low=1, high=2), rows(a=2.05), False),
    (claim("within", low=1, high=2, tolerance=0.1), rows(a=2.05), True),
    (claim("within", low=1, high=2), rows(a=(0, 3)), None),
    (claim("within", low=1, high=2), rows(a=(1, 2)), True),  # the ends are included
    (claim("within", low=1, high=2), rows(a=(0, 1)), None),  # an interval that reaches an end may hold
    (claim("within", low=1, high=2), rows(a=(2, 3)), None),
    (claim("ratio_between", low=0.9, high=1.1), rows(a=1, b=1), True),
    (claim("ratio_between", low=0.9, high=1.1), rows(a=1, b=2), False),
    (claim("ratio_between", low=0.5, high=2), rows(a=1, b=2), True),  # the ends are included
    (claim("ratio_between", low=0.5, high=2), rows(a=4, b=2), True),
    (claim("ratio_between", low=0.5, high=2), rows(a=0.5, b=2), False),
    (claim("ratio_between", low=0.5, high=2), rows(a=4.5, b=2), False),
    (claim("ratio_between", low=0.5, high=2), rows(a=(0, 1), b=2), None),
    (claim("ratio_between", low=0.5, high=2), rows(a=(0, 1.5), b=2), None),
    (claim("ratio_between", low=0.5, high=2), rows(a=(4, 5), b=2), None),
    (claim("ordering", items=(A, B, Term(algorithms=("c",)))), rows(a=1, b=2, c=3), True),
    (claim("ordering", items=(A, B, Term(algorithms=("c",)))), rows(a=1, b=3, c=3), False),
    (claim("ordering", items=(A, B)), rows(a=1), None),
    (claim("ordering", items=(A, B)), rows(a=1, b=1.5), True),
    (claim("ordering", items=(A, B)), rows(a=(1, 2), b=(1.5, 1.7)), None),
    (claim("monotone", direction="increasing", **ALONG), rows(a=[1, 2, 2]), True),
    (claim("monotone", direction="increasing", **ALONG), rows(a=[1, 2, 1.9]), False),
    (claim("monotone", direction="increasing", tolerance=0.11, **ALONG), rows(a=[1, 2, 1.9]), True),
    (claim("monotone", direction="decreasing", **ALONG), rows(a=[3, (1, 2), 0]), None),
    (claim("monotone", direction="decreasing", points=({"x": 0}, {"x": 1})), rows(a=[3, 2]), True),
    (claim("monotone", direction="decreasing", points=({"x": 0},)), rows(a=[3]), None),  # one point has no trend
    (claim("approximately_equal", tolerance=0.5), rows(a=1.4, b=1), True),
    (claim("approximately_equal", tolerance=0.5), rows(a=1.5, b=1), True),
    (claim("approximately_equal", tolerance=0.5), rows(a=0.5, b=1), True),
    (claim("approximately_equal", tolerance=0.5), rows(a=(1, 1.6), b=1), None),
    (claim("approximately_equal", tolerance=0.5), rows(a=(1.5, 2), b=1), None),
    (claim("approximately_equal", tolerance=0.5), rows(a=(0, 0.5), b=1), None),
    (claim("approximately_equal", tolerance=0.1, relative=True), rows(a=11.1, b=10), False),
    (claim("approximately_equal", tolerance=0.1, relative=True), rows(a=10.9, b=10), True),
    (claim("less_than", **ALONG), rows(a=[1, 2, 3], b=2.5), False),
    (claim("less_than", quantifier="some", **ALONG), rows(a=[1, 2, 3], b=1.5), True),
    (claim("less_than", quantifier="most", **ALONG), rows(a=[1, 2, 3], b=1.5), False),
    (claim("less_than", quantifier="most", **ALONG), rows(a=[1, 2, 3], b=2.5), True),
    (claim("less_than", quantifier="most", **ALONG), rows(a=[1, 2], b=1.5), None),
    (claim("less_than", quantifier="most", points=({"x": 0}, {"x": 1})), rows(a=[1, 2], b=1.5), False),  # half
    (claim("less_than", **ALONG), rows(a=[1, 3], b=2), False),
    (claim("less_than", quantifier="some", **ALONG), rows(a=[1, 3], b=2), None),
    (claim("less_than", right=Term(algorithms=("b", "c"))), rows(a=1, b=2, c=0), False),
    (claim("less_than", right=Term(at={"x": 1}), left=Term(algorithms=("a",), metrics=("m",), at={"x": 0})),
     rows(a=[1, 2]), True),
]  # fmt: skip


@pytest.mark.parametrize(("statement", "numbers", "want"), CASES)
def test_each_kind_means_what_the_format_says(statement: Claim, numbers: list[Row], want: bool | None) -> None:
    assert evaluate(statement, numbers)[0] is want


def test_the_most_specific_row_is_taken_and_a_loose_one_holds_everywhere() -> None:
    loose, tight = Row("s", "a", "m", {}, 1, 1), Row("s", "a", "m", {"x": 1}, 9, 9)
    holds, checks = evaluate(claim("within", low=0, high=2, **ALONG), [loose, tight])
    assert holds is False
    assert [check.verdict for check in checks] == [True, False, True]
    assert checks[1].terms == {"a m[x=1]": 9}


def test_what_was_looked_up_is_named_and_what_was_given_is_not() -> None:
    """Guards against a constant or a swept value among the measured terms, and a number of another point."""
    at = ({"x": 1},)
    for right in (Term(constant=5.0), Term(param="x")):
        _, (check,) = evaluate(claim("greater_than", right=right, points=at), rows(a=[6, 7]))
        assert check.terms == {"a m[x=1]": 7}
        left = check.found[0]
        assert (left.scenario, left.algorithm, left.metric, left.at) == ("s", "a", "m", {"x": 1})
    _, (check,) = evaluate(claim("greater_than", right=Term(param="y"), points=at), rows(a=[6, 7]))
    assert check.terms == {"a m[x=1]": 7, "y": None}, "a place that is not there is missing, and said to be"


@pytest.mark.parametrize("item", [Term(algorithms=("a", "c"), metrics=("m",)), Term(algorithms=("a",))])
def test_an_item_that_names_two_algorithms_or_no_metric_has_no_number(item: Term) -> None:
    """Guards against the number of the first algorithm, and against a traceback."""
    items = (Term(algorithms=("b",)), item) if item.metrics else (item, Term(algorithms=("b",)))
    assert evaluate(claim("ordering", items=items), rows(a=2, b=1, c=3))[0] is None


def test_with_steps_intervals_that_do_not_overlap_decide_a_monotone_claim() -> None:
    falls = claim("monotone", direction="decreasing", **ALONG)
    assert evaluate(falls, rows(a=[(5, 6), (3, 4), (1, 2)]), steps=True)[0] is True
    assert evaluate(falls, rows(a=[(5, 6), (3, 4), (5, 6)]), steps=True)[0] is False
    assert evaluate(falls, rows(a=[(5, 6), (3, 5.5), (1, 2)]), steps=True)[0] is None
    rises = claim("monotone", direction="increasing", tolerance=1.0, points=({"x": 0}, {"x": 1}))
    assert evaluate(rises, rows(a=[(2, 3), 1]), steps=True)[0] is None, "a step back of 1 to 2: 1 is allowed"


@pytest.mark.parametrize(
    ("quantifier", "one", "two", "three", "want"),
    [
        ("most", 1, 1, (1, 3), True),  # two of three, whatever the third is
        ("most", 1, (1, 3), 3, None),
        ("most", 3, (1, 3), 3, False),
        ("some", 3, (1, 3), 1, True),
        ("some", 3, (1, 3), 3, None),
        ("all", 1, (1, 3), 3, False),
        ("all", 1, (1, 3), 1, None),
    ],
)
def test_with_steps_enough_comparisons_decide(
    quantifier: str, one: Any, two: Any, three: Any, want: bool | None
) -> None:
    below = claim("less_than", quantifier=quantifier, right=Term(constant=2.0), **ALONG)
    assert evaluate(below, rows(a=[one, two, three]), steps=True)[0] is want


def runs(**numbers: list[float | None]) -> list[Row]:
    """Return rows of each algorithm's runs, one number per seed. The intervals go from the minimum to the maximum."""
    return [
        Row("s", name, "m", {}, min(known), max(known), tuple(own))
        for name, own in numbers.items()
        if (known := [value for value in own if value is not None])
    ]


PAIRS = [
    # The seeds scatter by 20, a is always about 1 below b: differences -1.0, -1.2, -0.8, interval -1 ± 0.5.
    (claim("less_than"), runs(a=[10, 20, 30], b=[11, 21.2, 30.8]), True),
    (claim("greater_than"), runs(a=[10, 20, 30], b=[11, 21.2, 30.8]), False),
    (claim("less_than"), runs(a=[10, 20, 30], b=[11, 19, 31]), None),  # -1, 1, -1
    (claim("less_than", factor=0.5), runs(a=[10, 20, 30], b=[21, 41, 61.2]), True),  # -0.5, -0.5, -0.6
    (claim("ratio_between", low=0.9, high=1), runs(a=[20, 21, 22], b=[21, 22.1, 23]), True),
    (claim("ratio_between", low=0.9, high=0.94), runs(a=[20, 21, 22], b=[21, 22.1, 23]), False),  # 0.29 ± 0.20
    (claim("approximately_equal", tolerance=2), runs(a=[10, 20, 30], b=[11, 21.2, 30.8]), True),
    (claim("approximately_equal", tolerance=0.4), runs(a=[10, 20, 30], b=[11, 21.2, 30.8]), False),
    (claim("approximately_equal", tolerance=1), runs(a=[10, 20, 30], b=[11, 21.2, 30.8]), None),  # 0.5 to 1.5 below
    (claim("approximately_equal", tolerance=1), runs(a=[11, 21.2, 30.8], b=[10, 20, 30]), None),
    (claim("approximately_equal", tolerance=0.4), runs(a=[11, 21.2, 30.8], b=[10, 20, 30]), False),  # 1 above
    (claim("approximately_equal", tolerance=1), runs(a=[10, 20, 30], b=[11, 21, 31]), True),  # just 1 below
    (claim("approximately_equal", tolerance=1), runs(a=[11, 21, 31], b=[10, 20, 30]), True),  # just 1 above
    (claim("approximately_equal", tolerance=0.1, relative=True), runs(a=[20, 21, 22], b=[21, 22.1, 23]), True),
    (claim("approximately_equal", tolerance=0.1, relative=True), runs(a=[23, 24, 25], b=[20, 21, 22]), False),
    (claim("approximately_equal", tolerance=0.01, relative=True), runs(a=[20, 21, 22], b=[21, 22.1, 23]), False),
    (claim("approximately_equal", tolerance=0.1, relative=True), runs(a=[0.2, 0.21, 0.22], b=[0.3, 0.31, 0.32]), False),
    (claim("ordering", items=(A, B, Term(algorithms=("c",)))),
     runs(a=[10, 20, 30], b=[11, 21.2, 30.8], c=[12, 22, 32]), True),
    (claim("less_than"), runs(a=[10, None, 20, 30], b=[11, 0, 21.2, 30.8]), True),  # one seed is missing
    (claim("less_than"), runs(a=[10, 20, 30], b=[11, 21.2, 30.8, 40]), None),  # other seeds: the intervals overlap
    (claim("less_than", right=Term(constant=25.0)), runs(a=[10, 20, 30]), None),  # a single number has its own interval
]  # fmt: skip


@pytest.mark.parametrize(("statement", "numbers", "want"), PAIRS)
def test_the_same_seeds_are_compared_by_their_differences(
    statement: Claim, numbers: list[Row], want: bool | None
) -> None:
    assert evaluate(statement, numbers)[0] is want


def test_along_a_sweep_the_steps_are_those_of_each_seed() -> None:
    numbers: list[tuple[float, float]] = [(1, 9), (2, 10.1), (3, 11.1)]
    along = [Row("s", "a", "m", {"x": x}, 0, 50, own) for x, own in enumerate(numbers)]
    assert evaluate(claim("monotone", direction="increasing", **ALONG), along, steps=True)[0] is True


def test_a_verdict_is_certain_only_where_the_intervals_leave_no_other() -> None:
    study = loading.load(libraries.STUDIES.available()["schwardmann2014"])  # for its names of things

    def certain(*intervals: tuple[float, float]) -> bool | None:
        ends = dict(zip("ab", intervals, strict=True))
        middles = {name: (low + high) / 2 for name, (low, high) in ends.items()}
        judged = verdicts._judge(study, claim("less_than"), rows(**middles), rows(**ends), Selection(frozenset()))
        assert judged.verdict == "holds"
        return judged.certain

    assert certain((1, 2), (3, 4)) is True
    assert certain((1, 3.2), (3, 4)) is False, "the intervals overlap: the order could be the other"
    only = verdicts._judge(study, claim("less_than"), rows(a=1, b=2), rows(a=(0, 2)), Selection(frozenset()))
    assert only.certain is None, "a number without an interval says nothing about itself"


def rows_of(values: tuple[Value, ...]) -> list[Row]:
    return [
        Row(v.scenario, v.algorithm, v.metric, v.at, v.low, v.high)
        for v in values
        if v.low is not None and v.high is not None
    ]


@pytest.mark.parametrize(
    "path",
    [*OURS, *(pytest.param(SHARED / f"{key}.toml", marks=needs_shared) for key in KEYS)],
    ids=lambda path: "/".join(path.parts[-2:]),
)
def test_agrees_is_false_for_exactly_the_claims_that_the_papers_own_numbers_contradict(path: Path) -> None:
    facts = published.load(path)
    printed = rows_of(facts.values)
    contradicted = {one.id for one in facts.claims if evaluate(one, printed)[0] is False}
    assert contradicted == {one.id for one in facts.claims if not one.agrees}


@pytest.mark.long
@needs_shared
@pytest.mark.parametrize("key", KEYS)
def test_the_reference_evaluator_says_the_same_on_random_rows(key: str) -> None:
    spec = importlib.util.spec_from_file_location("evaluate_reference", SHARED / "evaluate.py")
    assert spec is not None
    assert spec.loader is not None
    reference = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(reference)
    raw = tomllib.loads((SHARED / f"{key}.toml").read_text(encoding="utf-8"))
    facts = published.load(SHARED / f"{key}.toml")
    dice = random.Random(key)
    seen = set()
    for _ in range(40):
        made = [one for one in random_rows(raw, dice) if dice.random() < 0.97]
        ours = [
            Row(r["scenario"], r["algorithm"], r["metric"], r["at"], r.get("value", r.get("low", 0.0)),
                r.get("value", r.get("high", 0.0))) for r in made
        ]  # fmt: skip
        for theirs, mine in zip(raw["claim"], facts.claims, strict=True):
            verdict = reference.evaluate(theirs, made)
            assert evaluate(mine, ours)[0] is verdict, (mine.id, made)
            seen.add(verdict)
    assert seen == {True, False, None}


def random_rows(raw: dict[str, Any], dice: random.Random) -> list[dict[str, Any]]:
    """Return rows for everything that the claims look up: a number or an interval for each term at each point."""
    made = []
    for one in raw["claim"]:
        over = one.get("over", {})
        points = over.get("points") or [{over["param"]: value} for value in over.get("values", [])] or [{}]
        terms = [term for term in [*one.get("items", []), one.get("left", {}), one.get("right", {})] if term]
        for scenario in one["scenario"] if isinstance(one["scenario"], list) else [one["scenario"]]:
            head: dict[str, Any] = {}
            for term in terms:
                head = head or term
                whole = {"scenario": scenario, **head, **term}
                if "value" in term or "param" in term:
                    continue
                for algorithm in as_list(whole["algorithm"]):
                    for metric in as_list(whole["metric"]):
                        for point in points:
                            at = {**point, **head.get("at", {}), **term.get("at", {})}
                            number = dice.choice(
                                [dice.uniform(0, 12), dice.uniform(80, 100), float(dice.randint(0, 6))]
                            )
                            row = {"scenario": whole["scenario"], "algorithm": algorithm, "metric": metric, "at": at}
                            if dice.random() < 0.8:
                                made.append(row | {"value": number})
                            else:
                                made.append(row | {"low": number, "high": number + dice.random()})
    dice.shuffle(made)
    return made


def as_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


@needs_shared
@pytest.mark.parametrize("key", KEYS)
def test_our_published_facts_are_those_that_were_handed_over(key: str) -> None:
    path, handed = ROOT / "studies" / key / "published.toml", SHARED / f"{key}.toml"
    assert tomllib.loads(path.read_text(encoding="utf-8")) == tomllib.loads(handed.read_text(encoding="utf-8"))


def test_a_step_back_of_just_the_tolerance_is_allowed() -> None:
    """Guards against a course that fails at its limit, for numbers or for intervals."""
    back = claim("monotone", direction="increasing", tolerance=1.0, **ALONG)
    for steps in (False, True):
        assert evaluate(back, rows(a=[3.0, 2.0, 4.0]), steps=steps)[0] is True
        assert evaluate(back, rows(a=[3.0, 1.9, 4.0]), steps=steps)[0] is False
