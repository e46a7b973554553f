"""The suites ``bbr`` and ``c4``, the states of BBR that they read, and JUnit XML."""

from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest

import own_numbers
from conftest import Result
from goodqueue.studies import libraries
from goodqueue.suites import loading

bbr = own_numbers.of("suites/bbr")


Command = Callable[..., Result]

STARTUP, DRAIN, UP, DOWN, CRUISE = (2.7734, 2.0), (0.5, 2.0), (1.25, 2.25), (0.8984, 2.0), (1.0, 2.0)
PROBE_RTT = (1.0, 0.5)


def _record(*gains: tuple[float, float] | None, **variables: list[float | None]) -> Any:
    """Return the part of a record with one interval of 1 s per pair of gains."""
    pacing, cwnd = ([pair[at] if pair else None for pair in gains] for at in (0, 1))
    cc = {"pacing_gain": pacing, "cwnd_gain": cwnd, **variables}
    times = [1.0 + at for at in range(len(gains))]
    backlog = {"backlog_packets": [10 * at for at in range(len(gains))]}
    return {"series": {"time_s": times, "flows": [{"cc": cc}], "queues": {"down": backlog}}}


def _of(**options: Any) -> dict[str, Any]:
    return {"flow": 0.0, "from_s": 0.0, "to_s": 1e6, **options}


def test_states_follow_from_gains() -> None:
    """UP lasts from 2 s to 4 s, and again from 5 s to 6 s: 3 s in all. A state without gains ends a span."""
    record = _record(STARTUP, DRAIN, UP, UP, None, UP, DOWN, CRUISE, PROBE_RTT, CRUISE)
    seconds = {one: bbr.state_s(record, _of(state="up", statistic=one)) for one in bbr.OF_SPANS}
    assert seconds == {"total": 3.0, "longest": 2.0, "first": 2.0}
    assert bbr.state_count(record, _of(state="up")) == 2
    assert bbr.state_count(record, _of(state="up", from_s=3.0)) == 1, "the first span begins at 2 s"
    assert bbr.state_count(record, _of(state="probe_rtt")) == 1, "its pacing gain is CRUISE's"
    assert bbr.state_count(record, _of(state="cruise")) == 2
    assert bbr.follows_count(record, _of(state="up", next="down")) == 1, "the other UP ends in nothing known"
    assert bbr.at_end_of(record, _of(state="drain", variable="backlog_packets")) == 10


def test_a_flow_without_gains_has_no_states() -> None:
    """Guards against a CUBIC that passes because it was never seen in UP."""
    record: Any = {"series": {"time_s": [1.0], "flows": [{"cc": {"k_s": [0.0]}}], "queues": {"down": {}}}}
    assert bbr.state_s(record, _of(state="up", statistic="total")) is None
    assert bbr.state_count(record, _of(state="up")) is None
    assert bbr.variable(record, _of(variable="bw_mbps", statistic="max")) is None


@pytest.mark.parametrize("record", [{}, {"series": {"packets": {}}}, _record(CRUISE)])
def test_a_run_without_the_series_shows_nothing(record: Any) -> None:
    """Guards against a traceback at the end of a user's suite whose scenario has no ``[series]``, or has few flows."""
    assert bbr.state_count(record, _of(state="up") | {"flow": 1.0}) is None
    assert bbr.variable(record, _of(variable="bw_mbps", statistic="max") | {"flow": 1.0}) is None
    assert bbr.at_end_of(record, _of(state="up", variable="bw_mbps") | {"flow": 1.0}) is None


def test_a_variable_is_read_within_its_time() -> None:
    record = _record(*[CRUISE] * 5, bw_mbps=[None, 8.0, 4.0, 5.0, 2.0])
    found = {one: bbr.variable(record, _of(variable="bw_mbps", statistic=one, to_s=4.0)) for one in bbr.OF_VALUES}
    assert found == {"min": 4.0, "max": 8.0, "first": 8.0, "last": 5.0, "least_step": 0.5}


def test_each_case_of_a_draft_has_a_row() -> None:
    cases = {name: loading.load(libraries.SUITES.available()[name]) for name in ("bbr", "c4")}
    assert [row.section for row in cases["bbr"].rows] == [str(number) for number in range(1, 23)]
    assert len(cases["c4"].rows) == 38
    assert not any(row.not_run for row in cases["c4"].rows)


def test_version_3_passes_and_version_1_does_not(goodqueue: Command, tmp_path: Path) -> None:
    """Version 1 has PROBE_RTT every 10 s. If it passed the cases of version 3, the cases would say nothing."""
    out = tmp_path / "bbr.xml"
    cases = ["--only", "1", "--only", "9", "--only", "10", "--only", "20"]
    done = goodqueue("suite", "bbr", "bbr3", "bbr", "--quick", *cases, "--junit", str(out))
    assert (done.status, done.err) == (1, "goodqueue: bbr fails 2 of 4 rows: 10, 20\n"), "as the file says"
    top = ET.parse(out).getroot()  # noqa: S314 we wrote it
    assert [suite.get("name") for suite in top] == ["bbr bbr3", "bbr bbr"]
    assert [[suite.get(key) for key in ("tests", "failures", "skipped")] for suite in top] == [
        ["4", "0", "1"],
        ["4", "2", "1"],
    ]
    failed = [case.get("name") for case in top[1] if case.find("failure") is not None]
    assert failed == ["10 PROBE_RTT", "20 PROBE_RTT within STARTUP"]
    why = top[1].findtext(".//failure") or ""
    assert why.startswith("✗ bbr: PROBE_RTT comes four to six times in 30 s. bbr's PROBE_RTT with a buffer of 1 BDP: ")
    again = goodqueue("suite", "bbr", "bbr3", "--quick", "--only", "9", "--junit", str(out))
    assert again.status == 2
    assert "bbr.xml" in again.err, "what is there stays"


@pytest.mark.parametrize(
    ("key", "word", "accepted"),
    [("state", "higher", "startup, drain"), ("statistic", "mean", "total, longest, first")],
)
def test_an_unknown_word_of_a_computation_is_refused(
    goodqueue: Command, tmp_path: Path, key: str, word: str, accepted: str
) -> None:
    """Otherwise the suite would run for a while, and end with a traceback."""
    folder = libraries.SUITES.available()["bbr"]
    for file in folder.rglob("*.*"):
        (tmp_path / file.relative_to(folder).parent).mkdir(exist_ok=True)
        (tmp_path / file.relative_to(folder)).write_bytes(file.read_bytes())
    text = (tmp_path / "suite.toml").read_text()
    known = {"state": 'state = "drain"', "statistic": 'statistic = "total"'}[key]
    (tmp_path / "suite.toml").write_text(text.replace(known, f'{key} = "{word}"', 1))
    done = goodqueue("suite", str(tmp_path), "bbr3", "--quick")
    assert done.status == 2
    assert f'{key}: found "{word}"; accepted: {accepted}' in done.err
