"""goodqueue's own path between the laboratory's hosts, in place of the kernel engine's row of routers.

Each host has a veth device. The device's other end is in the laboratory's own namespace, with a packet socket on it.
A TUN device would give captures without Ethernet headers, and several packets captured as one.
"""

import json
import os
import socket
import struct
from contextlib import suppress
from pathlib import Path

from pyroute2 import IPRoute

from goodqueue._goodqueue import DisciplineError, Gateway, ScenarioError, TraceError
from goodqueue.engines.kernel.lab.addresses import SIDES, of_route
from goodqueue.engines.kernel.lab.chain import nodes
from goodqueue.engines.kernel.lab.clock import Clock
from goodqueue.engines.kernel.lab.errors import LabError
from goodqueue.engines.kernel.lab.netlink import send_singly
from goodqueue.engines.kernel.lab.plan import OwnPath, Plan
from goodqueue.engines.kernel.lab.topology import Interface, Namespace, bring_up
from goodqueue.engines.live import devices
from goodqueue.errors import UserError
from goodqueue.scenario import discipline

_SOL_PACKET, _PACKET_STATISTICS = 263, 6


class Between:
    """The path, and the devices at its ends."""

    def __init__(self, plan: Plan, path: OwnPath, spaces: dict[str, Namespace]) -> None:
        """Build the path. No packet crosses it yet. Raises LabError."""
        self.lag_s = 0.0
        self._sockets: dict[str, socket.socket] = {}
        self._files: list[str] = []
        ends: list[tuple[int, bytes]] = []
        for node in nodes(plan):
            side = node.name
            other = next(other for other in SIDES if other != side)
            with spaces[side].entered():
                devices.veth(side, node.device(other), {"net_ns_fd": spaces[side].home})
                with IPRoute() as ip:
                    mac = str(ip.get_links(ifname=node.device(other))[0].get_attr("IFLA_ADDRESS"))
            tap = devices.taps(side)
            send_singly(side)  # applies to packets from the path, too
            with IPRoute() as ip:
                beside = str(ip.get_links(ifname=side)[0].get_attr("IFLA_ADDRESS"))
            bring_up(spaces, Interface(side, node.device(other), mac, other), beside, plan)
            self._sockets[side] = socket.socket(fileno=tap.descriptor)
            ends.append((tap.descriptor, tap.header))
        routes = [(of_route(number), route.rtt_s, path.hops[number]) for number, route in enumerate(plan.routes)]
        try:
            self._gateway = Gateway(path.scenario, ends[0], ends[1], discipline.Maker(self._files), routes)
            if path.trace is not None:
                self._gateway.trace(**path.trace)  # from its start on
        except (ScenarioError, TraceError, UserError, OSError) as error:
            raise LabError(str(error)) from None

    def start(self, clock: Clock) -> None:
        """Let packets cross, with precedence over all programs if permitted, like the hosts' process.

        The path's time begins now, which is ``lag_s`` after the run's beginning by ``clock``.
        """
        usual = os.sched_getscheduler(0), os.sched_getparam(0)
        with suppress(PermissionError):
            os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
        self._gateway.start()  # its thread inherits the scheduling policy
        self.lag_s = clock.now()
        with suppress(PermissionError):
            os.sched_setscheduler(0, *usual)

    def measured(self, file: Path) -> None:
        """Write the path's measurements so far to ``file``. Packets continue to cross."""
        file.write_text(self._gateway.record(), encoding="utf-8")

    def stop(self) -> None:
        """End the path. Raises LabError if it failed, or if packets were lost before it or behind it."""
        try:
            refused = json.loads(self._gateway.stop())["live"]["packets"]["refused"]
        except DisciplineError as error:
            raise LabError(str(discipline.blame(error, self._files))) from None
        if self._gateway.no_capture:
            raise LabError(self._gateway.no_capture)
        lost = {f"from the {side}": _lost(socket) for side, socket in self._sockets.items()} | {"behind": refused}
        if any(lost.values()):
            raise LabError(f"this machine could not keep up: packets lost beside the path: {lost}; accepted: none")


def _lost(tap: socket.socket) -> int:
    """Return how many packets did not fit into the packet socket's buffer (packet(7), PACKET_STATISTICS)."""
    _, dropped = struct.unpack("II", tap.getsockopt(_SOL_PACKET, _PACKET_STATISTICS, 8))
    return int(dropped)
