"""How long the runs of an answer are: until their start no longer shows, or as long as they may be."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from goodqueue.advice import candidates, choosing, lengths, reading, show, trying
from goodqueue.advice.lengths import Length, Times
from goodqueue.advice.question import Advise
from goodqueue.advice.reading import Question
from goodqueue.advice.trying import Bench
from goodqueue.measures.ratios import Ratio


def asked(down: str, up: str, **more: Any) -> Question:
    return reading.ask(Advise.read({"down": down, "up": up, **more}))


def test_a_large_full_queue_takes_longer_to_share() -> None:
    # W = 500 Mbit/s · 280 ms of 1500 bytes = 11667 packets: K = (11667 · 0.3 / 0.4)^(1/3) = 20.6 s (RFC 9438, 4.2).
    assert lengths.long(asked("500mbit", "5mbit")).whole_s == pytest.approx(6 * 20.6, abs=5.0)
    assert lengths.long(asked("8mbit", "1mbit")).whole_s == 80.0
    assert lengths.long(asked("12mbit", "4mbit", link="lte")) == Times(60.0, 60.0), "the rates repeat after a minute"
    fast = asked("10gbit", "10gbit")
    assert lengths.long(fast).whole_s == pytest.approx(lengths.short(fast).whole_s, abs=0.11)


def bench_that_settles_after(seconds: float, question: Question, monkeypatch: pytest.MonkeyPatch) -> Bench:
    """Return a bench whose runs have the length as their only number, and are stationary after ``seconds``."""

    def long(_: Bench, candidate: object, times: Times, begin: float, end: float) -> tuple[Any, float]:
        assert 0 <= begin < end <= 1
        return {"length": [times.whole_s]}, seconds

    monkeypatch.setattr(Bench, "long", long)
    return Bench(question, Path(), 1, lambda _: None)


@pytest.mark.parametrize(
    ("seconds", "quick", "whole_s"), [(40, False, 80), (40.5, False, 160), (1000, False, 320), (1000, True, 40)]
)
def test_runs_double_until_their_start_is_left_out(
    seconds: float, quick: bool, whole_s: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    question = asked("8mbit", "1mbit", quick=quick)
    bench = bench_that_settles_after(seconds, question, monkeypatch)
    lines = candidates.of(question)[:1]
    (values,), length = bench.settled(lines, lengths.long(question), 0.0, 1.0)
    assert length == Length(Times(whole_s / 2, whole_s / 2), seconds)
    assert values == {"length": [whole_s]}


def test_both_columns_are_of_the_same_part(monkeypatch: pytest.MonkeyPatch) -> None:
    question = asked("8mbit", "1mbit")
    bench = bench_that_settles_after(70.0, question, monkeypatch)
    short = {"length": [80.0]}
    now, choice = candidates.of(question)[:2]
    assert bench.both(now, choice, short, Length(Times(40.0, 40.0), 5.0)) == (
        {"length": [160.0]},
        {"length": [160.0]},
        Length(Times(80.0, 80.0), 70.0),
    )


def test_the_answer_says_what_was_measured_and_how_sure_a_change_is() -> None:
    answer = trying.advise(asked("2mbit", "1mbit", use="games", quick=True, seeds=2))
    method = "(MSER-5, White et al. 2000)"
    said = show.measured_part(replace(answer, length=Length(Times(20.0, 20.0), 12.5)))
    assert said == f"Measured: seconds 20 to 40 of each run; the start shows for 12.5 s {method}."
    said = show.measured_part(replace(answer, length=Length(Times(20.0, 20.0), 24.0)))
    assert said == f"Measured in the first 40 s: not yet stationary {method}."
    down = next(change for change in answer.changes if change.metric == "goodput_mbps")
    assert down.ratio
    assert down.ratio.value == pytest.approx(down.then.mean / down.now.mean)


def _only(value: float) -> dict[str, list[float]]:
    return {key: [value] for key in ("ping_rtt_p95_ms", "goodput_mbps", "up_goodput_mbps")}


def test_a_change_of_what_may_be_nothing_is_not_known() -> None:
    now = {key: [1.0, 1.5, 40.0] for key in _only(1.0)}
    then = {key: [100.0, 101.0, 140.0] for key in now}
    assert [change.ratio for change in choosing.changes(now, then, ())] == [None] * 3
    one = choosing.changes(_only(40.0), _only(10.0), ())[0]
    assert one.ratio == Ratio(0.25, None, None, 1)
