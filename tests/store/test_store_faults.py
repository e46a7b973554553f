"""Stores that are damaged, moved, or contain odd files: faults are reported and set aside, and runs are repeated."""

import json
import os
import random
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import parquet

from conftest import SCENARIO, Result
from goodqueue import running, store
from goodqueue.engines import identity
from goodqueue.engines.identity import Run
from goodqueue.errors import UserError
from goodqueue.scenario import resolve
from goodqueue.store import DamagedError, Store, columns, seal

SWEEP = ["sweep", "ok.toml", "--set", "bottleneck.qdisc=codel,pie", "--seeds", "2"]
RUNS = 4

Command = Callable[..., Result]


@pytest.fixture
def one(tmp_path: Path) -> tuple[Store, Run, Path]:
    """Return a store with one run, the run, and the run's file."""
    kept = store.create(tmp_path / "st", "--store st")
    found = identity.of("sim", resolve(SCENARIO))
    kept.put(found, running.one_text(found.scenario))
    return kept, found, kept.path(found.key)


def files_of(folder: Path) -> list[Path]:
    return sorted((folder / "runs").glob("*/*.parquet"))


@pytest.mark.parametrize("step", [10, pytest.param(1, marks=pytest.mark.long)])
def test_any_flipped_bit_is_seen(one: tuple[Store, Run, Path], step: int) -> None:
    # Parquet's own checksums cover pages. A wrong bit in the footer gave a traceback, or a column without values.
    kept, found, path = one
    data = path.read_bytes()
    footer = len(data) - 8 - int.from_bytes(data[-8:-4], "little")
    draw = random.Random(1)
    places = [draw.randrange(footer) for _ in range(100 // step)]
    places += range(footer + draw.randrange(step), len(data), step)
    for place in places:
        bad = data[:place] + bytes([data[place] ^ 1 << draw.randrange(8)]) + data[place + 1 :]
        path.write_bytes(bad)
        with pytest.raises(DamagedError):
            kept.get(found)
    path.write_bytes(data)
    assert kept.get(found) == running.one_text(found.scenario)


def test_other_tools_read_a_sealed_file(one: tuple[Store, Run, Path]) -> None:
    kept, found, path = one
    (row,) = parquet.read_table(path).to_pylist()
    assert (row["key"], row["record"]) == (found.key, kept.get(found))
    assert seal.is_sealed(path.read_bytes())


def unsealed(path: Path, **changes: object) -> None:
    """Write the run's file as earlier versions did."""
    (row,) = parquet.read_table(path).to_pylist()
    schema = columns.schema()
    table = {name: [changes.get(name, row[name])] for name in schema.names}
    parquet.write_table(pa.table(table, schema), path, compression="zstd", use_dictionary=False)


def test_a_file_of_before_is_read(one: tuple[Store, Run, Path]) -> None:
    kept, found, path = one
    unsealed(path)
    assert not seal.is_sealed(path.read_bytes())
    assert kept.get(found) == running.one_text(found.scenario)


@pytest.mark.parametrize(
    ("column", "value", "why"),
    [
        ("record", None, "it has no record"),
        ("seed", None, "it has no seed"),
        ("record", "{", "its record is none"),
        ("record", "[]", "its record is none"),
    ],
)
def test_a_damaged_file_of_before_is_seen_where_it_can_be(
    one: tuple[Store, Run, Path], column: str, value: object, why: str
) -> None:
    kept, found, path = one
    unsealed(path, **{column: value})
    with pytest.raises(DamagedError, match=why):
        list(kept.rows([found.key], [column]))


def odd(kind: str, path: Path) -> None:
    other = path.parent / "other"
    path.rename(other)
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()
    elif kind == "link to nothing":
        path.symlink_to("nothing")
    elif kind == "link to itself":
        path.symlink_to(path.name)
    elif kind == "link to a device":
        path.symlink_to("/dev/zero")
    other.unlink()


@pytest.mark.parametrize("kind", ["pipe", "folder", "link to nothing", "link to itself", "link to a device"])
def test_what_is_no_file_is_set_aside_and_run_again(here: Path, goodqueue: Command, kind: str) -> None:
    whole = goodqueue(*SWEEP, "--store", "st", "--json")
    assert whole.status == 0
    odd(kind, files_of(here / "st")[0])
    again = goodqueue(*SWEEP, "--store", "st", "--json")
    assert (again.status, again.out) == (0, whole.out)
    assert "it is set aside and its run is done again" in again.err
    assert f"{RUNS} runs in st, 1 of them new" in again.err
    assert len(list((here / "st" / "damaged").iterdir())) == 1
    assert goodqueue(*SWEEP, "--store", "st").err == f"goodqueue: {RUNS} runs in st, 0 of them new\n"


def test_a_link_to_a_whole_file_is_that_file(one: tuple[Store, Run, Path]) -> None:
    kept, found, path = one
    path.rename(kept.folder / "elsewhere")
    path.symlink_to("../../elsewhere")
    assert kept.get(found) == running.one_text(found.scenario)


def test_what_was_set_aside_before_stays(one: tuple[Store, Run, Path]) -> None:
    kept, found, path = one
    for text in ("first", "second", "third"):
        path.write_text(text, encoding="utf-8")
        with pytest.raises(DamagedError) as damaged:
            kept.get(found)
        kept.set_aside(damaged.value)
        if text == "second":
            (kept.folder / "damaged" / f"{found.key}.1").unlink()
    left = {file.name[-1]: file.read_text(encoding="utf-8") for file in (kept.folder / "damaged").iterdir()}
    assert left == {"1": "third", "2": "second"}


def test_a_store_may_be_named_like_an_address(here: Path, goodqueue: Command) -> None:
    # pyarrow takes the path for a URI: each run was reported as damaged, set aside and repeated.
    first = goodqueue(*SWEEP, "--store", "exp1:baseline")
    assert (first.status, first.err) == (0, f"goodqueue: {RUNS} runs in exp1:baseline, {RUNS} of them new\n")
    assert goodqueue(*SWEEP, "--store", "exp1:baseline").err.endswith(f"{RUNS} runs in exp1:baseline, 0 of them new\n")
    assert len(list((here / "exp1:baseline" / "sweeps").glob("*/runs.parquet"))) == 1


@pytest.mark.parametrize("gone", ["removed", "moved"])
def test_a_store_that_goes_away_under_a_sweep_is_said(here: Path, gone: str) -> None:
    command = [sys.executable, "-m", "goodqueue", *SWEEP, "--set", "duration=60s", "--store", "st", "--jobs", "1"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    while not files_of(here / "st"):
        assert process.poll() is None, process.communicate()
    (here / "st").rename("st2")
    if gone == "removed":
        shutil.rmtree("st2")
    out, err = process.communicate()
    assert (process.returncode, out) == (2, "")
    assert err.startswith("goodqueue: st: the store was moved or removed; accepted: the same command")
    assert err.count("\n") == 1
    assert not (here / "st").exists(), "half a store would be refused later on as a folder of others"
    on = subprocess.run([*command[:-4], "--store", "st2" if gone == "moved" else "st"], check=True, capture_output=True)
    assert b"4 runs in" in on.stderr


def test_a_store_that_goes_away_before_the_tables_is_said(one: tuple[Store, Run, Path]) -> None:
    kept, found, _ = one
    shutil.rmtree(kept.folder)
    with pytest.raises(UserError, match="was moved or removed"):
        kept.put(found, running.one_text(found.scenario))
    with pytest.raises(UserError, match="was moved or removed"):
        kept.check_there()
    assert not kept.folder.exists()


def test_a_lost_results_json_is_written_again(here: Path, goodqueue: Command) -> None:
    whole = goodqueue(*SWEEP, "--store", "st", "--json").out
    (file,) = (here / "st").glob("sweeps/*/results.json")
    text = file.read_bytes()
    (file.parent / "notes.txt").write_text("mine", encoding="utf-8")
    for content in (None, b"", b"\xff", b"{}"):
        file.unlink()
        if content is not None:
            file.write_bytes(content)
        again = goodqueue(*SWEEP, "--store", "st", "--json")
        assert (again.status, again.out) == (0, whole), again.err
        assert file.read_bytes() == text
    assert (file.parent / "notes.txt").read_text(encoding="utf-8") == "mine"


@pytest.mark.parametrize("name", ["cells.csv", "runs.parquet", "results.json"])
@pytest.mark.parametrize("kind", ["removed", "emptied", "cut", "changed"])
def test_a_table_of_a_sweep_that_is_lost_is_written_again(here: Path, goodqueue: Command, name: str, kind: str) -> None:
    """A removed cells.csv stayed away, since results.json beside it was right."""
    goodqueue(*SWEEP, "--store", "st")
    (file,) = (here / "st").glob(f"sweeps/*/{name}")
    data = file.read_bytes()
    file.unlink()
    changed = {"emptied": b"", "cut": data[:-9], "changed": data.replace(b"pie", b"PIE")}.get(kind)
    if changed is not None:
        file.write_bytes(changed)
    (file.parent / "notes.txt").write_text("mine", encoding="utf-8")
    again = goodqueue(*SWEEP, "--store", "st")
    assert again.status == 0, again
    assert file.read_bytes() == data
    assert (file.parent / "notes.txt").read_text(encoding="utf-8") == "mine"
    aside = [path.read_bytes() for path in (here / "st").glob("damaged/*")]
    assert aside == ([changed] if changed else []), "somebody may have written into it"
    assert ("it is set aside and written again" in again.err) == bool(changed)
    assert goodqueue(*SWEEP, "--store", "st").err == f"goodqueue: {RUNS} runs in st, 0 of them new\n"


def test_a_table_that_another_version_of_arrow_wrote_is_right(here: Path, goodqueue: Command) -> None:
    goodqueue(*SWEEP, "--store", "st")
    (file,) = (here / "st").glob("sweeps/*/runs.parquet")
    parquet.write_table(parquet.read_table(file), file, compression="gzip")
    before = file.read_bytes()
    assert goodqueue(*SWEEP, "--store", "st").err == f"goodqueue: {RUNS} runs in st, 0 of them new\n"
    assert file.read_bytes() == before


@pytest.mark.parametrize("content", [None, b"", b'{"made_by": "goodq', b"{}", b"\xff", b"[]"])
def test_a_store_without_its_store_json_is_known_by_its_runs(
    here: Path, goodqueue: Command, content: bytes | None
) -> None:
    """Who removed it had no way back: the folder was refused as one of others."""
    whole = goodqueue(*SWEEP, "--store", "st", "--json").out
    manifest = here / "st" / "store.json"
    before = json.loads(manifest.read_text(encoding="utf-8"))

    def lose() -> None:
        manifest.unlink(missing_ok=True)
        if content is not None:
            manifest.write_bytes(content)

    lose()
    verbs = ["plot jain st --out r.svg"] + ["report st --out r.html"] * (content is None)  # both by the same reader
    for words in verbs:
        read = goodqueue(*words.split())
        assert (read.status, read.err.count("\n")) == (0, 1), read
        assert (
            "store.json: missing or damaged; the store is read by the keys of its runs; `goodqueue sweep`" in read.err
        )
    assert manifest.exists() == (content is not None), "a verb that only reads changes nothing"
    again = goodqueue(*SWEEP, "--store", "st", "--json")
    assert (again.status, again.out) == (0, whole)
    assert "store.json: was missing or damaged; it is made again" in again.err
    assert f"{RUNS} runs in st, 0 of them new" in again.err
    assert json.loads(manifest.read_text(encoding="utf-8")) == before
    lose()
    assert goodqueue("sweep", "ok.toml", "--seeds", "1", "--store", "st").status == 0, "another sweep finds it, too"
    assert json.loads(manifest.read_text(encoding="utf-8")) == before


def test_one_damaged_run_does_not_hide_a_store(here: Path, goodqueue: Command) -> None:
    goodqueue(*SWEEP, "--store", "st")
    (here / "st" / "store.json").unlink()
    *others, last = files_of(here / "st")
    for file in others:
        file.write_bytes(b"damaged")
    assert store.is_one(here / "st")
    last.write_bytes(b"damaged")
    assert not store.is_one(here / "st"), "nothing in it is ours for sure"
    refused = goodqueue(*SWEEP, "--store", "st")
    assert (refused.status, refused.err.count("\n")) == (2, 1)
    assert "holds files of others" in refused.err


def test_runs_of_others_are_no_store(here: Path, goodqueue: Command) -> None:
    run_of_others = here / "theirs" / "runs" / "ab"
    run_of_others.mkdir(parents=True)
    parquet.write_table(pa.table({"key": ["x"]}), run_of_others / "x.parquet")
    refused = goodqueue(*SWEEP, "--store", "theirs")
    assert (refused.status, "holds files of others" in refused.err) == (2, True), refused
    assert not (here / "theirs" / "store.json").exists()


def test_a_pipe_for_results_json_is_refused_in_a_line(here: Path, goodqueue: Command) -> None:
    goodqueue(*SWEEP, "--store", "st")
    (file,) = (here / "st").glob("sweeps/*/results.json")
    file.unlink()
    os.mkfifo(file)
    found = goodqueue(*SWEEP, "--store", "st")
    assert found.status == 2
    assert "results.json: cannot be read: no regular file; accepted: " in found.err
    assert len(json.dumps(found.err)) < 500
