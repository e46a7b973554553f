"""The routers between the laboratory's hosts, from the captures at their queues and from `tc`'s counters."""

from typing import Any

from goodqueue import hops
from goodqueue.engines.kernel import counters, elements, subscribers
from goodqueue.engines.kernel.lab.clock import nanoseconds
from goodqueue.engines.kernel.lab.plan import Hop, Plan
from goodqueue.engines.kernel.sightings import Sightings
from goodqueue.errors import UserError
from goodqueue.record import Kernel, KernelHop, Queue, Record, Scenario, Series
from goodqueue.scenario import seconds

LEAST_IDLE = 0.1
"""The least share of the measured time in which a machine's processor must be idle, or else it is the bottleneck. Both
a plan's load and this are looked at, as a tree may let packets pass that no class takes."""


def span(plan: Plan) -> tuple[int, int]:
    """Return begin and end of the measured time, in nanoseconds."""
    return nanoseconds(plan.warmup_s), nanoseconds(plan.duration_s)


class Routers:
    """Linux's own path between the hosts (`measure.Middle`)."""

    engine = "kernel"

    def __init__(self, scenario: Scenario, plan: Plan, lab: dict[str, Any], seen: Sightings, where: str) -> None:
        """Take the results of a run in ``where``. Raises UserError if captures and `tc`'s own counters disagree."""
        self._scenario, self._plan, self._lab, self._seen, self._where = scenario, plan, lab, seen, where
        if where == "vm" and lab["idle_share"] < LEAST_IDLE:
            busy = f"found the machine's processor busy for {100 * (1 - lab['idle_share']):.0f} % of the measured time"
            raise UserError(
                "kernel engine", f"{busy}; accepted: up to {100 * (1 - LEAST_IDLE):.0f} %, as on slower links"
            )
        for direction, packets in seen.queues.items():
            counters.check(direction, packets, lab["qdisc_stats"][direction])
        self._hops = list(zip(plan.hops, scenario.get("hop") or [], strict=True))
        for stack in plan.stacks:
            if stack.link is not None:
                table = {"kind": hops.queue().name} | scenario["host"][stack.place]
                self._hops.append((Hop(stack.name, stack.direction, stack.link), table))
        for hop, _ in self._hops:
            counted = lab["hop_stats"][hop.name]
            counters.check(f"hop {hop.name}", seen.hops[hop.name], counted, "duplicate" in hop.netem)

    def queues(self) -> dict[str, Queue]:
        """Return the bottleneck's queues."""
        bottleneck = self._scenario["bottleneck"]
        links = {"down": (self._plan.down, bottleneck), "up": (self._plan.up, bottleneck["up"])}
        measured = span(self._plan)
        return {
            direction: elements.queue(self._seen.queues[direction], *links[direction], measured)
            for direction in ("down", "up")
        }

    def add_to(self, record: Record) -> None:
        """Add the kernel's description, the subscribers and the hops."""
        if self._scenario.get("subscriber"):
            record["isp"] = subscribers.measured(self._scenario, self._seen.queues, span(self._plan))
        record["kernel"] = self._kernel()
        if self._hops:
            record["hops"] = [
                elements.hop(self._seen.hops[hop.name], hop, table, span(self._plan)) for hop, table in self._hops
            ]

    def add_series(self, series: Series, ends: list[int]) -> None:
        """Add the queues over time, and their single packets."""
        series["queues"] = {
            direction: elements.queue_series(packets, ends) for direction, packets in self._seen.queues.items()
        }
        if of_links := {hop.name: self._seen.hops[hop.name] for hop, _ in self._hops if hop.link is not None}:
            series["hops"] = {name: elements.queue_series(packets, ends) for name, packets in of_links.items()}
        if (window := self._scenario["series"].get("packets")) is not None:
            begin, end = nanoseconds(seconds(window["from"])), nanoseconds(seconds(window["to"]))
            queues = self._seen.queues.items()
            series["packets"] = {
                direction: elements.packet_series(packets, begin, end) for direction, packets in queues
            }

    def _kernel(self) -> Kernel:
        kernel = Kernel(
            release=self._lab["kernel"],
            where=self._where,
            clock="real" if self._where == "host" else "virtual",
            tc=self._lab["tc"],
            shaper={"down": self._plan.down.shaper, "up": self._plan.up.shaper},
            sysctls=self._lab["sysctls"],
            qdisc_stats={
                direction: counters.counted(snapshots) for direction, snapshots in self._lab["qdisc_stats"].items()
            },
            capture_lost=sum(self._lab["capture_dropped"].values()),
        )
        if said := self._lab["tc_said"]:
            kernel["tc_said"] = said
        if self._hops:
            kernel["hops"] = {
                hop.name: KernelHop(
                    shaper=None if hop.link is None else hop.link.shaper,
                    qdisc_stats=counters.counted(self._lab["hop_stats"][hop.name]),
                )
                for hop, _ in self._hops
            }
        return kernel
