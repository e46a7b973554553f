"""Distributions from CSV files, in a scenario's file and in --set."""

from pathlib import Path

import pytest

from goodqueue.engines import loads
from goodqueue.errors import UserError

SCENARIO = """
duration = "20s"
[path]
rtt = "20ms"
[bottleneck]
rate = "10mbit"
qdisc = "pfifo"
[[traffic]]
kind = "web_users"
users = 10
object = "sizes.csv"
"""


def written(tmp_path: Path, text: str) -> Path:
    (tmp_path / "sizes.csv").write_text(text)
    file = tmp_path / "scenario.toml"
    file.write_text(SCENARIO)
    return file


def test_a_file_beside_the_scenario_is_read_into_it(tmp_path: Path) -> None:
    file = written(tmp_path, "probability,bytes\n# ours\n0,100\n0.5, 2000\n\n1,1e6\n")
    resolved = loads.from_file(file)
    assert resolved["traffic"][0]["object"] == [[0.0, 100.0], [0.5, 2000.0], [1.0, 1000000.0]]


def test_a_file_may_be_set(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = written(tmp_path, "0,1\n1,2\n")
    (tmp_path / "think.csv").write_text("0,1\n1,3\n")
    monkeypatch.chdir(tmp_path)
    resolved = loads.from_file(file, ["traffic.0.think=think.csv"])
    assert resolved["traffic"][0]["think"] == [[0.0, 1.0], [1.0, 3.0]]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("0,100\n0.5,50\n1,200\n", "traffic[0].object[1]: found [0.5, 50] after [0, 100]; accepted: ascending"),
        ("0,-5\n1,200\n", "traffic[0].object[0]: found the value -5; accepted: 0 to 1000000000"),
        ("0,1\nhalf,2\n", 'sizes.csv:2: found "half,2"; accepted: two numbers, as in 0.5,1200'),
        ("0,1\n1,inf\n", 'sizes.csv:2: found "1,inf"; accepted: finite numbers'),
        ("# nothing\n", "sizes.csv: found no points; accepted: a CSV file with a probability and a value in each line"),
    ],
)
def test_what_is_no_inverse_distribution_is_refused_with_a_line(tmp_path: Path, text: str, why: str) -> None:
    with pytest.raises(UserError) as refused:
        loads.from_file(written(tmp_path, text))
    assert why in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_file_that_is_missing_is_said(tmp_path: Path) -> None:
    file = written(tmp_path, "")
    (tmp_path / "sizes.csv").unlink()
    with pytest.raises(UserError, match=r"sizes\.csv"):
        loads.from_file(file)
