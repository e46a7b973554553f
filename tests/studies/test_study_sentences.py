"""The sentences that explain a claim's verdict: every kind of comparison, with a hand-made study."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from goodqueue.studies import sentences
from goodqueue.studies.claims import Row, evaluate
from goodqueue.studies.model import Study
from goodqueue.studies.published import Claim, Published, PublishedScenario, Term
from goodqueue.studies.wording import Words
from test_study_judged import experiment

WORDS = Words(
    {"codel": "CoDel", "pie": "PIE", "delay_ms": "delay", "tail_ms": "largest delay", "loss_percent": "loss"},
    {"x": "with {} flows", "way": {"up": "upwards", "down": "downwards"}},
)
FACTS = Published(Path("p"), "k", "t", (), 2014, "", {"k/s": PublishedScenario("k/s", "", "Table 1", {})}, (), ())
STUDY = Study(folder=Path("f"), key="k", title="t", citation="", published=FACTS, tolerances={}, words=WORDS)

CODEL, PIE = Term(algorithms=("codel",), metrics=("delay_ms",)), Term(algorithms=("pie",))


def claim(kind: str, **more: Any) -> Claim:
    named: dict[str, Any] = {"id": "c", "scenarios": ("k/s",), "statement": "", "kind": kind, "left": CODEL}
    return Claim(**(named | more))


def row(algorithm: str, number: float, metric: str = "delay_ms", **at: Any) -> Row:
    return Row("k/s", algorithm, metric, at, number, number)


def told(one: Claim, *rows: Row) -> str:
    holds, checks = evaluate(one, rows)
    assert holds is not None
    return sentences.decided(STUDY, one, holds, checks)


def along(count: int) -> tuple[dict[str, int], ...]:
    return tuple({"x": x} for x in range(1, count + 1))


TWO = (row("codel", 5), row("pie", 10))
LOSSES = (row("codel", 5, "loss_percent"), row("pie", 10, "loss_percent"))
LOSS = Term(algorithms=("codel",), metrics=("loss_percent",))
TAIL = Term(metrics=("tail_ms",))
NOTHING = (row("codel", 5), row("pie", 0))

KINDS = [
    (claim("less_than", right=PIE, or_equal=True), TWO, "delay: CoDel 5 ms, at most PIE's 10 ms"),
    (claim("less_than", right=PIE, factor=0.25), TWO, "delay: CoDel 5 ms, not less than 0.25 times PIE's 10 ms"),
    (claim("greater_than", right=Term(constant=4.0)), TWO, "CoDel's delay: 5 ms, more than 4 ms"),
    (claim("greater_than", right=Term(constant=4.0), or_equal=True), TWO, "CoDel's delay: 5 ms, at least 4 ms"),
    (
        claim("greater_than", right=Term(constant=1000.5)),
        (row("codel", 2000),),
        "CoDel's delay: 2000 ms, more than 1000.5 ms",  # given values have all of their digits
    ),
    (
        claim("greater_than", right=Term(param="reference_ms"), points=({"reference_ms": 4},)),
        TWO,
        "CoDel's delay at reference 4 ms: 5 ms, more than the reference of 4 ms",
    ),
    (claim("within", low=1, high=4), (row("codel", 4.0001),), "CoDel's delay: 4.0001 ms; claimed: 1 to 4 ms"),
    (claim("within", low=1, high=5), TWO, "CoDel's delay: 5 ms; claimed: 1 to 5 ms"),
    (claim("within", low=1, high=4, tolerance=1), TWO, "CoDel's delay: 5 ms; claimed: 1 to 4 ms (± 1)"),
    (
        claim("approximately_equal", right=Term(constant=4.0), tolerance=2),
        TWO,
        "CoDel's delay: 5 ms, within 2 ms of 4 ms",
    ),
    (
        claim("approximately_equal", right=PIE, tolerance=2),
        TWO,
        "delay: CoDel 5 ms, not within 2 ms of PIE's 10 ms",
    ),
    (
        claim("approximately_equal", left=LOSS, right=PIE, tolerance=6),
        LOSSES,
        "loss: CoDel 5 %, within 6 points of PIE's 10 %",
    ),
    (
        claim("approximately_equal", right=PIE, tolerance=0.25, relative=True),
        TWO,
        "delay: CoDel 5 ms, 0.5 times PIE's 10 ms; claimed: 0.75 to 1.25 times",
    ),
    (
        claim("ratio_between", right=PIE, low=0.5, high=2),
        NOTHING,
        "delay: CoDel 5 ms, against PIE's 0 ms; claimed: 0.5 to 2 times as much",
    ),
    (
        claim("less_than", right=TAIL),
        (*TWO, row("codel", 8, "tail_ms")),
        "CoDel: delay 5 ms, less than the largest delay, 8 ms",
    ),
    (
        claim("less_than", right=Term(algorithms=("pie",), metrics=("tail_ms",))),
        (*TWO, row("pie", 8, "tail_ms")),
        "CoDel's delay 5 ms, less than PIE's largest delay, 8 ms",
    ),
    (
        claim("ordering", left=None, items=(CODEL, PIE)),
        TWO,
        "delay: CoDel 5 ms, PIE 10 ms, in ascending order",
    ),
    (
        claim("monotone", direction="decreasing", tolerance=0.5, points=along(3)),
        (row("codel", 3, x=1), row("codel", 3.5, x=2), row("codel", 0, x=3)),
        "CoDel's delay with 1, 2 and 3 flows: 3, 3.5, 0 ms, falling throughout (steps back up to 0.5 ms are allowed)",
    ),
    (
        claim("monotone", direction="increasing", points=({"x": 8, "way": "up"}, {"x": 9, "way": "down"})),
        (row("codel", 3, x=8), row("codel", 2, x=9)),
        "CoDel's delay with 8 flows upwards and with 9 flows downwards: 3, 2 ms, not rising throughout",
    ),
]


@pytest.mark.parametrize(("one", "rows", "want"), KINDS)
def test_each_kind_of_comparison_is_told(one: Claim, rows: tuple[Row, ...], want: str) -> None:
    assert told(one, *rows) == want


@pytest.mark.parametrize(
    ("quantifier", "limit", "count", "want"),
    [
        ("all", 5, 4, "all 4 comparisons hold"),
        ("all", 3.5, 4, "1 of 4 comparisons fails: CoDel's delay with 4 flows: 4 ms, not less than 3.5 ms"),
        ("some", 1.5, 4, "1 of 4 comparisons holds, one is enough"),
        ("some", 0.5, 4, "none of 4 comparisons holds, one is enough"),
        ("most", 3.5, 4, "3 of 4 comparisons hold, more than half must"),
        (
            "some",
            1.5,
            2,
            (
                "1 of 2 comparisons holds, one is enough: CoDel's delay with 1 flows: 1 ms, less than 1.5 ms; "
                "CoDel's delay with 2 flows: 2 ms, not less than 1.5 ms"
            ),
        ),
    ],
)
def test_how_many_hold_and_how_many_must(quantifier: str, limit: float, count: int, want: str) -> None:
    """The delay in ms equals the number of flows."""
    below = claim("less_than", quantifier=quantifier, right=Term(constant=limit), points=along(count))
    assert told(below, *(row("codel", x, x=x) for x in range(1, count + 1))) == want


@pytest.mark.parametrize(("count", "ends"), [(3, "3 ms, not less than 0.5 ms"), (4, "; …")])
def test_three_that_fail_are_told_and_of_more_that_there_are_more(count: int, ends: str) -> None:
    below = claim("less_than", right=Term(constant=0.5), points=along(count))
    said = told(below, *(row("codel", x, x=x) for x in range(1, count + 1)))
    assert said.count("not less than") == 3
    assert said.endswith(ends)


def open_ones(one: Claim, *rows: Row) -> str:
    holds, checks = evaluate(one, rows)
    assert holds is None
    return sentences.open_ones(STUDY, checks)


def test_what_is_not_decided_says_what_it_lacks() -> None:
    """Guards against "no runs" when only a number has no scenario, and against an endless list."""
    assert (
        open_ones(claim("monotone", direction="increasing"), row("codel", 1)) == "not tested: one point shows no trend"
    )
    below = claim("less_than", right=Term(constant=0.5), points=along(2))
    assert open_ones(below) == "not tested: the study has no runs for Table 1"
    some = replace(STUDY, experiments=(experiment("k/s"),))
    for count, end in ((3, "with 3 flows"), (4, "with 3 flows; …")):
        _, checks = evaluate(claim("less_than", right=Term(constant=0.5), points=along(count)), [])
        said = sentences.open_ones(some, checks)
        assert said.startswith("not tested: no run shows CoDel's delay with 1 flows; CoDel's delay with 2")
        assert said.endswith(end)
    swept = claim("less_than", right=Term(param="way"), points=({"x": 1},))
    assert open_ones(swept, row("codel", 1)) == "not tested: no run shows way"
