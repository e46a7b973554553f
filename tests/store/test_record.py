"""Our traces: complete or absent, the same bytes for a seed, replayed without a difference."""

import gzip
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from conftest import Result
from goodqueue.decisions import recording
from goodqueue.decisions.question import Record
from goodqueue.errors import UserError


def test_what_is_recorded_is_replayed_without_a_difference(here: Path, goodqueue: Callable[..., Result]) -> None:
    lines = ["codel target 5ms", "fq_codel flows 16 ecn", "pie ecn", "sfq perturb 1", "red adaptive", "dualpi2"]
    lines += ["pie variant rfc8033", "htb rate 8mbit child codel"]
    for number, line in enumerate(lines):
        options = ["--pattern", "aimd", "--sizes", "mix", "--ecn", "mix", "--packets", "1500"]
        result = goodqueue("record", line, *options, "--out", f"{number}.csv.gz")
        assert (result.status, result.err) == (0, "")
        assert result.out.startswith(f"{number}.csv.gz: 1500 offered, ")
    result = goodqueue("replay", ".")
    assert result.status == 0
    assert f"{len(lines)} of {len(lines)} traces ok, 0 mismatched" in result.out


def test_a_changed_recording_is_found(here: Path, goodqueue: Callable[..., Result]) -> None:
    totals = json.loads(goodqueue("record", "codel", "--load", "2", "--out", "codel.csv", "--json").out)
    assert totals["offered"] == totals["delivered"] + totals["dropped"] == 5000
    lines = (here / "codel.csv").read_text(encoding="utf-8").splitlines()
    number = next(n for n, line in enumerate(lines) if ",deq," in line and not line.startswith("#") and n > 3000)
    lines[number] = lines[number][:-1] + str((int(lines[number][-1]) + 1) % 10)
    (here / "codel.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    result = goodqueue("replay", "codel.csv")
    assert result.status == 1
    assert f"line {number + 1}: expected" in result.out


def test_a_seed_gives_the_same_bytes_and_gzip_changes_nothing(here: Path) -> None:
    for name in ("a.csv.gz", "b.csv.gz", "c.csv"):
        recording.record(Record(qdisc="pie", packets=500, seed=7, out=name))
    assert (here / "a.csv.gz").read_bytes() == (here / "b.csv.gz").read_bytes()
    assert gzip.decompress((here / "a.csv.gz").read_bytes()) == (here / "c.csv").read_bytes()
    recording.record(Record(qdisc="pie", packets=500, seed=8, out="c.csv", force=True))
    assert gzip.decompress((here / "a.csv.gz").read_bytes()) != (here / "c.csv").read_bytes()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["codel", "--pattern", "x"], '--pattern: found "x"; accepted: steady, burst, onoff, saw, aimd'),
        (["codel", "--load", "much"], '--load: found "much"; accepted: a number, as 1.1'),
        (["codel", "--load", "nan"], "--load: found NaN; accepted: 0.05 to 100"),
        (["codel", "--rate", "fast"], '--rate: found "fast"; accepted: '),
        (["codel", "--packets", "0"], '--packets: found "0"; accepted: a whole number from 1'),
        (["codel", "--packets", "99999999"], "--packets: found 99999999; accepted: 1 to 10000000"),
        (["codel", "--sizes", "9"], '--sizes: found "9"; accepted: mix, or bytes from 64 to 65535'),
        (["codel", "--ecn", "x"], '--ecn: found "x"; accepted: none, ect0, ect1, mix'),
        (["codel", "--seed", "-1"], '--seed: found "-1"; accepted: a whole number from 0'),
        (["codle"], 'unknown qdisc "codle"; did you mean "codel"?'),
        (["codel target 1parsec"], "codel target: found"),
        (["codel target 1500ns"], 'codel target: found "1500ns"; accepted in a trace: 1us'),
    ],
)
def test_a_wrong_option_is_one_line(
    here: Path, goodqueue: Callable[..., Result], arguments: list[str], message: str
) -> None:
    result = goodqueue("record", *arguments, "--out", "x.csv.gz")
    assert (result.status, result.out, result.err.count("\n")) == (2, "", 1)
    assert result.err.startswith(f"goodqueue: {message}")
    assert [path.name for path in here.iterdir()] == ["ok.toml"]


@pytest.mark.parametrize("out", ["x.txt", ".csv", "there.csv", "folder.csv", "nowhere/x.csv", ""])
def test_a_file_that_cannot_be_made_is_one_line(here: Path, goodqueue: Callable[..., Result], out: str) -> None:
    (here / "there.csv").write_text("mine", encoding="utf-8")
    (here / "folder.csv").mkdir()
    result = goodqueue("record", "codel", "--out", out)
    assert (result.status, result.out, result.err.count("\n")) == (2, "", 1)
    assert result.err.startswith("goodqueue: --out")
    assert (here / "there.csv").read_text(encoding="utf-8") == "mine"
    assert sorted(path.name for path in here.iterdir()) == ["folder.csv", "ok.toml", "there.csv"]


def test_a_file_is_replaced_only_by_a_whole_one(here: Path, goodqueue: Callable[..., Result]) -> None:
    (here / "x.csv").write_text("mine", encoding="utf-8")
    assert goodqueue("record", "codle", "--out", "x.csv", "--force").status == 2
    assert (here / "x.csv").read_text(encoding="utf-8") == "mine"
    assert goodqueue("record", "codel", "--packets", "9", "--out", "x.csv", "--force").status == 0
    assert goodqueue("replay", "x.csv").status == 0
    with pytest.raises(UserError, match="exists already"):
        Record(qdisc="codel", packets=9, out="x.csv").work()


def test_a_full_disk_leaves_nothing(here: Path) -> None:
    command = [sys.executable, "-m", "goodqueue", "record", "codel", "--packets", "100000", "--out", "x.csv"]
    limit = "import os, resource; resource.setrlimit(resource.RLIMIT_FSIZE, (50000, 50000))"
    script = f"{limit}; os.execv({command[0]!r}, {command!r})"
    done = subprocess.run([sys.executable, "-c", script], check=False, capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert done.stderr.startswith("goodqueue: --out x.csv: cannot be written: ")
    assert [path.name for path in here.iterdir()] == ["ok.toml"]
