"""Linux's own path between the ends, in place of goodqueue's: the kernel engine's laboratory, without its hosts."""

import os
import shutil
import threading
import time
from pathlib import Path
from typing import Any

from pyroute2 import IPRoute

from goodqueue.engines.kernel.lab import changing, distributions, netlink, sysctls, tc
from goodqueue.engines.kernel.lab.addresses import SIDES
from goodqueue.engines.kernel.lab.capture import LAG_S, Capture
from goodqueue.engines.kernel.lab.cards import captured
from goodqueue.engines.kernel.lab.chain import nodes
from goodqueue.engines.kernel.lab.clock import Clock
from goodqueue.engines.kernel.lab.errors import LabError
from goodqueue.engines.kernel.lab.plan import Plan
from goodqueue.engines.kernel.lab.queues import Queues
from goodqueue.engines.kernel.lab.topology import Namespace, build
from goodqueue.engines.live import devices, namespaces, privileges
from goodqueue.engines.live.ends import End
from goodqueue.engines.live.middle import group_of
from goodqueue.engines.live.talk import Message

_LOOPBACK = {"ipv6/conf/lo/disable_ipv6": "0"}
"""Programs find ``::1``, though no IPv6 crosses the path."""


_IN_MEMORY = Path("/dev/shm/results")  # noqa: S108
"""Where captures are until the end. tcpdump gives its files to root, which another user's host forbids."""


class LinuxPath:
    """The routers, with their disciplines, and tcpdump at the bottleneck (`middle.Middle`)."""

    def __init__(self, order: Message) -> None:
        """Build the ends and the routers of ``order``. Raises LabError, OSError, NetlinkError."""
        self._plan = Plan.from_json(order["plan"])
        self._results, self._folder = Path(order["results"]), _IN_MEMORY
        self._folder.mkdir()
        os.environ["PATH"] = os.pathsep.join([order["programs"], os.environ.get("PATH", os.defpath)])
        privileges.keep()  # for `tc` and `tcpdump`
        distributions.write(self._plan, self._folder)
        self._heard: list[str] = []
        self._networks = build(self._plan, self._heard)
        ends = [End(**end) for end in order["ends"]]
        for side in SIDES:
            with self._networks[side].entered():
                self._equip(side, [end.ipv4 for end in ends if end.side == side], group_of(order))
        self.spaces = {side: self._networks[side].descriptor for side in SIDES}
        self._captures = {
            device: self._capture(self._networks[space], device) for space, device in captured(self._plan)
        }
        self._changes = changing.due(self._plan)
        self._changers = changing.Changers(self._networks, {change.space for change in self._changes})
        self._changing = threading.Thread(target=self._change, daemon=True)
        self._refused: LabError | None = None
        self._is_over = threading.Event()

    def _equip(self, side: str, addresses: list[str], group: int) -> None:
        """Let programs find in this namespace, of ``side``, what they find in any link."""
        switches = namespaces.switches(group).items()
        sysctls.write({name: value for name, value in switches if name.startswith("ipv4/")})
        sysctls.write(_LOOPBACK)
        device = next(node for node in nodes(self._plan) if node.name == side).device(*{*SIDES} - {side})
        with IPRoute() as ip:
            index = ip.link_lookup(ifname=device)[0]
            ip.link("property_add", index=index, altname=devices.NAME)
            netlink.forbid_segments(index)  # QUIC stacks hand down many datagrams as one (UDP_SEGMENT of udp(7))
            for address in addresses:
                ip.addr("add", index=index, address=address, prefixlen=32)

    def _capture(self, space: Namespace, device: str) -> Capture:
        with space.entered():
            return Capture(device, self._folder / f"{device}.pcap")

    def start(self) -> None:
        """Begin to measure, and to change what is to change."""
        self._clock = Clock.starting_in(0.0)
        self._queues = Queues(self._plan, self._networks, self._clock)
        self._queues.read()
        self._changing.start()

    def _change(self) -> None:
        for change in self._changes:
            if self._is_over.wait(max(0.0, change.at_s - self._clock.now())):
                return
            try:
                self._changers.do(change)
            except LabError as error:
                self._refused = error
                return

    def glance(self) -> Message | None:
        """Return the time of the run."""
        return {"elapsed_s": self._clock.now()}

    def stop(self) -> Message:
        """End the path once its queues are empty. Raises LabError if a change was refused or a capture lost packets."""
        ended_s = self._clock.now()
        self._is_over.set()
        self._changing.join()
        self._queues.read()
        time.sleep(self._plan.drain_s)
        self._queues.read()
        if self._refused is not None:
            raise self._refused
        self._heard += self._changers.finish()
        distributions.remove(self._folder)
        time.sleep(LAG_S)
        lost = {device: capture.stop() for device, capture in self._captures.items()}
        for file in self._folder.iterdir():
            shutil.copyfile(file, self._results / file.name)
            file.unlink()
        if any(lost.values()):
            raise LabError(f"tcpdump could not keep up: packets not captured: {lost}; accepted: none")
        with self._networks["server"].entered():
            set_there = sysctls.recorded()
        lab: dict[str, Any] = {
            "kernel": f"{os.uname().release} {os.uname().version}",
            "tc": tc.version(),
            "tc_said": list(dict.fromkeys(self._heard)),
            "start_ns": self._clock.realtime_ns,
            "ended_s": ended_s,
            "sysctls": set_there,
            "qdisc_stats": self._queues.bottleneck,
            "hop_stats": self._queues.hops,
            "capture_dropped": lost,
        }
        return {"lab": lab}
