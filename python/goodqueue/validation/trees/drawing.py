"""Trees of `tc` commands, drawn at random."""

import random
from collections.abc import Sequence

from goodqueue.validation.trees import classes, traffic
from goodqueue.validation.trees.filters import Filters
from goodqueue.validation.trees.job import Flow, Job
from goodqueue.validation.trees.leaves import leaf, rate

LEAST_PACKETS, MOST_PACKETS = 80, 400


def draw(seed: int, number: int, release: str) -> Job:
    """Return tree ``number`` of those that ``seed`` draws for a release of Linux."""
    r = random.Random(f"{seed} {number}")
    merged = r.random() < 0.12
    flows = traffic.flows(r, r.choice((1, 3, 6, 10, 16)), merged)
    bps = 10 ** r.uniform(5.7, 8.7)
    tree = Tree(r, release, flows, merged)
    tree.root(bps)
    count = r.randint(LEAST_PACKETS, MOST_PACKETS)
    load = r.choice((0.6, 0.9, 1.2, 1.5, 2.5))
    packets = traffic.packets(r, flows, count, bps * load, tree.priorities, merged)
    return Job(seed, number, tuple(tree.commands), tuple(packets))


class Tree:
    """The commands of a tree."""

    def __init__(self, r: random.Random, release: str, flows: Sequence[Flow], merged: bool) -> None:
        """Begin a tree without any command."""
        self.r, self.release, self.flows, self.merged = r, release, flows, merged
        self.commands: list[str] = []
        self.priorities: dict[int, int] = {}
        """Flows whose packets ask for a class by their priority."""
        self.filters = Filters(r, flows)
        self._handles = 0

    def handle(self) -> str:
        """Return a handle that nobody has."""
        self._handles += 1
        return f"{self._handles:x}:"

    def root(self, bps: float) -> None:
        """Draw the root. A tree that would send everything at once hangs below a class of `htb` that paces it."""
        r = self.r
        if r.random() < 0.35:
            if r.random() < 0.2:
                self.qdisc("root", f"cake bandwidth {rate(r, bps)} " + self._line("cake", bps).partition(" ")[2])
            else:
                self.scheduler(r.choice(("htb", "htb", "hfsc")), "root", self.flows, r.randint(0, 3), bps)
            return
        handle = self.handle()
        burst = r.choice(("", " burst 1b cburst 1b", " burst 1600b cburst 1600b"))
        self.commands.append(f"qdisc add dev eth0 root handle {handle} htb default 1")
        self.commands.append(f"class add dev eth0 parent {handle} classid {handle}1 htb rate {rate(r, bps)}{burst}")
        place = f"parent {handle}1"
        if r.random() < 0.15:
            self.qdisc(place, leaf(r, self.release, bps, self._unknown()))
        else:
            self.scheduler(r.choice(classes.KINDS), place, self.flows, r.randint(0, 4), bps)

    def _unknown(self) -> tuple[str, ...]:
        """Return the leaves that would split a merged packet: the simulator's packets are split before they come."""
        return ("cake", "tbf", "netem", "dualpi2") if self.merged else ()

    def _line(self, name: str, bps: float) -> str:
        from goodqueue.validation.trees.leaves import LEAVES

        line = LEAVES[name][1](self.r, bps)
        words, kept, skip = line.split(), [], False
        for word in words:
            if not skip and word != "bandwidth":
                kept.append(word)
            skip = word == "bandwidth"
        return " ".join(kept)

    def qdisc(self, place: str, line: str) -> str:
        """Add a discipline at ``place``, and return its handle."""
        handle = self.handle()
        self.commands.append(f"qdisc add dev eth0 {place} handle {handle} {line}")
        return handle

    def scheduler(self, kind: str, place: str, flows: Sequence[Flow], depth: int, bps: float) -> None:
        """Draw a discipline with classes, below which are ``depth`` more at most."""
        drawn = getattr(classes, kind)(self, place, bps)
        self._sort(drawn, flows)
        for name, share in drawn.leaves.items():
            below = [flow for flow, leaf in drawn.sorted.items() if leaf == name]
            self._below(f"parent {drawn.handle}{name}", [self.flows[number] for number in below], depth, share)

    def _below(self, place: str, flows: Sequence[Flow], depth: int, bps: float) -> None:
        r = self.r
        if depth > 0 and r.random() < 0.4:
            self.scheduler(r.choice(classes.KINDS), place, flows or self.flows[:1], depth - 1, bps)
        elif r.random() < 0.75:
            self.qdisc(place, leaf(r, self.release, bps, self._unknown()))

    def _sort(self, drawn: "classes.Drawn", flows: Sequence[Flow]) -> None:
        """Give flows classes: by filters of the qdisc and of inner classes, by their priority, or not at all."""
        r, handle = self.r, drawn.handle
        names = list(drawn.leaves)
        if r.random() < 0.25:
            self.commands += self.filters.chain(handle, [f"{handle}{name}" for name in (*names, *drawn.inner)])
        for flow in flows:
            name = r.choice(names)
            kind = r.random()
            if kind < drawn.unsorted:
                continue
            prio = r.choice((1, 2, 3, 4, 5, 6))
            if kind < drawn.unsorted + 0.04:
                self.commands += self.filters.of_flow(handle, flow, f"{handle}fff0", prio)
            elif kind < drawn.unsorted + 0.1 and flow.number not in self.priorities:
                self.priorities[flow.number] = int(handle[:-1], 16) << 16 | int(name, 16)
                drawn.sorted[flow.number] = name
            elif kind < drawn.unsorted + 0.2 and drawn.inner:
                inner = r.choice(drawn.inner)
                self.commands += self.filters.of_flow(handle, flow, f"{handle}{inner}", prio)
                if r.random() < 0.8:
                    self.commands += self.filters.of_flow(f"{handle}{inner}", flow, f"{handle}{name}", prio)
                    drawn.sorted[flow.number] = name
            else:
                self.commands += self.filters.of_flow(handle, flow, f"{handle}{name}", prio)
                drawn.sorted[flow.number] = name
