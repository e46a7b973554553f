"""Web pages as a browser fetches them over HTTP/1.1, as in the simulator (``netsim/src/traffic/page.rs``).

The receiver of the data is the browser. The server plays all of the page's hosts at one address, since the
simulator's flows, too, run between two hosts each. A lookup is one datagram and its answer, with the sizes of DNS.
The requested item is noted in `Orders` and not in the request, so that the request may have any size.
"""

import select
import socket
from collections import deque
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from .addresses import Ends
from .clock import Clock
from .datagrams import HEADERS
from .halves import Connection, Half
from .loop import Loop
from .orders import Orders
from .plan import Flow, Plan

_QUERY, _ANSWER = (bytes(size - HEADERS) for size in (86, 102))
"""The payloads of a query and an answer, as long on Ethernet as those of DNS in the simulator."""
_ASK_AGAIN_S = 5.0
"""The time after which a resolver asks again: ``timeout`` in resolv.conf(5)."""


@dataclass(slots=True)
class _Channel:
    """A connection of a fetch."""

    connection: Connection
    item: int | None = None
    """The object that is being fetched."""
    wanted: int = 0
    """Bytes of all responses that were requested."""


@dataclass(slots=True)
class _Site:
    """The state of a host in this fetch, as the browser knows it."""

    lookup: socket.socket | None = None
    known: bool = False
    waiting: deque[int] = field(default_factory=deque)
    """Objects that are not requested yet."""
    channels: list[_Channel] = field(default_factory=list)


class Page(Half):
    """The browser, which only needs the times of arrivals, or the server, which responds to requests."""

    ASKS = ORDERS = True

    def __init__(self, flow: Flow, ends: Ends, side: str, plan: Plan, clock: Clock, loop: Loop, orders: Orders) -> None:
        """Take the page's objects, and on the server wait for lookups."""
        assert flow.objects is not None
        self._objects = flow.objects
        self._orders = orders
        self._answered: dict[Connection, int] = {}
        self._left = flow.repeat
        self._begun: list[float] = []
        self._completed: list[float] = []
        self._sites: dict[int, _Site] = {}
        self._missing = 0
        super().__init__(flow, ends, side, plan, clock, loop)
        if not self.opens:
            self._resolver = self._datagrams(self.ports[0])
            loop.watch(self._resolver.fileno(), select.EPOLLIN, self._answer)

    def notes(self) -> dict[str, Any]:
        """Return when fetches began and when they were complete."""
        return {"begun": self._begun, "completed": self._completed} if self.opens else {}

    def start(self) -> None:
        """Begin a fetch."""
        if self.stopped or self._left == 0:
            return
        if self._left is not None:
            self._left -= 1
        self._begun.append(self.clock.now())
        self._sites = {}
        self._missing = len(self._objects)
        self._want([0])

    def came(self, connection: Connection) -> None:
        """Respond to a whole request, or note a whole object."""
        if self.opens:
            self._received(connection)
            return
        wanted = self._objects[self._orders.item(connection.opener)]
        answered = self._answered.get(connection, 0)
        if connection.received - answered >= wanted["request_bytes"]:
            self._answered[connection] = connection.received
            connection.write(wanted["response_bytes"])

    def forget(self, connection: Connection) -> None:
        """Forget the state of ``connection``, which is over, and count what it sent."""
        self._answered.pop(connection, None)
        super().forget(connection)

    def _received(self, connection: Connection) -> None:
        for site in self._sites.values():
            for channel in site.channels:
                if channel.connection is connection and channel.item is not None:
                    if connection.received >= channel.wanted:
                        item, channel.item = channel.item, None
                        self._whole(site, item)
                    return

    def _whole(self, site: _Site, item: int) -> None:
        """Note that object ``item`` is complete. The document, object 0, names the other objects."""
        self._missing -= 1
        self._ask(site)
        if item == 0:
            self._want(range(1, len(self._objects)))
        if self._missing:
            return
        self._completed.append(self.clock.now())
        for each in self._sites.values():
            for channel in each.channels:
                channel.connection.end()
        assert self.flow.interval_s is not None
        self.loop.at(self.clock.at(self.clock.now() + self.flow.interval_s), self.start)

    def _want(self, items: "range | list[int]") -> None:
        for item in items:
            number = self._objects[item]["host"]
            self._sites.setdefault(number, _Site()).waiting.append(item)
        for site in self._sites.values():
            if site.known:
                self._ask(site)
            elif site.lookup is None:
                self._look_up(site)

    def _ask(self, site: _Site) -> None:
        """Request waiting objects, on each connection that is idle or may be opened."""
        assert self.flow.connections is not None
        while site.waiting:
            channel = next((each for each in site.channels if each.item is None), None)
            if channel is None:
                if len(site.channels) == self.flow.connections:
                    return
                channel = _Channel(self.open())
                site.channels.append(channel)
            channel.item = site.waiting.popleft()
            wanted = self._objects[channel.item]
            channel.wanted += wanted["response_bytes"]
            self._orders.note(channel.connection.opener, channel.item)
            channel.connection.write(wanted["request_bytes"])

    def _datagrams(self, port: int) -> socket.socket:
        """Return a socket for lookups, with the flow's DSCP."""
        made = socket.socket(socket.AF_INET, socket.SOCK_DGRAM | socket.SOCK_NONBLOCK)
        made.setsockopt(socket.IPPROTO_IP, socket.IP_TOS, self.flow.dscp << 2)
        made.bind((self._own, port))
        return made

    def _look_up(self, site: _Site) -> None:
        """Ask for a host's address from a new port, and repeat the query until there is an answer."""
        site.lookup = self._datagrams(0)
        self.loop.watch(site.lookup.fileno(), select.EPOLLIN, lambda: self._resolved(site))
        self._query(site)

    def _query(self, site: _Site) -> None:
        if site.known or site.lookup is None:
            return
        with suppress(OSError):  # an ICMP error about an earlier query
            site.lookup.sendto(_QUERY, (self._other, self.ports[0]))
        self.loop.at(self.clock.at(self.clock.now() + _ASK_AGAIN_S), lambda: self._query(site))

    def _resolved(self, site: _Site) -> None:
        assert site.lookup is not None
        self.loop.forget(site.lookup.fileno())
        site.lookup.close()
        site.lookup, site.known = None, True
        self._ask(site)

    def _answer(self) -> None:
        with suppress(OSError):
            _, asker = self._resolver.recvfrom(len(_QUERY))
            self._resolver.sendto(_ANSWER, asker)
