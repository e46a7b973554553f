"""Claims of a study: decided by means, certain by intervals or by differences per seed, or not tested, and why."""

from pathlib import Path
from typing import Any

from goodqueue.studies import measuring, verdicts
from goodqueue.studies.execution import Measured
from goodqueue.studies.model import Cell, Exclusion, Metric, Study
from goodqueue.studies.published import Claim, Published, PublishedScenario, Term
from goodqueue.studies.selection import Selection
from goodqueue.studies.verdicts import JudgedClaim
from test_study_judged import EVERYTHING, experiment

CODEL, PIE = Term(algorithms=("codel",), metrics=("delay_ms",)), Term(algorithms=("pie",))
DELAY, DEVIATION = Metric("delay_ms"), Metric("delay_ms", over_seeds="sd")


def claim(kind: str = "less_than", **more: Any) -> Claim:
    named: dict[str, Any] = {"id": "k/c", "scenarios": ("k/s",), "statement": "", "left": CODEL, "right": PIE}
    return Claim(**(named | {"kind": kind} | more))


def cell(algorithm: str, *runs: float, metric: Metric = DELAY, **at: Any) -> Measured:
    number = measuring.over_seeds(metric, runs)
    there = Cell(experiment("k/s", delay=metric), "k/s", algorithm, at)
    return Measured(there, tuple(range(len(runs))), "", {"delay": number}, None, ())


def judged(
    one: Claim, *cells: Measured, exclusions: tuple[Exclusion, ...] = (), selection: Selection = EVERYTHING
) -> JudgedClaim:
    facts = Published(Path("p"), "k", "t", (), 2014, "", {"k/s": PublishedScenario("k/s", "", "", {})}, (), (one,))
    study = Study(
        folder=Path("f"),
        key="k",
        title="t",
        citation="",
        published=facts,
        experiments=(experiment("k/s", delay=DELAY),),
        exclusions=exclusions,
        tolerances={},
    )
    (found,) = verdicts.judge(study, cells, selection)
    return found


def verdict(*words: Any, **more: Any) -> tuple[str, bool | None]:
    found = judged(*words, **more)
    return found.verdict, found.certain


def test_means_decide_and_the_same_seeds_make_it_certain() -> None:
    """Seeds scatter by 20 ms, CoDel is always about 1 ms below PIE: the intervals overlap, the differences do not."""
    codel, pie = cell("codel", 10, 20, 30), cell("pie", 11, 21.2, 30.8)
    assert verdict(claim(), codel, pie) == ("holds", True)
    assert verdict(claim("greater_than"), codel, pie) == ("fails", True)
    assert verdict(claim(), codel, cell("pie", 11, 19, 31)) == ("holds", False), "by 1, -1 and 1 ms"


def test_deviations_have_no_differences_seed_by_seed() -> None:
    """10 and 11 ms, of three seeds each. Guards against a comparison of the seeds' own numbers."""
    codel, pie = cell("codel", 10, 20, 30, metric=DEVIATION), cell("pie", 31, 42, 53, metric=DEVIATION)
    assert verdict(claim(), codel, pie) == ("holds", False)
    assert verdict(claim(), cell("codel", 10, 20, 30), cell("pie", 31, 42, 53)) == ("holds", True), "means have"


def test_one_seed_makes_nothing_certain_and_no_seed_decides_nothing() -> None:
    assert verdict(claim(), cell("codel", 1), cell("pie", 2)) == ("holds", None)
    found = judged(claim(), cell("codel", 1), cell("pie"))
    assert (found.verdict, found.certain) == ("not_run", None)
    assert found.measured == {"codel delay_ms": 1.0, "pie delay_ms": None}


def test_a_course_is_certain_where_its_steps_are() -> None:
    rises = claim("monotone", right=None, direction="increasing", points=({"x": 1}, {"x": 2}))
    assert verdict(rises, cell("codel", 1, 2, 1.5, x=1), cell("codel", 4, 5, 4.5, x=2)) == ("holds", True)
    assert verdict(rises, cell("codel", 1, 2, 1.5, x=1), cell("codel", 4, 1, 4.5, x=2)) == ("holds", False)


def test_what_is_not_tested_says_why() -> None:
    both = (cell("codel", 1, 2), cell("pie", 3, 4))
    refuted = "not tested: the paper's own table contradicts it"
    assert judged(claim(agrees=False), *both).why == refuted
    assert judged(claim(agrees=False, note="see 4.2"), *both).why == f"{refuted} (see 4.2)"
    assert judged(claim(), *both, selection=Selection(frozenset({"k/other"}))).why == "left out by --only"
    radio = Exclusion((), ("radio", "stations"), (), "there is no radio")
    patch = Exclusion((), ("patch",), (), "there is no patch")
    needy = claim(needs=("radio",))
    assert judged(needy, exclusions=(patch, radio)).why == "not tested: there is no radio"
    assert judged(needy, *both, exclusions=(patch, radio)).verdict == "holds", "what was measured is judged"
    assert judged(claim(), exclusions=(radio,)).why.startswith("not tested: no run shows codel's delay")
