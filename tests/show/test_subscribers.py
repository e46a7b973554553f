"""The guide of subscribers runs as it is written, and its tables and figures say what the record says."""

import json
import re
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from conftest import ROOT, Result
from goodqueue import scenario
from goodqueue.errors import UserError
from goodqueue.plot import drawing
from goodqueue.show.run import subscribers

Command = Callable[..., Result]

GUIDE = (ROOT / "docs" / "concepts" / "isp.md").read_text(encoding="utf-8")

SHORT = ("--set", "duration=6s", "--set", "warmup=2s")
"""Keys that make the runs of the guide short."""


def side(p95: float) -> dict[str, Any]:
    delay = dict.fromkeys(("mean", "stddev", "min", "p10", "p50", "p90", "p95", "p99", "max"), p95)
    return {
        "sold_mbps": 10.0, "throughput_mbps": 1.0, "peak_mbps": 5.0, "delay_ms": delay, "drop_percent": 0.0,
        "limiting_percent": 0.0,
    }  # fmt: skip


def test_the_worst_come_first() -> None:
    made: Any = [
        {"name": str(p95), "plan": "a", "parent": "", "address": "", "down": side(p95), "up": side(1.0)}
        for p95 in (5.0, 90.0, 7.0, 60.0)
    ]
    made.append({**made[0], "name": "idle", "down": {**side(0.0), "delay_ms": None}})
    found = subscribers.worst({"plans": [], "nodes": [], "subscribers": made}, "down")
    assert [one["name"] for one in found] == ["90.0", "60.0", "7.0"]


@pytest.mark.long
def test_the_guides_commands_run(goodqueue: Command, here: Path) -> None:
    """In the order of the page. The figure has a row per node, and the table of a comparison a row per plan."""
    (here / "examples").symlink_to(ROOT / "examples")
    block = re.search(r"```sh\n(.*?)```", GUIDE, re.DOTALL)
    assert block is not None
    commands = [shlex.split(line) for line in block.group(1).splitlines()]
    assert len(commands) == 5
    out = {}
    for words in commands:
        _, verb, *rest = words
        target = rest.pop() if ">" in rest else None
        rest = [word for word in rest if word != ">"]
        rest = ["1" if before == "--seeds" else word for before, word in zip(["", *rest], rest, strict=False)]
        shorter = SHORT if verb in ("run", "compare") else ()
        result = goodqueue(verb, *rest, *shorter)
        assert result.status == 0, result.err
        if target:
            Path(target).write_text(result.out, encoding="utf-8")
        out[verb] = out.get(verb, "") + result.out
    record = json.loads((here / "isp.json").read_text(encoding="utf-8"))
    worst = subscribers.worst(record["isp"], "down")[0]
    assert f"{worst['down']['delay_ms']['p95']:.1f}" in out["run"]
    for title in ("Subscribers (60)", "Worst subscribers", "Nodes"):
        assert title in out["run"]
    assert "Plans: means over the seeds" in out["compare"]
    drawn = (here / "tree.svg").read_text(encoding="utf-8")
    assert all(name in drawn for name in ("the link", "hill", "valley"))


def test_the_guides_scenario_is_read() -> None:
    tables = re.findall(r"```toml\n(.*?)```", GUIDE, re.DOTALL)
    whole = scenario.inputs.toml(tables[0]) | scenario.inputs.toml(tables[1])
    resolved = scenario.resolve(whole)
    assert resolved["evening"]["from"] == 20
    assert resolved["subscriber"][0]["count"] == 50


def test_a_tree_needs_series() -> None:
    with pytest.raises(UserError, match="plot tree: no record has the nodes of a tree over time"):
        drawing.draw("tree", [], [], "")
