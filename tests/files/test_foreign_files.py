"""Files that others wrote, or that were edited by hand, are read, or are refused in one line."""

import bz2
import gzip
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from conftest import SCENARIO, TOML, Result
from goodqueue import running, scenario, store
from goodqueue.errors import UserError
from goodqueue.files import har, inputs
from goodqueue.flent import importing, reading, writing
from goodqueue.neighbours import opening
from goodqueue.record import Record
from goodqueue.store import checking, results
from mutation import mutated
from tries import tries

Command = Callable[..., Result]


def refused(found: Result, expected: str) -> None:
    assert found.status == 2, found
    assert found.out == ""
    assert found.err.count("\n") == 1
    assert len(found.err) < 3000
    assert expected in found.err, found.err


@pytest.fixture(scope="module")
def whole() -> Record:
    changes = {"series": {"interval": "500ms", "tcp": True, "packets": {"from": "1s", "to": "1100ms"}}}
    traffic = [
        *SCENARIO["traffic"],
        {"kind": "voip"},
        {"kind": "transfer", "size": "9kB"},
        {"kind": "rr", "request": "1kB", "response": "9kB"},
    ]
    return running.one(SCENARIO | changes | {"traffic": traffic})


def test_a_record_of_ours_passes(whole: Record) -> None:
    assert checking.record(whole, "here") is whole


@pytest.mark.parametrize(
    ("path", "value", "expected"),
    [
        ("queues.down.delay_ms", "x", 'queues.down.delay_ms: found "x"; accepted: a table'),
        ("queues.down.delay_ms.p95", "x", 'queues.down.delay_ms.p95: found "x"; accepted: a finite number'),
        ("queues.down.delay_percentiles_ms", [1.0], "queues.down.delay_percentiles_ms: found 1 numbers; accepted: 101"),
        ("queues.up", None, "queues.up: found null; accepted: a table"),
        ("queues", {}, "queues.down: missing; accepted: both, down and up"),
        ("flows.0.goodput_mbps", "9", 'flows.0.goodput_mbps: found "9"; accepted: a finite number'),
        ("apps.0.kind", "pong", 'apps.0.kind: found "pong"; accepted: transfer, rr'),
        ("seed", 1 << 63, "seed: found 9223372036854775808; accepted: a whole number from 0 to 9223372036854775807"),
        ("scenario.bottleneck.qdisc", " ", 'scenario.bottleneck.qdisc: found " "; accepted: a qdisc\'s line'),
        ("scenario.duration", "soon", 'scenario.duration: found "soon"; accepted: a time, as 10s'),
        ("scenario.path", "x", 'scenario: path: found "x"; accepted: a table'),
        ("scenario.traffic.0.kind", "x", 'scenario.traffic.0.kind: found "x"; accepted: bulk, transfer'),
        ("scenario.hop", [{"name": "a", "kind": "x"}], 'scenario.hop.0.kind: found "x"; accepted: link, wire'),
        ("scenario.hop", [{"name": "a", "kind": "link"}], 'scenario.hop.0.qdisc: found ""; accepted: a qdisc\'s line'),
        ("scenario.change", [{"rate": "1mbit"}], "scenario: change.0.at: missing"),
        ("scenario.bottleneck.wifi", {"standard": 1}, "scenario: bottleneck.wifi.standard: found 1; accepted: text"),
        (
            "scenario.bottleneck.wifi",
            {"standard": "802.11n", "station": [{"name": "a", "rate": [["0s"]]}]},
            "scenario.bottleneck.wifi.station.0.rate: found [[\"0s\"]]; accepted: a rate's name",
        ),
        ("series.time_s", [0.5], "series.queues.down.delay_ms: found 8 values; accepted: as many as series.time_s, 1"),
        ("series.flows.0.tcp.rtt_ms", [{}], "series.flows.0.tcp.rtt_ms.0: found {}; accepted: a finite number"),
        ("series.pings.0.seq", [], "series.pings.0: found lists of several lengths; accepted: of one"),
    ],
)  # fmt: skip
def test_a_record_that_was_changed_names_the_key(
    here: Path, goodqueue: Command, whole: Record, path: str, value: object, expected: str
) -> None:
    data: Any = json.loads(json.dumps(whole))
    *above, last = [int(part) if part.isdecimal() else part for part in path.split(".")]
    holder = data
    for part in above:
        holder = holder[part]
    holder[last] = value
    Path("record.json").write_text(json.dumps(data), encoding="utf-8")
    for words in (
        ["report", "record.json"],
        ["plot", "cdf", "record.json", "--out", "f.svg"],
        ["export", "--flent", "record.json", "--out", "f"],
    ):
        refused(goodqueue(*words), f"record.json: {expected}")


def quiet(act: Callable[[], object], what: str) -> None:
    """Check that ``act`` succeeds or refuses in one line."""
    try:
        act()
    except UserError as error:
        assert "\n" not in str(error)
        assert len(str(error)) < 3000
    except Exception as error:
        raise AssertionError(what) from error


def test_numbers_of_more_than_64_bits_are_exported(whole: Record) -> None:
    data: Any = json.loads(json.dumps(whole))
    data["series"]["time_s"][3] = 2**64
    data["series"]["calls"][0]["seq"][-1] = 10**49
    writing.data_file(results.record(json.dumps(data), "record.json", "a record"), "title", "record.json")


@pytest.mark.parametrize("number", [10**101, 10**400])
def test_a_whole_number_that_no_float_holds_is_refused(whole: Record, number: int) -> None:
    data: Any = json.loads(json.dumps(whole))
    data["series"]["calls"][0]["seq"][-1] = number
    with pytest.raises(UserError, match=r"series\.calls\.0\.seq\.\d+: found 10.*; accepted: numbers below 1e\+100"):
        results.record(json.dumps(data), "record.json", "a record")


def test_however_a_record_is_changed_it_is_read_or_refused(whole: Record, tmp_path: Path) -> None:
    from goodqueue.show.run import run_tables

    for draw in tries(400):
        data, what = mutated(whole, draw)

        def read(data: Any = data) -> None:
            found = results.record(json.dumps(data), "record.json", "a record")
            run_tables(found)
            writing.data_file(found, "title", "record.json")

        quiet(read, what)


def test_however_a_flent_file_is_changed_it_is_read_or_refused(whole: Record, tmp_path: Path) -> None:
    _, content, _ = writing.data_file(whole, "title", "place")
    whole_data = json.loads(gzip.decompress(content))
    file = tmp_path / "x.flent"
    for draw in tries(400):
        data, what = mutated(whole_data, draw)
        file.write_text(json.dumps(data), encoding="utf-8")
        quiet(lambda: importing.record(reading.read(str(file)), None, 1), what)


def results_of_a_sweep(goodqueue: Command) -> Path:
    """Make a store with a sweep, and return the file of its results."""
    assert goodqueue("sweep", "ok.toml", "--set", "path.rtt=1ms,9ms", "--seeds", "2", "--store", "st").status == 0
    (file,) = Path("st").glob("sweeps/*/results.json")
    return file


def test_however_the_results_of_a_sweep_are_changed_they_are_read_or_refused(here: Path, goodqueue: Command) -> None:
    from goodqueue.report import stored

    file = results_of_a_sweep(goodqueue)
    whole = json.loads(file.read_bytes())
    for draw in tries(40):
        data, what = mutated(whole, draw)
        file.write_text(json.dumps(data), encoding="utf-8")
        quiet(lambda: stored._read(Path("st"), stored.Found([], [])), what)


def test_odd_results_of_a_sweep_are_refused_by_their_key(here: Path, goodqueue: Command) -> None:
    file = results_of_a_sweep(goodqueue)
    whole = json.loads(file.read_bytes())
    for key, value, expected in (
        ("axes", {}, "axes: found {}; accepted: a list"),
        ("cells", [{"at": 1}], "cells.0.at: found 1; accepted: a table"),
        ("seeds", "x", 'seeds: found "x"; accepted: a whole number'),
    ):
        file.write_text(json.dumps(whole | {key: value}), encoding="utf-8")
        refused(goodqueue("report", "st"), f"{file}: {expected}")


def test_a_study_s_and_a_validation_s_results_are_checked_too(here: Path, goodqueue: Command) -> None:
    for made_by, expected in (("study", "study: missing"), ("validate", "date: missing")):
        Path("results.json").write_text(json.dumps({"made_by": f"goodqueue {made_by}"}), encoding="utf-8")
        refused(goodqueue("report", "."), f"results.json: {expected}")


LONG = "9" * 3_000_000


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("dots.toml", ".".join("a" * 50_000) + " = 1\n", "dots.toml: found tables, lists or keys nested too deeply"),
        ("quoted.toml", " . ".join(['"a"'] * 50_000) + " = 1\n", "found tables, lists or keys nested too deeply"),
        ("heading.toml", f"[{'.'.join('a' * 600)}]\n", "found tables, lists or keys nested too deeply"),
        ("inline.toml", "x = {" + ".".join("a" * 600) + " = 1}\n", "found tables, lists or keys nested too deeply"),
        ("lists.toml", TOML + "x = " + "[" * 200 + "]" * 200, "found tables, lists or keys nested too deeply"),
        ("large.toml", "#" * (scenario.MOST_BYTES + 1), "large.toml: larger than 16 MiB; accepted: a scenario"),
        ("key.toml", TOML.replace("duration", "x" * 3_000_000, 1), "key.toml:2: "),
        ("value.toml", TOML.replace('"4s"', f'"{LONG}"', 1), "value.toml:2: duration: found "),
    ],
)  # fmt: skip
@pytest.mark.parametrize("verb", [["run"], ["sweep"], ["compare", "codel", "--scenario"]])
def test_a_scenario_that_takes_memory_is_refused(
    here: Path, goodqueue: Command, verb: list[str], name: str, content: str, expected: str
) -> None:
    Path(name).write_text(content, encoding="utf-8")
    refused(goodqueue(*verb, name), expected)


@pytest.mark.parametrize(
    "words",
    [
        ["run", "ok.toml", "--set", f"{'.'.join('a' * 50_000)}=1"],
        ["run", "ok.toml", "--set", "x={" + ".".join("a" * 9_000) + "=1}"],
        ["run", "ok.toml", "--set", "path.rtt=" + "[" * 150 + "]" * 150],
        ["run", "ok.toml", "--set", f"path.rtt={'9' * 100_000}"],
        ["run", "x" * 100_000],
        ["compare", "x" * 100_000],
        ["run", "ok.toml", f"--{'x' * 100_000}"],
        ["y" * 100_000],
    ],
    ids=["dots", "inline", "lists", "value", "file", "qdisc", "option", "verb"],
)
def test_a_refusal_quotes_no_megabytes(here: Path, goodqueue: Command, words: list[str]) -> None:
    refused(goodqueue(*words), "")


@pytest.mark.parametrize("key", ["path.rtt", "seed", "bottleneck.qdisc", "traffic.0.kind", "traffic.0.cc"])
def test_a_long_value_does_not_push_out_what_is_accepted(here: Path, goodqueue: Command, key: str) -> None:
    found = goodqueue("run", "ok.toml", "--set", f"{key}={'x' * 50_000}")
    refused(found, "accepted: ")
    assert len(found.err) < 900


@pytest.mark.parametrize(
    "words",
    [["schema", "x" * 5000], ["x" * 5000], ["plot", "cdf", "ok.toml", "--out", "x" * 5000]],
)
def test_a_long_word_does_not_fill_the_line(here: Path, goodqueue: Command, words: list[str]) -> None:
    found = goodqueue(*words)
    refused(found, "")
    assert len(found.err) < 900


@pytest.mark.parametrize("text", ['"\\ud800"', '"a\\uDFFFb"', '"\\udc00\\ud800"'])
def test_half_a_character_is_refused(here: Path, goodqueue: Command, whole: Record, text: str) -> None:
    """JSON can write one, and no file in UTF-8 can hold it: a page ended in a traceback."""
    content = json.dumps(whole).replace('"sim"', text, 1)
    Path("record.json").write_text(content, encoding="utf-8")
    said = "record.json: not JSON: found half of a surrogate pair, which is no character; accepted: "
    refused(goodqueue("report", "record.json"), said)


def test_a_whole_character_in_two_escapes_is_read() -> None:
    assert inputs.from_json('["\\ud83d\\ude00", "\\\\ud800"]') == ["\U0001f600", "\\ud800"]


def test_a_log_of_the_air_that_the_scenario_did_not_ask_for_is_no_figure(here: Path, goodqueue: Command) -> None:
    cell = 'wifi = {standard = "802.11n", station = [{name = "a", rate = "mcs7"}]}'
    air = '[series]\ninterval = "500ms"\nair = {from = "2s", to = "2.1s"}\n'
    Path("cell.toml").write_text(TOML.replace('rate = "10mbit"', cell) + air, encoding="utf-8")
    record = json.loads(goodqueue("run", "cell.toml", "--json").out)
    del record["scenario"]["series"]
    Path("record.json").write_text(json.dumps(record), encoding="utf-8")
    refused(goodqueue("plot", "air", "record.json", "--out", "air.svg"), "plot air: no record has a log of the air")


def test_a_small_file_takes_little_memory_to_read(tmp_path: Path) -> None:
    """As much as the largest file takes was asked for at once, and refused where `ulimit -v` is lower."""
    file = tmp_path / "small.txt"
    file.write_text("text", encoding="utf-8")
    most = 4 << 30
    code = (
        f"import pathlib, resource; resource.setrlimit(resource.RLIMIT_AS, ({most}, {most}));"
        f"from goodqueue.files import inputs; print(inputs.read(pathlib.Path({str(file)!r}), {most}, ''))"
    )
    done = subprocess.run([sys.executable, "-c", code], check=False, capture_output=True, text=True, encoding="utf-8")
    assert (done.stdout, done.stderr) == ("b'text'\n", "")


def test_memory_that_runs_out_is_said_in_a_line(
    here: Path, goodqueue: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object, **_more: object) -> None:
        raise MemoryError

    monkeypatch.setattr(running, "simulate", full)
    refused(goodqueue("run", "ok.toml"), "found no more memory; accepted: ")


@pytest.mark.needs("dev-zero")
@pytest.mark.parametrize("words", ["run {}", "report {}", "export --flent {} --out x", "import {}", "replay {}"])
def test_a_file_without_an_end_is_refused(here: Path, goodqueue: Command, words: str) -> None:
    Path("zero.csv").symlink_to("/dev/zero")
    refused(goodqueue(*words.format("zero.csv").split()), "zero.csv")


def test_a_har_file_without_an_end_is_refused(here: Path, goodqueue: Command) -> None:
    Path("zero.har").symlink_to("/dev/zero")
    Path("zero.py").symlink_to("/dev/zero")
    refused(goodqueue("compare", "codel", "--traffic", "page:zero.har"), "zero.har: found a device; accepted: a HAR")
    refused(goodqueue("run", "ok.toml", "--set", "bottleneck.qdisc=./zero.py:Zero"), "zero.py: found a device")


@pytest.mark.parametrize("size", ["-Infinity", "Infinity", "NaN", "1e999", "-1e999", "1" * 400, "true", '"9"', "1e13"])
def test_a_har_file_with_odd_sizes_is_refused(tmp_path: Path, size: str) -> None:
    entry = '{"request": {"url": "http://a/b"}, "response": {"_transferSize": SIZE}}'.replace("SIZE", size)
    file = tmp_path / "x.har"
    file.write_text('{"log": {"entries": [' + entry + "]}}", encoding="utf-8")
    with pytest.raises(UserError, match=r"x\.har: "):
        har.read(file.name, tmp_path)


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress], ids=["gz", "bz2"])
def test_a_flent_file_that_unpacks_to_gigabytes_is_refused(tmp_path: Path, pack: Callable[[bytes], bytes]) -> None:
    file = tmp_path / "bomb.flent.gz"
    file.write_bytes(pack(b"[" + b" " * (opening.MOST_BYTES + 1)))
    with pytest.raises(UserError, match="holds more than 64 MiB when unpacked"):
        reading.read(str(file))


def flent(tmp_path: Path, **changes: Any) -> str:
    samples = [{"t": 946684800.0 + step / 5, "val": 9.0, "dur": 0.2} for step in range(20)]
    data: dict[str, Any] = {
        "version": 4,
        "metadata": {"NAME": "tcp_ndown", "T0": "2000-01-01T00:00:00.000000Z", "STEP_SIZE": 0.2},
        "x_values": [step / 5 for step in range(20)],
        "results": {"TCP download": [9.0] * 20},
        "raw_values": {"TCP download": samples},
    }
    for key, value in changes.items():
        if isinstance(value, dict):
            data[key] |= value
        else:
            data[key] = value
    file = tmp_path / "x.flent"
    file.write_text(json.dumps(data), encoding="utf-8")
    return str(file)


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"metadata": {"SERIES_META": []}}, None),
        ({"metadata": {"SERIES_META": [1]}}, r"metadata: SERIES_META: found \[1\]; accepted: a table by name"),
        ({"metadata": {"TITLE": {"x": 1}}}, None),
        ({"metadata": {"STEP_SIZE": 10**400}}, "metadata: STEP_SIZE: found 1000"),
        ({"metadata": {"STEP_SIZE": -1}}, "metadata: STEP_SIZE: found -1"),
        ({"metadata": {"STEP_SIZE": 1e-308}}, "metadata: STEP_SIZE: found 1e-308"),
        ({"metadata": {"GOODQUEUE": {"scenario": 1, "seed": 1}}}, "GOODQUEUE: scenario: found 1; accepted: a table"),
        ({"metadata": {"GOODQUEUE": {"scenario": {}, "seed": "x"}}}, 'GOODQUEUE: seed: found "x"; accepted: a whole'),
        ({"version": True}, "version: found true"),
        ({"x_values": [*range(19), 1e9]}, "x_values: found a time 1e.09 s from the beginning; accepted: at most"),
        ({"raw_values": {"TCP download": [{"t": 0.0, "val": 1.0}]}}, "found a time -9.466.*e.08 s from the beginning"),
        ({"raw_values": {"TCP download": [{"t": 946684801.0, "val": 1.0, "dur": 1e9}]}}, "dur: found 1000000000.0"),
        ({"raw_values": {"TCP download": [{"t": 946684801.0, "val": 1e300}]}}, r"val: found 1e.300; accepted"),
    ],
)
def test_odd_things_in_a_flent_file_are_named(tmp_path: Path, changes: dict[str, Any], expected: str | None) -> None:
    file = flent(tmp_path, **changes)
    if expected is None:
        importing.record(reading.read(file), None, 1)
        return
    with pytest.raises(UserError, match=expected):
        reading.read(file)


@pytest.mark.parametrize("text", ["[" * 100_000, '{"format": ' + "[" * 100_000, '{"format": true}', '{"format": NaN}'])
def test_a_manifest_of_odd_things_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "store.json").write_text(text, encoding="utf-8")
    with pytest.raises(UserError, match=r"store\.json: does not say|found a store of format"):
        store.create(tmp_path, "--store st")


@pytest.mark.parametrize("seed", [2**63, 2**63 - 1, 2**64])
def test_a_seed_that_a_store_cannot_hold_is_refused(here: Path, goodqueue: Command, seed: int) -> None:
    found = goodqueue("sweep", "ok.toml", "--seed", str(seed), "--seeds", "2", "--store", "st")
    refused(found, f'--seed: found "{seed}"; accepted: a whole number from 0 to 92233720368547')
    assert not Path("st").exists()


@pytest.mark.parametrize("words", [["compare", "codel"], ["sweep", "ok.toml"], ["run", "ok.toml", "--trace"]])
def test_a_name_that_is_not_utf_8_is_refused_before_any_run(here: Path, words: list[str]) -> None:
    name = b"\xff.pcapng" if words[-1] == "--trace" else b"\xff"
    command = [
        *map(os.fsencode, [sys.executable, "-m", "goodqueue", *words]),
        *([] if words[-1] == "--trace" else [b"--out"]),
        name,
    ]
    found = subprocess.run(command, check=False, capture_output=True, text=True)
    refused(Result(found.returncode, found.stdout, found.stderr), "not UTF-8; accepted: names in UTF-8")
    assert [file.name for file in here.iterdir()] == ["ok.toml"]


AQM = """
class Odd:
    next_timer = {timer}

    def __init__(self, link{more}):
        pass

    def enqueue(self, now, packet, queue):
        {enqueue}

    def dequeue(self, now, queue):
        return queue.pop()

    def on_timer(self, now, queue):
        pass


class Mute(Exception):
    def __str__(self):
        raise ValueError("I say nothing")

    __repr__ = __str__
"""


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        ({"timer": "'soon'"}, "TypeError: Odd.next_timer: found 'soon'; accepted: whole nanoseconds, 0 or more"),
        ({"timer": "float('nan')"}, "TypeError: Odd.next_timer: found nan; accepted: whole nanoseconds"),
        ({"timer": "'x' * 1_000_000"}, "TypeError: Odd.next_timer: found 'xxxxx"),
        ({"enqueue": "raise Mute"}, "mine.py:9: Mute"),
        ({"enqueue": "raise ValueError('x' * 1_000_000)"}, "mine.py:9: ValueError: xxxx"),
        ({"enqueue": "self.next_timer = Mute(); queue.push(packet)"}, "found ?; accepted: whole nanoseconds"),
        ({"more": ", what=Mute()"}, ""),
    ],
)
@pytest.mark.parametrize("verb", ["run", "sweep"])
def test_odd_things_in_a_discipline_are_a_line(
    here: Path, goodqueue: Command, verb: str, parts: dict[str, str], expected: str
) -> None:
    filled = {"timer": "None", "more": "", "enqueue": "queue.push(packet)"} | parts
    text = AQM
    for key, value in filled.items():
        text = text.replace(f"{{{key}}}", value)
    late = text.replace("class Odd", "class Late").partition("class Mute")
    Path("mine.py").write_text(
        "class Mute" + late[2] + late[0].replace("Late", "Odd") if "what" in text else text, encoding="utf-8"
    )
    found = goodqueue(
        verb, "ok.toml", "--set", "bottleneck.qdisc=./mine.py:Odd", *(["--seeds", "1"] if verb == "sweep" else [])
    )
    assert "Traceback" not in found.err
    assert found.status in ((1, 2) if expected else (0,)), found
    assert expected in found.err
    assert found.err.count("\n") == (1 if expected else 0)
    assert len(found.err) < 4000


ESCAPE = "\x1b]0;mine\x07\x9b31m\u202e"


def test_names_of_others_give_the_terminal_no_commands(here: Path, goodqueue: Command, whole: Record) -> None:
    Path("ok.toml").write_text(
        TOML.replace('kind = "bulk"', f'kind = "bulk"\nname = {json.dumps(ESCAPE)}'), encoding="utf-8"
    )
    Path("ok.toml").rename(f"{ESCAPE}.toml")
    Path("mine.py").write_text(AQM.format(timer=None, more=", x=1", enqueue="queue.push(packet)"), encoding="utf-8")
    title = flent(here, metadata={"TITLE": ESCAPE})
    shown = [
        goodqueue("run", f"{ESCAPE}.toml"),
        goodqueue("run", f"{ESCAPE}.toml", "--markdown"),
        goodqueue("sweep", f"{ESCAPE}.toml", "--seeds", "1"),
        goodqueue("run", f"{ESCAPE}.toml", "--set", f"bottleneck.qdisc=./mine.py:Odd x {ESCAPE}"),
        goodqueue("compare", f"./mine.py:Odd x {ESCAPE}", "--scenario", f"{ESCAPE}.toml", "--seeds", "1"),
        goodqueue("import", title),
        goodqueue("run", f"{ESCAPE}{ESCAPE}.toml"),
    ]
    for found in shown:
        text = found.out + found.err
        assert "mine" in text, "it is shown"
        assert all(char.isprintable() or char == "\n" for char in text), [
            char for char in text if not char.isprintable()
        ]


def test_depth_and_numbers() -> None:
    inputs.check_depth({"a": [{"b": 1}]})
    deep: Any = 1
    for _ in range(inputs.DEEPEST + 2):
        deep = [deep]
    with pytest.raises(inputs.TooDeepError):
        inputs.check_depth(deep)
    assert [inputs.is_finite(one) for one in (1, 1.5, True, "1", None, 10**400, float("nan"))] == [
        True,
        True,
        *[False] * 5,
    ]
