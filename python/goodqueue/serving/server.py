"""Serves the page over HTTP, only for the browser of this machine.

The server listens on 127.0.0.1, where any program of this machine can reach it, and any page in the browser can try to.
So a request must name this machine as its host; a foreign name that was made to resolve to this machine is refused. And
all paths are listed before the first request: no path of a request ever reaches the file system.
"""

import errno
import gzip
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote

from goodqueue import listening
from goodqueue.errors import UserError
from goodqueue.serving import lessons
from goodqueue.serving.mine import LESSONS, Mine

PAGE = Path(__file__).resolve().parents[1].joinpath("page/index.html").parent
"""The folder that `make web` builds and that a wheel contains."""

HOST = "127.0.0.1"

_MINE = re.compile(r"/mine/([0-9]{1,9})\.json")

JSON = "application/json"
_OTHER = "application/octet-stream"
_TYPES = {
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".json": JSON,
    ".map": JSON,
    ".mjs": "text/javascript; charset=utf-8",
    ".png": "image/png",
    ".svg": "image/svg+xml",
    ".txt": "text/plain; charset=utf-8",
    ".wasm": "application/wasm",
    ".woff2": "font/woff2",
}
"""A fixed table, since Python's `mimetypes` depends on the system's files or registry."""

_HEADERS = {
    "Cache-Control": "no-cache",
    "Content-Security-Policy": "default-src 'self'; script-src 'self' 'wasm-unsafe-eval'; worker-src 'self'; "
    "style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; object-src 'none'; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'",
    "Vary": "Accept-Encoding",
    "X-Content-Type-Options": "nosniff",
}


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer to a request."""

    status: int
    kind: str
    data: bytes
    zipped: bytes | None = None
    """The same data compressed, for a browser that accepts gzip, if that is smaller."""


def page(folder: Path | None = None) -> dict[str, Answer]:
    """Return the files of the page by the paths that a browser asks for. Raises UserError if there is no page.

    A link that leads out of the folder is skipped.
    """
    root = (folder or PAGE).resolve()
    if not (root / "index.html").is_file():
        accepted = "a wheel of goodqueue, or `make web` in a checkout"
        raise UserError(f"found no page in the package ({root}); accepted: {accepted}")
    files = {
        f"/{file.relative_to(root).as_posix()}": _static(file)
        for file in sorted(root.rglob("*"))
        if file.is_file() and file.resolve().is_relative_to(root)
    }
    return files | {"/": files["/index.html"]}


def _static(file: Path) -> Answer:
    data = file.read_bytes()
    zipped = gzip.compress(data, mtime=0)
    return Answer(200, _TYPES.get(file.suffix, _OTHER), data, zipped if len(zipped) < len(data) else None)


class Server(listening.Server):
    """Listens as soon as it is created, and answers while ``serve_forever`` runs."""

    def __init__(self, files: Mapping[str, Answer], mine: Mine, port: int) -> None:
        """Listen on ``port``, or on any free port if it is 0. Raises UserError if that is not possible."""
        self.files = files
        self.mine = mine
        try:
            super().__init__((HOST, port), Handler)
        except OSError as error:
            if error.errno == errno.EADDRINUSE:
                why = "which another program listens on"
            else:
                why = f"which cannot be had: {error.strerror}"
            raise UserError("--port", f"found {port}, {why}; accepted: another port, or 0 for any") from None

    @property
    def url(self) -> str:
        """The address of the page."""
        return f"http://{HOST}:{self.server_address[1]}/"


class Handler(listening.Handler):
    """Answers one request."""

    server: Server
    server_version = "goodqueue"
    sys_version = ""

    def do_GET(self) -> None:  # noqa: N802
        """Send the requested file."""
        self._send(self._answer())

    do_HEAD = do_GET  # noqa: N815

    def _answer(self) -> Answer:
        if not self.names_this_machine():
            return _error(403, listening.REFUSED)
        path = unquote(self.path.partition("?")[0])
        if path == "/mine.json":
            return _json(200, self.server.mine.listing())
        if path == f"/{LESSONS}" and (folder := self.server.mine.lessons):
            return _read(lambda: json.dumps(lessons.load(folder)))
        if number := _MINE.fullmatch(path):
            return self._mine(int(number[1]))
        return self.server.files.get(path) or _error(404, "not found; accepted: what the page asks for")

    def _mine(self, number: int) -> Answer:
        entries = self.server.mine.entries
        if number >= len(entries):
            return _error(404, f"found number {number}; accepted: one that mine.json lists")
        return _read(entries[number].read)

    def _send(self, answer: Answer) -> None:
        data = answer.data
        self.send_response(answer.status)
        for name, value in _HEADERS.items():
            self.send_header(name, value)
        if answer.zipped is not None and self._takes_gzip():
            data = answer.zipped
            self.send_header("Content-Encoding", "gzip")
        if answer.status == 405:
            self.send_header("Allow", "GET, HEAD")
        self.send_header("Content-Type", answer.kind)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)

    def _takes_gzip(self) -> bool:
        for item in ",".join(self.headers.get_all("Accept-Encoding", [])).lower().split(","):
            name, _, weight = item.partition(";")
            if name.strip() == "gzip":
                return not re.fullmatch(r"\s*q=0(\.0*)?\s*", weight)
        return False

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """Answer requests that `http.server` refuses itself: other methods, or malformed HTTP."""
        del explain
        if code == 501:
            self._send(_error(405, f"found {self.command}; accepted: GET, HEAD"))
        else:
            self._send(_error(code, message or "not understood"))


def _read(read: Callable[[], str]) -> Answer:
    try:
        return Answer(200, JSON, read().encode())
    except UserError as error:  # a file was changed and is now broken
        return _error(422, str(error))


def _json(status: int, value: object) -> Answer:
    return Answer(status, JSON, json.dumps(value).encode())


def _error(status: int, message: str) -> Answer:
    return _json(status, {"error": message})
