"""The state of a link for Prometheus: its text format over HTTP, by default on this machine only.

https://prometheus.io/docs/instrumenting/exposition_formats/. No library is used, since the text is a dozen lines.
"""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from goodqueue import listening
from goodqueue.engines.live.talk import Message
from goodqueue.errors import UserError, quoted

HOST = "127.0.0.1"
PATH = "/metrics"

_PREFIX = "goodqueue_link_"
_KIND = "text/plain; version=0.0.4; charset=utf-8"

_QUEUES = (
    ("offered_packets_total", "offered", "Packets that came to the queue."),
    ("forwarded_packets_total", "forwarded", "Packets that began their transmission."),
    ("forwarded_bytes_total", "forwarded_bytes", "Bytes of these, with the link's header."),
    ("dropped_packets_total", "dropped", "Packets that were dropped."),
    ("marked_packets_total", "marked", "Packets that were set to CE."),
    ("delay_seconds_total", "delay_sum_s", "Sum of the queueing delays of forwarded packets."),
    ("queued_packets", "queued", "Packets that wait."),
)
"""The metric's name, the key in a queue's glance, and the help text."""


def text(glance: Message | None) -> str:
    """Return all metrics of a glance (`Gateway.glance`), or nothing before the first glance."""
    return "".join(f"{line}\n" for line in _lines(glance)) if glance else ""


def _lines(glance: Message) -> Iterator[str]:
    for name, key, about in _QUEUES:
        yield from _head(name, "counter" if name.endswith("_total") else "gauge", about)
        for direction, queue in glance["queues"].items():
            yield f'{_PREFIX}{name}{{direction="{direction}"}} {queue[key]}'
    yield from _head("elapsed_seconds", "gauge", "How long it has run.")
    yield f"{_PREFIX}elapsed_seconds {glance['elapsed_s']}"
    yield from _head("flows", "gauge", "Flows of real packets so far.")
    yield f"{_PREFIX}flows {glance['flows']}"
    if late := glance["late_us"]:
        yield from _head("late_seconds", "gauge", "How late packets left, of all so far: the emulator's own doing.")
        for name, share in (("p50", "0.5"), ("p90", "0.9"), ("p99", "0.99"), ("p999", "0.999"), ("max", "1")):
            yield f'{_PREFIX}late_seconds{{quantile="{share}"}} {late[name] / 1e6:.9f}'


def _head(name: str, kind: str, about: str) -> tuple[str, str]:
    return f"# HELP {_PREFIX}{name} {about}", f"# TYPE {_PREFIX}{name} {kind}"


class Metrics:
    """Holds the last glance for the HTTP server."""

    def __init__(self) -> None:
        """Start without a glance."""
        self.last: Message | None = None

    def glance(self, now: Message) -> None:
        """Serve ``now`` from now on."""
        self.last = now

    @contextmanager
    def served(self, address: str) -> Iterator[None]:
        """Serve at ``address``, such as 127.0.0.1:9100, from now to the end of the context. Raises UserError."""
        server = _listening(address, self)
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
        thread.start()
        try:
            yield
        finally:
            server.shutdown()
            server.server_close()


def _listening(address: str, metrics: Metrics) -> listening.Server:
    host, _, number = address.rpartition(":")
    host = host.strip("[]") or HOST
    if not (number.isascii() and number.isdecimal() and int(number) < 1 << 16):
        raise UserError("--metrics", f"found {quoted(address)}; accepted: HOST:PORT, such as {HOST}:9100")

    # Whoever lets other machines ask has them use a name of this machine that only they know.
    is_here = host in (HOST, "::1", "localhost")

    class Handler(listening.Handler):
        def do_GET(self) -> None:  # noqa: N802
            if is_here and not self.names_this_machine():
                self._send(403, f"{listening.REFUSED}\n")
            elif self.path.partition("?")[0] == PATH:
                self._send(200, text(metrics.last), _KIND)
            else:
                self._send(404, f"found {self.path}; accepted: {PATH}\n")

        def _send(self, status: int, text: str, kind: str = "text/plain; charset=utf-8") -> None:
            data = text.encode()
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

    class Server(listening.Server):
        address_family = socket.AF_INET6 if ":" in host else socket.AF_INET

    try:
        return Server((host, int(number)), Handler)
    except OSError as error:
        raise UserError("--metrics", f"cannot listen at {quoted(address)}: {error.strerror or error}") from None
