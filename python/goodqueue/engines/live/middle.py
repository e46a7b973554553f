"""The path between the ends of a link, as its lab sees it. One is goodqueue's own, `routed` has Linux's."""

import json
import os
from typing import TYPE_CHECKING, Protocol

from goodqueue.engines.live import namespaces
from goodqueue.engines.live.ends import End
from goodqueue.engines.live.talk import Message
from goodqueue.errors import UserError
from goodqueue.scenario import discipline

if TYPE_CHECKING:
    from goodqueue._goodqueue import Gateway


class Middle(Protocol):
    """The path between the ends."""

    spaces: dict[str, int]
    """The descriptors of the ends' network namespaces that it has built, by side."""

    def start(self) -> None:
        """Let packets cross from now on."""

    def glance(self) -> Message | None:
        """Return the present state for a person, or None if the path has ended."""

    def stop(self) -> Message:
        """End the path, and return what it measured, for the end's message."""


def group_of(order: Message) -> int:
    """Return the group of CMD's user."""
    return int(order["user"][1]) if order["user"] else os.getegid()


class OwnPath:
    """goodqueue's own path: a gateway that runs the simulator."""

    def __init__(self, order: Message) -> None:
        """Build the ends and the gateway for ``order``. Raises OSError, NetlinkError, ScenarioError, TraceError."""
        ends = [End(**end) for end in order["ends"]]
        built = namespaces.build(order["depth"], ends, order["nested"], group_of(order))
        self.spaces = built.spaces
        self._virtual_time = order["virtual_time"]
        self._files: list[str] = []
        self._gateway = self._made(order, built)

    def _made(self, order: Message, built: namespaces.Built) -> "Gateway":
        from goodqueue._goodqueue import Gateway

        server, client = ((end.descriptor, end.header) for end in (built.server, built.client))
        with discipline.blaming(self._files, UserError):
            gateway = Gateway(order["scenario"], server, client, discipline.Maker(self._files))
        for end in (server, client):
            os.close(end[0])
        if (trace := order["trace"]) is not None:
            gateway.trace(trace["path"], trace["points"], trace["snap_bytes"])
        return gateway

    def start(self) -> None:
        """Let packets cross from now on."""
        self._gateway.start(self._virtual_time)

    def glance(self) -> Message | None:
        """Return the present state for a person, or None if the path has ended."""
        state: Message | None = json.loads(self._gateway.glance())
        return state or None

    def stop(self) -> Message:
        """End the path, and return its record, and why there is no capture. Raises what a discipline has raised."""
        with discipline.blaming(self._files):
            record = self._gateway.stop()
        return {"record": record, "no_capture": self._gateway.no_capture}
