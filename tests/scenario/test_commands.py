"""Files of `tc` commands, which a link names instead of a qdisc."""

from pathlib import Path

import pytest

from goodqueue import scenario
from goodqueue.errors import UserError
from goodqueue.scenario import commands, discipline

SCENARIO = """\
duration = "5s"

[bottleneck]
rate = "10mbit"
tc = "shaper.sh"

[path]
rtt = "20ms"

[[traffic]]
kind = "bulk"
"""
SCRIPT = "#!/bin/sh\ntc qdisc add dev eth0 root handle 1: prio\n"


def test_a_file_of_commands_becomes_its_lines(tmp_path: Path) -> None:
    (tmp_path / "shaper.sh").write_text(SCRIPT, encoding="utf-8")
    file = tmp_path / "a.toml"
    file.write_text(SCENARIO, encoding="utf-8")
    read = scenario.load(file)
    assert read["bottleneck"]["tc"] == SCRIPT.splitlines()
    resolved = scenario.resolve(read)
    assert resolved["bottleneck"]["qdisc"].startswith("tc qdisc add dev eth0 root handle 1: prio bands 3")


def test_a_file_that_is_missing_and_a_command_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"shaper\.sh.*accepted: a list of tc commands, or a file of them"):
        commands.lines("shaper.sh", tmp_path)
    with pytest.raises(UserError, match=r"found .tc qdisc add.*accepted: a list of tc commands"):
        commands.lines("tc qdisc add dev eth0 root prio")


def test_a_long_tree_is_told_in_short() -> None:
    line = "tc qdisc add dev e root handle 1: drr; tc class add dev e parent 1: classid 1:1 drr"
    assert discipline.shortened(line) == "tc qdisc add dev e root handle 1: drr; … (2 commands)"
    assert discipline.shortened("codel target 5ms") == "codel target 5ms"
