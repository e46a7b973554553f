"""An HTTP server for programs on this machine, which no client can hold up or make write to the terminal.

Any page in a browser of this machine can send requests here, under a name of its own that it makes resolve to this
machine (DNS rebinding). So a request must name this machine as its host.
"""

import errno
import re
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

REFUSED = "found the name of another host; accepted: localhost, 127.0.0.1 or [::1]"
"""The answer to a request for which `Handler.names_this_machine` is false, with status 403."""

MOST_CONNECTIONS = 100
"""The number of clients that are answered at a time. A browser opens six connections; further ones are closed."""

_HERE = re.compile(r"(localhost|127\.0\.0\.1|\[::1\])(:[0-9]*)?", re.IGNORECASE)
"""The values of the header Host that name this machine. A tunnel has a port of its own."""

_FULL_S = 0.1
"""The wait in seconds after the system had no descriptor left. Without it, the loop would ask again at once."""


class Server(ThreadingHTTPServer):
    """Answers each request in a thread of its own. The threads end with the process."""

    request_queue_size = 128
    """The number of connections that may wait to be accepted. A browser opens several at once."""

    def __init__(self, *arguments: Any) -> None:
        """Listen as `socketserver.TCPServer` does."""
        self._room = threading.BoundedSemaphore(MOST_CONNECTIONS)
        super().__init__(*arguments)

    def get_request(self) -> Any:
        """Accept a connection. Raises OSError, which the loop ignores."""
        try:
            return super().get_request()
        except OSError as error:
            if error.errno in (errno.EMFILE, errno.ENFILE):
                time.sleep(_FULL_S)
            raise

    def verify_request(self, request: Any, client_address: Any) -> bool:
        """Return whether there is room for one more connection. Otherwise the loop closes it."""
        del request, client_address
        return self._room.acquire(blocking=False)

    def process_request(self, request: Any, client_address: Any) -> None:
        """Answer the connection in a thread."""
        try:
            super().process_request(request, client_address)
        except BaseException:  # no thread could be started
            self._room.release()
            raise

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        """Answer the connection."""
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._room.release()

    def handle_error(self, request: object, client_address: object) -> None:
        """Ignore a client that went away in the middle, or that was too slow. Print other errors."""
        if not isinstance(sys.exception(), ConnectionError | TimeoutError):
            super().handle_error(request, client_address)  # type: ignore[arg-type]


class Handler(BaseHTTPRequestHandler):
    """Answers one request."""

    timeout = 10.0
    """The longest wait in seconds for a client's next bytes, or for room to send. Otherwise silent clients would use
    up the process's descriptors, and nobody else would get an answer."""

    def names_this_machine(self) -> bool:
        """Return whether the request names this machine as its host."""
        hosts: list[str] = self.headers.get_all("Host", [])
        return len(hosts) == 1 and _HERE.fullmatch(hosts[0].strip()) is not None

    def log_message(self, format: str, *values: object) -> None:  # noqa: A002
        """Log nothing: the terminal belongs to the user."""
