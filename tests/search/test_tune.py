"""The verb ``tune``: the front, the answer on what was held out, and what is refused."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from conftest import Result
from goodqueue.measures.stats import Estimate
from goodqueue.search import cases, knobs
from goodqueue.search.tune import answer, plan
from goodqueue.search.tune.question import Tune
from goodqueue.search.tune.work import Candidate, Judged, Tuning

Command = Callable[..., Result]

ON = ["codel", "--on=ok.toml", "--evaluations=16", "--seeds=1"]


def test_a_lower_target_lowers_the_delay_and_the_answer_is_from_held_out_runs(goodqueue: Command, here: Path) -> None:
    words = [*ON, "--vary=target=1ms..80ms", "--min=delay_p95_ms", "--json", "--store=runs"]
    first = goodqueue("tune", *words)
    found = json.loads(first.out)
    assert found["best"].startswith("codel target ")
    (best,) = (one for one in found["front"] if one["line"] == found["best"])
    assert best["values"]["target"] < 5
    assert best["gains"]["delay_p95_ms"]["mean"] > 0
    assert found["evaluations"] == len(found["candidates"]) == 16
    again = goodqueue("tune", *words, "--workers=1")
    assert again.out == first.out


def test_a_front_and_a_report_are_written(goodqueue: Command, here: Path) -> None:
    result = goodqueue("tune", *ON, "--out=tuned")
    names = sorted(file.name for file in (here / "tuned").iterdir())
    assert names == ["report.html", "results.json", "tuning.png", "tuning.svg"]
    assert "the same scenarios with other seeds" in " ".join(result.out.split())


def test_a_want_that_nothing_fulfils_is_said(goodqueue: Command, here: Path) -> None:
    result = goodqueue("tune", *ON, "--want=goodput_mbps > 50")
    assert "No candidate has all that is wanted" in result.out


def test_the_usual_ranges_are_times_and_real_numbers_around_the_line() -> None:
    found = {knobs.name(one): (one.fact.low, one.fact.high, one.fact.unit) for one in knobs.find("codel", [])}
    assert found == {"target": (0.625, 40.0, "ms"), "interval": (12.5, 800.0, "ms")}
    (own,) = knobs.find("codel target 10ms", ["target"])
    assert (own.fact.low, own.fact.high) == (1.25, 80.0)
    (whole,) = knobs.find("pie", ["alpha"])
    assert whole.fact.is_whole
    assert (whole.fact.low, whole.fact.high) == (1, 16)


def test_a_candidate_that_another_beats_in_all_goals_is_not_on_the_front() -> None:
    worse, better, other = (Candidate("codel", {}, gains, 0.0) for gains in ((0.1, 0.1), (0.2, 0.1), (0.0, 0.3)))
    assert better.beats(worse)
    assert not worse.beats(better)
    assert not better.beats(other)
    assert not other.beats(better)


@pytest.mark.parametrize(
    ("gains", "verdicts"),
    [
        ([(0.2, 0.1), (0.0, 0.05)], (True, False, False)),
        ([(0.2, 0.3), (0.0, 0.05)], (False, False, False)),
        ([(0.2, 0.1), (-0.2, 0.05)], (False, True, True)),
        ([(0.2, 0.1), (-0.009, 0.001)], (True, False, False)),
        ([(-0.2, 0.1), (0.0, 0.05)], (False, True, False)),
    ],
)
def test_a_verdict_needs_an_interval_without_zero(
    gains: list[tuple[float, float]], verdicts: tuple[bool, bool, bool]
) -> None:
    one = Judged(Candidate("codel", {}, (), 0.0), [Estimate(mean, half, 6) for mean, half in gains], 0)
    assert (one.is_better, one.is_worse, one.is_trade) == verdicts


@pytest.mark.parametrize(
    ("gains", "said"),
    [
        ([(0.2, 0.1), (0.0, 0.05)], "Take `codel target 9ms`."),
        ([(0.2, 0.1), (-0.2, 0.05)], "Take `codel target 9ms` if delay_p95_ms is worth goodput_mbps to you; otherwise"),
        (
            [(-0.2, 0.1), (0.0, 0.05)],
            "Keep `codel`: on scenarios that the search had not seen, `codel target 9ms`",
        ),
        (None, "Keep `codel`."),
    ],
)
def test_the_last_sentence_says_what_to_take(gains: list[tuple[float, float]] | None, said: str) -> None:
    planned = plan.of(Tune.read({"qdisc": "codel", "rate": "4mbit", "rtt": "50ms"}))
    best = gains and Judged(
        Candidate("codel target 9ms", {}, (), 0.0), [Estimate(mean, half, 6) for mean, half in gains], 0
    )
    tuning = Tuning(planned, [], 0, [best] if best else [], best or None, 6, 1)
    *_, last = answer.of(tuning).parts
    assert str(last).startswith(said)


def test_no_scenario_for_tuning_is_among_those_that_judge() -> None:
    training, held_out = cases.on_link("10mbit", "50ms")
    assert not [one for one in training if one.scenario in [other.scenario for other in held_out]]
    assert len({one.name for one in (*training, *held_out)}) == len(training) + len(held_out)


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["codel"], "--rate: missing; accepted: --rate and --rtt, or --on SCENARIO.toml"),
        (["codel", "--on=ok.toml", "--rate=1mbit"], "--on: found beside --rate"),
        (["cubic", "--on=ok.toml"], "found the congestion control"),
        (["pfifo", "--on=ok.toml"], "has no parameter to tune"),
        ([*ON, "--vary=targt"], 'found "targt"; accepted: parameters of codel'),
        ([*ON, "--vary=ce_threshold"], "codel has no value of ce_threshold; accepted: ce_threshold=LOW..HIGH"),
        ([*ON, "--vary=target=9ms..1ms"], "a lower end before a higher one"),
        ([*ON, "--want=delay_p95_ms < 2 x pie"], "found another run"),
        ([*ON, "--max=goodput"], 'found "goodput"'),
        ([*ON, "--method=luck"], "--method luck: accepted: tpe, random, nsga2"),
        (["codel", "--rate=fast", "--rtt=1ms"], "--rate fast: "),
    ],
)
def test_what_cannot_be_tuned_is_refused_in_one_line(
    words: list[str], line: str, goodqueue: Command, here: Path
) -> None:
    result = goodqueue("tune", *words)
    assert result.status == 2
    assert line in result.err
    assert result.err.count("\n") == 1
