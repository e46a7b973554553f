"""The qlogs of the stacks and of the queues, read back."""

import json
from pathlib import Path
from typing import Any

import pytest

from conftest import STACKS
from goodqueue.cli import main
from goodqueue.record import Scenario
from goodqueue.scenario.toml import to_toml

WRITERS = tuple(stack for stack in STACKS if stack != "s2n-quic")
"""The stacks that write a qlog."""
SENT = {"packet_sent"}
METRICS = {"metrics_updated", "recovery_metrics_updated"}


def records(file: Path) -> list[dict[str, Any]]:
    """Return the records of a file in JSON-SEQ (RFC 7464)."""
    text = file.read_text(encoding="utf-8")
    first, *found = text.split("\x1e")
    assert first == ""
    assert all(record.endswith("\n") for record in found)
    return [json.loads(record) for record in found]


def command(*arguments: str) -> int:
    """Run the command, and return its status."""
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert isinstance(ended.value.code, int)
    return ended.value.code


@pytest.mark.parametrize("stack", WRITERS)
def test_the_qlogs_tell_what_the_record_counts(stack: str, cable: Scenario, tmp_path: Path, capsys: Any) -> None:
    scenario = cable | {"warmup": "0s", "traffic": [{"kind": "quic", "stack": stack}, {"kind": "bulk", "ecn": True}]}
    file, folder = tmp_path / "s.toml", tmp_path / "qlogs"
    file.write_text(to_toml(scenario), encoding="utf-8")
    assert command("run", str(file), "--json", "--qlog", str(folder)) == 0
    record = json.loads(capsys.readouterr().out)
    assert sorted(one.name for one in folder.iterdir()) == [
        "queues.sqlog",
        "quic-0.client.sqlog",
        "quic-0.server.sqlog",
    ]
    head, *events = records(folder / "quic-0.server.sqlog")
    assert head["title"] == f"goodqueue, {stack}"
    names = {event["name"].partition(":")[2] for event in events}
    assert names >= SENT, names
    assert names & METRICS, names
    times = [event["time"] for event in events]
    assert times == sorted(times)
    assert 0 < times[-1] <= 3000, "milliseconds of the run"
    sent = sum(event["name"].endswith(":packet_sent") for event in events)
    assert sent == pytest.approx(record["apps"][0]["packets_sent"], rel=0.02)

    head, *events = records(folder / "queues.sqlog")
    down = [event for event in events if event["data"]["direction"] == "down"]
    counts = {
        word: sum(event["name"] == f"goodqueue:packet_{word}" for event in down)
        for word in ("enqueued", "dequeued", "dropped", "marked")
    }
    packets = record["queues"]["down"]["packets"]
    assert counts == {
        "enqueued": packets["offered"],
        "dequeued": packets["forwarded"],
        "dropped": packets["dropped"],
        "marked": packets["marked"],
    }
    assert {event["data"]["flow"] for event in down} == {"quic/0", "bulk/0"}
    assert command("run", str(file), "--qlog", str(folder)) == 2
    assert "found a folder with files" in capsys.readouterr().err


@pytest.mark.parametrize("stack", WRITERS)
@pytest.mark.parametrize("name", ["quic-0.client.sqlog", "queues.sqlog"])
def test_a_disk_that_is_full_leaves_no_qlog_and_is_named(
    stack: str, name: str, cable: Scenario, tmp_path: Path, capsys: Any
) -> None:
    file, folder = tmp_path / "s.toml", tmp_path / "qlogs"
    file.write_text(to_toml(cable | {"traffic": [{"kind": "quic", "stack": stack}]}), encoding="utf-8")
    folder.mkdir()
    (folder / name).symlink_to("/dev/full")
    assert command("run", str(file), "--qlog", str(folder), "--force") == 2
    assert f"{name}: No space left on device" in capsys.readouterr().err
    assert list(folder.iterdir()) == []
