"""Paths with more than a bottleneck, as Python sees them: their records, files of rates, and refusals."""

import copy
import json
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from conftest import ROOT, SCENARIO, Result
from goodqueue import running, scenario
from goodqueue.engines import identity, loads
from goodqueue.errors import UserError
from goodqueue.flent import exporting
from goodqueue.plot import drawing, series
from goodqueue.plot.stored import Group
from goodqueue.record import Record
from goodqueue.record.dotted import check_path, walk
from goodqueue.scenario.toml import to_toml
from goodqueue.show import describe
from goodqueue.show.run import run_tables
from goodqueue.show.run.queues import links
from goodqueue.store import checking, results

Command = Callable[..., Result]

HOPS: list[dict[str, Any]] = [
    {"name": "modem", "kind": "link", "rate": "5mbit", "qdisc": "bfifo limit 60000"},
    {"name": "air", "kind": "wire", "delay": "3ms", "loss": "2%", "duplicate": "5%"},
    {"name": "street", "kind": "link", "direction": "up", "rate": "8mbit", "qdisc": "codel", "before": "bottleneck"},
]


def asked(**changes: Any) -> dict[str, Any]:
    base = copy.deepcopy(SCENARIO)
    base["bottleneck"]["ring"] = 4
    return base | {"hop": copy.deepcopy(HOPS), "series": {"interval": "100ms"}} | changes


@pytest.fixture(scope="module")
def whole() -> Record:
    return running.one(asked())


# --- Records


def test_a_record_with_hops_is_one_of_ours(whole: Record) -> None:
    assert checking.record(copy.deepcopy(whole), "here") == whole
    assert list(links(whole)) == ["modem", "street"]
    assert walk(whole, "hops.0.delay_ms.p95") == links(whole)["modem"]["delay_ms"]["p95"]  # type: ignore[index]
    for path in ("hops.0.delay_ms.p95", "hops.1.packets.lost", "queues.down.ring.delay_ms.mean"):
        assert check_path(path) is None, path
    assert check_path("hops.1.wings") == "hops.1 has no field 'wings'; accepted: " + ", ".join(_fields())


def _fields() -> list[str]:
    from typing import get_type_hints

    from goodqueue.record import Hop

    return list(get_type_hints(Hop))


@pytest.mark.parametrize(
    ("path", "value", "expected"),
    [
        ("hops.0.kind", "bridge", 'hops.0.kind: found "bridge"; accepted: link, wire'),
        ("hops.0.kind", "wire", "hops.0.packets.lost: missing"),
        ("hops.0.delay_ms.p95", "x", 'hops.0.delay_ms.p95: found "x"; accepted: a finite number'),
        ("hops.0.delay_percentiles_ms", [1.0], "hops.0.delay_percentiles_ms: found 1 numbers; accepted: 101"),
        ("hops.1.packets", {"offered": 1}, "hops.1.packets.lost: missing"),
        ("queues.down.ring", 4, "queues.down.ring: found 4; accepted: a table"),
        ("series.hops.modem.delay_ms", [1.0], "series.hops.modem.delay_ms: found 1 values; accepted: as many as"),
    ],
)
def test_a_hop_that_was_changed_is_named(whole: Record, path: str, value: object, expected: str) -> None:
    changed: Any = copy.deepcopy(whole)
    *direction, last = path.split(".")
    here = changed
    for part in direction:
        here = here[int(part)] if isinstance(here, list) else here[part]
    here[last] = value
    with pytest.raises(UserError) as raised:
        checking.record(changed, "here")
    assert expected in str(raised.value)


def test_a_run_s_tables_show_its_hops(whole: Record) -> None:
    queues, linked, wires = run_tables(whole)[:3]
    assert "; in the driver below it " in queues.notes[0]
    assert [row[:3] for row in linked.rows] == [["modem", "bfifo", "99.9"], ["street, up", "codel", linked.rows[1][2]]]
    modem = links(whole)["modem"]
    assert modem["delay_ms"] is not None
    assert linked.rows[0][4] == f"{modem['delay_ms']['mean']:.1f}", "its own delay, and not the bottleneck's"
    (air,) = wires.rows
    assert air[0] == "air"
    assert 0.5 < float(air[3]) < 4, "about 2 % are lost"
    assert int(air[4]) > 0.02 * int(air[2]), "about 5 % are sent twice"
    assert [table.title for table in run_tables(running.one(SCENARIO))][:2] == ["Queues", "Flows"]


def test_delay_over_time_has_a_row_a_link(whole: Record) -> None:
    groups = [Group("codel", [whole])]
    assert {"hops.modem.delay_ms", "hops.street.backlog_packets"} <= set(series.available(groups))
    figure = drawing.draw("time", groups, [], "")
    labels = [ax.get_ylabel().replace("\n", " ") for ax in figure.axes]
    assert labels == ["queueing delay (ms)", "queueing delay, modem (ms)", "queueing delay, street (ms)"]
    found = series.series(whole, "hops.modem.delay_ms")
    assert found is not None
    assert found[1] == whole["series"]["hops"]["modem"]["delay_ms"]
    with pytest.raises(UserError, match=r'found "hops\.air\.delay_ms"; accepted of these records: delay_ms, '):
        drawing.draw("time", groups, ["hops.air.delay_ms"], "")


# --- In words


def test_a_path_is_said_in_a_line() -> None:
    words = describe.whole(scenario.resolve(asked()))
    assert words.startswith(
        "10mbit below a ring of 4, then modem (5mbit bfifo), then air (wire, 3ms, loss 2%, duplicates 5%),"
        " after street up (8mbit codel), base RTT 20ms; "
    )


def test_bursts_and_files_of_rates_are_said(here: Path) -> None:
    (here / "lte.txt").write_text("10\n20\n30\n", encoding="utf-8")
    bottleneck = {"trace": "lte.txt", "qdisc": "codel", "up": {"rate": "5mbit", "bursts": "4ms", "peak": "10mbit"}}
    words = describe.whole(scenario.resolve(SCENARIO | {"bottleneck": bottleneck}))
    assert words.startswith("the rates of lte.txt down, 5mbit in bursts every 4ms at 10mbit up, base RTT")


# --- Files of rates

TRACED = """
duration = "2s"
[bottleneck]
trace = "down.txt"
qdisc = "codel"
[bottleneck.up]
trace = "more/up.txt"
[path]
rtt = "20ms"
[[hop]]
name = "far"
kind = "link"
trace = "far.txt"
qdisc = "pfifo"
[[traffic]]
kind = "bulk"
"""


@pytest.fixture
def traced(here: Path) -> Path:
    folder = here / "there"
    (folder / "more").mkdir(parents=True)
    for name in ("down.txt", "more/up.txt", "far.txt"):
        (folder / name).write_text("s,mbit\n0,10\n1,5\n", encoding="utf-8")
    (folder / "traced.toml").write_text(TRACED, encoding="utf-8")
    return folder


def test_files_of_rates_are_looked_for_beside_the_scenario(traced: Path, goodqueue: Command) -> None:
    resolved = loads.from_file("there/traced.toml")
    tables_with_files = (resolved["bottleneck"], resolved["bottleneck"]["up"], resolved["hop"][0])
    assert [table["trace"] for table in tables_with_files] == ["there/down.txt", "there/more/up.txt", "there/far.txt"]
    assert goodqueue("run", "there/traced.toml").status == 0
    (traced / "far.txt").unlink()
    result = goodqueue("run", "there/traced.toml")
    assert (result.status, result.out) == (2, "")
    assert result.err == (
        'goodqueue: there/traced.toml:13: hop[0].trace: found no file "there/far.txt"; accepted: a trace of rates\n'
    )


@pytest.mark.parametrize("name", ["down.txt", "more/up.txt", "far.txt"])
def test_another_content_of_a_file_is_another_run(traced: Path, goodqueue: Command, name: str) -> None:
    sweep = ("sweep", "there/traced.toml", "--set", "bottleneck.qdisc=codel", "--seeds", "1", "--store", "store")

    def runs() -> int:
        assert goodqueue(*sweep, "--json").status == 0
        return len(list(Path("store/runs").glob("*/*.parquet")))

    before = identity.of("sim", loads.from_file("there/traced.toml")).key
    assert [runs(), runs()] == [1, 1], "what is stored is not run again"
    (traced / name).write_text("s,mbit\n0,10\n1,2\n", encoding="utf-8")
    assert identity.of("sim", loads.from_file("there/traced.toml")).key != before
    assert runs() == 2


def test_a_discipline_in_python_stands_at_a_hop_too(here: Path) -> None:
    source = (ROOT / "examples" / "my_aqm.py").read_text(encoding="utf-8")
    folder = here / "there"
    folder.mkdir()
    (folder / "my_aqm.py").write_text(source, encoding="utf-8")
    text = TRACED.replace('trace = "down.txt"', 'rate = "10mbit"').replace('trace = "more/up.txt"', "")
    text = text.replace('trace = "far.txt"\nqdisc = "pfifo"', 'rate = "5mbit"\nqdisc = "my_aqm.py:MyAqm"')
    (folder / "hop.toml").write_text(text, encoding="utf-8")
    resolved = loads.from_file("there/hop.toml")
    assert resolved["hop"][0]["qdisc"].startswith("there/my_aqm.py:MyAqm "), "with its parameters"
    before = identity.of("sim", resolved).key
    assert running.one(resolved)["hops"][0]["packets"]["offered"] > 100
    (folder / "my_aqm.py").write_text(source + "\n# changed\n", encoding="utf-8")
    assert identity.of("sim", resolved).key != before


# --- Commands that do not know hops


@pytest.mark.parametrize("kind", ["link", "wire"])
def test_a_capture_refuses_hops(here: Path, goodqueue: Command, kind: str) -> None:
    (hop,) = (hop for hop in HOPS[:2] if hop["kind"] == kind)
    (here / "hops.toml").write_text(to_toml(asked(hop=[hop])), encoding="utf-8")
    result = goodqueue("run", "hops.toml", "--trace", "run.pcapng")
    accepted = "accepted at the point sender: none; points of a queue take all, as --trace-at down-in,up-out"
    said = f'hop: found "{hop["name"]}", a {kind}; {accepted}'
    assert (result.status, result.out, result.err) == (2, "", f"goodqueue: {said}\n")
    assert sorted(path.name for path in here.iterdir()) == ["hops.toml", "ok.toml"], "nothing is left behind"


def test_a_link_that_varies_and_has_a_ring_is_captured(here: Path, goodqueue: Command) -> None:
    """A capture has one queue per direction, regardless of what is below it."""
    made = SCENARIO | {"bottleneck": {"rate": "10mbit", "qdisc": "codel", "bursts": "4ms", "ring": 8}, "warmup": "0s"}
    (here / "ring.toml").write_text(to_toml(made), encoding="utf-8")
    result = goodqueue("run", "ring.toml", "--trace", "run.pcapng", "--trace-at", "down-in,down-out", "--json")
    packets = json.loads(result.out)["queues"]["down"]["packets"]
    assert packets["forwarded"] > 1000
    data, at, kinds = (here / "run.pcapng").read_bytes(), 0, []
    while at < len(data):
        kind, length = struct.unpack_from("<II", data, at)
        kinds.append(kind)
        at += length
    assert kinds.count(6) == packets["offered"] + packets["forwarded"], "an enhanced packet block each"


def test_flent_gets_what_the_ends_measured(here: Path, whole: Record) -> None:
    """Flent's series are goodput and pings, which cross all hops, so an export is correct."""
    (here / "record.json").write_text(json.dumps(whole), encoding="utf-8")
    (file,) = exporting.files(results.records(["record.json"]))
    assert set(file.choice.series()) == {"bulk/0", "bulk/1", "ping/0"}
