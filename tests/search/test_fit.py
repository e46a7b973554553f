"""The verb ``fit``: what it finds where the truth is known, what it says it cannot tell, and what it refuses."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from conftest import Result
from goodqueue import running
from goodqueue import scenario as scenarios
from goodqueue.measures import numbers
from goodqueue.search.fit import observed, plan
from goodqueue.search.fit.question import Fit

Command = Callable[..., Result]

MODEM = """
duration = "16s"
[bottleneck]
rate = "4mbit"
qdisc = "{qdisc}"
[bottleneck.up]
rate = "2mbit"
[path]
rtt = "30ms"
[series]
interval = "200ms"
[[traffic]]
kind = "rrul_be"
start = "2s"
stop = "14s"
start_spread = "200ms"
"""


def measured(goodqueue: Command, here: Path, qdisc: str) -> str:
    """Return a file of Flent's, of a link with ``qdisc``."""
    (here / "modem.toml").write_text(MODEM.format(qdisc=qdisc), encoding="utf-8")
    assert goodqueue("sweep", "modem.toml", "--seeds=1", "--store=store").status == 0
    assert goodqueue("export", "--flent", "store", "--out=flent").status == 0
    (file,) = (here / "flent").glob("*.flent.gz")
    return str(file.relative_to(here))


def test_the_queue_of_a_link_is_named_and_its_rate_is_found(goodqueue: Command, here: Path) -> None:
    file = measured(goodqueue, here, "fq_codel")
    words = [file, "--qdisc=pfifo", "--qdisc=fq_codel", "--evaluations=64", "--json"]
    first = goodqueue("fit", *words, "--store=runs")
    found = json.loads(first.out)
    assert found["choices"]["bottleneck.qdisc"]["fq_codel"] > 0.99
    assert found["settings"]["bottleneck.rate"]["median"] == pytest.approx(4, rel=0.1)
    assert found["nearest"]["scenario"]["bottleneck"]["qdisc"] == "fq_codel"
    again = goodqueue("fit", *words, "--store=runs", "--workers=1")
    assert again.out == first.out


def test_a_number_that_no_setting_explains_is_named(goodqueue: Command, here: Path) -> None:
    result = goodqueue(
        "fit", "ok.toml", "--vary=path.rtt=10ms..20ms", "--observed=goodput_mbps=50+-0.1", "--evaluations=6"
    )
    assert "No setting explains goodput_mbps" in result.out


def test_what_does_not_matter_is_not_told(goodqueue: Command, here: Path) -> None:
    result = goodqueue(
        "fit", "ok.toml", "--vary=bottleneck.up.rate=100mbit..999mbit", "--observed=goodput_mbps=9+-2",
        "--evaluations=40", "--out=answer",
    )  # fmt: skip
    assert "The numbers do not tell bottleneck.up.rate." in result.out
    names = sorted(file.name for file in (here / "answer").iterdir())
    assert names == ["fit.png", "fit.svg", "nearest.toml", "report.html", "results.json"]


def test_a_rate_is_found_from_the_goodput(goodqueue: Command, here: Path) -> None:
    result = goodqueue(
        "fit", "ok.toml", "--vary=bottleneck.rate=2mbit..20mbit", "--observed=goodput_mbps=4.5+-0.1",
        "--evaluations=120", "--json",
    )  # fmt: skip
    found = json.loads(result.out)["settings"]["bottleneck.rate"]
    assert found["low"] < 4.5 * 1514 / 1448 < found["high"]
    assert found["high"] / found["low"] < 1.2


def test_the_numbers_of_a_file_are_those_of_its_run(goodqueue: Command, here: Path) -> None:
    made = plan.of(Fit(source=measured(goodqueue, here, "codel"), evaluations=10))
    names = [one.name for one in made.observed]
    assert {"goodput_down_mbps", "goodput_up_mbps", "ping_p50_ms", "ping_loss_percent", "jain_up"} <= set(names)
    base = next(one for one in made.observed if one.name == "ping_min_ms")
    assert base.value == pytest.approx(30, abs=0.5)
    assert base.error == pytest.approx(observed.error("ping_min_ms", base.value))
    assert not {*names, "tcp_rtt_down_p50_ms"} & set(numbers.by_key()), "they are of another window"


def test_a_run_without_pings_has_the_other_numbers(here: Path) -> None:
    """iperf3 sends none, and then the runs that are compared with its file have none."""
    scenario = scenarios.load("ok.toml") | {"series": {"interval": "100ms"}, "traffic": [{"kind": "bulk"}]}
    found = observed.numbers(running.one(scenario), 1.0, 4.0)
    assert list(found) == ["goodput_down_mbps", "retransmitted_down_percent"]
    assert 0 <= found["retransmitted_down_percent"] < 5


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["ok.toml"], "--observed: missing; accepted: METRIC=VALUE"),
        (["ok.toml", "--observed=goodput_mbps=9"], "--vary: missing; accepted: KEY=LOW..HIGH"),
        (
            ["ok.toml", "--observed=goodput=9", "--vary=path.rtt=1ms..9ms"],
            '--observed goodput=9: found "goodput"; accepted: delay_mean_ms, ',
        ),
        (["ok.toml", "--observed=goodput_mbps=9+-0", "--vary=path.rtt=1ms..9ms"], "with an error above 0"),
        (["ok.toml", "--observed=goodput_mbps=x", "--vary=path.rtt=1ms..9ms"], 'found "x"'),
        (["ok.toml", "--observed=goodput_mbps=9", "--vary=path.rtd=1ms..9ms"], "rtd"),
        (["ok.toml", "--observed=goodput_mbps=9", "--vary=bottleneck.qdisc=codel,cobel"], "cobel"),
        (["ok.toml", "--observed=goodput_mbps=9", "--vary=bottleneck.qdisc=codel"], "or KEY=WORD,WORD"),
        (["ok.toml", "--qdisc=pie", "--observed=goodput_mbps=9"], "accepted: --vary bottleneck.qdisc"),
        (["none.flent.gz"], "none.flent.gz"),
    ],
)
def test_what_cannot_be_fitted_is_refused_in_one_line(
    words: list[str], line: str, goodqueue: Command, here: Path
) -> None:
    result = goodqueue("fit", *words)
    assert result.status == 2
    assert line in result.err
    assert result.err.count("\n") == 1
