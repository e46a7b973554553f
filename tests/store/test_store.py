"""The store: complete files or none, never overwritten, readable by other tools. Broken or newer files are reported."""

import json
import resource
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from pyarrow import dataset, parquet

from conftest import SCENARIO
from goodqueue import running, store
from goodqueue.engines import identity
from goodqueue.engines.identity import Run
from goodqueue.errors import UserError
from goodqueue.files import drafts
from goodqueue.record import Scenario
from goodqueue.scenario import resolve
from goodqueue.store import DamagedError, Store, columns

SWEEP = ["sweep", "ok.toml", "--set", "bottleneck.qdisc=codel,pie", "--set", "path.rtt=10ms,40ms", "--seeds", "3"]
RUNS = 12


def of(seed: int, **changes: object) -> Run:
    return identity.of("sim", resolve({**SCENARIO, "seed": seed, **changes}))


@pytest.fixture
def kept(tmp_path: Path) -> Store:
    return store.create(tmp_path / "st", "--store st")


def sweep(*more: str, limit: int | None = None) -> subprocess.CompletedProcess[str]:
    """Run the sweep in its own process, which may write files of at most ``limit`` bytes."""

    def limited() -> None:
        if limit is not None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

    command = [sys.executable, "-m", "goodqueue", *SWEEP, *more]
    return subprocess.run(command, check=False, capture_output=True, text=True, preexec_fn=limited)


def written(folder: Path) -> list[Path]:
    return sorted((folder / "runs").glob("*/*.parquet"))


def test_a_record_comes_back_to_the_byte(kept: Store) -> None:
    one = of(1, series={"interval": "500ms"})
    text = running.one_text(one.scenario)
    assert kept.get(one) is None
    kept.put(one, text)
    assert kept.get(one) == text
    assert kept.all_keys() == [one.key]


def test_the_key_is_of_all_that_decides_the_record(scenario: Scenario, tmp_path: Path, kernel: list[Scenario]) -> None:
    python = tmp_path / "idea.py"
    python.write_text((Path(__file__).parents[2] / "examples" / "my_aqm.py").read_text(encoding="utf-8"))
    mine = {**scenario, "bottleneck": {"rate": "10mbit", "qdisc": f"{python}:MyAqm"}}
    resolved = resolve(mine)
    before = identity.of("sim", resolved)
    python.write_text(python.read_text(encoding="utf-8") + "\n# another law\n")
    assert identity.of("sim", resolved).key != before.key, "an edited discipline would be answered with its old records"
    keys = {of(1).key, of(2).key, of(1, duration="5s").key, identity.of("kernel", of(1).scenario).key, before.key}
    assert len(keys) == 5, "two different runs would share a record"
    assert of(1).key == of(1).key
    assert of(1).scenario_hash == of(2).scenario_hash != of(1, duration="5s").scenario_hash


def test_a_run_is_never_overwritten(kept: Store) -> None:
    one = of(1)
    text = running.one_text(one.scenario)
    kept.put(one, text)
    kept.put(one, text.replace('"codel', '"other'))
    assert kept.get(one) == text, "the first record must stay"
    assert not list(kept.folder.rglob(".*.partial-*"))


def test_what_a_killed_writer_left_is_removed(kept: Store) -> None:
    """tests/files/test_drafts.py has the drafts of living processes."""
    place = kept.folder / "runs" / "ab"
    place.mkdir()
    left = [drafts.beside(path, drafts.PARTIAL) for path in (place / "a.parquet", kept.folder / "store.json")]
    for path in left:
        path.write_bytes(b"PAR1")
    store.create(kept.folder, "--store st")
    assert not any(path.exists() for path in left)


def test_tools_read_the_folder_as_one_table(kept: Store) -> None:
    for seed in (1, 2):
        kept.put(of(seed), running.one_text(of(seed).scenario))
    series = of(3, series={"interval": "500ms", "law": True})
    kept.put(series, running.one_text(series.scenario))
    table = dataset.dataset(kept.folder / "runs").to_table()
    assert table.num_rows == 3
    rows = {row["seed"]: row for row in table.to_pylist()}
    record = json.loads(rows[2]["record"])
    assert rows[2]["delay_mean_ms"] == record["queues"]["down"]["delay_ms"]["mean"]
    assert rows[2]["qdisc"] == record["scenario"]["bottleneck"]["qdisc"]
    assert json.loads(rows[2]["scenario"]) == {k: v for k, v in record["scenario"].items() if k != "seed"}
    assert (rows[2]["traffic"], rows[2]["cc"]) == ("2 × bulk cubic down, 1 × ping", "cubic")
    assert dict(rows[2]["keys"])["traffic.0.cc"] == "cubic"
    assert dict(rows[2]["keys"])["path.rtt"] == record["scenario"]["path"]["rtt"]
    assert rows[1]["series"] is None
    found = {one["name"]: one["values"] for one in rows[3]["series"]}
    own = json.loads(rows[3]["record"])["series"]
    assert found["queues.up.backlog_packets"] == own["queues"]["up"]["backlog_packets"]
    assert found["queues.down.law.drop_next_ms"] == own["queues"]["down"]["law"]["drop_next_ms"]
    assert found["flows.bulk/1.cwnd_packets"] == own["flows"][1]["cwnd_packets"]
    assert rows[3]["series_time_s"] == own["time_s"]


@pytest.mark.needs("duckdb")
def test_duckdb_reads_it_too(kept: Store) -> None:
    import duckdb

    kept.put(of(1), running.one_text(of(1).scenario))
    found = duckdb.read_parquet(f"{kept.folder}/runs/*/*.parquet")
    assert found.project("seed, len(delay_percentiles_ms)").fetchall() == [(1, 101)]


def test_a_metric_that_came_later_is_null_in_old_runs(kept: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    short = [name for name in columns.schema().names if name != "jain_goodput"]
    own = columns.table
    monkeypatch.setattr(columns, "table", lambda one, text: own(one, text).select(short))
    kept.put(of(1), running.one_text(of(1).scenario))
    (row,) = kept.rows([of(1).key], ["seed", "jain_goodput"])
    assert (row["seed"], row["jain_goodput"]) == (1, None)


def broken(kind: str, path: Path) -> bytes:
    data = path.read_bytes()
    about = parquet.read_metadata(path).row_group(0)
    column = next(about.column(i) for i in range(about.num_columns) if about.column(i).path_in_schema == "record")
    at = column.data_page_offset + column.total_compressed_size // 2
    return {"cut": data[:-100], "empty": b"", "bit": data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :]}[kind]


@pytest.mark.parametrize("kind", ["cut", "empty", "bit"])
def test_a_broken_file_is_known_as_one(kept: Store, kind: str) -> None:
    one = of(1)
    kept.put(one, running.one_text(one.scenario))
    path = kept.path(one.key)
    path.write_bytes(broken(kind, path))
    with pytest.raises(DamagedError, match=rf"{one.key}\.parquet: damaged \(.+\)$"):
        kept.get(one)


def test_a_file_under_another_s_name_is_known_too(kept: Store) -> None:
    kept.put(of(1), running.one_text(of(1).scenario))
    other = kept.path(of(2).key)
    other.parent.mkdir(exist_ok=True)
    shutil.copy(kept.path(of(1).key), other)
    with pytest.raises(DamagedError, match="another run than its name says"):
        kept.get(of(2))


def test_a_damaged_run_is_named_set_aside_and_done_again(here: Path) -> None:
    first = sweep("--store", "st", "--json")
    assert first.returncode == 0, first.stderr
    victim = written(here / "st")[3]
    whole = victim.read_bytes()
    victim.write_bytes(whole[:2000])
    again = sweep("--store", "st", "--json")
    assert again.returncode == 0
    assert again.stdout == first.stdout
    named, counted = again.stderr.splitlines()
    assert str(victim.relative_to(here)) in named
    assert "set aside" in named
    assert counted == "goodqueue: 12 runs in st, 1 of them new"
    assert victim.read_bytes() == whole
    assert [file.stat().st_size for file in (here / "st" / "damaged").iterdir()] == [2000], "the evidence is kept"


def test_a_newer_store_is_refused_in_a_line_and_left_alone(here: Path) -> None:
    (here / "st").mkdir()
    (here / "st" / "store.json").write_text('{"format": 2, "version": "9.1.0"}', encoding="utf-8")
    expected = (
        "found a store of format 2, written by goodqueue 9.1.0; accepted: format 1 at most (this is goodqueue 0.1"
    )
    refused = sweep("--store", "st")
    assert (refused.returncode, refused.stdout) == (2, "")
    assert refused.stderr.startswith(f"goodqueue: --store st: {expected}")
    assert refused.stderr.count("\n") == 1
    assert [file.name for file in (here / "st").iterdir()] == ["store.json"]
    with pytest.raises(UserError, match="found a store of format 2"):
        store.find(here / "st")


def test_a_folder_of_others_is_no_store(here: Path) -> None:
    (here / "st").mkdir()
    (here / "st" / "thesis.tex").touch()
    refused = sweep("--store", "st")
    assert (refused.returncode, refused.stdout) == (2, "")
    assert "thesis.tex" in refused.stderr
    assert [file.name for file in (here / "st").iterdir()] == ["thesis.tex"]


@pytest.mark.parametrize("text", ["", "{", "[]", '{"format": "one"}', '{"format": 0}'])
def test_a_broken_manifest_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "store.json").write_text(text, encoding="utf-8")
    with pytest.raises(UserError):
        store.create(tmp_path, "--store st")
    assert [file.name for file in tmp_path.iterdir()] == ["store.json"]


def test_a_file_that_may_not_grow_leaves_no_half(here: Path) -> None:
    # A run's file has about 8 kB: none fits.
    failed = sweep("--store", "st", limit=4096)
    assert (failed.returncode, failed.stdout) == (2, "")
    assert failed.stderr.startswith("goodqueue: --store st: cannot be written: File too large; what is stored stays")
    assert failed.stderr.count("\n") == 1
    assert [path.name for path in (here / "st").rglob("*") if path.is_file()] == ["store.json"]


@pytest.fixture
def tiny(here: Path) -> Iterator[Path]:
    """Yield the folder of a disk of 96 kB."""
    place = here / "disk"
    place.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=96k", "tmpfs", place], check=True)
    yield place
    subprocess.run(["umount", place], check=True)


@pytest.mark.long
@pytest.mark.needs("mount")
def test_a_full_disk_loses_nothing(here: Path, tiny: Path) -> None:
    whole = sweep("--store", "whole", "--json").stdout
    failed = sweep("--store", "disk/st", "--json")
    assert (failed.returncode, failed.stdout) == (2, "")
    assert failed.stderr.startswith("goodqueue: --out disk/st: cannot be written: No space left on device; what is")
    assert failed.stderr.count("\n") == 1
    kept = store.find(tiny / "st")
    count = len(kept.all_keys())
    assert 0 < count < RUNS, "some fit, not all"
    assert not list(tiny.rglob(".*.partial-*"))
    assert len(list(kept.rows(kept.all_keys(), ["record", "series", "delay_percentiles_ms"]))) == count, "all are whole"
    subprocess.run(["mount", "-o", "remount,size=10m", tiny], check=True)
    on = sweep("--store", "disk/st", "--json")
    assert on.stdout == whole
    assert f"{RUNS} runs in disk/st, {RUNS - count} of them new" in on.stderr


def test_two_writers_at_once_do_not_disturb_each_other(here: Path) -> None:
    command = [sys.executable, "-m", "goodqueue", *SWEEP, "--store", "st", "--json"]
    both = [subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for _ in range(2)]
    said = [process.communicate() for process in both]
    assert [process.returncode for process in both] == [0, 0], said
    assert said[0][0] == said[1][0]
    kept = store.find(here / "st")
    assert len(list(kept.rows(kept.all_keys(), ["record"]))) == RUNS
    assert not list(kept.folder.rglob(".*.partial-*"))
