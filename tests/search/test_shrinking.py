"""Shrinking: what is left, and that every step still holds. No run is needed for it."""

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from goodqueue import scenario as scenarios
from goodqueue.search import shrinking, worlds
from goodqueue.search.facts import Chosen, Fact, Facts, Number, Value, Word
from goodqueue.search.worlds import World

RATE = Number("rate", 1, 100, 10, "mbit", is_log=True)
FLOWS = Number("flows", 1, 64, 1, is_log=True, is_whole=True)
SECOND = Word("second", ("none", "cbr"))
SHARE = Number("second.share", 0.1, 2, 1)


def build(chosen: Chosen) -> None:
    """Ask for a rate, flows and perhaps for a share."""
    for fact in (RATE, FLOWS, SECOND):
        chosen(fact)
    if chosen.facts["second"] == "cbr":
        chosen(SHARE)


def test_facts_that_do_not_matter_are_left_out_and_numbers_become_round() -> None:
    seen: list[Facts] = []

    def holds(tries: Sequence[Facts]) -> list[bool]:
        seen.extend(tries)
        return [float(one["flows"]) >= 7 for one in tries]

    found = shrinking.shrink({"rate": 73.1, "flows": 51.0, "second": "cbr", "second.share": 1.37}, build, holds)
    assert found == {"rate": 10, "flows": 8, "second": "none"}
    assert shrinking.differing(found, build) == {"flows": 8}
    assert len(seen) < 60


def test_a_fact_that_matters_stays_with_the_one_that_brings_it() -> None:
    def holds(tries: Sequence[Facts]) -> list[bool]:
        return [one["second"] == "cbr" and float(one.get("second.share", 0)) >= 1.25 for one in tries]

    found = shrinking.shrink({"rate": 2.0, "flows": 3.0, "second": "cbr", "second.share": 1.37}, build, holds)
    assert shrinking.differing(found, build) == {"second": "cbr", "second.share": 1.5}
    assert holds([found]) == [True]


@given(st.integers(2, 64), st.floats(1, 100), st.sampled_from(["none", "cbr"]), st.floats(0.1, 2))
def test_what_is_left_always_holds(flows: int, rate: float, second: str, share: float) -> None:
    first: dict[str, Value] = {"rate": rate, "flows": float(flows), "second": second, "second.share": share}

    def holds(tries: Sequence[Facts]) -> list[bool]:
        return [float(one["flows"]) * float(one["rate"]) >= flows * rate for one in tries]

    assert holds([shrinking.shrink(first, build, holds)]) == [True]


def world(is_cc: bool, main: str = "bulk", **more: object) -> World:
    """Return a world of everything."""
    qdiscs = ("pfifo", "codel ecn") if is_cc else ("codel",)
    buffered = {"pfifo": True, "codel ecn": False, "codel": False}
    return World(qdiscs, ("bbr", "cubic"), is_cc, buffered, main=main, **more)  # type: ignore[arg-type]


@given(st.randoms(use_true_random=False), st.booleans(), st.sampled_from(["bulk", "transfer"]), st.booleans())
def test_every_choice_of_facts_is_a_scenario(random: object, is_cc: bool, main: str, ecn: bool) -> None:
    draw = random

    def choose(fact: Fact) -> Value:
        if isinstance(fact, Word):
            return draw.choice(fact.choices)  # type: ignore[attr-defined, no-any-return]
        return fact.rounded(draw.uniform(fact.low, fact.high))  # type: ignore[attr-defined]

    made = worlds.build(world(is_cc, main, ecn=ecn), choose)
    again = scenarios.resolve(made)
    assert scenarios.resolve(again) == again


def test_the_simplest_scenario_has_one_flow_and_nothing_else() -> None:
    made = worlds.build(world(is_cc=False), Chosen({}))
    assert made["traffic"] == [{"kind": "bulk", "cc": "bbr", "count": 1}]
    assert "hop" not in made
    assert "change" not in made


def test_a_candidate_that_would_take_minutes_is_not_run() -> None:
    made = worlds.build(world(is_cc=False), Chosen({"rate": 200.0, "duration": 60.0}))
    assert not worlds.is_too_large(made)
    made["change"] = [{"at": "9s", "rate": "1000mbit"}]
    assert worlds.is_too_large(made)
