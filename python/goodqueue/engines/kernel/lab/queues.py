"""The disciplines of the bottleneck and of the hops, and the counters that ``tc`` reads from them."""

from typing import Any

from . import tc
from .cards import cards
from .chain import measured
from .clock import Clock
from .commands import TOWARDS
from .plan import Plan
from .topology import Namespace

_LEAF, _MANY = "10:", 200
"""The handle of a scenario's discipline (`engines.kernel.tc.LEAF`). Of a tree with more commands than these, only the
root is read. To print hundreds of leaves would take the virtual machine's processor a second."""


class Queues:
    """The disciplines of the bottleneck and of the hops, and the counters read from them."""

    def __init__(self, plan: Plan, spaces: dict[str, Namespace], clock: Clock) -> None:
        """Find the disciplines of ``plan``. Nothing is read yet."""
        self._spaces, self._clock = spaces, clock
        self._known: dict[str, dict[str, tuple[list[dict[str, Any]], str | None]]] = {}
        self.bottleneck: dict[str, list[dict[str, Any]]] = {}
        self.hops: dict[str, list[dict[str, Any]]] = {}
        for step, node in measured(plan):
            snapshots: list[dict[str, Any]] = []
            if step.place is None:
                self.bottleneck[step.direction] = snapshots
            else:
                self.hops[plan.hops[step.place].name] = snapshots
            link = plan.link(step.direction, step.place)
            only = _LEAF if link is not None and len(link.tc) > _MANY else None
            self._add(node.name, node.device(TOWARDS[step.direction]), snapshots, only)
        for card in cards(plan):
            if card.stack.link:
                self._add(card.stack.side, card.out, self.hops.setdefault(card.stack.name, []), None)

    def _add(self, space: str, device: str, snapshots: list[dict[str, Any]], only: str | None) -> None:
        self._known.setdefault(space, {})[device] = (snapshots, only)

    def read(self) -> None:
        """Read the counters of all disciplines."""
        for space, devices in self._known.items():
            with self._spaces[space].entered():
                shown = tc.counters({device: only for device, (_, only) in devices.items()})
            for (snapshots, _), qdiscs in zip(devices.values(), shown, strict=True):
                snapshots.append({"t_s": self._clock.now(), "qdiscs": qdiscs})
