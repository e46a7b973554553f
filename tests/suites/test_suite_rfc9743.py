"""The suite ``rfc9743``, which tests congestion controls."""

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pytest

from conftest import Result
from goodqueue.errors import UserError
from goodqueue.studies import claims, libraries
from goodqueue.studies.claims import Row
from goodqueue.studies.published import Claim
from goodqueue.suites import building, loading, sheet, stacks, subjects
from goodqueue.suites.model import Check, Suite

Command = Callable[..., Result]

FOLDER = libraries.SUITES.available()["rfc9743"]


@pytest.fixture(scope="module")
def suite() -> Suite:
    return loading.load(FOLDER)


def _ccs(suite: Suite, cc: str, experiment: str, quick: bool = False) -> list[list[str]]:
    """Return the congestion controls of the flows of each cell of ``experiment`` in which ``cc`` is tested."""
    rows = [row for row in suite.rows if experiment in row.experiments]
    plan = sheet.plan(suite, subjects.read(suite, [cc]), rows, quick, 1, "sim")
    cells = [at for at, cell in enumerate(plan.cells) if cell.experiment.id == f"{experiment}, {cc}"]
    flows = [plan.scenarios[plan.runs[at][0]]["traffic"] for at in cells]
    return [[flow["cc"] for flow in one if "cc" in flow] for one in flows]


def test_every_criterion_has_a_row(suite: Suite) -> None:
    """Guards against a criterion of the RFC (5 to 7) without a row, which would look as if nobody asked."""
    asked = {f"5.1.{n}" for n in range(1, 6)} | {f"5.2.{n}" for n in range(1, 4)} | {"5.2", "5.3.1", "5.3.2"}
    asked |= {f"6.{n}" for n in range(1, 5)} | {f"7.{n}" for n in range(1, 12)}
    assert asked <= {row.section.partition(" ")[0] for row in suite.rows}
    assert " ".join(row.section for row in suite.rows if row.not_run) == "3.2 4 5.3.1 5.3.2 6.2 7.6 7.10 7.11 8"
    assert [row.section for row in suite.rows if row.experiments and not row.checks] == []


def test_words_of_a_congestion_control_reach_the_scenario(suite: Suite) -> None:
    """Guards against lost words, and against the tested one in the standard flow's place."""
    tested = "cubic hystart++"
    assert _ccs(suite, tested, "beside") == [["cubic", tested]] * 3 + [["reno", tested]] * 3
    assert _ccs(suite, tested, "short-standard") == [[tested, "cubic"]]
    assert _ccs(suite, tested, "long-standard") == [["cubic", tested]]


def test_the_queues_are_the_suites(suite: Suite) -> None:
    """Guards against an AQM's row that runs over drop tail."""
    plan = sheet.plan(suite, subjects.read(suite, ["bbr"]), sheet.choose(suite, ["7.1 pie"]), False, 1, "sim")
    lines = {
        (cell.at["queue"], plan.scenarios[plan.runs[at][0]]["bottleneck"]["qdisc"].split()[0])
        for at, cell in enumerate(plan.cells)
    }
    assert lines == {(name, name) for name in ("fq_codel", "pie", "dualpi2")}


def test_a_section_brings_its_parts(suite: Suite) -> None:
    """Guards against --only 7.1 that finds nothing, or 7.10 among its rows."""
    assert [row.section.partition(" ")[0] for row in sheet.choose(suite, ["7.1"])] == ["7.1"] * 4
    assert [row.section for row in sheet.choose(suite, ["5.2.1 Reno"])] == ["5.2.1 Reno"]


@pytest.mark.parametrize("name", ["prague", "dctcp", "ledbat++", "none cwnd 20", "reno abe hystart++"])
def test_any_congestion_control_can_be_planned(name: str, suite: Suite) -> None:
    """Guards against a row that one of them refuses, such as Prague without ECN: then none could be run."""
    plan = sheet.plan(suite, subjects.read(suite, [name]), suite.rows, True, None, "sim")
    assert {cell.algorithm for cell in plan.cells} == {name, "cubic", "reno"}


# --- verdicts --------------------------------------------------------------------------------------------------------


def _verdicts(suite: Suite, named: Sequence[str], only: Sequence[str]) -> Mapping[str, Mapping[str, str]]:
    ones, rows = subjects.read(suite, named), sheet.choose(suite, only)
    done = sheet.carry_out(suite, ones, rows, sheet.plan(suite, ones, rows, True, None, "sim"))
    return {row.row.section: {name: row.verdict(name) for name in named} for row in done.rows}


@pytest.mark.long
def test_verdicts_are_those_that_the_field_knows(suite: Suite) -> None:
    """Guards against verdicts that contradict what the field knows.

    BBR 1 does not spare CUBIC in shallow buffers, Vegas does not hold its own beside CUBIC, and not all checks hold for
    a window that never changes.
    """
    named = ["bbr", "bbr3", "vegas", "none cwnd 200"]
    found = _verdicts(suite, named, ["5.1.3", "5.2", "7.2"])
    passes, fails = "passes", "fails"
    assert {section: tuple(one.values()) for section, one in found.items()} == {
        "5.1.3": (fails, passes, passes, fails),
        "5.1.3 answer": (fails, passes, passes, fails),
        "5.2": (passes, passes, fails, fails),
        "5.2 silence": (passes, passes, passes, passes),
        "5.2.1 CUBIC": (fails, passes, passes, fails),
        "5.2.1 Reno": (fails, passes, passes, fails),
        "5.2.2": (fails, fails, passes, fails),
        "5.2.2 video": (fails, passes, passes, fails),
        "5.2.3": (passes, passes, passes, fails),
        "5.2.3 long": (passes, passes, passes, passes),
        "7.2": (fails, passes, passes, fails),
    }


def test_a_check_knows_the_tested_one_from_the_reference(suite: Suite) -> None:
    """A check that compares the two must change its result if their numbers are swapped."""
    comparing = [check for row in suite.rows for check in row.checks if check.claim.right and _named(check)]
    assert len(comparing) == 16
    for check in comparing:
        claim = building.claim_of(check, "bbr")
        (reference,) = _named(check)
        (metric,) = claim.left.metrics if claim.left and claim.left.metrics else ()

        def held(bbr: float, other: float, claim: Claim = claim, name: str = reference, metric: str = metric) -> bool:
            numbers = {"bbr": bbr, name: other}
            rows = [Row(claim.scenarios[0], one, metric, {}, value, value) for one, value in numbers.items()]
            return claims.evaluate(claim, rows)[0] is True

        assert (held(1, 100), held(100, 1)) in ((True, False), (False, True)), claim.statement
        assert held(1, 100) == (claim.kind == "less_than"), claim.statement


def _named(check: Check) -> tuple[str, ...]:
    """Return the algorithms that ``check`` names on its right."""
    return (check.claim.right.algorithms if check.claim.right else None) or ()


def test_a_standard_is_not_held_against_itself(suite: Suite) -> None:
    """Guards against a CUBIC that passes because it is as good as itself."""
    assert _verdicts(suite, ["cubic", "reno"], ["5.2.3"]) == {
        "5.2.3": {"cubic": "measured", "reno": "passes"},
        "5.2.3 long": {"cubic": "measured", "reno": "passes"},
    }


# --- the command -----------------------------------------------------------------------------------------------------


def test_json_has_the_rows(goodqueue: Command) -> None:
    result = goodqueue(
        "suite", "rfc9743", "bbr", "--only", "7.2", "--only", "7.6", "--quick", "--json", "--fail-on", "none"
    )
    assert (result.status, result.err) == (0, "")
    found = json.loads(result.out)
    assert (found["tests"], found["tested"], found["beside"]) == ("cc", ["bbr"], ["cubic", "reno"])
    breakers, nodes = found["rows"]
    assert (breakers["section"], breakers["verdicts"], breakers["not_run"]) == ("7.2", {"bbr": "fails"}, "")
    assert {one["algorithm"] for one in breakers["numbers"]} == {"bbr", "cubic", "reno"}
    assert nodes["verdicts"] == {"bbr": "not run"}
    assert nodes["not_run"].startswith("All ends")
    assert found["summary"]["bbr"]["not run"] == 1


def test_what_is_not_run_is_said(goodqueue: Command) -> None:
    result = goodqueue("suite", "rfc9743", "vegas", "--only", "6.2")
    assert (result.status, result.err) == (0, "")
    assert "Not run: Tunnels are not simulated." in result.out


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ((), "suite rfc9743: no congestion control; accepted: one or several, such as bbr3, or 'cubic hystart++'"),
        (("cubik",), 'CC: found "cubik"; did you mean "cubic"?'),
        (("cubic hystart",), 'CC: found "hystart" after "cubic"; did you mean "hystart++"?'),
        (("bbr", "--fail-on", "open"), '--fail-on: found "open"; accepted: fails, none'),
        (("bbr", "--only", "5.9"), '--only: found "5.9"; accepted: 3.2, 4, 5.1.1'),
    ],
)
def test_a_bad_name_is_one_line(words: tuple[str, ...], told: str, goodqueue: Command) -> None:
    result = goodqueue("suite", "rfc9743", *words)
    assert (result.status, result.out) == (2, "")
    assert result.err.startswith(f"goodqueue: {told}")
    assert result.err.count("\n") == 1


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        (
            'tested.set = { "traffic.0.cc" = "{}" }\n',
            "",
            "tested.set: missing; accepted: what the tested one stands in",
        ),
        ('{ "traffic.0.cc" = "{}" }', '{ "traffic.3.cc" = "{}" }', "tested.set.traffic.3.cc: "),
        ('not_run = "No run shows it."', "", "found none of experiments, statement and not_run; accepted: one of them"),
        ('under = ["fq_codel", "pie"', 'under = ["fq_codel", "pi"', "under: "),
    ],
)
def test_a_suite_that_is_wrong_is_refused(old: str, new: str, told: str, tmp_path: Path) -> None:
    text = (FOLDER / "suite.toml").read_text(encoding="utf-8")
    assert old in text
    (tmp_path / "scenarios").symlink_to(FOLDER / "scenarios")
    (tmp_path / "suite.toml").write_text(text.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(UserError) as error:
        loading.load(tmp_path)
    assert told in str(error.value)


def test_a_stack_in_the_place_of_tcp_moves_the_applications_behind_it(suite: Suite) -> None:
    """A connection is an application of the record. Guards against a call whose numbers are the connection's."""
    known = {trial.experiment.id: trial for trial in suite.trials}
    call, silence = (stacks.metrics(known[id_].experiment, known[id_].sets) for id_ in ("call", "silence"))
    assert call["call_mos"].record == "apps.4.mos", "behind four connections"
    assert silence["silent_packets"].record == "apps.0.packets_sent"
    assert silence["silent_packets"].scale == pytest.approx(1, rel=1e-4), "packets, where TCP's flow has bytes"
