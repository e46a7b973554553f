"""What the kernel engine makes of `tc`'s output: not all of it is JSON, and not all that `tc` says is an error.

``shown/tc-RELEASE.json`` is what `tc` of each release printed in the kernel engine's machine
(`experiments.trees_on_linux.shown`): the outputs that are no JSON, and the commands that it warned of.
"""

import json
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any, cast

import pytest

from goodqueue import scenario
from goodqueue.engines.kernel import planning, vm
from goodqueue.engines.kernel.lab import changing, loose_json, tc
from goodqueue.engines.kernel.lab.errors import LabError
from goodqueue.engines.kernel.lab.topology import Namespace
from goodqueue.show.run import queues

SHOWN = Path(__file__).with_name("shown")
RELEASES = ("6.1", "6.12", "7.3")


def shown(release: str) -> list[dict[str, Any]]:
    seen: list[dict[str, Any]] = json.loads((SHOWN / f"tc-{release}.json").read_text(encoding="utf-8"))["seen"]
    return seen


def kind_of(entry: dict[str, Any]) -> str:
    return str(entry["commands"][0].split("handle 1: ")[1].split()[0])


def test_the_recorded_outputs_are_the_ones_that_no_reader_of_json_takes() -> None:
    """Guards the next test against outputs that say nothing."""
    refused = {}
    for release in RELEASES:
        refused[release] = [kind_of(entry) for entry in shown(release) if not is_json(entry["qdiscs"])]
    assert refused == {"6.1": ["hfsc", "multiq"], "6.12": ["hfsc", "multiq"], "7.3": []}


def is_json(text: str) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True


@pytest.mark.parametrize("release", RELEASES)
def test_the_counters_of_each_discipline_are_read(release: str) -> None:
    for entry in shown(release):
        (root,) = tc.disciplines(entry["qdiscs"])
        assert (root["kind"], root["handle"], root["qlen"]) == (kind_of(entry), "1:", 0)
        assert {"bytes", "packets", "drops", "overlimits", "requeues"} < set(root)


def test_what_is_no_json_costs_only_itself() -> None:
    text = """[{"kind":"x","handle":"1:","options":{limit 5p "flows":7 "},"loss":nan,"bytes":3, period 0 level 2
        ,"tins":[ Bulk {"sent":1},{"sent":2}] "qlen":4},{"kind":"y \\"z","rate":-1.5e3}"""
    assert loose_json.read(text) == [
        {"kind": "x", "handle": "1:", "options": {"flows": 7}, "loss": None, "bytes": 3}
        | {"tins": [{"sent": 1}, {"sent": 2}], "qlen": 4},
        {"kind": 'y "z', "rate": -1500.0},
    ]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "found ''; accepted: a list of disciplines"),
        ("Segmentation fault", "found 'Segmentation fault'; accepted: a list of disciplines"),
        ('[{"kind":"pfifo"}]', "accepted: a list of disciplines"),
        ('[{"kind":"pfifo","handle":"10:","drops":0,"qlen":0}]', "found no packets of pfifo 10:; accepted: a number"),
    ],
)
def test_an_output_without_counters_is_one_line(text: str, said: str) -> None:
    with pytest.raises(LabError, match=said):
        tc.disciplines(text)


class Here:
    """Stands for a namespace: the one of this process."""

    def entered(self) -> AbstractContextManager[None]:
        return nullcontext()


def saying(monkeypatch: pytest.MonkeyPatch, folder: Path, text: str, status: int = 0) -> None:
    """Make a `tc` that takes all commands, says ``text`` on standard error, and ends with ``status``."""
    (folder / "said").write_text(text, encoding="utf-8")
    (folder / "tc").write_text(f"#!/bin/sh\ncat >/dev/null\ncat {folder}/said >&2\nexit {status}\n", encoding="utf-8")
    (folder / "tc").chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:/bin:/usr/bin")


@pytest.mark.parametrize("release", ["6.12", "7.3"])
def test_a_warning_is_kept_and_ends_nothing(release: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Linux 6.12 and later warn of a quantum through `tc`; 6.1 writes the same into its log."""
    (entry,) = (entry for entry in shown(release) if entry["said"])
    saying(monkeypatch, tmp_path, entry["said"])
    warning = "Warning: sch_htb: quantum of class 10001 is big. Consider r2q change."
    assert tc.batch([command.split() for command in entry["commands"]]) == [warning]
    changers = changing.Changers({"router": cast("Namespace", Here())}, {"router"})
    assert changers.finish() == [warning]


def test_an_error_is_one_line_without_the_warnings_before_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    said = "Warning: sch_htb: quantum of class 10001 is big. Consider r2q change.\nError: No.\nCommand failed -:2\n"
    saying(monkeypatch, tmp_path, said, status=1)
    with pytest.raises(LabError) as refused:
        tc.batch([["first"], ["second", "line"]])
    assert str(refused.value) == "tc: Error: No. in: second line"


def test_a_run_shows_what_tc_said() -> None:
    record: Any = {"queues": {}, "kernel": {"tc_said": [f"Warning: class {number}" for number in range(5)]}}
    notes = queues.table(record).notes
    assert notes == [
        "tc: Warning: class 0",
        "tc: Warning: class 1",
        "tc: Warning: class 2",
        "tc: and 2 more, which --json shows",
    ]


HTB = ["tc qdisc add dev eth0 root handle 1: htb default 1", "tc class add dev eth0 parent 1: classid 1:1 htb rate {}"]
HFSC = [
    "tc qdisc add dev eth0 root handle 1: hfsc default 1",
    "tc class add dev eth0 parent 1: classid 1:1 hfsc ls rate 1mbit",
    "tc class add dev eth0 parent 1:1 classid 1:2 hfsc sc rate 10mbit ul m1 30mbit d 10ms m2 20mbit",
]


@pytest.mark.parametrize(
    ("link", "load_mbps", "refused"),
    [
        ({"qdisc": "cake bandwidth 20mbit"}, 40, False),
        ({"tc": [line.format("30mbit") for line in HTB]}, 60, False),
        ({"tc": HFSC}, 60, False),
        ({"tc": [line.format("500mbit") for line in HTB]}, 1000, False),
        ({"tc": [HTB[0], HTB[1].format("30mbit"), HTB[1].format("600mbit").replace("1:1", "1:2")]}, 1260, True),
        ({"qdisc": "pfifo"}, 2000, True),
    ],
)
def test_a_link_counts_with_the_rate_that_its_disciplines_let_through(
    link: dict[str, Any], load_mbps: int, refused: bool
) -> None:
    """Scripts of providers shape a link of 1 Gbit/s to far less. Up to 1 Gbit/s the machine has a faster processor."""
    asked = {"bottleneck": {"rate": "1gbit", **link}, "path": {"rtt": "20ms"}, "traffic": [{"kind": "bulk"}]}
    planned = planning.plan(scenario.resolve({"duration": "2s", **asked}))
    assert planned.load_bps == load_mbps * 10**6
    assert ("accepted: up to 1000" in (vm.why_not(planned) or "")) == refused


def test_a_change_may_raise_the_rate_of_a_tree() -> None:
    asked = {
        "duration": "2s",
        "bottleneck": {"rate": "1gbit", "tc": [line.format("30mbit") for line in HTB]},
        "path": {"rtt": "20ms"},
        "traffic": [{"kind": "bulk"}],
        "change": [{"at": "1s", "qdisc": "tc class change dev eth0 classid 1:1 htb rate 900mbit"}],
    }
    assert planning.plan(scenario.resolve(asked)).down.fastest_bps == 10**9
