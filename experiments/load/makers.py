"""Makes a store with copies of one record: a real run, of which each copy has another base RTT, rate, seed and key."""

import hashlib
from collections.abc import Iterable

import pyarrow as pa

from goodqueue import running
from goodqueue.engines.identity import Run
from goodqueue.store import Store, columns, seal

SCENARIO = """duration = "0.1s"
warmup = "0s"
[bottleneck]
rate = "101mbit"
qdisc = "codel"
[path]
rtt = "10ms"
[[traffic]]
kind = "bulk"
"""
FIRST_SEED = 1000
"""Seeds of as many digits as the next ones, so that a copy has the length of its original."""

KEPT = (*columns.WHO, "scenario", "keys", "record")
"""The columns of a copy. The numbers are in its record, and a store has less to write without them."""


MOST_VALUES = 10_000
"""The most values of an axis: Linux bounds the length of an argument."""


def grid(cells: int) -> list[str]:
    """Return the axes of so many cells: base RTTs and rates, all of the same length."""
    rtts = [number for number in range(1_000_001, 1_200_000) if number % 10][: min(cells, MOST_VALUES)]
    rates = range(101, 101 + -(-cells // MOST_VALUES))
    axes = {"path.rtt": [f"{rtt}ns" for rtt in rtts], "bottleneck.rate": [f"{rate}mbit" for rate in rates]}
    return [f"{key}={','.join(values)}" for key, values in axes.items()]


class Copies:
    """Copies of one run."""

    def __init__(self, run: Run) -> None:
        """Compute ``run``."""
        self._run = run
        table = columns.table(run, running.one_text(run.scenario)).select(list(KEPT))
        self._data = _plain(table)

    def write(self, store: Store, runs: Iterable[Run]) -> None:
        """Store a copy for each of ``runs``. Nothing waits for the disk."""
        for run in runs:
            path = store.path(run.key)
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(self._of(run))

    def _of(self, run: Run) -> bytes:
        data = self._data
        for old, new in zip(_words(self._run), _words(run), strict=True):
            assert len(old) == len(new), "another length would move what follows"
            data = data.replace(old, new)
        begin, end = data.index(b"0" * 64), data.index(b"0" * 64) + 64
        return data[:begin] + hashlib.sha256(data).hexdigest().encode() + data[end:]


def _words(run: Run) -> list[bytes]:
    """Return what differs from copy to copy."""
    seed = f'"seed":{run.seed}'.encode()
    texts = (run.key, run.scenario_hash, run.scenario["path"]["rtt"], run.scenario["bottleneck"]["rate"])
    return [*(text.encode() for text in texts), seed, run.seed.to_bytes(8, "little")]


def _plain(table: "pa.Table") -> bytes:
    """Return the file of ``table`` as `seal.write` does, but not compressed, and with a checksum of zeros."""
    from pyarrow import parquet

    buffer = pa.BufferOutputStream()
    plain = {"use_dictionary": False, "write_statistics": False, "store_schema": False, "compression": "none"}
    with parquet.ParquetWriter(buffer, table.schema, **plain) as writer:
        writer.write_table(table)
        writer.add_key_value_metadata(dict(zip(seal.NAMES, ("1", "0" * 64), strict=True)))
    data: bytes = buffer.getvalue().to_pybytes()
    return data
