"""`goodqueue advise --tune`: cake's rate and rtt, searched by tune's own code and judged on other links."""

from pathlib import Path

import pytest

from goodqueue import executors, scenario
from goodqueue.advice import candidates, question, tuned
from goodqueue.advice.candidates import Candidate
from goodqueue.advice.question import Question
from goodqueue.search.runner import Runner
from goodqueue.search.tune import answer
from goodqueue.search.tune import work as tuning
from goodqueue.search.tune.work import Plan


def asked(link: str, rtt: str = "30ms", down: str = "2mbit") -> Question:
    return question.ask(down, "1mbit", rtt, link, "games", None, None, 1, quick=True)


def choice(one: Question, label: str) -> Candidate:
    return next(candidate for candidate in candidates.of(one) if candidate.label == label)


def test_values_change_the_words_of_both_directions_and_nothing_else() -> None:
    one = asked("docsis", down="20mbit")
    shaper = tuned.Shaper(one, choice(one, "cake, fair, ack-filter up"))
    assert shaper.with_values({}).lines(one) == shaper.choice.lines(one)
    down, up = shaper.with_values({"share": 0.8, "rtt": 45.0}).lines(one)
    assert down == "cake bandwidth 16000kbit besteffort docsis nat dual-dsthost rtt 45ms ingress"
    assert up == "cake bandwidth 800kbit besteffort docsis nat dual-srchost ack-filter rtt 45ms"
    assert shaper.short({}) == "bandwidth 19000kbit down and 950kbit up, rtt 100ms"
    assert shaper.short({"share": 0.8, "rtt": 45.0}) == "bandwidth 16000kbit down and 800kbit up, rtt 45ms"


@pytest.mark.parametrize(
    ("rtt", "label", "said"),
    [("600ms", "cake at 95 %", 600.0), ("30ms", "cake, fair, rtt 30ms", 30.0), ("30ms", "cake at 95 %", 100.0)],
)
def test_the_range_of_rtt_is_around_the_lines_own(rtt: str, label: str, said: float) -> None:
    one = asked("ethernet", rtt)
    shaper = tuned.Shaper(one, choice(one, label))
    _, ranged = shaper.ranges
    assert (ranged.fact.low, ranged.fact.high) == (said / 8, said * 8)
    words = shaper.with_values({"rtt": 45.0}).lines(one)
    assert [line.split().count("rtt") for line in words] == [1, 1]


def test_half_the_rate_up_stays_half(tmp_path: Path) -> None:
    """A line with another share up keeps the ratio of both."""
    one = asked("lte")
    made = tuned.Shaper(one, choice(one, "cake at half of the mean").at(0.8, 0.4)).with_values({"share": 0.5})
    assert (made.down, made.up) == (0.5, 0.25)


@pytest.mark.parametrize("link", ["docsis", "lte"])
def test_no_link_that_judges_is_one_for_tuning(link: str, tmp_path: Path) -> None:
    one = asked(link)
    plan = tuned.plan_of(one, candidates.of(one)[1], tmp_path)
    training = [scenario.resolve(case.scenario) for case in plan.training]
    judging = [scenario.resolve(case.scenario) for case in plan.held_out]
    assert len(judging) == len(tuned.HELD_OUT)
    if link == "lte":
        assert not [case for case in judging if case in training]
    else:  # the stated link judges, too: with other seeds
        assert [case for case in judging if case in training] == training
        assert not set(range(1, plan.seeds + 1)) & set(tuning.HELD_OUT_SEEDS)


@pytest.fixture(scope="module")
def plan(tmp_path_factory: pytest.TempPathFactory) -> Plan:
    one = asked("docsis")
    return tuned.plan_of(one, candidates.of(one)[1], tmp_path_factory.mktemp("rates"), evaluations=16)


def test_the_answer_is_tunes(plan: Plan, monkeypatch: pytest.MonkeyPatch) -> None:
    """A deeper queue and a slower link are among the runs that judge, and the same plan gives the same answer."""
    monkeypatch.setattr(tuning, "HELD_OUT_SEEDS", (1001,))
    monkeypatch.setattr(tuning, "FRONT", 2)
    found = tuning.carry_out(plan, Runner(executors.local(None)), lambda _: None)
    assert len(found.tried) == 16
    assert all(one.line.startswith("bandwidth ") for one in found.tried)
    assert found.held_out_runs == 4
    said = answer.sentence(found)
    assert "bandwidth 1900kbit down and 950kbit up, rtt 100ms" in said
    if found.best is not None:
        assert found.best.candidate.line in said
        assert "ping_rtt_p95_ms × " in said
    assert answer.of(found).data["goals"] == [
        {"metric": "ping_rtt_p95_ms", "better": "low"},
        {"metric": "goodput_mbps", "better": "high"},
        {"metric": "up_goodput_mbps", "better": "high"},
    ]


@pytest.mark.parametrize(("link", "tunes"), [("docsis", 5), ("lte", 3), ("wifi", 0)])
def test_only_cake_whose_rate_nobody_else_sets_is_tuned(link: str, tunes: int) -> None:
    every = candidates.of(asked(link))
    reasons = [tuned.why_not(one) for one in every]
    assert [not reason for reason in reasons].count(True) == tunes
    assert tuned.why_not(every[0]) == f"only a rate and an rtt of cake are tuned, and this answer is {every[0].label}"
