"""The HTTP servers for this machine: who gets an answer, and what happens when there are too many clients."""

import errno
import socket
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import pytest

from goodqueue import listening
from goodqueue.linking import prometheus
from served import LIMIT_S, Ask


@contextmanager
def measured(host: str = "127.0.0.1") -> Iterator[Ask]:
    """Serve metrics at ``host``."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with prometheus.Metrics().served(f"{host}:{port}"):
        yield Ask(port, host)


@pytest.mark.parametrize("hosts", [("evil.example",), ("evil.example:9100",), (), ("localhost", "evil.example")])
def test_metrics_are_refused_to_a_page_that_calls_this_machine_by_its_own_name(hosts: tuple[str, ...]) -> None:
    """Otherwise a page in the user's browser could read them (DNS rebinding)."""
    with measured() as ask:
        assert ask("/metrics", hosts=hosts)[0] == 403
        assert ask("/metrics", hosts=("localhost:9100",))[0] == 200


def test_metrics_for_other_machines_are_answered_under_any_name() -> None:
    """A Prometheus of another machine asks for this one by a name that only the user knows. 127.0.0.2 stands for an
    address of the network."""
    with measured("127.0.0.2") as ask:
        assert ask("/metrics", hosts=("router.lan:9100",))[0] == 200


def test_clients_beyond_the_greatest_number_are_closed_and_later_ones_answered(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Otherwise silent clients would use up all descriptors of the process."""
    monkeypatch.setattr(listening, "MOST_CONNECTIONS", 3)
    with measured() as ask, ExitStack() as opened:
        silent = [opened.enter_context(socket.create_connection(("127.0.0.1", ask.port), LIMIT_S)) for _ in range(9)]
        for client in silent[3:]:
            assert client.recv(1) == b"", "closed"
        for client in silent[:3]:
            client.sendall(b"GET /metrics HTTP/1.0\r\nHost: localhost\r\n\r\n")
            assert client.recv(12) == b"HTTP/1.0 200"
        opened.close()
        while True:  # the threads of the first three may need a moment to end
            with socket.create_connection(("127.0.0.1", ask.port), LIMIT_S) as client:
                client.sendall(b"GET /metrics HTTP/1.0\r\nHost: localhost\r\n\r\n")
                try:
                    if client.recv(12) == b"HTTP/1.0 200":
                        break
                except ConnectionResetError:
                    continue


def test_without_descriptors_the_server_waits_before_it_tries_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """The waiting connection stays readable, so the loop would use all of a core."""
    waited: list[float] = []
    monkeypatch.setattr(listening.time, "sleep", waited.append)

    class Full:
        def accept(self) -> Any:
            raise OSError(errno.EMFILE, "Too many open files")

    with listening.Server(("127.0.0.1", 0), listening.Handler) as server:
        real, server.socket = server.socket, Full()  # type: ignore[assignment]
        with pytest.raises(OSError, match="Too many"):
            server.get_request()
        server.socket = real
    assert waited == [pytest.approx(0.1)]


def test_a_connection_without_a_thread_leaves_its_room(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(listening, "MOST_CONNECTIONS", 1)
    with listening.Server(("127.0.0.1", 0), listening.Handler) as server:
        monkeypatch.setattr(threading.Thread, "start", refuse)
        for _ in range(2):
            assert server.verify_request(None, None)
            with pytest.raises(RuntimeError):
                server.process_request(None, None)
