"""The texts of a study's reports: words and no identifiers, open ranges, untested claims, figures in order."""

import math
import re
from pathlib import Path

import pytest
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from goodqueue.pages.notes import blocks
from goodqueue.show.table import Table
from goodqueue.studies import (
    drawing,
    figures,
    libraries,
    loading,
    outcome,
    planning,
    selection,
    sentences,
    show,
    verdicts,
    wording,
)
from goodqueue.studies.claims import Row, evaluate
from goodqueue.studies.figures import Drawn
from goodqueue.studies.model import Study
from goodqueue.studies.outcome import Outcome
from goodqueue.studies.published import order

OURS = sorted(libraries.STUDIES.available())
IDENTIFIER = re.compile(r"\w+_(ms|s|mbps|percent|index|ratio|packets)\b|\b(droptail|rrul|1stream|newreno|inf)\b|[\[=@]")


def ours(name: str) -> Study:
    return loading.load(libraries.STUDIES.available()[name])


def unmeasured(study: Study) -> Outcome:
    """Return the outcome of a study without any run."""
    judged = verdicts.judge(study, [], selection.select(study, []))
    return Outcome(
        study=study,
        engine="sim",
        quick=False,
        only=frozenset(),
        runs=0,
        cells=(),
        values=(),
        trivial={},
        claims=tuple(judged),
        summary=(),
    )


def rows(study: Study, rising: bool) -> list[Row]:
    """Return a number for everything that the study computes, so that its comparisons come out both ways."""
    found = []
    for place, cell in enumerate(planning.all_cells(study)):
        for metric in cell.experiment.metrics.values():
            number = 0.01 + place if rising else 1 / (1 + place)
            # A pooled metric also has a row without the parameters.
            for dropped in {(), metric.joined}:
                at = {name: value for name, value in {**cell.at, **metric.at}.items() if name not in dropped}
                found.append(Row(cell.scenario, cell.algorithm, metric.name, at, number, number))
    return found


@pytest.mark.parametrize("name", OURS)
def test_what_decided_a_claim_is_told_without_identifiers(name: str) -> None:
    study = ours(name)
    told = []
    for rising in (True, False):
        numbers = rows(study, rising)
        for claim in study.published.claims:
            holds, checks = evaluate(claim, numbers)
            if holds is not None:
                told.append(sentences.decided(study, claim, holds, checks))
                told += [": ".join(sentences.compared(study, claim, check)) for check in checks]
    assert len(told) > 50
    assert [text for text in told if IDENTIFIER.search(text)] == []
    assert [text for text in told if "  " in text or " :" in text or "None" in text] == []


TOLD = [
    ("c04", {"ared": 97.2, "codel": 26.4}, [
        "mean delay at 1 Mbit/s: ARED 97.2 ms, not more than 4 times CoDel's 26.4 ms",
    ]),
    ("c22", {"pie": 4.5, "codel": 9, "ared": 5.25}, [
        "mean delay with 20 flows: PIE 4.5 ms, CoDel 9 ms, ARED 5.25 ms, not in ascending order",
    ]),
    ("c29", {"pie": 42.4, "ared": 40}, [
        "mean of the largest delay: PIE 42.4 ms, 1.06 times ARED's 40 ms; claimed: 0.9 to 1.1 times",
    ]),
    ("c27", {"codel": 30, "pie": 42, "ared": 40}, [
        "both comparisons hold: mean of the largest delay: CoDel 30 ms, less than PIE's 42 ms",
        "CoDel 30 ms, less than ARED's 40 ms",
    ]),
    ("c21", {"codel": 2, "ared": 3}, [
        "both comparisons hold: CoDel's mean delay with 1, 2, 5, 10 and 20 flows: 2, 2, 2, 2, 2 ms, rising throughout",
        "ARED's mean delay with 1, 2, 5, 10 and 20 flows: 3, 3, 3, 3, 3 ms, rising throughout",
    ]),
    ("c06", {"codel": 2, "pie": 5.0001, "ared": 3}, [
        "2 of 6 comparisons fail: PIE's mean delay at 35 Mbit/s: 5.0001 ms, not less than 5 ms",
        "PIE's mean delay at 100 Mbit/s: 5.0001 ms, not less than 5 ms",
    ]),
]  # fmt: skip


@pytest.mark.parametrize(("id_", "numbers", "want"), TOLD)
def test_a_claim_is_told_with_names_places_and_units(id_: str, numbers: dict[str, float], want: list[str]) -> None:
    study = ours("schwardmann2014")
    claim = next(one for one in study.published.claims if one.id.endswith(id_))
    first = claim.left or claim.items[0]
    metric = (first.metrics or ("",))[0]
    own = [Row(claim.scenarios[0], name, metric, {}, value, value) for name, value in numbers.items()]
    holds, checks = evaluate(claim, own)
    assert holds is not None
    assert sentences.decided(study, claim, holds, checks) == "; ".join(want)


def test_what_only_the_scenario_tells_apart_is_told_by_the_points_that_it_fixes() -> None:
    study = ours("hoiland2015")
    claim = next(one for one in study.published.claims if one.id.endswith("c34"))
    own = [
        Row(f"hoiland2015/fig4{panel}", "droptail", "fetch_time_norm_ratio", {}, x, x)
        for panel, x in (("c", 9), ("f", 8))
    ]
    _, checks = evaluate(claim, own)
    assert sentences.decided(study, claim, True, checks) == (
        "FIFO's normalised fetch time of Google's page at 10/1 Mbit/s: beside one upload 9, more than 8 beside RRUL"
    )


@pytest.mark.parametrize(
    ("low", "high", "want"),
    [
        (25, math.inf, "25 or more"),
        (25, None, "25 or more"),
        (-math.inf, 0.1, "at most 0.1"),
        (None, 5, "at most 5"),
        (20, 30, "20 to 30"),
        (None, None, "–"),
    ],
)
def test_open_ranges_are_words(low: float | None, high: float | None, want: str) -> None:
    assert wording.bounds(low, high) == want


def test_numbers_that_differ_are_told_apart() -> None:
    assert wording.digits_apart([5.0001, 5]) == 5
    assert wording.significant(5.0001, 5) == "5.0001"
    assert wording.digits_apart([97.2, 26.4]) == 3
    assert wording.significant(12345.6) == "12346"


def test_what_cannot_be_tested_here_says_so_once_for_all_such_claims() -> None:
    groups = show.untested(unmeasured(ours("hoiland2015")))
    assert [told.id for told in groups["the paper's own table contradicts it"]] == ["c68"]
    others = groups["no run shows a number that it needs"]
    assert len(others) == 72, "what could be tested and was not run is another matter"
    assert not [told.why for told in others if IDENTIFIER.search(told.why)]
    titles = [part.title for part in show.claims(unmeasured(ours("hoiland2015")))]
    assert "Not tested (1): the paper's own table contradicts it" in titles


def test_papers_count_figures_before_tables() -> None:
    counted = ["Figure 2, s4.3", "Figure 3(a)", "Figure 3(b): x", "Figure 10(a)", "Table 1a", "Table 1b: y", "Notes"]
    assert sorted(sorted(counted), key=order) == counted
    files = ["figure2", "figure3a", "figure10", "table1a", "table2", "other"]
    assert sorted(sorted(files), key=order) == files


def test_figures_stand_in_the_papers_order() -> None:
    titles = ["Figure 3(b): b", "Table 2: t", "Figure 3(a): a", "Figure 2: first"]

    def draw(_: Outcome) -> list[Drawn]:
        return [Drawn(f"f{place}", title, "", Figure()) for place, title in enumerate(titles)]

    found = drawing.all_figures(unmeasured(ours("schwardmann2014")), draw)
    assert [drawn.title for drawn in found] == ["Figure 2: first", "Figure 3(a): a", "Figure 3(b): b", "Table 2: t"]


def test_in_a_hurry_too_each_panel_of_the_large_page_has_fifo() -> None:
    """Behind FIFO at 10/1 Mbit/s a fetch takes up to half a minute: a shorter run shows none."""
    study = ours("hoiland2015")
    chosen = selection.select(study, ["fig5c", "fig5f"])
    plan = planning.plan(study, chosen, quick=True, seeds=1)
    found = outcome.carry_out(plan, chosen)
    draw = figures.own(study.folder)
    (figure,) = [drawn.figure for drawn in drawing.all_figures(found, draw) if drawn.name == "figure5"]
    panels = [ax for ax in figure.axes if ax.get_visible()]
    assert len(panels) == 2
    for ax in panels:
        bars = [patch.get_x() + patch.get_width() / 2 for patch in ax.patches if isinstance(patch, Rectangle)]
        assert ax.get_xticklabels()[0].get_text() == "FIFO"
        assert bars == pytest.approx(range(7))


def test_notes_are_shown_as_what_they_are() -> None:
    rows = ["| beside | FIFO |", "|---|---|", "| one | 1.5 |", "| | **2** |"]
    texts = [
        "# Seen",
        "## Claim c1: `tau`",
        "See [the code](x.py) and `y < 1`.",
        "\n".join(rows),
        "    code",
        "- a\n- b",
    ]
    heading, sentence, table, code, items = blocks("\n\n".join(texts))
    assert str(heading).strip() == "<h3>Claim c1: <code>tau</code></h3>"
    assert str(sentence).strip() == "<p>See the code and <code>y &lt; 1</code>.</p>"
    assert isinstance(table, Table)
    assert [column.heading for column in table.columns] == ["beside", "FIFO"]
    assert [list(row) for row in table.rows] == [["one", "1.5"], ["one", "2"]]
    assert [column.numeric for column in table.columns] == [False, True]
    assert "<pre>" in str(code)
    assert str(items).count("<li>") == 2


def test_notes_cannot_bring_html_of_their_own() -> None:
    [part] = blocks("<script>alert(1)</script> and <b>this</b>")
    assert "<script" not in str(part)
    assert "<b>" not in str(part)


@pytest.mark.parametrize("name", OURS)
def test_our_notes_have_no_marks_left(name: str) -> None:
    seen = blocks((libraries.STUDIES.available()[name] / "NOTES.md").read_text(encoding="utf-8"))
    told = [re.sub(r"<(pre|code)>.*?</\1>", "", part, flags=re.DOTALL) for part in seen if isinstance(part, str)]
    assert any("<h3>" in html for html in told)
    assert any("<p>" in html for html in told)
    assert not [html for html in told if re.search(r"`|\]\(|\*\*|^\|.*\|$|^#|^- ", html, re.MULTILINE)]


def test_words_fall_back_to_those_of_the_name(tmp_path: Path) -> None:
    words = wording.Words({"codel": "CoDel"}, {"rtt_ms": "at an RTT of {} ms", "cross": {"rrul": "beside RRUL"}})
    assert (words.algorithm("codel"), words.algorithm("pie")) == ("CoDel", "pie")
    assert str(words.name("delay_mean_ms")) == "delay mean (ms)"
    assert words.point({"cross": "rrul", "rtt_ms": 50}) == "at an RTT of 50 ms beside RRUL"
    assert words.point({"cross": "udp", "bandwidth_mbps": 5}) == "at cross udp at bandwidth 5 Mbit/s"


def test_a_flag_is_called_as_toml_writes_it() -> None:
    words = wording.Words({}, {"ecn": {"false": "without ECN", "true": "with ECN"}})
    assert [words.place("ecn", value) for value in (False, True)] == ["without ECN", "with ECN"]


def test_numbers_that_no_digits_tell_apart_get_six() -> None:
    assert [wording.digits_apart(values) for values in ([1.0, 2.0], [1.0, 1.001], [1.0, 1.0000001])] == [3, 4, 6]


def test_a_number_has_three_significant_digits_unless_more_are_asked_for() -> None:
    assert [wording.significant(value) for value in (1.23456, 12.3456, 1234.56)] == ["1.23", "12.3", "1235"]
    assert wording.significant(1.23456, 5) == "1.2346"
