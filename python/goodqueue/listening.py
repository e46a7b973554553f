"""An HTTP server for programs on this machine, which no client can hold up or make write to the terminal."""

import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Server(ThreadingHTTPServer):
    """Answers each request in a thread of its own. The threads end with the process."""

    request_queue_size = 128
    """The number of connections that may wait to be accepted. A browser opens several at once."""

    def handle_error(self, request: object, client_address: object) -> None:
        """Ignore a client that went away in the middle, or that was too slow. Print other errors."""
        if not isinstance(sys.exception(), ConnectionError | TimeoutError):
            super().handle_error(request, client_address)  # type: ignore[arg-type]


class Handler(BaseHTTPRequestHandler):
    """Answers one request."""

    timeout = 10.0
    """The longest wait in seconds for a client's next bytes, or for room to send. Otherwise silent clients would use
    up the process's descriptors, and nobody else would get an answer."""

    def log_message(self, format: str, *values: object) -> None:  # noqa: A002
        """Log nothing: the terminal belongs to the user."""
