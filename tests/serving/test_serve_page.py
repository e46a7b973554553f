"""The page over HTTP: its files with the right types, to this machine only, and no way to any other file."""

import gzip
import json
import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from conftest import PAGE
from goodqueue.serving import mine, server
from served import LIMIT_S, Ask, served


@pytest.fixture
def ask(page: Path, here: Path) -> Iterator[Ask]:
    with served("ok.toml") as found:
        yield found


@pytest.mark.parametrize(
    ("path", "kind", "file"),
    [
        ("/", "text/html; charset=utf-8", "index.html"),
        ("/?scenario=first", "text/html; charset=utf-8", "index.html"),
        ("/index.html", "text/html; charset=utf-8", "index.html"),
        ("/assets/main.js", "text/javascript; charset=utf-8", "assets/main.js"),
        ("/assets/page.css", "text/css; charset=utf-8", "assets/page.css"),
        ("/assets/core.wasm", "application/wasm", "assets/core.wasm"),
        ("/assets/icon%2epng", "image/png", "assets/icon.png"),
    ],
)
def test_each_file_comes_whole_and_as_what_it_is(ask: Ask, path: str, kind: str, file: str) -> None:
    status, headers, body = ask(path)
    assert (status, body) == (200, PAGE[file])
    assert headers["Content-Type"] == kind, "a browser compiles no WebAssembly, and runs no script, of another type"
    assert "Content-Encoding" not in headers


def test_gzip_for_who_takes_it(ask: Ask) -> None:
    for asked in ("gzip", "gzip, deflate, br", "br;q=1.0, gzip;q=0.5"):
        status, headers, body = ask("/assets/core.wasm", Accept_Encoding=asked)
        assert (status, headers["Content-Encoding"], gzip.decompress(body)) == (200, "gzip", PAGE["assets/core.wasm"])
        assert int(headers["Content-Length"]) == len(body) < len(PAGE["assets/core.wasm"])
        assert headers["Content-Type"] == "application/wasm"
    for asked in ("br", "gzip;q=0", "deflate, gzip; q=0.000", "x-gzip", ""):
        assert ask("/assets/core.wasm", Accept_Encoding=asked)[2] == PAGE["assets/core.wasm"], "it would see noise"
    assert ask("/assets/icon.png", Accept_Encoding="gzip")[2] == PAGE["assets/icon.png"], "gzip makes it larger"


@pytest.mark.parametrize("path", ["/", "/mine.json", "/mine/0.json", "/none", "/mine/9.json"])
def test_each_answer_says_what_a_browser_may_do_with_it(ask: Ask, path: str) -> None:
    _, headers, _ = ask(path)
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Cache-Control"] == "no-cache"
    policy = dict(part.strip().split(" ", 1) for part in headers["Content-Security-Policy"].split(";"))
    assert policy["default-src"] == "'self'"
    assert policy["script-src"] == "'self' 'wasm-unsafe-eval'"
    assert policy["worker-src"] == "'self'"
    assert policy["style-src"] == "'self' 'unsafe-inline'"
    assert policy["img-src"] == "'self' data: blob:"
    assert "access-control-allow-origin" not in {name.lower() for name in headers}, "other sites read nothing here"


@pytest.mark.parametrize("path", ["/", "/mine.json", "/mine/0.json", "/none"])
def test_head_is_get_without_the_body(ask: Ask, path: str) -> None:
    def sent(method: str) -> tuple[list[str], bytes]:
        with socket.create_connection(("127.0.0.1", ask.port), timeout=LIMIT_S) as raw:
            raw.sendall(f"{method} {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
            answer = b"".join(iter(lambda: raw.recv(65536), b""))
        head, _, body = answer.partition(b"\r\n\r\n")
        return [line for line in head.decode().splitlines() if not line.startswith("Date")], body

    lines, body = sent("GET")
    assert f"Content-Length: {len(body)}" in lines
    assert sent("HEAD") == (lines, b""), "a body would be taken for the next answer"


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS", "BREW"])
def test_nothing_but_get_and_head(ask: Ask, method: str) -> None:
    status, headers, body = ask("/mine.json", method)
    assert (status, headers["Allow"]) == (405, "GET, HEAD")
    assert json.loads(body) == {"error": f"found {method}; accepted: GET, HEAD"}


@pytest.mark.parametrize(
    "path",
    [
        "/../secret",
        "/%2e%2e/secret",
        "/%2E%2E%2Fsecret",
        "/assets/../../secret",
        "/assets/%2e%2e/%2e%2e/secret",
        "/..%5csecret",
        "/%252e%252e/secret",
        "../secret",
        "//secret",
        "/index.html/../../secret",
        "/index.html%00",
        "/mine/../../secret",
        "/mine/-1.json",
        "/mine/1.json",
        "/mine/99999999999999999999.json",
        "/out.txt",
        "/outside/secret",
        "/assets",
        "/assets/",
        "/ok.toml",
        "http://localhost/secret",
    ],
)
def test_no_way_out_of_the_folder_and_no_listing(page: Path, here: Path, path: str) -> None:
    secret = page.parent / "secret"
    secret.write_text("SECRET", encoding="utf-8")
    (page / "out.txt").symlink_to(secret)
    (page / "outside").symlink_to(page.parent, target_is_directory=True)
    with served("ok.toml") as ask:
        status, _, body = ask(path)
        absolute = ask(str(secret))[0]
    assert (status, absolute) == (404, 404)
    assert json.loads(body)["error"]
    assert b"SECRET" not in body
    assert b"main.js" not in body


def test_a_link_within_the_folder_is_followed(page: Path) -> None:
    (page / "alias.js").symlink_to("assets/main.js")
    assert server.page()["/alias.js"].data == PAGE["assets/main.js"]


@pytest.mark.parametrize(
    "hosts",
    [
        [],
        [""],
        ["evil.example"],
        ["evil.example:8289"],
        ["localhost.evil.example"],
        ["127.0.0.1.evil.example"],
        ["127.0.0.2"],
        ["0"],  # leads here, too
        ["[::1"],
        ["localhost:80@evil.example"],
        ["localhost", "evil.example"],
        ["evil.example", "localhost"],
    ],
)
@pytest.mark.parametrize("path", ["/", "/mine.json", "/mine/0.json"])
def test_a_foreign_name_that_leads_here_is_refused(ask: Ask, hosts: list[str], path: str) -> None:
    """Otherwise any site could point its name to 127.0.0.1, and read the user's files as its own."""
    status, _, body = ask(path, hosts=hosts)
    assert (status, list(json.loads(body))) == (403, ["error"])


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST:1", "127.0.0.1:8289", "[::1]:9000", "127.0.0.1"])
def test_this_machine_by_any_of_its_names_and_ports(ask: Ask, host: str) -> None:
    assert ask("/mine.json", hosts=[host])[0] == 200


@pytest.mark.parametrize("sent", [b"what is this thing", b"GET / HTTP/9.9", b"GET", b"GET / HTTP/x y z"])
def test_what_is_no_http_is_answered_in_a_line(page: Path, sent: bytes, capfd: pytest.CaptureFixture[str]) -> None:
    with server.Server(server.page(), mine.Mine([], [], []), 0) as listening:
        thread = threading.Thread(target=listening.handle_request)
        thread.start()
        with socket.create_connection(listening.server_address, timeout=LIMIT_S) as raw:
            raw.sendall(sent + b"\r\n\r\n")
            answer = b"".join(iter(lambda: raw.recv(4096), b""))
        thread.join()
    assert list(json.loads(answer.rpartition(b"\r\n\r\n")[2])) == ["error"]
    assert capfd.readouterr().err == ""


def test_silent_clients_do_not_keep_the_page_from_others(page: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each open connection is a descriptor. A client that sends nothing kept it for ever."""
    monkeypatch.setattr(server.Handler, "timeout", 0.2)
    with served() as ask:
        silent = [socket.create_connection(("127.0.0.1", ask.port), timeout=LIMIT_S) for _ in range(50)]
        for number, one in enumerate(silent):
            one.sendall(b"GET / HT"[: number % 9])
        assert [one.recv(9) for one in silent] == [b""] * 50, "the server has closed them"
        assert ask("/")[0] == 200
        for one in silent:
            one.close()


def test_a_browser_that_goes_away_is_no_error(page: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def told(error: Exception) -> str:
        try:
            raise error
        except type(error):
            listening.handle_error(None, ("127.0.0.1", 1))
        return capsys.readouterr().err

    with server.Server(server.page(), mine.Mine([], [], []), 0) as listening:
        assert told(BrokenPipeError()) == told(ConnectionResetError()) == told(TimeoutError()) == ""
        assert "ZeroDivisionError" in told(ZeroDivisionError()), "a fault of ours must be seen"
