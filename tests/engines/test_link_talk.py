"""Messages between the processes of a link."""

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest

from goodqueue.engines.live.inside import Lab
from goodqueue.engines.live.talk import Channel, pair, ready

PATIENCE_S = 10.0
"""Generous, and shorter than the wait in which nothing would come."""


@pytest.fixture
def channels() -> Iterator["Make"]:
    """Return what makes both ends of a connection. They are closed at the end."""
    with ExitStack() as made:

        def make() -> tuple[Channel, Channel]:
            one, other = pair()
            return Channel(made.enter_context(one)), Channel(made.enter_context(other))

        yield make


Make = Callable[[], tuple[Channel, Channel]]


def test_messages_that_came_together_are_all_passed_on(channels: Make) -> None:
    """Two signals close together: the second one kills a command that ignores the first. It stayed unread, so that the
    lab was killed in the command's place, and its record was lost."""
    host, above = channels()
    below, first_process = channels()
    host.send({"signal": int(signal.SIGTERM)})
    host.send({"signal": int(signal.SIGKILL)})
    gateway: Any = None  # the path has not started, so nobody asks it
    lab = threading.Thread(target=Lab(above)._attend, args=(gateway, below, False))
    lab.start()
    told = [first_process.receive(PATIENCE_S) for _ in range(2)]
    first_process.close()
    lab.join()
    assert told == [{"signal": 15}, {"signal": 9}]


def test_what_has_been_read_already_is_ready(channels: Make) -> None:
    one, other = channels()
    other.send({"first": 1})
    other.send({"second": 2})
    assert one.receive(PATIENCE_S) == {"first": 1}
    assert ready([one], 0) == [one]
    assert one.receive(PATIENCE_S) == {"second": 2}
    assert ready([one], 0) == []
