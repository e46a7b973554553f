"""HAR files become pages. Broken files are refused in one line that names the file and the place."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from conftest import Result
from goodqueue import running
from goodqueue.engines import loads
from goodqueue.errors import UserError
from goodqueue.files import har
from mutation import mutated
from tries import tries


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


def objects(folder: Path, entries: list[dict[str, Any]], creator: str = "hand") -> list[dict[str, str]]:
    """Return the objects of a page with these entries."""
    file = write(folder, {"log": {"creator": {"name": creator}, "entries": entries}})
    return har.read(file.name, folder)[1]


def test_entries_become_objects_in_the_order_in_which_they_began(tmp_path: Path) -> None:
    assert objects(tmp_path, ENTRIES) == [
        {"host": "a.org", "request": "400B", "response": "10000B"},
        {"host": "b.org", "response": "5000B"},
        {"host": "a.org:8080", "response": "700B"},
    ]


def test_times_of_two_zones_are_compared_as_times(tmp_path: Path) -> None:
    """The first began at 23:30 UTC, the second 10 minutes before. The third has no time: it follows the second."""
    began = ["2026-01-02T00:30:00.000+01:00", "2026-01-01T23:20:00.000Z", "soon"]
    entries = [entry(f"http://{place}.org/", at, {}, {"bodySize": 9}) for place, at in enumerate(began)]
    assert [one["host"] for one in objects(tmp_path, entries)] == ["1.org", "2.org", "0.org"]


# What crossed the network.

BODY = {"content": {"size": 500_000}}
SMALL = {"headersSize": 250, "bodySize": 9_750}


@pytest.mark.parametrize(
    ("answered", "more", "creator", "bytes_"),
    [
        # 0 is a size: a cache answered, whatever the size of the content.
        (BODY | {"headersSize": -1, "bodySize": 0, "_transferSize": 0}, {}, "WebInspector", 0),
        (BODY | {"headersSize": 250, "bodySize": 0}, {}, "Firefox", 0),
        (BODY | {"headersSize": -1, "bodySize": -1}, {"time": 0}, "Firefox", 0),
        (BODY | {"headersSize": -1, "bodySize": -1}, {"time": 7}, "Firefox", 500_000),
        (BODY | {"headersSize": 250, "bodySize": -1}, {"cache": {"beforeRequest": {"hitCount": 1}}}, "x", 0),
        (BODY | {"headersSize": 250, "bodySize": -1}, {"cache": {"afterRequest": None}}, "Firefox", 0),
        (BODY | SMALL, {"cache": {"beforeRequest": {"hitCount": 1}}}, "x", 10_000),
        (BODY | SMALL, {"_fromCache": "disk"}, "WebInspector", 0),
        (BODY | SMALL, {"_fetchType": "Memory Cache"}, "WebKit Web Inspector", 0),
        (BODY | SMALL | {"_transferSize": 10_020}, {"_fetchType": "Network Load"}, "WebKit Web Inspector", 10_020),
        (BODY | SMALL | {"_transferSize": 0}, {"_fetchType": "Service Worker"}, "WebKit Web Inspector", 0),
        (BODY | SMALL | {"_fetchedViaServiceWorker": True}, {}, "WebInspector", 0),
        (BODY | SMALL | {"_fetchedViaServiceWorker": True, "_transferSize": 900}, {}, "WebInspector", 900),
        # A revalidation: its headers came, and no body, whatever the size of what is shown.
        (BODY | {"status": 304, "headersSize": 180, "bodySize": -1}, {}, "x", 180),
        (BODY | {"status": 304, "headersSize": 180, "bodySize": 500_000}, {"cache": {"afterRequest": {}}}, "x", 180),
        (BODY | {"status": 304, "headersSize": -1, "bodySize": 0, "_transferSize": 123}, {}, "WebInspector", 123),
        # Redirects count as what they are. Chrome has no count of some, and makes others itself.
        ({"status": 302, "headersSize": 197, "bodySize": -197, "_transferSize": 0}, {}, "WebInspector", 197),
        ({"status": 301, "headersSize": 300, "bodySize": 20}, {}, "x", 320),
        ({"status": 307, "statusText": "Internal Redirect", "headersSize": 120, "bodySize": 0}, {}, "x", 0),
        # Failed: no answer.
        ({"status": 0, "headersSize": -1, "bodySize": -1, "_transferSize": 0, "_error": "net::ERR"}, {}, "x", 0),
        ({"status": 0, "headersSize": -1, "bodySize": -1, "_transferSize": 700}, {}, "WebInspector", 700),
        (BODY | {"status": -1, "headersSize": -1, "bodySize": -1}, {}, "Playwright", 0),
        # Unknown sizes: -1, null and nothing. The body's length on its way is nearer than the content's.
        (BODY | {"headersSize": None, "bodySize": None, "_transferSize": -1}, {}, "x", 500_000),
        ({"content": {"size": 500_000, "compression": 400_000}, "bodySize": -1}, {}, "x", 100_000),
        (BODY | {"bodySize": -1, "headers": [{"name": "content-length", "value": "70000"}]}, {}, "x", 70_000),
        (BODY | {"headersSize": 200, "bodySize": -1, "status": 204}, {}, "x", 200),
        ({"headersSize": -1, "bodySize": -1}, {}, "x", 1),
        ({"content": None, "bodySize": 20.0, "comment": ""}, {"comment": ""}, "x", 20),
        (BODY | {"bodySize": 400_000}, {"_bytesIn": "31000"}, "WebPageTest", 31_000),
    ],
)
def test_what_crossed_the_network_counts_and_nothing_else(
    answered: dict[str, Any], more: dict[str, Any], creator: str, bytes_: int, tmp_path: Path
) -> None:
    first = entry("http://a.org/", "2026-01-01T00:00:00Z", {}, {"bodySize": 9})
    own = entry("http://b.org/", "2026-01-01T00:00:01Z", {}, answered, **more)
    found = {one["host"]: one["response"] for one in objects(tmp_path, [first, own], creator)}
    assert found == {"a.org": "9B"} | ({"b.org": f"{bytes_}B"} if bytes_ else {})


@pytest.mark.parametrize(
    ("url", "answered"),
    [
        ("data:image/png;base64,AA", {"bodySize": 5}),
        ("blob:http://a.org/1", {"bodySize": 5}),
        ("chrome-extension://abc/x.js", {"bodySize": 5}),
        ("wss://a.org/live", {"status": 101, "bodySize": 5}),
        ("https://a.org/live", {"status": 101, "bodySize": 5}),
    ],
)
def test_addresses_that_no_fetch_asks_for_are_left_out(url: str, answered: dict[str, Any], tmp_path: Path) -> None:
    first = entry("http://a.org/", "2026-01-01T00:00:00Z", {}, {"bodySize": 9})
    assert len(objects(tmp_path, [first, entry(url, "2026-01-01T00:00:01Z", {}, answered)])) == 1


def test_a_cached_page_loads_as_fast_as_what_it_fetches(tmp_path: Path, goodqueue: Callable[..., Result]) -> None:
    """A document of 20,300 bytes, and 8 objects of 500 kB from the cache. Lookup, handshake and request take an RTT
    each. 14 segments fit into the first window, and the document has 15: another RTT."""
    cached = BODY | {"headersSize": -1, "bodySize": 0, "_transferSize": 0}
    entries = [
        entry("https://a.org/", "2026-01-01T00:00:00Z", {"headersSize": 300, "bodySize": 0}, {"_transferSize": 20_300}),
        *(entry(f"https://a.org/{place}", "2026-01-01T00:00:01Z", {"headersSize": 300}, cached) for place in range(8)),
    ]
    write(tmp_path, {"log": {"version": "1.2", "pages": [], "entries": entries}})
    (tmp_path / "s.toml").write_text(SCENARIO.replace("10mbit", "20mbit").replace("50ms", "40ms"), encoding="utf-8")
    said = goodqueue("run", str(tmp_path / "s.toml"), "--json")
    record = json.loads(said.out)
    assert record["scenario"]["traffic"][0]["objects"] == [{"host": "a.org", "request": "300B", "response": "20300B"}]
    assert record["apps"][0]["load_ms"]["mean"] == pytest.approx(163.4, abs=0.1)
    note = f"{tmp_path / 'page.har'}: 1 of 9 entries crossed the network; left out: 8 from a cache"
    assert said.err == f"goodqueue: {note}\n"


# Several pages.


def paged(**log: Any) -> dict[str, Any]:
    """Return a file with two pages. The last entry names none: it began while the second page was open."""
    pages = [
        {"id": "p1", "title": "http://a.org/#top", "startedDateTime": "2026-01-01T00:00:00Z"},
        {"id": "p2", "title": "Second", "startedDateTime": "2026-01-01T00:01:00Z"},
    ]
    entries = [
        entry("http://a.org/", "2026-01-01T00:00:00Z", {}, {"bodySize": 11}, pageref="p1"),
        entry("http://b.org/", "2026-01-01T00:01:00Z", {}, {"bodySize": 22}, pageref="p2"),
        entry("http://c.org/", "2026-01-01T00:01:30Z", {}, {"bodySize": 33}),
    ]
    return {"log": {"pages": pages, "entries": entries} | log}


@pytest.mark.parametrize(
    ("which", "name", "hosts"),
    [
        ("", "page.har#1", ["a.org"]),
        ("#1", "page.har#1", ["a.org"]),
        ("#2", "page.har#2", ["b.org", "c.org"]),
        ("#p2", "page.har#2", ["b.org", "c.org"]),
        ("#Second", "page.har#2", ["b.org", "c.org"]),
        ("#http://a.org/#top", "page.har#1", ["a.org"]),
    ],
)
def test_one_of_several_pages_is_read_and_named(which: str, name: str, hosts: list[str], tmp_path: Path) -> None:
    write(tmp_path, paged())
    found = har.read(f"page.har{which}", tmp_path)
    assert (found[0], [one["host"] for one in found[1]]) == (name, hosts)


def test_without_a_choice_the_first_page_that_fetched_something_is_read_and_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    empty = {"id": "p0", "startedDateTime": "2026-01-01T00:00:00Z"}
    file = write(tmp_path, paged(pages=[empty, *paged()["log"]["pages"]]))
    assert har.read("page.har", tmp_path)[0] == "page.har#2"
    said = f"{file}: 3 pages; read: page 2 (http://a.org/#top); accepted: page.har#1 to page.har#3"
    assert capsys.readouterr().err == f"goodqueue: {said}\n"


@pytest.mark.parametrize("pages", [[], None, [7], "x"])
def test_entries_say_which_pages_there_are_if_the_file_does_not(pages: object, tmp_path: Path) -> None:
    write(tmp_path, paged(pages=pages))
    assert [one["host"] for one in har.read("page.har#p2", tmp_path)[1]] == ["b.org"]


@pytest.mark.parametrize(
    ("which", "message"),
    [
        ("#4", 'found no page "4"; accepted: 1 (http://a.org/#top), 2 (Second)'),
        ("#0", 'found no page "0"; accepted: 1 (http://a.org/#top), 2 (Second)'),
        ("#3", "page 3 fetched nothing across the network; accepted: 1 (http://a.org/#top), 2 (Second)"),
    ],
)
def test_a_page_that_is_not_there_is_refused(
    which: str, message: str, tmp_path: Path, goodqueue: Callable[..., Result]
) -> None:
    file = write(tmp_path, paged(pages=[*paged()["log"]["pages"], {}]))
    said = goodqueue("compare", "codel", "--traffic", f"page:{file}{which}")
    assert (said.status, said.err) == (2, f"goodqueue: {file}: {message}\n")


def test_a_mark_at_the_beginning_is_no_part_of_the_text(tmp_path: Path) -> None:
    file = write(tmp_path, {"log": {"entries": ENTRIES}})
    file.write_bytes(b"\xef\xbb\xbf" + file.read_bytes())
    assert len(har.read("page.har", tmp_path)[1]) == 3


def test_however_a_file_is_changed_it_is_read_or_refused(tmp_path: Path) -> None:
    for draw in tries(400):
        data, what = mutated(paged(), draw)
        write(tmp_path, data)
        try:
            har.read("page.har", tmp_path)
        except UserError as error:
            assert "\n" not in str(error)
        except Exception as error:
            raise AssertionError(what) from error


SCENARIO = """
duration = "20s"
bottleneck = {rate = "10mbit", qdisc = "fq_codel"}
path = {rtt = "50ms"}
traffic = [{kind = "page", page = "page.har", repeat = 1}]
"""


def test_a_scenarios_har_file_is_beside_it_and_its_record_needs_no_file(tmp_path: Path) -> None:
    file = write(tmp_path, {"log": {"entries": ENTRIES}})
    (tmp_path / "scenario.toml").write_text(SCENARIO, encoding="utf-8")
    resolved = loads.from_file(tmp_path / "scenario.toml")
    assert resolved["traffic"][0]["page"] == "page.har"
    assert len(resolved["traffic"][0]["objects"]) == 3
    file.unlink()
    record = running.one(resolved)
    app = record["apps"][0]
    assert app["completed"] == 1
    # Two lookups, two handshakes, two exchanges, and the transmission times.
    assert 300 < (app["load_ms"] or {})["mean"] < 320  # type: ignore[operator]
    assert running.one(record["scenario"])["apps"] == record["apps"]


def test_another_page_has_other_objects(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, {"log": {"entries": ENTRIES}})
    (tmp_path / "scenario.toml").write_text(SCENARIO, encoding="utf-8")
    resolved = loads.from_file(tmp_path / "scenario.toml", ["traffic.0.page=google"])
    assert "objects" not in resolved["traffic"][0]
    monkeypatch.chdir(tmp_path)
    resolved = loads.from_file("scenario.toml", ["traffic.0.page=google", "traffic.0.page=page.har"])
    assert len(resolved["traffic"][0]["objects"]) == 3


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ([], "found no log.entries"),
        ({"log": {}}, "found no log.entries"),
        ({"log": {"entries": []}}, "found 0 entries, none of them fetched across the network"),
        (
            {"log": {"entries": [ENTRIES[3]]}},
            "found 1 entries, none of them fetched across the network (1 not HTTP, such as data:)",
        ),
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
        har.read(file.name, tmp_path)
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
