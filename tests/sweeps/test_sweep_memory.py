"""What a large sweep needs: numbers in arrays, results that are written and read cell by cell, and the same bytes."""

import itertools
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goodqueue.store import results
from goodqueue.sweeps import compact
from goodqueue.sweeps.compact import Numbers

NUMBER = st.none() | st.floats() | st.integers() | st.integers(-3, 3)
RUN = st.fixed_dictionaries({"a": NUMBER, "b": st.floats(allow_nan=False) | st.none(), "c": st.integers(0, 9)})


def _same(value: float | None) -> tuple[type, str]:
    return type(value), repr(value)


@given(st.lists(RUN, min_size=1, max_size=5))
def test_numbers_come_back_as_they_were(runs: Sequence[dict[str, float | None]]) -> None:
    """Whole numbers stay whole, missing ones missing, and -0.0, NaN and 2**70 what they are; also if joined."""
    expected = {key: [_same(run[key]) for run in runs] for key in runs[0]}
    columns = Numbers({key: [run[key] for run in runs] for key in runs[0]})
    joined = Numbers.joined([Numbers({key: (value,) for key, value in run.items()}) for run in runs])
    for numbers in (columns, joined):
        assert {key: [*map(_same, values)] for key, values in numbers.items()} == expected


def test_ten_runs_take_a_place_per_number() -> None:
    """Eighty metrics of ten runs: 6400 bytes in the array, where a list of floats would have five times as many."""
    numbers = Numbers({f"m{number}": [number + place / 7 for place in range(10)] for number in range(80)})
    assert len(numbers._numbers) == 800
    assert numbers._columns is Numbers({key: [0.5] * 10 for key in numbers})._columns


def test_percentiles_are_an_array_unless_it_would_change_them() -> None:
    """A whole number among them would become a float."""
    assert list(compact.percentiles([0.0, 1.5]) or ()) == [0.0, 1.5]
    mixed = [0, 1.5]
    assert compact.percentiles(mixed) is mixed
    assert compact.percentiles(None) is None


@pytest.fixture(scope="module")
def swept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the store of a sweep of four cells."""
    import goodqueue as gq

    store = tmp_path_factory.mktemp("swept") / "store"
    gq.sweep(
        grid={"bottleneck.qdisc": ["codel", "pfifo"], "path.rtt": ["5ms", "10ms"]},
        duration="3s",
        seeds=2,
        store=str(store),
    )
    return store


def test_a_long_result_is_read_as_a_short_one(swept: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The page of a report does not depend on how its results were read."""
    from goodqueue.report import stored

    short = stored.page([str(swept)], "report")
    monkeypatch.setattr(results, "LONG", 1)
    assert stored.page([str(swept)], "report") == short


CHANGES: Sequence[tuple[str, str, str]] = (
    ('"n": 2', '"n": ', "not JSON"),
    ('"n": 2,\n     "values": [', '"n": 2, "values": [1, ', "values; accepted: one per run, 2"),
    ('"path.rtt": "5ms"', '"path.rtt": "6ms"', "accepted: one for each combination of the axes, 4"),
    ('"schema": 1', '"schema": 99', "of a newer goodqueue"),
    ('"seeds": 2', '"seeds": "2"', "accepted: a whole number"),
    ('"runs": [', '"ran": [', "cells.0.runs: missing"),
)


@pytest.mark.parametrize(("old", "new", "said"), CHANGES)
def test_a_damaged_long_result_is_refused_in_one_line(
    swept: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, old: str, new: str, said: str
) -> None:
    """The line is the one that a short result gets."""
    import shutil

    from goodqueue.errors import UserError
    from goodqueue.report import stored

    shutil.copytree(swept, copied := tmp_path / "store")
    (file,) = copied.glob("sweeps/*/results.json")
    file.write_text(file.read_text(encoding="utf-8").replace(old, new, 1), encoding="utf-8")
    lines: list[Any] = []
    for size in (results.LONG, 1):
        monkeypatch.setattr(results, "LONG", size)
        with pytest.raises(UserError, match=said) as error:
            stored.page([str(copied)], "report")
        lines.append(str(error.value))
    assert lines[0].partition(": line")[0] == lines[1].partition(": line")[0] or "not JSON" in said


def test_groups_of_rows_hold_all_rows(swept: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A table of several groups has the rows of one of a single group."""
    import pyarrow as pa
    from pyarrow import parquet

    from goodqueue.sweeps import files, result

    (file,) = swept.glob("sweeps/*/results.json")
    sweep = result.long(file, "")
    whole = parquet.read_table(pa.BufferReader(files._runs(sweep)))
    monkeypatch.setattr(files, "GROUP", 4)
    monkeypatch.setattr(files, "TOGETHER", 2)
    parts = parquet.ParquetFile(pa.BufferReader(files._runs(sweep)))
    assert parts.num_row_groups == 2
    assert parts.read().equals(whole)
    assert whole.num_rows == 8
    assert len({*itertools.chain(whole["key"].to_pylist())}) == 8
