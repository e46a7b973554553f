"""The verb ``sensitivity``: which keys matter where it is known, what is written, and what is refused."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from conftest import Result
from goodqueue.errors import UserError
from goodqueue.search import ranges

Command = Callable[..., Result]

KEYS = ["--vary=bottleneck.rate=2mbit..4mbit", "--vary=path.rtt=10ms..40ms", "--vary=traffic.0.count=1..4"]

SHORT = ["--set=duration=3s", "--set=warmup=1s"]


def test_the_rate_decides_the_goodput(goodqueue: Command, here: Path) -> None:
    words = ["ok.toml", *KEYS, *SHORT, "--samples=8", "--metric=goodput_mbps", "--json", "--store=runs"]
    first = goodqueue("sensitivity", *words)
    found = json.loads(first.out)["metrics"]["goodput_mbps"]
    assert max(found["keys"], key=lambda key: found["keys"][key]["ST"]) == "bottleneck.rate"
    assert found["keys"]["bottleneck.rate"]["S1"] > 0.5
    assert 1 < found["least"] < found["mean"] < found["most"] < 4
    again = goodqueue("sensitivity", *words, "--workers=1")
    assert again.out == first.out


def test_a_key_without_any_influence_has_none(goodqueue: Command, here: Path) -> None:
    # The way up carries ACKs only, and its rate is far above theirs.
    keys = ["--vary=bottleneck.rate=2mbit..4mbit", "--vary=bottleneck.up.rate=900mbit..999mbit"]
    result = goodqueue(
        "sensitivity", "ok.toml", *keys, *SHORT, "--samples=4", "--metric=goodput_mbps", "--method=morris", "--json"
    )
    found = json.loads(result.out)["metrics"]["goodput_mbps"]["keys"]
    assert found["bottleneck.up.rate"]["mu_star"] < 0.02 * found["bottleneck.rate"]["mu_star"]


def test_the_report_has_the_figure_and_the_data(goodqueue: Command, here: Path) -> None:
    result = goodqueue("sensitivity", "ok.toml", *KEYS[:2], *SHORT, "--method=morris", "--samples=2", "--out=matters")
    assert result.status == 0
    names = sorted(file.name for file in (here / "matters").iterdir())
    assert names == ["report.html", "results.json", "sensitivity.png", "sensitivity.svg"]
    assert "mean effect" in result.out


def test_a_range_of_ten_times_is_drawn_by_its_logarithm() -> None:
    narrow, wide, whole = ranges.read(["a=1ms..9ms", "b.c=1ms..100ms", "traffic.0.count=1..5"])
    assert narrow.at(0.5) == 5
    assert wide.at(0.5) == pytest.approx(10)
    assert whole.at(0.4) == 3
    assert [one.text(one.at(1)) for one in (narrow, wide, whole)] == ["9ms", "100ms", "5"]


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("path.rtt", 'found "path.rtt"; accepted: KEY=LOW..HIGH'),
        ("path.rtt=5ms", "accepted: KEY=LOW..HIGH"),
        ("path.rtt=5ms..1s", "found the units"),
        ("path.rtt=50ms..5ms", "a lower end before a higher one"),
        ("path.rtt=x..y", "accepted: KEY=LOW..HIGH"),
    ],
)
def test_what_is_no_range_is_refused(text: str, line: str) -> None:
    with pytest.raises(UserError, match=r"^--vary ") as refused:
        ranges.read([text])
    assert line in str(refused.value)


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["--vary=path.rtt=1ms..9ms"], "--vary: found 1; accepted: two ranges at least"),
        ([*KEYS, "--samples=9"], "a power of 2"),
        ([*KEYS, "--method=luck"], "--method luck: accepted: sobol, morris"),
        (["--vary=path.rtt=1ms..9ms", "--vary=path.rdd=1ms..9ms"], "rdd"),
        ([*KEYS, "--metric=up_tcp_goodput_mbps"], "--metric up_tcp_goodput_mbps: no run of this scenario shows it; "),
        (
            [
                *KEYS,
                "--metric=first_drop_time_ms",
                "--samples=2",
                "--set=series.interval=1s",
                "--set=warmup=0s",
                "--set=bottleneck.qdisc=pfifo limit 9999",
            ],
            "--metric first_drop_time_ms: has no value at ",
        ),
    ],
)
def test_a_wrong_request_is_refused_in_one_line(goodqueue: Command, here: Path, words: list[str], line: str) -> None:
    result = goodqueue("sensitivity", "ok.toml", *words)
    assert result.status == 2
    assert line in result.err
    assert result.err.count("\n") == 1
