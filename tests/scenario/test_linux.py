"""Laws by release of Linux: the list of what differs, and the release of a replay."""

import json
import re
from collections.abc import Callable

import pytest

from conftest import ROOT, Result
from goodqueue.validation import releases, tcp_releases

GOLDEN = ROOT / "golden"


def test_each_trace_of_the_project_is_in_the_list_once_per_law() -> None:
    """A trace that is in no cell proves nothing that the list shows. One in a cell of another law would be wrong."""
    found = {one["name"]: one["releases"] for one in releases.disciplines()}
    shown = {trace for of in found.values() for cell in of.values() for trace in cell["traces"]}
    there = {f"{file.parent.name}/{file.name.removesuffix('.csv.gz')}" for file in GOLDEN.glob("*/*.csv.gz")}
    # hfsc, drr, ets and mixed trees have no line, so they have no row either.
    assert shown == {one for one in there if not one.startswith("tc/") or one[3:].partition("_")[0] in found}
    laws = {name: [cell["law"] for cell in of.values()] for name, of in found.items()}
    assert laws["pie"] == ["first", "same", "same"]
    assert laws["cake"] == ["first", "changed", "changed"]
    assert laws["codel"] == ["first", "same", "changed"]
    assert laws["cake_mq"] == laws["dualpi2"] == ["absent", "absent", "first"]
    counts = {name: [len(cell["traces"]) for cell in of.values()] for name, of in found.items()}
    assert counts["cake"] == [8, 1, 2]
    assert counts["codel"] == [5, 5, 2]
    assert counts["fq"] == [0, 9, 10]
    assert counts["cake_mq"] == [0, 0, 1]
    assert "cobalt" not in found, "no Linux has it"


def test_the_list_says_what_proves_each_cell(goodqueue: Callable[..., Result]) -> None:
    result = goodqueue("list", "linux")
    rows = {line.split()[0]: line for line in result.out.splitlines() if line.strip()}
    assert result.status == 0
    assert "not yet" in rows["cake_mq"]
    assert "changed: 2 traces" in rows["codel"]
    assert "cells" in rows["pie"]
    assert "unit test" in rows["tbf"]
    change = "codel, Linux 7.3: one call drops at most 256 packets while it is behind its schedule."
    assert change in " ".join(result.out.split())
    one = json.loads(goodqueue("list", "linux", "cake", "--json").out)
    assert one["releases"]["7.3"]["traces"] == ["cake/blue_ecn-7.3", "cake/flows1-7.3"]
    assert [len(cell["changes"]) for cell in one["releases"].values()] == [0, 1, 2]


def test_each_row_names_a_proof_that_exists() -> None:
    """Guards against a row without a proof, and against a trace, a script or a test that is gone or never was."""
    for one in releases.disciplines():
        for name, cell in one["releases"].items():
            if cell["law"] == "absent":
                continue
            assert cell["traces"] or cell["kernel_cells"] or cell["test"], f"{one['name']}, {name}"
            assert all((GOLDEN / f"{trace}.csv.gz").is_file() for trace in cell["traces"])
            assert cell["test"] is None or has_test(cell["test"]), cell["test"]
    scripts = ROOT / "crates" / "tcp" / "tests" / "scripts"
    for feature in tcp_releases.features():
        assert feature["scripts"] or feature["test"], feature["name"]
        assert feature["test"] is None or has_test(feature["test"]), feature["test"]
        for script in feature["scripts"]:
            assert (scripts / f"{script if '/' in script else f'release/{script}'}.tcp").is_file(), script


def has_test(named: str) -> bool:
    """Return whether the file of ``named`` has the function."""
    file, function = named.split(": ")
    return re.search(rf"^ *(fn|def) {function}\(", (ROOT / file).read_text(encoding="utf-8"), re.MULTILINE) is not None


def test_each_change_of_tcp_is_in_the_list_with_its_proof(goodqueue: Callable[..., Result]) -> None:
    """Guards against a script that is gone, a proof of what no release changed, and a script that nobody lists."""
    found = {one["name"]: one for one in tcp_releases.features()}
    assert set(found) == set(tcp_releases.SCRIPTS)
    scripts = ROOT / "crates" / "tcp" / "tests" / "scripts"
    there = {file.stem for file in (scripts / "release").glob("*.tcp")}
    there |= {f"accecn/{file.stem}" for file in (scripts / "accecn").glob("option_*.tcp")}
    there |= {f"accecn/{name}" for name in ("agreed_to_nothing", "asked_for_nothing")}
    there |= {f"accecn/{side}_has_classic_ecn" for side in ("client", "server")}
    listed = {script for one in found.values() for script in one["scripts"]}
    assert listed == there - {"send_buffer_grows", "window_waits_for_a_packet"}, "which are of all releases"
    fin = json.loads(goodqueue("list", "linux", "a FIN", "--json").out)
    assert fin["releases"]["6.1"] == "leaves whatever the congestion window"
    assert fin["releases"]["6.12"] == fin["releases"]["7.3"] == "waits for the congestion window"
    told = " ".join(goodqueue("list", "linux").out.split())
    assert "an ACK is delayed by at most: 6.1 500 ms; 6.12 196 ms." in told


@pytest.mark.parametrize("trace", sorted(releases.OF_6_12_TOO))
def test_what_6_12_decides_the_same_is_replayed_by_its_law(trace: str, goodqueue: Callable[..., Result]) -> None:
    result = goodqueue("replay", str(GOLDEN / f"{trace}.csv.gz"), "--release", "6.12")
    assert result.status == 0, result.out


def test_the_release_of_a_replay_is_that_of_the_kernel_or_the_one_asked_for(goodqueue: Callable[..., Result]) -> None:
    trace = str(GOLDEN / "cake" / "blue_ecn-7.3.csv.gz")
    assert goodqueue("replay", trace).status == 0
    for release in ("6.1", "6.12"):
        assert goodqueue("replay", trace, "--release", release).status == 1, "another law would be called the same"
    refused = goodqueue("replay", trace, "--release", "6.6")
    assert refused.status == 2
    assert refused.err.strip().endswith('--release: found "6.6"; accepted: 6.1, 6.12, 7.3')
