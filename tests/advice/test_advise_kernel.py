"""The promises of `goodqueue advise` on Linux's own qdiscs and TCP: each of the wired links, in the kernel engine."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from goodqueue import _goodqueue
from goodqueue.advice import candidates, checking, question, scenarios
from goodqueue.advice.answer import Check
from goodqueue.engines.kernel import planning
from goodqueue.scenario import resolve

WITHIN_PERCENT = 15.0
"""The tolerance of the promised delays."""

LINKS = {
    "cable": ("5mbit", "1500kbit", "30ms", "docsis"),
    "dsl": ("8mbit", "1mbit", "30ms", "dsl"),
    "satellite": ("8mbit", "2mbit", "600ms", "ethernet"),
}
"""Slow links, since each packet is emulated. `goodqueue advise --verify` tests any link."""

ASKED_OF_LINUX = ("cable", "dsl")
"""Without the satellite, whose RTT makes its run so long that it would take minutes."""


def asked(name: str) -> question.Question:
    down, up, rtt, link = LINKS[name]
    return question.ask(down, up, rtt, link, "calls,games,downloads,web", None, 1, 1, quick=True)


@pytest.mark.parametrize("name", LINKS)
def test_linux_is_asked_for_the_line_that_is_typed(name: str, tmp_path: Path) -> None:
    """The plan contains cake's words as they are typed. A lost word would go unnoticed."""
    one = asked(name)
    cake = candidates.of(one)[1]
    plan = planning.plan(resolve(scenarios.scenario(one, cake, 1, scenarios.Truth(), tmp_path)))
    words = plan.down.tc[0]
    said = {name: words[words.index(name) + 1] for name in ("bandwidth", "overhead", "rtt")}
    assert _goodqueue.rate_bps(said["bandwidth"]) == cake.rates_bps(one)[0]
    assert said["overhead"] == str(one.link.overhead)
    assert said["rtt"] == ("600000us" if name == "satellite" else "100000us")
    assert {"besteffort", "ingress"} <= set(words)
    assert ("atm" in words) == (one.link.cells == "atm")


def delays(found: list[Check]) -> Iterator[Check]:
    return (one for one in found if one.lines == "then" and one.unit == "ms")


@pytest.mark.long
@pytest.mark.kernel
@pytest.mark.needs("qemu", "image")
@pytest.mark.parametrize("name", ASKED_OF_LINUX)
def test_promised_delays_hold_on_linux(name: str) -> None:
    one = asked(name)
    found, why_not = checking.check(one, candidates.of(one)[1], lambda _: None)
    assert why_not == ""
    assert len(list(delays(found))) == 3, "a ping's, a call's and a page's"
    for held in delays(found):
        assert abs(held.percent) <= WITHIN_PERCENT, (held.what, held.promised, held.measured)
    before = {one.what: one for one in found if one.lines == "now"}
    for held in delays(found):
        assert held.measured < before[held.what].measured, "on Linux too the line is better than none"
