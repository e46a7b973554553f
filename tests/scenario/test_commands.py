"""Files of `tc` commands, which a link names instead of a qdisc."""

import json
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest

from conftest import Result
from goodqueue import _goodqueue, scenario
from goodqueue.errors import UserError
from goodqueue.scenario import asked, commands, discipline

Command = Callable[..., Result]

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


def test_a_scenario_of_python_may_name_a_file_of_commands(here: Path) -> None:
    (here / "shaper.sh").write_text(SCRIPT, encoding="utf-8")
    (here / "a.toml").write_text(SCENARIO, encoding="utf-8")
    given = tomllib.loads(SCENARIO)
    read, _ = asked.base(given, {}, {})
    assert read == scenario.load("a.toml")
    assert given == tomllib.loads(SCENARIO)
    (here / "shaper.sh").unlink()
    with pytest.raises(UserError, match=r"shaper\.sh: not found; accepted: a list of tc commands, or a file of them"):
        asked.base(given, {}, {})


INIT = """\
#!/bin/sh
modprobe sch_htb
DEV=${2:-eth0} UP=20
start() {
    tc qdisc add dev $DEV root handle 1: htb default 30
    tc class add dev $DEV parent 1: classid 1:30 htb rate $((UP * 95 / 100))mbit
}
case $1 in start) start ;; *) echo "usage: $0 start"; exit 1 ;; esac
"""


def test_a_script_is_carried_out_with_its_arguments(here: Path, goodqueue: Command) -> None:
    (here / "shaper.sh").write_text(INIT, encoding="utf-8")
    (here / "a.toml").write_text(SCENARIO.replace("shaper.sh", "shaper.sh start ifb0"), encoding="utf-8")
    line = scenario.resolve(scenario.load("a.toml"))["bottleneck"]["qdisc"]
    assert line.startswith("tc qdisc add dev ifb0 root handle 1: htb default 0x30 ")
    assert " quantum 0 rate 19mbit; " in line
    result = goodqueue("run", "a.toml", "--set", "duration=1s", "--set", "warmup=0s")
    assert result.status == 0
    assert "note: skipped 1 command that is not tc's: modprobe\n" in result.err
    (here / "a.toml").write_text(SCENARIO, encoding="utf-8")
    result = goodqueue("run", "a.toml")
    assert result.err.startswith("goodqueue: a.toml:5: bottleneck.tc: tc line 8: found exit before any command of tc; ")


def test_a_script_of_both_directions_says_what_it_skipped(here: Path, goodqueue: Command) -> None:
    of_both = [line.replace("eth0", device) for device in ("eth0", "ifb0") for line in SCRIPT.splitlines()[1:]]
    text = "\n".join(["#!/bin/sh", "ip link set eth0 up", *of_both])
    (here / "shaper.sh").write_text(f"{text}\n", encoding="utf-8")
    (here / "a.toml").write_text(SCENARIO, encoding="utf-8")
    result = goodqueue("run", "a.toml", "--set", "duration=1s", "--set", "warmup=0s")
    assert result.err.count("note: skipped 1 command that is not tc's: ip\n") == 1


def test_a_batch_is_read_without_tc_in_front(tmp_path: Path) -> None:
    (tmp_path / "shaper.sh").write_text(
        "# made by a program\nqdisc replace dev eth0 root handle 1: \\\n htb default 30\n"
        "class add dev eth0 parent 1: classid 1:30 htb rate 20mbit\nqdisc add dev eth0 parent 1:30 cake diffserv4\n",
        encoding="utf-8",
    )
    file = tmp_path / "a.toml"
    file.write_text(SCENARIO, encoding="utf-8")
    line = scenario.resolve(scenario.load(file))["bottleneck"]["qdisc"]
    assert line.startswith("tc qdisc add dev eth0 root handle 1: htb default 0x30 ")
    assert "cake diffserv4" in line


def test_a_file_that_is_missing_and_a_command_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"shaper\.sh.*accepted: a list of tc commands, or a file of them"):
        commands.lines("shaper.sh", tmp_path)
    with pytest.raises(UserError, match=r"found .tc qdisc add.*accepted: a list of tc commands"):
        commands.lines("tc qdisc add dev eth0 root prio")


def test_a_long_tree_is_told_in_short() -> None:
    line = "tc qdisc add dev e root handle 1: drr; tc class add dev e parent 1: classid 1:1 drr"
    assert discipline.shortened(line) == "tc qdisc add dev e root handle 1: drr; … (2 commands)"
    assert discipline.shortened("codel target 5ms") == "codel target 5ms"


def test_classes_of_hfsc_have_a_bound_of_levels() -> None:
    """Without one, each class raises all above it: 60,000 below each other took minutes."""
    classes = [
        f"tc class add dev eth0 parent 1:{f'{number:x}' if number else ''} classid 1:{number + 1:x} hfsc ls rate 1mbit"
        for number in range(257)
    ]
    link = {
        "duration": "1s",
        "bottleneck": {"rate": "1mbit", "tc": ["tc qdisc add dev eth0 root handle 1: hfsc default 1", *classes]},
        "path": {"rtt": "1ms"},
        "traffic": [{"kind": "ping"}],
    }
    with pytest.raises(ValueError, match="found class 1:101 below 256 levels of classes; accepted here: 256 levels"):
        _goodqueue.resolve(json.dumps(link))
