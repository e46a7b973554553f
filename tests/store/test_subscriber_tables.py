"""``goodqueue export --subscribers``: a row per subscriber and per node of each run."""

import json
from collections.abc import Callable
from pathlib import Path

from pyarrow import parquet

from conftest import Result

Command = Callable[..., Result]

PROVIDER = """
duration = "2s"
warmup = "0s"
[bottleneck]
rate = "20mbit"
qdisc = "fq_codel"
[path]
rtt = "20ms"
[[node]]
name = "tower"
down = "15mbit"
[[subscriber]]
count = 2
plan = "radio"
down = "10mbit"
up = "2mbit"
parent = "tower"
traffic = "heavy"
[[subscriber]]
plan = "idle"
down = "5mbit"
up = "1mbit"
traffic = "none"
"""


def test_each_subscriber_and_node_is_a_row(here: Path, goodqueue: Command) -> None:
    (here / "isp.toml").write_text(PROVIDER, encoding="utf-8")
    record = json.loads(goodqueue("run", "isp.toml", "--json").out)
    (here / "r.json").write_text(json.dumps(record), encoding="utf-8")
    said = goodqueue("export", "--subscribers", "r.json", "--out", "out")
    assert said.out.splitlines() == ["out/subscribers.parquet: 3 rows, 1 runs", "out/nodes.parquet: 2 rows, 1 runs"]
    rows = parquet.read_table(here / "out" / "subscribers.parquet").to_pylist()
    assert [row["name"] for row in rows] == ["radio/0", "radio/1", "idle"]
    for row, one in zip(rows, record["isp"]["subscribers"], strict=True):
        assert (row["plan"], row["parent"], row["address"]) == (one["plan"], one["parent"], one["address"])
        assert row["down_throughput_mbps"] == one["down"]["throughput_mbps"]
        assert row["up_limiting_percent"] == one["up"]["limiting_percent"]
        assert row["down_delay_p95_ms"] == one["down"].get("delay_ms", {"p95": None})["p95"]
    assert rows[2]["down_delay_p95_ms"] is None, "no packets, no delay"
    nodes = parquet.read_table(here / "out" / "nodes.parquet").to_pylist()
    assert [(row["name"], row["subscribers"], row["down_rate_mbps"]) for row in nodes] == [
        ("", 3, 20),
        ("tower", 2, 15),
    ]


def test_a_run_without_subscribers_is_refused(here: Path, goodqueue: Command) -> None:
    (here / "r.json").write_text(goodqueue("run", "ok.toml", "--json").out, encoding="utf-8")
    said = goodqueue("export", "--subscribers", "r.json", "--out", "out")
    why = "a run without subscribers; accepted: runs of scenarios with [[subscriber]]"
    assert (said.status, said.err) == (2, f"goodqueue: r.json: {why}\n")
    both = goodqueue("export", "--subscribers", "--flent", "r.json", "--out", "out")
    assert both.err == "goodqueue: export: two formats; accepted: --flent or --subscribers\n"
