"""The draws of ``tpe``: they learn, repeat, and stay within the ranges."""

import math

from goodqueue.search.facts import Choose, Number, Value, Word
from goodqueue.search.optimising import BATCH, RANDOM_FIRST, Optimiser

RATE = Number("rate", 0.25, 200, 10, is_log=True)
SHARE = Number("share", 0.1, 2, 1)
FLOWS = Number("flows", 1, 64, 1, is_log=True, is_whole=True)
KIND = Word("kind", ("none", "bulk", "cbr", "transfer"))


def _asked(choose: Choose) -> dict[str, Value]:
    """Ask for facts, of which one is there for some words alone."""
    found = {one.name: choose(one) for one in (RATE, KIND, FLOWS)}
    return {**found, "share": choose(SHARE)} if found["kind"] == "cbr" else found


def _score(facts: dict[str, Value]) -> float:
    """Return a score that is 0 at 3 Mbit/s, 5 flows and a share of 1.5, and less elsewhere."""
    off = abs(math.log(float(facts["rate"]) / 3)) + abs(math.log(float(facts["flows"]) / 5))
    return -off - (abs(float(facts["share"]) - 1.5) if "share" in facts else 2)


def _search(method: str, seed: int, count: int = 192) -> list[dict[str, Value]]:
    optimiser, found = Optimiser(method, seed), []
    for _ in range(0, count, BATCH):
        batch = optimiser.ask(_asked)
        optimiser.tell(batch, [[_score(one.built)] for one in batch])
        found += [one.built for one in batch]
    return found


def test_the_model_finds_what_random_draws_do_not() -> None:
    for seed in (1, 2, 3):
        learnt, drawn = ([_score(one) for one in _search(method, seed)] for method in ("tpe", "random"))
        assert max(learnt) > -0.4 > max(drawn), "all facts are near the best ones at the same time"
        later = learnt[-64:]
        assert sum(later) / 64 > sum(drawn) / len(drawn) + 1, "most candidates are near them, too"


def test_the_first_draws_are_random_ones() -> None:
    both = [_search(method, 1, count=RANDOM_FIRST + BATCH) for method in ("tpe", "random")]
    assert both[0][:RANDOM_FIRST] == both[1][:RANDOM_FIRST]
    assert both[0][RANDOM_FIRST:] != both[1][RANDOM_FIRST:]


def test_the_same_seed_draws_the_same() -> None:
    assert _search("tpe", 4) == _search("tpe", 4) != _search("tpe", 5)


def test_all_draws_are_within_their_ranges() -> None:
    found = _search("tpe", 6)
    assert all(RATE.low <= float(one["rate"]) <= RATE.high for one in found)
    assert all(float(one["flows"]) in range(1, 65) for one in found)
    assert {one["kind"] for one in found} == set(KIND.choices)
    assert all(SHARE.low <= float(one["share"]) <= SHARE.high for one in found if "share" in one)
