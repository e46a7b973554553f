"""The L4S suite: its runs, the published cells beside them, and its verdicts on well-known disciplines."""

import tomllib
from pathlib import Path
from typing import Any

import pytest

import goodqueue as gq
from goodqueue.studies import libraries, planning
from goodqueue.suites import building, loading, sheet, subjects
from goodqueue.suites.model import Suite

TWO_FLOWS = "l4s-tests/two-flows"


@pytest.fixture(scope="module")
def suite() -> Suite:
    """Return the suite, checked."""
    return loading.load(libraries.SUITES.find("l4s"))


def cell(suite: Suite, algorithm: str, rate: int, pair: str) -> Any:
    """Return the resolved scenario of a published cell."""
    study = building.study(suite, subjects.read(suite, []))
    at = {"rate_mbps": rate, "pair": pair}
    (found,) = [
        one
        for one in planning.all_cells(study)
        if (one.scenario, one.algorithm, dict(one.at)) == (TWO_FLOWS, algorithm, at)
    ]
    return planning.scenario_of(found, quick=False)


def test_dualpi2_is_tested_where_nothing_is_named(suite: Suite) -> None:
    assert [one.name for one in subjects.read(suite, [])] == ["dualpi2"]


@pytest.mark.parametrize(
    ("algorithm", "rate", "pair", "line", "ccs", "rtts"),
    [
        ("dualpi2", 50, "C20 P20", "dualpi2 min_qlen_step 2", ["cubic", "prague novirtualrtt"], [20, 20]),
        ("pfifo", 50, "P160 P10", "pfifo limit 1000", ["prague novirtualrtt", "prague novirtualrtt"], [160, 10]),
        ("pfifo", 10, "C160 C10", "pfifo limit 200", ["cubic", "cubic"], [160, 10]),
        ("fq_codel", 10, "P20 C10", "fq_codel", ["prague novirtualrtt", "cubic"], [20, 10]),
    ],
)
def test_a_published_cell_is_run_as_it_is_named(
    suite: Suite, algorithm: str, rate: int, pair: str, line: str, ccs: list[str], rtts: list[int]
) -> None:
    """Guards against swapped flows, the pipe of 50 Mbit/s at 10, and code of another year than 2020."""
    found = cell(suite, algorithm, rate, pair)
    assert found["bottleneck"]["rate"] == f"{rate}mbit"
    assert all(word in found["bottleneck"]["qdisc"] for word in (line.partition(" ")[0], line.partition(" ")[2]))
    assert [flow["cc"] for flow in found["traffic"]] == ccs
    assert [flow["rtt"] for flow in found["traffic"]] == [f"{rtt}ms" for rtt in rtts]
    assert (found["duration"], found["warmup"]) == ("180s", "120s"), "three minutes, of which the last 60 s count"


def test_each_published_cell_has_both_flows_and_fills_no_more_than_the_link(suite: Suite) -> None:
    """Guards against a number of another column: in every cell the two flows have 88 to 96 % of the link."""
    goodputs: dict[tuple[str, float, str], list[float]] = {}
    for value in suite.published.values:
        if value.scenario == TWO_FLOWS and value.number is not None:
            rate, pair = value.at["rate_mbps"], value.at["pair"]
            assert isinstance(rate, int)
            goodputs.setdefault((value.algorithm, rate, str(pair)), []).append(value.number)
    assert len(goodputs) == 3 * 2 * 7
    for (algorithm, rate, pair), both in goodputs.items():
        assert len(both) == 2, (algorithm, rate, pair)
        assert 0.88 * rate < sum(both) < 0.96 * rate, (algorithm, rate, pair)


def test_each_cell_whose_flows_differ_by_more_than_10_percent_has_its_order_as_a_claim(suite: Suite) -> None:
    """Guards against an order that contradicts the printed numbers, and against a missing order."""
    numbers = {
        (one.algorithm, one.at["rate_mbps"], one.at["pair"], one.metric): one.number
        for one in suite.published.values
        if one.scenario == TWO_FLOWS
    }
    apart = set()
    for (algorithm, rate, pair, metric), first in numbers.items():
        second = numbers[algorithm, rate, pair, "flow2_mbps"]
        assert first is not None
        assert second is not None
        if metric == "flow1_mbps" and max(first, second) > 1.1 * min(first, second):
            apart.add((algorithm, rate, pair, "flow1_mbps" if first > second else "flow2_mbps"))
    claimed = set()
    for claim in suite.published.claims:
        if claim.scenarios == (TWO_FLOWS,) and claim.left and claim.left.algorithms and claim.left.metrics:
            at = claim.left.at
            claimed.add((claim.left.algorithms[0], at["rate_mbps"], at["pair"], claim.left.metrics[0]))
            assert claim.kind == "greater_than"
    assert claimed == apart
    assert len(claimed) == 28


@pytest.mark.long
def test_swapped_flows_would_break_the_orders(tmp_path: Path) -> None:
    """CUBIC at 160 ms gets less than at 10 ms behind any of the three. Guards against a claim that always holds."""
    folder = libraries.SUITES.find("l4s")
    text = (folder / "suite.toml").read_text(encoding="utf-8")
    first, second = 'flow1_mbps.record = "flows.0.goodput_mbps"', 'flow2_mbps.record = "flows.1.goodput_mbps"'
    assert f"{first}\n{second}" in text
    swapped = text.replace(
        f"{first}\n{second}", first.replace("flows.0", "flows.1") + "\n" + second.replace("flows.1", "flows.0")
    )
    (tmp_path / "suite.toml").write_text(swapped, encoding="utf-8")
    (tmp_path / "published.toml").symlink_to(folder / "published.toml")
    (tmp_path / "scenarios").symlink_to(folder / "scenarios")

    def verdicts(where: Path) -> dict[str, str]:
        (row,) = gq.suite(where, only="Heist 1", quick=True, progress=False).rows
        return {one.claim.id: one.verdict for one in row.published if one.claim.id.endswith("-C160-C10")}

    assert set(verdicts(folder).values()) == {"holds"}
    assert set(verdicts(tmp_path).values()) == {"fails"}


def test_every_check_says_who_asks_for_it_and_the_rows_name_their_sections(suite: Suite) -> None:
    for row in suite.rows:
        assert row.section.split()[0] in ("9331", "9332", "Heist"), row.section
        for check in row.checks:
            assert check.source.startswith(("RFC 9331, ", "RFC 9332, ", "ours: ")), check.source


def test_the_time_of_two_packets_is_that_of_full_frames() -> None:
    """RFC 9332, 1.4, at 4 Mbit/s: 2 * 1514 bytes. Guards against the limit of another rate."""
    text = (libraries.SUITES.find("l4s") / "suite.toml").read_text(encoding="utf-8")
    limits = [
        check["right"]["value"]
        for row in tomllib.loads(text)["row"]
        for check in row.get("check", ())
        if "two packets" in check["statement"]
    ]
    assert limits == [pytest.approx(2 * 1514 * 8 / 4e6 * 1e3, abs=0.005)]


def test_a_single_queue_with_classic_ecn_starves_cubic_and_dualpi2_does_not() -> None:
    """RFC 9331, 4.3, item 3. Guards against a row that passes a queue which marks both kinds alike."""
    found = gq.suite("l4s", "dualpi2", "codel ecn", only="9331 4.3 item 3", quick=True, progress=False)
    assert found.verdict("9331 4.3 item 3", "dualpi2") != sheet.FAILS
    assert found.verdict("9331 4.3 item 3", "codel ecn") == sheet.FAILS


def test_drop_tail_does_not_pass_the_delay_of_l4s_nor_codel_overload() -> None:
    """Guards against limits that any queue keeps."""
    found = gq.suite("l4s", "pfifo limit 999", only="9331 7.1 delay", quick=True, progress=False)
    assert found.verdict("9331 7.1 delay", "pfifo limit 999") == sheet.FAILS
    found = gq.suite("l4s", "codel", only="9332 4.2.3", quick=True, progress=False)
    assert found.verdict("9332 4.2.3", "codel") == sheet.FAILS


def test_what_was_printed_of_a_line_that_is_not_run_is_left_out() -> None:
    """Guards against claims about DualPI2 in a sheet without DualPI2."""
    (row,) = gq.suite("l4s", "fq_codel", only="Heist 3", quick=True, progress=False).rows
    assert row.published == ()
    (row,) = gq.suite("l4s", "dualpi2", only="Heist 3", quick=True, progress=False).rows
    assert [one.claim.id for one in row.published] == ["l4s-tests/bursts-cost"]
