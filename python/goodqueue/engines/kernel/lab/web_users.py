"""Users of the web, who think, fetch a page and think again (``netsim/src/traffic/web_users.rs``).

The users speak HTTP/1, so a connection has one request at a time. The simulator drew the requests before the run, and
both hosts know them: `Orders` holds the number of the current request of each connection. Each connection takes one
of the flow's ways, and thereby one of its base round-trip times.
"""

import random
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from .addresses import Ends
from .clock import Clock
from .halves import Connection, Half
from .loop import Loop
from .orders import Orders
from .plan import Flow, Plan


class _Asked(NamedTuple):
    """One request of a page, and the times after it."""

    request_bytes: int
    response_bytes: int
    delay_s: float
    """From the request to the response, at the server."""
    gap_s: float
    """From the response to the next request in its place."""
    closes: bool
    """Whether the server closes the connection after the response."""


@dataclass(slots=True)
class _Page:
    """A page that a user waits for."""

    user: int
    begun_s: float
    persistent: bool
    next: int
    """The number of the page's next request among all requests."""
    unknown: int
    """Objects that are not known yet."""
    waves_left: int
    unasked: int = 0
    """Objects that are known and not requested."""
    missing: int = 1
    """Objects that are known and have not arrived."""
    open: list[Connection] = field(default_factory=list)
    to_open: int = 0
    """Connections that will be opened after a gap."""

    def idle(self) -> int:
        """Return how many open connections have no request, and will request an object after their gap."""
        return max(0, len(self.open) - (self.missing - self.unasked)) if self.persistent else 0


@dataclass(slots=True)
class _Exchange:
    """A request under way."""

    page: _Page
    asked: _Asked
    begun_s: float
    wanted: int
    """Bytes of all responses on this connection, including this one."""


class WebUsers(Half):
    """All users of a flow, or their server."""

    ASKS = ORDERS = True

    def __init__(self, flow: Flow, ends: Ends, side: str, plan: Plan, clock: Clock, loop: Loop, orders: Orders) -> None:
        """Take the pages of all users."""
        assert flow.visits is not None
        self._orders = orders
        self._routes = random.Random(f"{plan.seed} ways of {flow.name}")
        self._visits = [iter(visits) for visits in flow.visits]
        self._asked: list[_Asked] = []
        self._first: list[list[int]] = []
        for visits in flow.visits:
            self._first.append([])
            for visit in visits:
                self._first[-1].append(len(self._asked))
                closes = not visit["is_persistent"]
                self._asked += (
                    _Asked(ask, answer, delay, gap, closes) for ask, answer, delay, gap in visit["requests"]
                )
        self._begun = [0] * len(flow.visits)
        self._exchanges: dict[Connection, _Exchange] = {}
        self._answered: dict[Connection, int] = {}
        self._noted: dict[str, list[Any]] = {"begun": [], "responses": [], "pages": [], "page_begun": [], "opened": []}
        super().__init__(flow, ends, side, plan, clock, loop)

    def notes(self) -> dict[str, Any]:
        """Return when requests and connections began; start, end and bytes of responses; start and end of pages."""
        return self._noted if self.opens else {}

    def start(self) -> None:
        """Make each user think for the first time."""
        for user in range(len(self._visits)):
            self._think(user)

    def came(self, connection: Connection) -> None:
        """Respond to a whole request, or note a whole response."""
        if not self.opens:
            self._heard(connection)
            return
        exchange = self._exchanges.get(connection)
        if exchange is not None and connection.received >= exchange.wanted:
            del self._exchanges[connection]
            self._noted["responses"].append([exchange.begun_s, self.clock.now(), exchange.asked.response_bytes])
            self._came(exchange, connection)

    def forget(self, connection: Connection) -> None:
        """Forget the state of ``connection``, which is over."""
        self._answered.pop(connection, None)
        self._exchanges.pop(connection, None)
        super().forget(connection)

    # --- the server ---------------------------------------------------------------------------------------------------

    def _heard(self, connection: Connection) -> None:
        asked = self._asked[self._orders.item(connection.opener)]
        if connection.received - self._answered.get(connection, 0) >= asked.request_bytes:
            self._answered[connection] = connection.received
            self._after(asked.delay_s, lambda: self._answer(connection, asked))

    @staticmethod
    def _answer(connection: Connection, asked: _Asked) -> None:
        connection.write(asked.response_bytes)
        if asked.closes:
            connection.end()

    # --- the users ----------------------------------------------------------------------------------------------------

    def _think(self, user: int) -> None:
        visit = next(self._visits[user], None)
        if visit is not None:  # otherwise the drawn think times outlast the flow
            self._after(visit["think_s"], lambda: self._begin(user, visit))

    def _begin(self, user: int, visit: dict[str, Any]) -> None:
        if self.stopped:
            return
        first = self._first[user][self._begun[user]]
        self._begun[user] += 1
        objects = len(visit["requests"]) - 1
        assert self.flow.waves is not None
        page = _Page(user, self.clock.now(), visit["is_persistent"], first, objects, self.flow.waves)
        self._noted["page_begun"].append(page.begun_s)
        self._request(page, self._open_for(page))

    def _open_for(self, page: _Page) -> Connection:
        connection = self.open(self._routes.randrange(len(self.ports)))
        self._noted["opened"].append(self.clock.now())
        page.open.append(connection)
        return connection

    def _request(self, page: _Page, connection: Connection) -> None:
        asked = self._asked[page.next]
        now = self.clock.now()
        self._exchanges[connection] = _Exchange(page, asked, now, connection.received + asked.response_bytes)
        self._orders.note(connection.opener, page.next)
        page.next += 1
        self._noted["begun"].append(now)
        connection.write(asked.request_bytes)

    def _came(self, exchange: _Exchange, connection: Connection) -> None:
        page = exchange.page
        page.missing -= 1
        if page.missing == 0 and page.unknown and page.waves_left:
            share = -(-page.unknown // page.waves_left)
            page.waves_left -= 1
            page.unknown -= share
            page.unasked += share
            page.missing += share
        if page.missing == 0:
            self._end(page)
        else:
            self._go_on(page, connection, exchange.asked.gap_s)

    def _go_on(self, page: _Page, connection: Connection, gap_s: float) -> None:
        """Reuse ``connection``, which has become free. Open more connections if objects wait and the limit allows."""
        if page.persistent:
            self._after(gap_s, lambda: self._ask(page, connection))
        else:
            page.open.remove(connection)
        assert self.flow.connections is not None
        while len(page.open) + page.to_open < self.flow.connections and page.unasked > page.to_open + page.idle():
            page.to_open += 1
            self._after(gap_s, lambda: self._open_again(page))

    def _ask(self, page: _Page, connection: Connection) -> None:
        if page.unasked:
            page.unasked -= 1
            self._request(page, connection)

    def _open_again(self, page: _Page) -> None:
        page.to_open -= 1
        if page.unasked:
            page.unasked -= 1
            self._request(page, self._open_for(page))

    def _end(self, page: _Page) -> None:
        if page.persistent:  # otherwise the server has closed
            for connection in page.open:
                connection.end()
        self._noted["pages"].append([page.begun_s, self.clock.now()])
        self._think(page.user)

    def _after(self, seconds: float, due: Any) -> None:
        if seconds > 0:
            self.loop.at(self.clock.at(self.clock.now() + seconds), due)
        else:
            due()
