"""The index of a store is a cache: it saves reading each run, and nothing depends on it."""

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from conftest import Result
from goodqueue import store
from goodqueue.store import Store, index, results

Command = Callable[..., Result]


@pytest.fixture
def swept(here: Path, goodqueue: Command, monkeypatch: pytest.MonkeyPatch) -> Callable[[], Any]:
    """Return the sweep of six runs into the store ``st``, which has an index as larger ones do."""
    monkeypatch.setattr(index, "LEAST", 1)

    def sweep() -> Any:
        rtts = "path.rtt=10ms,20ms,40ms"
        found = goodqueue("sweep", "ok.toml", "--set", rtts, "--seeds", "2", "--store", "st", "--json")
        assert found.status == 0, found.err
        return json.loads(found.out)

    return sweep


def unreadable(*_: object) -> None:
    raise AssertionError("a run's own file was read")


def parts() -> list[Path]:
    return sorted(Path("st/index").glob("*.parquet"))


def test_a_sweep_that_goes_on_reads_the_index_and_no_run(
    swept: Callable[[], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    first = swept()
    monkeypatch.setattr(Store, "_read", unreadable)
    assert swept() == first
    assert len(results.records(["st"])) == 6


def test_a_damaged_part_is_made_anew(swept: Callable[[], Any], monkeypatch: pytest.MonkeyPatch) -> None:
    first = swept()
    (part,) = parts()
    whole = part.read_bytes()
    part.write_bytes(whole[:300] + bytes([whole[300] ^ 1]) + whole[301:])
    assert swept() == first
    assert parts() == [part]
    assert part.read_bytes() == whole
    monkeypatch.setattr(Store, "_read", unreadable)
    assert swept() == first


def test_a_run_whose_file_changed_is_read_from_it(here: Path, swept: Callable[[], Any]) -> None:
    swept()
    runs = store.find(Path("st"))
    keys = runs.all_keys()
    changed = runs.path(keys[0])
    os.utime(changed, ns=(1, 1))
    fresh = {key for key, _, _ in index.Index(runs).rows(keys)}
    assert fresh == set(keys) - {keys[0]}
    changed.write_bytes(b"no run")
    with pytest.raises(store.DamagedError):
        list(runs.rows(keys[:1], ["key"]))


def test_a_copied_store_is_read_from_its_runs_and_gets_an_index_of_its_own(
    here: Path, swept: Callable[[], Any], goodqueue: Command
) -> None:
    """No row of the index holds for a copy, and none is of another sweep's runs: both ended in a traceback."""
    first = swept()
    other = goodqueue("sweep", "ok.toml", "--set", "path.rtt=50ms,60ms", "--seeds", "1", "--store", "st")
    assert other.status == 0, other.err
    shutil.copytree("st", "whole")
    shutil.rmtree("st")
    shutil.copytree("whole", "st")
    assert swept() == first
    runs = store.find(Path("st"))
    assert len(list(index.Index(runs).rows(runs.all_keys()))) == 6


def test_small_parts_become_one(here: Path, swept: Callable[[], Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(index, "MOST_SMALL", 2)
    swept()
    runs = store.find(Path("st"))
    keys = runs.all_keys()
    rows = list(index.Index(runs).rows(keys))
    for row in rows[:4]:
        writer = index.Index(runs)
        writer.note(*row)
        writer.write()
    assert len(parts()) <= 3
    assert sorted(index.Index(runs).rows(keys)) == sorted(rows)


def test_a_small_store_has_none(here: Path, goodqueue: Command) -> None:
    assert goodqueue("sweep", "ok.toml", "--seeds", "2", "--store", "st").status == 0
    assert not Path("st/index").exists()


def test_a_write_looks_into_no_large_part_again(
    here: Path, swept: Callable[[], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A million runs have 500 parts. Each write read all of them, so twice the runs took four times as long."""
    swept()
    runs = store.find(Path("st"))
    ((_, *about), *_) = index.Index(runs).rows(runs.all_keys())
    monkeypatch.setattr(index, "MOST", 4)
    monkeypatch.setattr(index.Index, "_stamp", lambda _, key: key)
    read: list[Path] = []
    own = index._read
    monkeypatch.setattr(index, "_read", lambda part, most=None: read.append(part) or own(part, most))
    writer = index.Index(runs)
    for number in range(160):
        writer.note(f"{number:032x}", *about)
    assert len(parts()) >= 40
    assert len(read) <= 2 * len(parts())
