"""HAR files become pages. Broken files are refused in one line that names the file and the place."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from conftest import Result
from goodqueue import run, scenario
from goodqueue.errors import UserError
from goodqueue.files import har


def entry(url: str, began: str, asked: dict[str, Any], answered: dict[str, Any], **more: Any) -> dict[str, Any]:
    """Return an entry as a browser writes it."""
    request = {"method": "GET", "url": url, **asked}
    return {"startedDateTime": began, "request": request, "response": {"status": 200, **answered}, **more}


ENTRIES = [
    entry("https://b.org/2", "2026-01-01T00:00:01.500Z", {"headersSize": -1}, {"_transferSize": 5000, "bodySize": 1}),
    entry(
        "http://a.org/",
        "2026-01-01T00:00:00.000Z",
        {"headersSize": 350, "bodySize": 50},
        {"headersSize": 200, "bodySize": 9800, "content": {"size": 40000}},
    ),
    entry("http://a.org:8080/3", "2026-01-01T00:00:02.000Z", {}, {"bodySize": -1, "content": {"size": 700}}),
    entry("data:image/png;base64,AA", "2026-01-01T00:00:02.100Z", {}, {"bodySize": 1}),
    entry("http://a.org/4", "2026-01-01T00:00:02.200Z", {}, {"bodySize": 1}, _fromCache="memory"),
    entry("http://a.org/5", "2026-01-01T00:00:02.300Z", {}, {"headersSize": 0, "bodySize": 0}),
]


def write(folder: Path, data: object) -> Path:
    """Write a HAR file."""
    file = folder / "page.har"
    file.write_text(json.dumps(data), encoding="utf-8")
    return file


def test_entries_become_objects_in_the_order_in_which_they_began(tmp_path: Path) -> None:
    file = write(tmp_path, {"log": {"entries": ENTRIES}})
    assert har.objects(file) == [
        {"host": "a.org", "request": "400B", "response": "10000B"},
        {"host": "b.org", "response": "5000B"},
        {"host": "a.org:8080", "response": "700B"},
        {"host": "a.org", "response": "1B"},
    ]


SCENARIO = """
duration = "20s"
bottleneck = {rate = "10mbit", qdisc = "fq_codel"}
path = {rtt = "50ms"}
traffic = [{kind = "page", page = "page.har", repeat = 1}]
"""


def test_a_scenarios_har_file_is_beside_it_and_its_record_needs_no_file(tmp_path: Path) -> None:
    file = write(tmp_path, {"log": {"entries": ENTRIES}})
    (tmp_path / "scenario.toml").write_text(SCENARIO, encoding="utf-8")
    resolved = scenario.from_file(tmp_path / "scenario.toml")
    assert resolved["traffic"][0]["page"] == "page.har"
    assert len(resolved["traffic"][0]["objects"]) == 4
    file.unlink()
    record = run.one(resolved)
    app = record["apps"][0]
    assert app["completed"] == 1
    # Two lookups, two handshakes, two exchanges, and the transmission times.
    assert 300 < (app["load_ms"] or {})["mean"] < 320  # type: ignore[operator]
    assert run.one(record["scenario"])["apps"] == record["apps"]


def test_another_page_has_other_objects(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, {"log": {"entries": ENTRIES}})
    (tmp_path / "scenario.toml").write_text(SCENARIO, encoding="utf-8")
    resolved = scenario.from_file(tmp_path / "scenario.toml", ["traffic.0.page=google"])
    assert "objects" not in resolved["traffic"][0]
    monkeypatch.chdir(tmp_path)
    resolved = scenario.from_file("scenario.toml", ["traffic.0.page=google", "traffic.0.page=page.har"])
    assert len(resolved["traffic"][0]["objects"]) == 4


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ([], "found no log.entries"),
        ({"log": {}}, "found no log.entries"),
        ({"log": {"entries": []}}, "found 0 entries, none of them fetched by HTTP"),
        ({"log": {"entries": [ENTRIES[3]]}}, "found 1 entries, none of them fetched by HTTP"),
        ({"log": {"entries": [ENTRIES[0], {"request": {"url": "http://a"}}]}}, "log.entries[1]: no 'response'"),
        ({"log": {"entries": [7]}}, "log.entries[0]: "),
        ({"log": {"entries": [{"request": {"url": 7}, "response": {}}]}}, "log.entries[0]: "),
        (
            {"log": {"entries": [{"request": {"url": "http://a"}, "response": {"bodySize": "x"}}]}},
            'log.entries[0]: found "x" for bodySize',
        ),
    ],
)
def test_what_is_no_page_is_refused_by_its_place(data: object, message: str, tmp_path: Path) -> None:
    file = write(tmp_path, data)
    with pytest.raises(UserError) as refused:
        har.objects(file)
    assert str(refused.value).startswith(f"{file}: {message}")
    assert str(refused.value).endswith(f"; accepted: {har.ACCEPTED}")


@pytest.mark.parametrize("content", [b"{", b"\xff\xfe", b"", b"[" * 100_000])
def test_what_is_no_json_is_refused(content: bytes, tmp_path: Path, goodqueue: Callable[..., Result]) -> None:
    (tmp_path / "page.har").write_bytes(content)
    (tmp_path / "scenario.toml").write_text(SCENARIO, encoding="utf-8")
    result = goodqueue("run", str(tmp_path / "scenario.toml"))
    assert result.status == 2
    assert result.err.startswith(f"goodqueue: {tmp_path / 'page.har'}: cannot be read: ")
    assert result.err.count("\n") == 1
