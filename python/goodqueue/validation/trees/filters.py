"""Chains of filters, drawn at random for the flows that come."""

import random
from collections.abc import Sequence

from goodqueue.validation.trees.job import TCP, UDP, Flow

_KINDS = ("fw", "fw", "fw", "u32", "u32", "u32", "u32", "flower", "flower", "flower", "flow", "basic", "matchall")


class Filters:
    """Draws the filters of one tree."""

    def __init__(self, r: random.Random, flows: Sequence[Flow]) -> None:
        """Draw for these flows."""
        self._r, self._flows = r, flows
        self._handles = 0
        self._seen: set[str] = set()

    def of_flow(self, parent: str, flow: Flow, target: str, prio: int) -> list[str]:
        """Return a filter at ``parent`` that sends this flow to ``target``, if no other one compares the same."""
        return self._once(self._command(parent, prio, self._kind_of(prio), flow, f"flowid {target}"))

    def _once(self, command: str) -> list[str]:
        """Return the command, or nothing if Linux has such a filter already."""
        compared = command.partition(" flowid ")[0].partition(" classid ")[0]
        if compared in self._seen:
            return []
        self._seen.add(compared)
        return [command]

    def chain(self, parent: str, targets: Sequence[str]) -> list[str]:
        """Return a chain of filters at ``parent``, which send some flows to each of ``targets``."""
        r = self._r
        commands = []
        for place in range(r.randint(1, 10)):
            kind = r.choice(_KINDS)
            if kind in ("basic", "matchall") and place < 5:
                kind = "u32"
            flow = r.choice(self._flows)
            prio = r.choice((100 * (_KINDS.index(kind) + 1), 1000 + 10 * place))
            target = f"baseclass {r.choice(targets)}" if kind == "flow" else self._target(targets, kind)
            commands += self._once(self._command(parent, prio, kind, flow, target))
        return commands

    def _kind_of(self, prio: int) -> str:
        """Return the one kind of filters that this priority has, as Linux refuses others."""
        return ("fw", "u32", "flower")[prio % 3]

    def _target(self, targets: Sequence[str], of: str) -> str:
        r, kind = self._r, self._r.random()
        if kind < 0.9 or not targets or of in ("fw", "u32", "basic"):
            return f"flowid {r.choice(targets)}" if targets else ""
        return r.choice((f"classid {r.choice(targets)}", "", f"flowid {r.choice(targets).split(':')[0]}:fff0"))

    def _command(self, parent: str, prio: int, kind: str, flow: Flow, target: str) -> str:
        protocol = "ipv6" if flow.is_v6 else "ip"
        if kind in ("fw", "basic", "matchall"):
            protocol = self._r.choice((protocol, "all"))
        if kind in ("fw", "flow") and (handle := self._handle(kind, flow)):
            kind = f"handle {handle} {kind}"
        name = kind.split()[-1]
        if name == "flow":
            words = self._flow()
        else:
            words = self._u32(flow) if name == "u32" else self._flower(flow) if name == "flower" else ""
        # A priority has one protocol and one mask of marks, so that each kind and protocol has its own.
        number = 10 * prio + ("ip", "ipv6", "all").index(protocol) + (5 if "/" in kind else 0)
        return f"filter add dev eth0 parent {parent} protocol {protocol} prio {number} {kind} {words} {target}".strip()

    def _handle(self, kind: str, flow: Flow) -> str:
        if kind == "flow":
            self._handles += 1
            return str(self._handles)
        mark = flow.mark or self._r.randrange(1, 16)
        if self._r.random() < 0.2 and mark & 0xFF:
            return f"{mark & 0xFF:#x}/0xff"
        return str(mark) if mark % 2 else f"{mark:#x}"

    def _u32(self, flow: Flow) -> str:
        r, ip = self._r, "ip6" if flow.is_v6 else "ip"
        tos = flow.dscp << 2 | flow.ecn
        ports = flow.protocol in (TCP, UDP)
        keys = {
            "src": f"match {ip} src {address(flow, flow.source, r.choice((0, 0, 4, 8)))}",
            "dst": f"match {ip} dst {address(flow, flow.destination, r.choice((0, 3, 8)))}",
            "protocol": f"match {ip} protocol {flow.protocol} 0xff",
            "tos": f"match {ip} {'priority' if flow.is_v6 else 'dsfield'} {tos & 0xFC:#x} {r.choice(('0xfc', '0xe0'))}",
            "mark": f"match mark {flow.mark & 0xFF:#x} 0xff",
        }
        if ports:
            keys["sport"] = f"match {ip} sport {flow.source_port} {r.choice(('0xffff', '0xff00'))}"
            keys["dport"] = f"match {ip} dport {flow.destination_port} 0xffff"
        if not flow.is_v6:
            port, last = flow.destination_port, flow.source & 0xFFFF
            keys["raw"] = r.choice(
                (
                    f"match u8 {flow.protocol:#x} 0xff at 9",
                    f"match u16 {port:#x} 0xffff at 22" if ports else "match u8 0x45 0xff at 0",
                    f"match u16 {last:#x} 0xffff at 14",
                    f"match u16 0 {r.choice(('0xff00', '0xffc0', '0xfe00'))} at 2",
                    f"match u32 {tos << 16:#x} 0x00ff0000 at 0",
                    f"match u8 {flow.ttl:#x} 0xff at 8",
                )
            )
        chosen = r.sample(sorted(keys), min(len(keys), r.choice((1, 1, 1, 2, 2, 3))))
        return " ".join(keys[name] for name in chosen)

    def _flower(self, flow: Flow) -> str:
        r, words = self._r, []
        ports = flow.protocol in (TCP, UDP)
        if ports:
            words.append(f"ip_proto {'tcp' if flow.protocol == TCP else 'udp'}")
        elif r.random() < 0.5:
            words.append(f"ip_proto {'icmpv6' if flow.is_v6 else 'icmp'}")
        if r.random() < 0.4:
            words.append(f"src_ip {address(flow, flow.source, r.choice((0, 4, 8)))}")
        if r.random() < 0.4:
            words.append(f"dst_ip {address(flow, flow.destination, r.choice((0, 3)))}")
        if ports and r.random() < 0.5:
            port = flow.destination_port
            words.append(f"dst_port {r.choice((str(port), f'{max(1, port - 20)}-{min(65535, port + 400)}'))}")
        if ports and r.random() < 0.3:
            words.append(f"src_port {flow.source_port}")
        if r.random() < 0.3:
            words.append(f"ip_tos {flow.dscp << 2:#x}/0xfc")
        if r.random() < 0.1:
            words.append(f"ip_ttl {flow.ttl}")
        return " ".join(words or [f"dst_ip {address(flow, flow.destination, 0)}"])

    def _flow(self) -> str:
        r = self._r
        # A packet without ports would give a number that depends on where it lies in memory.
        words = f"map key {r.choice(('src', 'dst', 'proto', 'mark', 'priority'))}"
        if r.random() < 0.6:
            words += f" and {r.choice(('0x7', '0xff', '0x3', '0xffff'))}"
        if r.random() < 0.2:
            words += f" xor {r.choice(('0x5', '0x1'))}"
        if r.random() < 0.2:
            words += f" rshift {r.choice((1, 2, 4))}"
        if r.random() < 0.2:
            words += f" addend {r.choice((1, 2))}"
        return f"{words} divisor {r.choice((2, 4, 8))}"


def address(flow: Flow, number: int, without_bits: int) -> str:
    """Return an address with a prefix that leaves out its last bits."""
    size = 128 if flow.is_v6 else 32
    number = number >> without_bits << without_bits
    if flow.is_v6:
        text = ":".join(f"{number >> 16 * place & 0xFFFF:x}" for place in range(7, -1, -1))
    else:
        text = ".".join(str(number >> 8 * place & 0xFF) for place in range(3, -1, -1))
    return f"{text}/{size - without_bits}"
