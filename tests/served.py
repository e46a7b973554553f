"""Helpers for the tests of `goodqueue serve`: the server in this process, and verbatim requests."""

import http.client
import json
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

from goodqueue.serving import mine, server

LIMIT_S = 100
"""Generous: without an answer each wait would last for ever."""


@dataclass(frozen=True)
class Ask:
    """Sends one request verbatim, path and headers, and returns status, headers and body."""

    port: int
    address: str = "127.0.0.1"

    def __call__(
        self, path: str, method: str = "GET", hosts: Sequence[str] = ("localhost",), **headers: str
    ) -> tuple[int, dict[str, str], bytes]:
        connection = http.client.HTTPConnection(self.address, self.port, timeout=LIMIT_S)
        try:
            connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
            for host in hosts:
                connection.putheader("Host", host)
            for name, value in headers.items():
                connection.putheader(name.replace("_", "-"), value)
            connection.endheaders()
            answer = connection.getresponse()
            return answer.status, dict(answer.getheaders()), answer.read()
        finally:
            connection.close()


@contextmanager
def served(*paths: str, lessons: str = "") -> Iterator[Ask]:
    """Run the server in this process, with the records in ``paths`` and the folder ``lessons``."""
    with server.Server(server.page(), replace(mine.find(paths), lessons=lessons), 0) as listening:
        thread = threading.Thread(target=listening.serve_forever, args=[0.01])
        thread.start()
        try:
            yield Ask(listening.server_address[1])
        finally:
            listening.shutdown()
            thread.join()


def body_of(ask: Ask, path: str) -> Any:
    status, headers, body = ask(path)
    assert (status, headers["Content-Type"]) == (200, "application/json"), body
    return json.loads(body)
