"""Applications above TCP: ``transfer``, ``rr``, ``stream``. ``page`` and ``web_users`` have their own files.

Times are seconds of the run, as the processes see them.
"""

import random
from typing import Any

from .addresses import Ends
from .clock import Clock
from .halves import Connection, Half
from .loop import Loop
from .page import Page
from .plan import Flow, Plan
from .web_users import WebUsers


class Transfer(Half):
    """One connection per transfer, opened by the client. The sender writes all and closes, then the receiver closes."""

    def __init__(self, flow: Flow, ends: Ends, side: str, plan: Plan, clock: Clock, loop: Loop) -> None:
        """Take the number of transfers; none has begun yet."""
        self._left = flow.repeat
        self._begun: list[float] = []
        self._completed: list[float] = []
        super().__init__(flow, ends, side, plan, clock, loop)

    def notes(self) -> dict[str, Any]:
        """Return when transfers began (from the half that opens) and were complete (from the half that receives)."""
        return ({"begun": self._begun} if self.opens else {}) | ({} if self.sends else {"completed": self._completed})

    def start(self) -> None:
        """Begin a transfer."""
        if self.stopped:
            return
        if self._left is not None:
            self._left -= 1
        self._begun.append(self.clock.now())
        self._offer(self.open())

    def established(self, connection: Connection) -> None:
        """Send, if this half is the sender and accepts the connection."""
        if not self.opens:
            self._offer(connection)

    def _offer(self, connection: Connection) -> None:
        if self.sends:
            assert self.flow.size_bytes is not None
            connection.write(self.flow.size_bytes)
            connection.end()

    def came(self, connection: Connection) -> None:
        """Note the time of the last byte."""
        if not self.sends and connection.received == self.flow.size_bytes:
            self._completed.append(self.clock.now())

    def ended(self) -> None:
        """Plan the next transfer: the other side has closed, too."""
        if self.opens and not self.stopped and self._left != 0:
            assert self.flow.interval_s is not None
            self.loop.at(self.clock.at(self.clock.now() + self.flow.interval_s), self.start)


class Rr(Half):
    """The receiver of the flow's data opens one connection and sends requests; the sender of the data responds."""

    ASKS = True

    def __init__(self, flow: Flow, ends: Ends, side: str, plan: Plan, clock: Clock, loop: Loop) -> None:
        """Take the sizes and the random numbers; no request is written yet."""
        assert flow.request_bytes is not None
        assert flow.response_bytes is not None
        self._request, self._response = flow.request_bytes, flow.response_bytes
        self._left = flow.repeat
        self._random = random.Random(f"{plan.seed} think of {flow.name}")
        self._asked: list[float] = []
        self._heard: list[float] = []
        self._answers = 0
        super().__init__(flow, ends, side, plan, clock, loop)

    def notes(self) -> dict[str, Any]:
        """Return when requests were written and when responses were complete."""
        return {"asked": self._asked, "heard": self._heard} if self.opens else {}

    def start(self) -> None:
        """Open the connection."""
        self._connection = self.open()

    def stop(self) -> None:
        """Send no more requests."""
        self._left = 0
        if self.opens:
            self._connection.end()

    def established(self, connection: Connection) -> None:
        """Send the first request."""
        if self.opens:
            self._ask(connection)

    def came(self, connection: Connection) -> None:
        """Respond to whole requests, or note a whole response and think."""
        if not self.opens:
            while connection.received >= (self._answers + 1) * self._request:
                self._answers += 1
                connection.write(self._response)
        elif connection.received >= (len(self._heard) + 1) * self._response:
            self._heard.append(self.clock.now())
            if self._left == 0:
                connection.end()
            elif think_s := self._think_s():
                self.loop.at(self.clock.at(self.clock.now() + think_s), lambda: self._ask(connection))
            else:
                self._ask(connection)

    def _ask(self, connection: Connection) -> None:
        if self.stopped or self._left == 0:
            return
        if self._left is not None:
            self._left -= 1
        self._asked.append(self.clock.now())
        connection.write(self._request)

    def _think_s(self) -> float:
        if self.flow.think_mean_s is None:
            return self.flow.think_s or 0.0
        return self._random.expovariate(1 / self.flow.think_mean_s) if self.flow.think_mean_s else 0.0


class Stream(Half):
    """The client opens a connection. From then on the sender writes one chunk per interval."""

    def __init__(self, flow: Flow, ends: Ends, side: str, plan: Plan, clock: Clock, loop: Loop) -> None:
        """Start with no chunk written."""
        self._written: list[float] = []
        self._arrived: list[float] = []
        super().__init__(flow, ends, side, plan, clock, loop)

    def notes(self) -> dict[str, Any]:
        """Return when chunks were written (from the sender), and when they arrived whole (from the receiver)."""
        return {"written": self._written} if self.sends else {"arrived": self._arrived}

    def start(self) -> None:
        """Open the connection."""
        self.open()

    def stop(self) -> None:
        """Write no more."""
        if self.sends and self._written:
            self._connection.end()

    def established(self, connection: Connection) -> None:
        """Write the first chunk."""
        if self.sends:
            self._connection, self._began = connection, self.clock.now()
            self._write()

    def came(self, connection: Connection) -> None:
        """Note the arrival of each chunk that is whole."""
        while not self.sends and connection.received >= self._bytes(len(self._arrived) + 1):
            self._arrived.append(self.clock.now())

    def _write(self) -> None:
        if self.stopped:
            return
        assert self.flow.interval_s is not None
        number = len(self._written)
        self._written.append(self.clock.now())
        self._connection.write(self._bytes(number + 1) - self._bytes(number))
        self.loop.at(self.clock.at(self._began + (number + 1) * self.flow.interval_s), self._write)

    def _bytes(self, chunks: int) -> int:
        """Return the bytes of the first ``chunks`` chunks."""
        assert self.flow.rate_bps is not None
        assert self.flow.interval_s is not None
        return self.flow.rate_bps * round(self.flow.interval_s * 1e9) * chunks // 8_000_000_000


HALVES: dict[str, type[Half]] = {"transfer": Transfer, "rr": Rr, "stream": Stream, "page": Page, "web_users": WebUsers}
"""The application of each kind."""
