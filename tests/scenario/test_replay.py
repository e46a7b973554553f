"""Decision traces: found below folders, judged one by one, with an exit status for the result."""

import gzip
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from conftest import ROOT, Result
from goodqueue.decisions.replay import Mismatch, States

GOLDEN = ROOT / "golden"


@pytest.fixture
def traces() -> Path:
    return GOLDEN


@pytest.fixture
def trace(traces: Path) -> bytes:
    """Return the shortest codel trace, as text."""
    shortest = min((traces / "codel").glob("*.csv.gz"), key=lambda file: file.stat().st_size)
    return gzip.decompress(shortest.read_bytes())


def test_a_folder_of_traces_is_replayed_in_order(traces: Path, goodqueue: Callable[..., Result]) -> None:
    result = goodqueue("replay", str(traces / "codel"))
    lines = result.out.splitlines()
    files = sorted((traces / "codel").glob("*.csv.gz"))
    assert result.status == 0
    assert [line.split()[0] for line in lines[:-1]] == ["ok"] * len(files)
    assert [line.split()[1].rstrip(":") for line in lines[:-1]] == [str(file) for file in files]
    assert lines[-1].startswith(f"{len(files)} of {len(files)} traces ok, 0 mismatched, 0 unsupported, ")


def test_a_wrong_decision_is_found_and_ends_with_status_1(
    here: Path, goodqueue: Callable[..., Result], trace: bytes
) -> None:
    lines = trace.decode().splitlines()
    number, line = next(
        (n, line)
        for n, line in enumerate(lines, 1)
        if line.split(",")[1:2] == ["deq"] and line[0] != "#" and ",deq,-1," not in line
    )
    fields = line.split(",")
    fields[2] = str(int(fields[2]) + 1)  # claims that another packet left
    lines[number - 1] = ",".join(fields)
    (here / "wrong.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    (here / "right.csv.gz").write_bytes(gzip.compress(trace))

    result = goodqueue("replay", str(here))
    assert result.status == 1
    assert "MISMATCH" in result.out
    assert f"line {number}: expected" in result.out
    assert "in all" not in result.out, "a replay stops at the first difference: it cannot know how many there are"
    assert "(replayed no further)" in result.out
    assert "1 of 2 traces ok, 1 mismatched" in result.out
    rows = [line.split() for line in result.out.splitlines()]
    assert ["line", f"{number}:", lines[number - 1]] in rows
    assert ["id", fields[2], str(int(fields[2]) - 1), "<-", "differs"] in rows
    assert ["state", "the", "trace,"] in [row[:3] for row in rows]
    assert "count" in [row[0] for row in rows if row]

    found = json.loads(goodqueue("replay", str(here), "--json").out)["traces"]
    assert [outcome["mismatches"] > 0 for outcome in found] == [False, True]
    assert found[1]["first"]["line"] == number
    assert found[1]["first"]["text"] == lines[number - 1]
    assert set(found[1]["first"]) == set(Mismatch.__annotations__)
    assert set(found[1]["first"]["state"]) == set(States.__annotations__)


def test_what_cannot_be_replayed_is_not_called_ok(here: Path, goodqueue: Callable[..., Result], trace: bytes) -> None:
    (here / "strange.csv").write_bytes(trace.replace(b"# algorithm=codel", b"# algorithm=marvel"))
    result = goodqueue("replay", "strange.csv")
    assert result.out.startswith("unsupported  strange.csv: ")
    assert "0 of 1 traces ok, 0 mismatched, 1 unsupported, 0 packets" in result.out
    assert result.status == 1, "nothing was checked, so a script that asks for the status must not go on"
    as_json = goodqueue("replay", "strange.csv", "--json")
    assert as_json.status == 1, "the status does not depend on the form of the answer"
    assert [outcome["unsupported"] is None for outcome in json.loads(as_json.out)["traces"]] == [False]
    (here / "right.csv.gz").write_bytes(gzip.compress(trace))
    assert goodqueue("replay", ".").status == 0, "one was replayed and is right; the other one is listed"


@pytest.mark.parametrize("damage", [b"", b"# format=aqm-golden-1\n", b"\xff\xfe", b"# algorithm=codel\n1,enq,x\n"])
def test_a_malformed_trace_is_one_line(here: Path, goodqueue: Callable[..., Result], damage: bytes) -> None:
    (here / "bad.csv").write_bytes(damage)
    result = goodqueue("replay", "bad.csv", "--json")
    assert (result.status, result.out) == (2, "")
    assert result.err.startswith("goodqueue: bad.csv: line ")
    assert result.err.count("bad.csv") == 1, "the file is named once"
    assert result.err.count("\n") == 1


def test_a_cut_gzip_file_is_one_line(here: Path, goodqueue: Callable[..., Result], trace: bytes) -> None:
    (here / "cut.csv.gz").write_bytes(gzip.compress(trace)[:-40])
    result = goodqueue("replay", "cut.csv.gz")
    assert (result.status, result.out, result.err.count("\n")) == (2, "", 1)
