"""`goodqueue calibrate`: its set of cells, its store, its figures, and a run of real programs over a link."""

import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from conftest import Result as Done
from goodqueue.calibrate import cells, judging, keeping, pages, programs, running, show, within
from goodqueue.calibrate.keeping import Kept, Result
from goodqueue.calibrate.programs import flent, iperf3, mach, ping
from goodqueue.errors import UserError

FLENT = """
 Ping (ms) avg     :        32.33          N/A          N/A ms               77
 TCP download sum  :         9.16          N/A          N/A Mbits/s          77
 TCP upload sum    :         1.82          N/A          N/A Mbits/s          77
"""


def queue(mean: float, p95: float, most: float) -> dict[str, Any]:
    delay = {"mean": mean, "p50": mean, "p95": p95, "max": most}
    return {"delay_ms": delay, "packets": {"dropped": 20}, "drop_percent": 2.0}


def result(line: str = "pfifo", repeat: int = 1, rtt_ms: float = 60.0, **more: Any) -> Result:
    """Return a run in which iperf3 said ``rtt_ms``, and the truth is 50 ms: base RTT 20 ms, queues 29 and 1 ms."""
    flows = [{"direction": "down", "goodput_mbps": 9.5}, {"direction": "up", "goodput_mbps": 0.001}]
    record = {
        "scenario": {"path": {"rtt": "20ms"}},
        "queues": {"down": queue(29.0, 40.0, 80.0), "up": queue(1.0, 2.0, 3.0)},
        "flows": flows,
    }
    told = {"iperf3": {"goodput_mbps": 9.6, "retransmitted": 20.0, "rtt_mean_ms": rtt_ms, "rtt_max_ms": None}}
    known: dict[str, Any] = {
        "path": "10mbit-20ms",
        "line": line,
        "session": "iperf3",
        "repeat": repeat,
        "identity": "a",
    }
    known |= {"late_ms": 0.1, "is_busy": False, "tries": 1, "seconds": 8.0, "told": told, "record": record}
    return Result(**known | more)


def test_the_set_has_thirty_paths_and_five_lines() -> None:
    plan = cells.load()
    assert len({cell.path for cell in plan.cells}) == 30
    assert len({cell.line for cell in plan.cells}) == 5
    assert len(plan.cells) == 150
    assert set(plan.few_paths) <= {cell.path for cell in plan.cells}
    assert len(plan.few_paths) == 10
    assert set(plan.few) <= {one.name for one in programs.PROGRAMS}
    assert len(cells.load(quick=True).cells) == 4


def test_words_of_one_kind_add_up_and_narrow_the_others_down() -> None:
    plan, names = cells.load(), ["iperf3", "irtt"]
    chosen, of_these = cells.pick(plan, ["10mbit-20ms", "5mbit-20ms", "codel", "irtt"], names)
    assert [cell.id for cell in chosen] == ["5mbit-20ms/codel", "10mbit-20ms/codel"]
    assert of_these == ["irtt"]
    assert [one.name for one in programs.wanted(of_these)] == ["iperf3", "irtt"], "irtt needs the load of iperf3"
    with pytest.raises(UserError, match='--only: found "10mbit-40ms"; did you mean "20mbit-40ms"'):
        cells.pick(cells.load(True), ["10mbit-40ms"], ["iperf3"])  # a path of the whole set alone
    with pytest.raises(UserError, match='--only: found "coddel"; did you mean "codel"'):
        cells.pick(plan, ["coddel"], names)
    with pytest.raises(UserError, match="found no cell that has all of"):
        cells.pick(plan, ["10mbit-20ms/codel", "pie"], names)


def test_an_error_is_relative_and_a_busy_run_does_not_count() -> None:
    runs = [result(rtt_ms=60.0), result(line="codel", rtt_ms=45.0), result(rtt_ms=500.0, is_busy=True)]
    figures = {(one.key, one.line): one for one in judging.figures(runs, [iperf3.PROGRAM])}
    assert figures["rtt_mean_ms", "pfifo"].bias.value == pytest.approx(20.0)
    assert figures["rtt_mean_ms", "codel"].bias.value == pytest.approx(-10.0)
    whole = figures["rtt_mean_ms", ""]
    assert (whole.runs, whole.truth, whole.near_percent) == (2, 50.0, 50.0)
    assert whole.bias.value == pytest.approx(5.0)
    assert (whole.low, whole.high) == pytest.approx((-7.0, 17.0))
    assert figures["retransmitted", ""].bias.value == 0
    assert ("rtt_max_ms", "") not in figures, "a number that the program did not say has no error"


def test_repeats_are_compared_figure_by_figure() -> None:
    runs = [result(rtt_ms=60.0), result(repeat=2, rtt_ms=54.0)]
    agreed = {(one.key, one.line): one for one in judging.agreements(runs, [iperf3.PROGRAM])}
    assert agreed["rtt_mean_ms", ""].apart == pytest.approx(12.0)
    assert agreed["goodput_mbps", "pfifo"].apart == 0
    said = next(show.sentences(runs, list(agreed.values())))
    assert said.startswith("Repeated: 4 of 6 biases agree within 5 percentage points; the furthest are 12.0 apart")
    assert judging.agreements(runs[:1], [iperf3.PROGRAM]) == []


def test_what_was_left_out_is_named() -> None:
    runs = [
        result(is_busy=True, repeat=2),
        *(result(line, failed={"irtt": "irtt: ended: no route"}) for line in ("pie", "cake")),
    ]
    said = list(show.sentences(runs, []))
    assert "Left out, as the machine was busy at each try: 10mbit-20ms/pfifo (repeat 2). The same command" in said[1]
    assert said[2] == "Not measured by irtt: 10mbit-20ms/pie, 10mbit-20ms/cake: ended: no route."


def test_a_run_is_kept_and_another_program_is_measured_anew(tmp_path: Path) -> None:
    kept = Kept(str(tmp_path / "out"))
    assert kept.get("one", "a") is None
    kept.put("one", result())
    assert Kept(str(tmp_path / "out")).get("one", "a") == result()
    assert kept.get("one", "b") is None
    file = tmp_path / "out" / keeping.RUNS / "one.json"
    file.write_text(file.read_text(encoding="utf-8")[:100], encoding="utf-8")
    assert kept.get("one", "a") is None, "a damaged file is no run"


def test_a_folder_of_somebody_else_is_refused(tmp_path: Path) -> None:
    (tmp_path / "letter.txt").touch()
    with pytest.raises(UserError, match=r"holds letter.txt; accepted: a new folder, or one of a calibration"):
        Kept(str(tmp_path))
    assert [file.name for file in tmp_path.iterdir()] == ["letter.txt"]


def test_a_program_that_is_not_installed_is_left_out_in_a_line(monkeypatch: pytest.MonkeyPatch) -> None:
    there = {"ping": "/bin/ping", "irtt": "/bin/irtt", "flent": "/bin/flent"}
    monkeypatch.setattr("shutil.which", there.get)
    notes: list[str] = []
    assert running.installed(programs.PROGRAMS, notes.append) == []
    assert notes[0] == "iperf3: left out, as iperf3 cannot be found; accepted: apt-get install iperf3"
    assert notes[1] == "irtt: left out, as it measures beside iperf3, which is left out"
    assert any(note.startswith("flent: left out, as netperf and netserver cannot be found") for note in notes)


@pytest.mark.parametrize(
    ("program", "text", "told"),
    [
        (
            ping.PROGRAM,
            "8 packets transmitted, 8 received\nrtt min/avg/max/mdev = 20.1/26.279/28.047/2.5 ms\n",
            {"rtt_mean_ms": 26.279, "rtt_max_ms": 28.047},
        ),
        (
            flent.PROGRAM,
            FLENT,
            {"down_mbps": 9.16, "up_mbps": 1.82, "ping_mean_ms": 32.33},
        ),
        (
            mach.PROGRAM,
            json.dumps(
                {
                    "unloaded_latency_ms": 20.5,
                    "download": {"throughput": 9, "loaded_latency_ms": 90.0, "rpm": 900},
                    "upload": {"throughput": 2, "loaded_latency_ms": 80.0, "rpm": 700},
                }
            ),
            {"idle_ms": 20.5, "loaded_ms": 90.0, "rpm": 900.0, "up_rpm": 700.0},
        ),
    ],
)
def test_output_is_read(tmp_path: Path, program: Any, text: str, told: dict[str, float]) -> None:
    file = program.output(tmp_path)
    file.write_text(text, encoding="utf-8")
    assert program.read(tmp_path) == told
    file.write_text("command not found", encoding="utf-8")
    with pytest.raises(UserError, match=r"accepted: the (output of|JSON that)"):
        program.read(tmp_path)


@pytest.mark.needs("link", "iperf3", "irtt", "ping")
def test_real_programs_stand_beside_the_queue(tmp_path: Path) -> None:
    """The second call finds the run that the first one kept, so that a killed calibration goes on."""
    plan = replace(cells.load(quick=True), seconds=1.0, late_ms=1000.0)
    (cell,) = (one for one in plan.cells if one.id == "20mbit-40ms/pfifo")
    there = [programs.named(name) for name in ("iperf3", "irtt", "ping")]
    wanted = running.runs(plan, [cell], there, dict.fromkeys(("iperf3", "irtt", "ping"), "1"), 1)
    kept = Kept(str(tmp_path / "out"))
    shares: list[float] = []
    (run,) = running.carry_out(plan, wanted, kept, 2, shares.append)
    assert (run.failed, shares) == ({}, [1.0])
    goodput, true = run.told["iperf3"]["goodput_mbps"], judging.truth(run, iperf3.PROGRAM.claims[0])
    assert goodput == pytest.approx(true, rel=0.3), "in one second the first RTT counts"
    rtt = run.told["irtt"]["rtt_mean_ms"]
    assert rtt is not None
    assert rtt > 40
    assert running.carry_out(plan, wanted, kept, 2, shares.append) == [run]
    assert len(shares) == 1


def test_a_program_that_fails_is_named_with_its_last_words(tmp_path: Path) -> None:
    (tmp_path / "runs").mkdir()
    plan = replace(cells.load(quick=True), tries=1)
    broken = replace(ping.PROGRAM, beside="", client=lambda *_: ["sh", "-c", "echo no such host >&2; exit 3"])
    (run,) = running.carry_out(
        plan, running.runs(plan, plan.cells[:1], [broken], {"ping": "1"}, 1), Kept(str(tmp_path)), 1, lambda _: None
    )
    assert run.failed == {"ping": "ping: ended with status 3: no such host"}


def test_results_are_written_and_name_the_command(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    found = pages.Calibration([result()], [iperf3.PROGRAM], {"iperf3": "iperf 3.12"}, {"kernel": "Linux 6.1"})
    pages.fill(tmp_path / "out", found, "goodqueue calibrate")
    data = json.loads((tmp_path / "out" / "results.json").read_text(encoding="utf-8"))
    assert (data["command"], data["files"]) == ("goodqueue calibrate", ["results.json", "table.md"])
    assert data["runs"][0]["truth"]["iperf3"]["rtt_mean_ms"] == 50
    table = (tmp_path / "out" / "table.md").read_text(encoding="utf-8")
    assert "| RTT at the server, mean, ms | 1 | +20.0 | +20.0 to +20.0 | +20.0 to +20.0 | 0 % | +20.0 |" in table
    assert table.endswith("The machine: kernel Linux 6.1. The programs: iperf3: iperf 3.12.\n")


def test_a_folder_of_an_earlier_version_is_a_store(tmp_path: Path) -> None:
    """Before 0.1 the tables were written beside the runs."""
    Kept(str(tmp_path)).put("one", result())
    (tmp_path / "table.md").touch()
    (tmp_path / "results.json").write_text('{"files": ["results.json", "table.md"]}', encoding="utf-8")
    assert Kept(str(tmp_path)).get("one", "a") == result()


def test_the_folder_that_once_kept_the_runs_is_refused_alone(goodqueue: Callable[..., Done]) -> None:
    """Without a word an hour of runs would be made again, and not be kept."""
    done = goodqueue("calibrate", "--out", "calibration")
    assert (done.status, done.out) == (2, "")
    assert done.err.startswith("goodqueue: --out calibration: found without --store; accepted: --store DIR alone")


def test_an_unknown_word_is_one_line(goodqueue: Callable[..., Done]) -> None:
    done = goodqueue("calibrate", "--only", "iperf")
    assert (done.status, done.out) == (2, "")
    assert done.err.startswith('goodqueue: --only: found "iperf"; did you mean "iperf3"? accepted: a program, a line')


_SAYS = """import socket, sys
with socket.create_server(("", 4600)) as listener:
    accepted, _ = listener.accept()
    print(accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, 16).rstrip(bytes(1)).decode())
"""
_HEARS = """import socket
with socket.create_connection(("server", 4600)) as own:
    print(own.getsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, 16).rstrip(bytes(1)).decode())
    own.recv(1)
"""


@pytest.mark.needs("link")
def test_both_ends_have_the_congestion_control_of_the_set(tmp_path: Path) -> None:
    """A server's connections take theirs from the route to their client. The default route is not that one."""
    server = within.Order("says", [sys.executable, "-c", _SAYS], str(tmp_path / "says"), "tcp", 4600, True)
    client = within.Order("hears", [sys.executable, "-c", _HEARS], str(tmp_path / "hears"))
    within.give(tmp_path, "reno", [server], [client])  # nobody's default
    ends = [word for end in ("server", "client") for word in ("--", *within.command(end, tmp_path))]
    link = [sys.executable, "-m", "goodqueue", "link", "--quiet", "--rtt", "10ms", *ends]
    subprocess.run(link, check=True, timeout=60)
    said = [(tmp_path / name).read_text(encoding="utf-8").strip() for name in ("says", "hears")]
    assert said == ["reno", "reno"]
