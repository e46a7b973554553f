"""The benchmark's peers: how their output is read, and that no failure of theirs breaks the benchmark."""

import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from conftest import Result
from goodqueue.speed import bench, bench_peers, bench_tables, bench_wifi, peers

OF_CASE_I = bench_peers.of_case(bench.CASES[0])
NS2 = ("ns-2 bare", "ns-2 monitored")

LINE = '{"version": "9.9", "qdisc": "codel", "simulated_s": 10, "packets": 8000, "wire_bytes": 1500}'

# Burns CPU unless it is called only to measure the start-up.
SIMULATOR = f"""#!/bin/sh
for last; do :; done
i=0
if [ "$last" != 0.001 ]; then while [ $i -lt 100000 ]; do i=$((i+1)); done; fi
echo 'cmd select_ca cubic'
echo '{LINE}'
"""

PKG_CONFIG = """#!/bin/sh
case "$1" in
  --modversion) echo 3.99 ;;
  --cflags) echo '-I"/usr/include" -I/usr\\; -lns3-core /no/such/libgsl.so' ;;
esac
"""

# "Compiles": writes the simulator to the file after -o, after noting its arguments.
COMPILER = f"""#!/bin/sh
PATH=/usr/bin:/bin
echo "$@" >"$(dirname "$0")/arguments"
while [ "$1" != -o ]; do shift; done
cat >"$2" <<'END'
{SIMULATOR}END
chmod 755 "$2"
"""


def own() -> peers.Run:
    return peers.Run("0.0", "codel", 100, 800_000, 94.0, 0.1)


def by_name(results: list[peers.PeerResult]) -> dict[str, peers.PeerResult]:
    return {result.simulator: result for result in results}


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str, str], Path]:
    """Put programs on a PATH that contains nothing else."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))

    def put(name: str, text: str) -> Path:
        file = folder / name
        file.write_text(text, encoding="utf-8")
        file.chmod(0o755)
        return file

    return put


@pytest.fixture
def nothing_installed(install: Callable[[str, str], Path]) -> None:
    """Set a PATH without any peer."""


def test_a_peer_that_is_not_installed_is_listed_with_its_package(nothing_installed: None) -> None:
    results = by_name(peers.compare(own, 1, OF_CASE_I))
    assert list(results) == ["goodqueue", *NS2, "ns-3"]
    assert results["goodqueue"].packets_per_cpu_s == pytest.approx(8e6)
    assert [results[name].note for name in NS2] == ["not installed (apt-get install ns2)"] * 2
    assert results["ns-3"].note == "not installed (apt-get install libns3-dev g++ pkg-config)"


def test_what_is_measured(install: Callable[[str, str], Path]) -> None:
    install("ns", SIMULATOR)
    install("pkg-config", PKG_CONFIG)
    compiler = install("g++", COMPILER)
    results = by_name(peers.compare(own, 3, OF_CASE_I))
    for name in (*NS2, "ns-3"):
        found = results[name]
        assert (found.note, found.version, found.qdisc) == (None, "9.9", "codel")
        assert (found.simulated_s, found.packets) == (10, 8000)
        assert found.utilisation_percent == pytest.approx(9.6)  # 8000 packets of 12 kbit in 10 s, at 100 Mbit/s
        assert found.cpu_s
        assert found.packets_per_cpu_s == pytest.approx(8000 / found.cpu_s)
        assert found.goodqueue_times_as_fast == pytest.approx(8e6 / found.packets_per_cpu_s, rel=0.9)
    arguments = (compiler.parent / "arguments").read_text(encoding="utf-8")
    assert '-DPEER_VERSION="3.99"' in arguments
    assert "-lns3-core" in arguments
    assert "libgsl" not in arguments, "a library that is not there would not link"


def test_an_htsim_is_where_the_caller_says(install: Callable[[str, str], Path], tmp_path: Path) -> None:
    """It must be built. It is asked for its commit, and may have none, as an unpacked archive."""

    def result() -> peers.PeerResult:
        return by_name(peers.compare(own, 1, bench_peers.of_case(bench.CASES[0], tmp_path)))["htsim"]

    library = tmp_path / "sim" / "libhtsim.a"
    assert result().note == f"found no {library} (make -C {tmp_path}/sim libhtsim.a)"
    library.parent.mkdir()
    library.touch()
    assert result().note == "no compiler (apt-get install g++)"
    compiler = install("g++", COMPILER)
    assert (result().note, result().packets) == (None, 8000)
    install("git", "#!/bin/sh\necho 841d9e7\n")
    assert result().note is None
    arguments = (compiler.parent / "arguments").read_text(encoding="utf-8").split()
    assert {'-DPEER_VERSION="841d9e7"', f"-I{tmp_path}/sim", str(library)} <= set(arguments)


def test_an_ns3_that_was_moved_is_found(install: Callable[[str, str], Path], tmp_path: Path) -> None:
    """The files of PyPI's package name folders of the machine that built it. PKG_CONFIG_PATH says where they are."""
    moved = tmp_path / "site-packages" / "ns3"
    (moved / "lib64" / "pkgconfig").mkdir(parents=True)
    told = """case "$*" in
  --variable=libdir*) echo /no/such/lib64 ;;
  --variable=pcfiledir*) echo FOLDER/lib64/pkgconfig ;;
  *--define-variable=libdir=FOLDER/lib64*--define-variable=includedir=FOLDER/include*)
    echo '-I"FOLDER/include" -L"FOLDER/lib64" -lns3.44-core' ;;
esac
"""
    install("pkg-config", "#!/bin/sh\n" + told.replace("FOLDER", str(moved)))
    compiler = install("g++", COMPILER)
    assert by_name(peers.compare(own, 1, OF_CASE_I))["ns-3"].note is None
    arguments = (compiler.parent / "arguments").read_text(encoding="utf-8").split()
    assert f"-I{moved}/include" in arguments
    assert f"-Wl,-rpath,{moved}/lib64" in arguments, "the program would not find its libraries"


def test_the_peers_are_told_each_case(monkeypatch: pytest.MonkeyPatch) -> None:
    """Otherwise their speed would be that of another case. A packet of 1500 bytes at 1 Gbit/s takes 12 us."""
    told: list[list[str]] = []

    def theirs(command: list[str], patience_s: float = 0) -> tuple[float, str]:
        told.append(command)
        return (0.5 if command[-1] == "0.001" else 2.5), LINE

    monkeypatch.setattr(peers, "cpu_of", theirs)
    monkeypatch.setattr(peers.Peer, "prepare", lambda peer, folder: [peer.name, *peer.arguments])
    monkeypatch.setattr(bench_peers, "_ours", lambda case: own())
    found = bench_peers.run_cases(quick=True)
    cases = [(result.case, result.simulator) for result in found]
    assert cases == [(case, name) for case in ("i", "ii", "iii", "iv") for name in ("goodqueue", *NS2, "ns-3")]
    of_ns2 = ["1 100Mbps 50ms {} 100", "10 100Mbps 50ms {} 100", "100 1Gbps 20ms {} 20", "1000 1Gbps 20ms {} 10"]
    of_ns3 = ["1 100Mbps 50ms codel 20", "10 100Mbps 50ms fq_codel 10"]
    of_ns3 += ["100 1Gbps 20ms fq_codel 2", "1000 1Gbps 20ms fq_codel 2"]
    timed = [words for words in told if words[-1] != "0.001"]
    for name, wanted in {
        "ns-2 bare": [line.format("bare") for line in of_ns2],
        "ns-2 monitored": [line.format("monitored") for line in of_ns2],
        "ns-3": of_ns3,
    }.items():
        assert [" ".join(words[1:]) for words in timed if words[0] == name] == wanted
    assert found[-1].utilisation_percent == pytest.approx(0.96), "8000 packets of 12 kbit in 10 s, at 1 Gbit/s"


@pytest.mark.parametrize(("installed", "cases"), [((), 1), (("ns",), 4), (("pkg-config", "g++"), 4)])
def test_a_peer_that_is_missing_keeps_no_other_from_a_case(
    install: Callable[[str, str], Path], monkeypatch: pytest.MonkeyPatch, installed: tuple[str, ...], cases: int
) -> None:
    """Alone, goodqueue need not run the cases once more."""
    for name, text in {"ns": SIMULATOR, "pkg-config": PKG_CONFIG, "g++": COMPILER}.items():
        if name in installed:
            install(name, text)
    monkeypatch.setattr(peers, "cpu_of", lambda command: ((0.5 if command[-1] == "0.001" else 2.5), LINE))
    monkeypatch.setattr(bench_peers, "_ours", lambda case: own())
    found = bench_peers.run_cases(quick=True)
    assert [result.case for result in found if result.simulator == "goodqueue"] == ["i", "ii", "iii", "iv"][:cases]
    table = bench_tables.bench_tables([], [], found)[1]
    missing = [note for note in table.notes if "not installed" in note]
    assert len(missing) == ("ns" not in installed) * 2 + ("g++" not in installed), "one note for each, not per case"


def test_goodqueue_and_the_peers_take_turns(
    install: Callable[[str, str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    install("ns", SIMULATOR)
    order = []

    def ours() -> peers.Run:
        order.append("goodqueue")
        return own()

    def theirs(command: list[str], patience_s: float = 0) -> tuple[float, str]:
        order.append(f"{Path(command[0]).name} {command[-1]}")
        return (0.5 if command[-1] == "0.001" else 2.5), LINE

    monkeypatch.setattr(peers, "cpu_of", theirs)
    found = by_name(peers.compare(ours, 2, OF_CASE_I))["ns-2 bare"]
    assert order == ["goodqueue", *["ns 0.001", "ns 100"] * 2] * 2
    assert (found.cpu_s, found.start_up_s) == (2, 0.5), "the start-up is taken off"
    assert found.goodqueue_times_as_fast == pytest.approx(8e6 / 4000)


def test_a_time_that_cannot_be_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(peers, "cpu_of", lambda command: (0.5, LINE))
    with pytest.raises(peers._UnusableError, match=r"took no longer than its start-up, 0\.500 CPU s"):
        peers.run_peer(["ns"], 1)


@pytest.mark.parametrize(
    ("text", "note"),
    [
        ("#!/bin/sh\necho; echo 'Name  Server'\n", "printed no figures: Name  Server"),
        ("#!/bin/sh\nprintf 'bell \\a\\377\\n'\n", "printed no figures: bell \\u0007\ufffd"),
        ("#!/bin/sh\n", "printed no figures: no message"),
        ("#!/bin/sh\necho '[]'; echo null; echo '{\"packets\": \"many\"}'\n", "printed no figures: {"),
        ("#!/bin/sh\necho 'ns: one' >&2; echo 'ns: an error' >&2; exit 3\n", "exit status 3: ns: an error"),
        ("#!/bin/sh\nkill -9 $$\n", "exit status -9: no message"),
        ("#!/no/such/interpreter\n", "cannot run "),
        (SIMULATOR.replace('"packets": 8000', '"packets": 0'), "printed that it simulated nothing: 0 packets"),
        (SIMULATOR.replace('"wire_bytes": 1500', '"wire_bytes": NaN'), "printed that it simulated nothing: "),
    ],
)
def test_whatever_a_peer_prints_becomes_a_line(install: Callable[[str, str], Path], text: str, note: str) -> None:
    install("ns", text)
    found = by_name(peers.compare(own, 2, OF_CASE_I))["ns-2 bare"]
    assert found.note is not None
    assert found.note.startswith(note)
    assert found.note.isprintable()
    assert len(found.note) < 200
    assert found.packets is None


def test_a_peer_that_does_not_compile_says_why(install: Callable[[str, str], Path]) -> None:
    install("pkg-config", PKG_CONFIG)
    install("g++", "#!/bin/sh\necho 'In file included' >&2\necho 'x.cc:1: error: no such module' >&2\nexit 1\n")
    assert by_name(peers.compare(own, 1, OF_CASE_I))["ns-3"].note == "does not compile: x.cc:1: error: no such module"


def test_a_peer_that_hangs_is_given_up() -> None:
    with pytest.raises(peers._UnusableError, match=r"gave up after 0\.2 s"):
        peers.cpu_of([sys.executable, "-c", "import time; time.sleep(600)"], patience_s=0.2)


def test_a_wheel_has_no_peers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(peers, "PROGRAMS", tmp_path / "none")
    for result in peers.compare(own, 1, OF_CASE_I)[1:]:
        assert result.note == "not compared: its program is in the source checkout only (benches/peers)"


def test_the_programs_are_here_and_under_our_licence() -> None:
    for peer in (*OF_CASE_I, *peers.WEB_PEERS, *map(bench_wifi.peer, bench_wifi.CELLS)):
        head = (peers.PROGRAMS / peer.program).read_text(encoding="utf-8")[:60]
        assert "SPDX-License-Identifier: MIT" in head


def test_the_peers_that_are_installed_fill_the_link() -> None:
    """A slower path or another count of bytes would mean that their speed is for different work.

    After a loss CUBIC falls to 0.7 of a window that filled pipe and queue, 50 + 5 ms. It then carries 77 %, minus 2 %
    for the first seconds of 100. More than 100 % is a wrong count. (ns-2 2.35 carries 94.1 %, ours 92.5 %.)
    """
    for result in peers.compare(own, 1, OF_CASE_I)[1:]:
        if result.note is not None:
            assert result.note.startswith("not installed"), result
            continue
        assert result.utilisation_percent is not None
        assert 75 < result.utilisation_percent <= 100, result


@pytest.mark.needs("ns2")
@pytest.mark.parametrize(
    ("case", "seconds", "least"),
    [(0, 100, 75), (1, 20, 90), (2, 4, 90), pytest.param(3, 2, 90, marks=pytest.mark.long)],
    ids=["i", "ii", "iii", "iv"],
)
def test_a_monitor_changes_nothing_in_ns2(case: int, seconds: float, least: float) -> None:
    """Its cost is that of measuring only if both simulate the same, and the case: packets, RTT and queue.

    What was acknowledged is less than what the link carried by at most a window, and by what waits for a lost packet.
    The queue is of 6 ms, which drop-tail never exceeds.
    """
    found = []
    bare, monitored, _ = bench_peers.of_case(bench.CASES[case])
    for peer in (bare, monitored):
        command = [*peer.prepare(Path()), f"{seconds:g}"]
        printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        found.append((peers._reading(printed), json.loads(next(line for line in printed.splitlines() if "{" in line))))
    (plain, _), (measured, extra) = found
    assert plain == measured
    assert plain["qdisc"] == f"pfifo limit {bare.rate_bps * 0.005 // 10_000:g}"
    full = extra["departures"] - bench.CASES[case].flows  # without the SYNs
    carried = 100 * full * measured["wire_bytes"] * 8 / (bare.rate_bps * seconds)
    assert least < carried <= 100
    assert measured["packets"] == pytest.approx(extra["departures"], rel=0.05)
    assert extra["drops"] > 0
    assert 0 < extra["mean_ms"] < 6.1
    assert 0 < extra["most_packets"] <= bare.rate_bps * 0.005 / 10_000


def test_responses_of_the_web_are_counted_where_a_peer_counts_them(monkeypatch: pytest.MonkeyPatch) -> None:
    line = '{"version": "9.9", "qdisc": "pfifo limit 1000", "simulated_s": 10, "responses": 12000}'
    monkeypatch.setattr(peers, "cpu_of", lambda command: ((0.5 if command[-1] == "0.001" else 12.5), line))
    monkeypatch.setattr(peers.shutil, "which", lambda name: f"/bin/{name}")

    def ours() -> peers.Run:
        return peers.Run("0.0", "pfifo limit 1000", 60, None, None, 0.5, responses=50_000)

    results = peers.compare(ours, 1, peers.WEB_PEERS)
    found = by_name(results)["ns-2"]
    assert (found.responses, found.responses_per_cpu_s, found.packets_per_cpu_s) == (12_000, 1000, None)
    assert found.goodqueue_times_as_fast == 100
    table = bench_tables.bench_tables([], [], web_peers=results)[1]
    assert list(table.rows[1]) == ["ns-2 9.9", "1.0", "100.0 ×", "1200", "10", "12.00"]
    monkeypatch.setattr(peers, "cpu_of", lambda command: (1.0, line.replace("12000", "0")))
    note = by_name(peers.compare(ours, 1, peers.WEB_PEERS))["ns-2"].note
    assert note == "printed that it simulated nothing: 0 responses"


def test_the_table_shows_who_ran_and_who_did_not() -> None:
    ours = replace(peers._result("goodqueue", [own()], None), case="i", start_up_s=0.1)
    bare = peers.PeerResult(
        "ns-2 bare", None, "2.35", "pfifo limit 50", 100, 776_000, 94.0, 0.5, 1_552_000, 2.97, case="i", start_up_s=0.2
    )
    slow = replace(bare, simulator="ns-3", packets_per_cpu_s=2_700, goodqueue_times_as_fast=574.8, version="3.44")
    again = [replace(bare, case="ii", utilisation_percent=99.0), replace(slow, note="gave up", case="ii")]
    absent = [peers.PeerResult("ns-4", note="not installed", case=case) for case in ("i", "ii")]
    every = [ours, bare, slow, absent[0], replace(ours, case="ii"), *again, absent[1]]
    table = bench_tables.bench_tables([], [], every)[1]
    headings = ["case", "goodqueue\n0.0", "ns-2 bare\n2.35", "ns-3\n3.44"]
    assert [column.heading for column in table.columns] == headings
    assert list(table.rows) == [
        ["i", "8.00", "1.55  3.0 ×", "0.0027  574.8 ×"],
        ["ii", "8.00", "1.55  3.0 ×", "–"],
    ]
    used = "goodqueue 94.0, 94.0; ns-2 bare 94.0, 99.0; ns-3 94.0."
    assert list(table.notes[1:]) == [
        f"Utilisation in %, which says whether the same was simulated: {used}",
        "Start-up in CPU s, which is not counted: goodqueue 0.1, 0.1; ns-2 bare 0.2, 0.2; ns-3 0.2.",
        "Simulated s: goodqueue 100, 100; ns-2 bare 100, 100; ns-3 100.",
        "Qdisc: goodqueue codel, codel; ns-2 bare pfifo limit 50, pfifo limit 50; ns-3 pfifo limit 50.",
        "ns-4: not installed",
        "ns-3: gave up",
    ]


@pytest.mark.parametrize(("options", "asked"), [([], True), (["--quick"], False), (["--quick", "--peers"], True)])
def test_quick_leaves_the_peers_out(
    goodqueue: Callable[..., Result], monkeypatch: pytest.MonkeyPatch, options: list[str], asked: bool
) -> None:
    monkeypatch.setattr(bench, "cases", lambda quick: iter([]))
    monkeypatch.setattr(bench, "qdiscs", lambda quick: iter([]))
    for name in ("run_cases", "run_web"):
        monkeypatch.setattr(bench_peers, name, lambda *_: [peers.PeerResult("ns-2", note="not installed")])
    monkeypatch.setattr(bench, "run_users", lambda case, quick: None)
    result = goodqueue("bench", *options, "--json")
    assert result.status == 0
    for key in ("peers", "web_peers"):
        found = json.loads(result.out)[key]
        assert [peer["note"] for peer in found or []] == (["not installed"] if asked else [])
        assert (found is not None) == asked
    assert ("not installed" in goodqueue("bench", *options).out) == asked


@pytest.mark.parametrize("has_profile", [False, True])
def test_the_speed_of_a_build_without_a_profile_is_not_taken_for_that_of_one(
    goodqueue: Callable[..., Result], monkeypatch: pytest.MonkeyPatch, has_profile: bool
) -> None:
    for name in ("cases", "qdiscs"):
        monkeypatch.setattr(bench, name, lambda quick: iter([]))
    monkeypatch.setattr(bench, "run_users", lambda case, quick: None)
    monkeypatch.setattr("goodqueue._goodqueue.HAS_PROFILE", has_profile)
    result = goodqueue("bench", "--quick", "--json")
    assert json.loads(result.out)["has_profile"] == has_profile
    assert ("make bench" in result.err) == (not has_profile)


@pytest.mark.parametrize("cell", bench_wifi.CELLS)
def test_a_cell_carries_the_same_in_ns3(cell: bench_wifi.Cell) -> None:
    """Otherwise the speeds are for different work. Within 3 %: ns-3 sends beacons, and its backoffs differ."""
    ours, theirs = bench_wifi.run_cell(cell, 1).runs
    if theirs.note is not None:
        assert theirs.note.startswith("not installed"), theirs
        return
    assert theirs.utilisation_percent == pytest.approx(ours.utilisation_percent, rel=0.03)


def test_cells_are_measured_instead_of_the_cases(
    goodqueue: Callable[..., Result], monkeypatch: pytest.MonkeyPatch
) -> None:
    ours = peers.PeerResult("goodqueue", None, "0.0", "pfifo", 100, 500_000, 60.9, 0.1, 5e6)
    runs = [ours, peers.PeerResult("ns-3", note="not installed")]
    monkeypatch.setattr(bench_wifi, "run_cell", lambda cell, repeats: bench_wifi.CellResult(cell.described(), runs))
    growth = bench_wifi.GrowthResult
    monkeypatch.setattr(bench_wifi, "run_growth", lambda stations, quick: growth(stations, 1000, 2.0, 400.0))
    found = json.loads(goodqueue("bench", "wifi", "--json").out)
    assert [cell["cell"] for cell in found["cells"]] == [cell.described() for cell in bench_wifi.CELLS]
    assert [one["stations"] for one in found["stations"]] == list(bench_wifi.STATIONS)
    table = goodqueue("bench", "wifi").out
    assert "ns-3: not installed" in table
    assert "802.11g, 54mbit, 10" in table
    line = "goodqueue: bench: found an option before wifi; accepted: after it"
    assert goodqueue("bench", "--quick", "wifi").err.startswith(line)


def test_a_cell_of_the_benchmark_is_measured_apart() -> None:
    found = bench_wifi.run_growth(2, quick=True, repeats=1)
    # 20 s / 10 at about 57 Mbit/s, in packets of 1500 bytes.
    assert 8000 < found.packets < 11000
    assert found.cpu_ms_per_simulated_s > 0
