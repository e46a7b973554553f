"""Random scripts of `tc` commands, as a seed says: right and wrong ones, of disciplines with classes and without.

A script keeps a rough idea of the device, so that most commands hit something that is there. Scripts of `mq` and
`cake_mq` are for `eth1`, which has several queues, and name the first.
"""

import random
import re

LEAVES = {
    "pfifo": ["limit 50", "limit 1000"],
    "bfifo": ["limit 15000", "limit 100kb"],
    "pfifo_head_drop": ["limit 40"],
    "pfifo_fast": [],
    "codel": ["limit 500", "target 10ms", "interval 200ms", "ecn", "noecn", "ce_threshold 2ms"],
    "fq_codel": [
        "limit 500",
        "flows 256",
        "target 10ms",
        "interval 200ms",
        "noecn",
        "ecn",
        "quantum 300",
        "memory_limit 4mb",
        "drop_batch 16",
    ],
    "fq": [
        "limit 500",
        "flow_limit 50",
        "quantum 3000",
        "initial_quantum 20000",
        "maxrate 10mbit",
        "nopacing",
        "buckets 256",
    ],
    "sfq": [
        "perturb 10",
        "limit 100",
        "quantum 3000",
        "divisor 512",
        "depth 50",
        "redflowlimit 100000 min 8000 max 60000 probability 0.20",
    ],
    "sfb": ["limit 500", "target 30", "max 40", "increment 0.001", "decrement 0.0001"],
    "cake": [
        "bandwidth 10mbit",
        "besteffort",
        "diffserv4",
        "nat",
        "wash",
        "overhead 18",
        "ack-filter",
        "rtt 50ms",
        "unlimited",
        "flows",
        "triple-isolate",
        "memlimit 4mb",
    ],
    "pie": ["limit 500", "target 20ms", "tupdate 20ms", "alpha 3", "beta 25", "ecn", "noecn", "bytemode"],
    "fq_pie": ["limit 500", "flows 64", "target 20ms", "tupdate 20ms", "ecn", "quantum 300"],
    "netem": ["delay 10ms", "delay 10ms 2ms", "loss 1%", "limit 500", "rate 5mbit", "duplicate 1%", "reorder 25% 50%"],
    "tbf": [
        "rate 5mbit burst 10kb latency 50ms",
        "rate 2mbit burst 5kb limit 30000",
        "rate 1mbit burst 5kb peakrate 2mbit mtu 1540 latency 20ms",
        "rate 1mbit burst 5kb",
    ],
    "red": [
        "limit 400000 min 30000 max 90000 avpkt 1000 burst 55 ecn bandwidth 10mbit",
        "limit 60000 min 15000 max 25000 avpkt 1500 burst 20 bandwidth 10mbit probability 0.1",
        "limit 1000000 min 30000 max 35000 avpkt 1500 burst 20 bandwidth 10mbit probability 1",
        "limit 60000 avpkt 1000",
    ],
    "choke": [
        "limit 1000 min 100 max 200 burst 60 bandwidth 10mbit",
        "limit 500 min 50 max 150 bandwidth 10mbit ecn",
        "limit 1000",
    ],
}
"""Words of which a command has some. Of `tbf`, `red` and `choke` it has one entry, whose words go together."""

LATER = {
    "7.3": {
        "dualpi2": [
            "limit 500",
            "memlimit 1mb",
            "memlimit 1000000",
            "target 20ms",
            "tupdate 20ms",
            "alpha 0.2",
            "beta 3",
            "step_thresh 2ms",
            "step_thresh 10p",
            "coupling_factor 3",
            "classic_protection 20",
            "drop_enqueue",
            "drop_on_overload",
            "overflow",
            "no_split_gso",
            "any_ect",
            "max_rtt 50ms typical_rtt 10ms",
        ],
        "fq": ["bands 3 priomap 1 2 2 2 1 2 0 0 1 1 1 1 1 1 1 1", "weights 600000 200000 70000"],
    }
}
"""Words that came to Linux after 6.1, by the release from which on a script has them."""

TOGETHER = ("tbf", "red", "choke")
SCHEDULERS = ("htb", "hfsc", "drr", "ets", "prio")
DEVICE = "dev eth0"


class Script:
    """A script that is being written, with a rough idea of the device."""

    def __init__(self, seed: int, release: str) -> None:
        """Begin the script of `seed` for Linux of `release`."""
        later = LATER.get(release, {})
        self.leaves = {kind: [*LEAVES.get(kind, []), *later.get(kind, [])] for kind in {**LEAVES, **later}}
        self.random = random.Random(seed)
        self.commands: list[str] = []
        self.handles: dict[int, str] = {}
        self.classes: list[tuple[int, int]] = []
        self.preferences: list[int] = []
        self.kinds = self.random.sample(SCHEDULERS, 2)
        self.kind_at_root = ""
        self.of_queues = ["mq", "cake_mq"] if release == "7.3" else ["mq"]

    def chance(self, of: float) -> bool:
        """Return whether something that happens this often happens now."""
        return self.random.random() < of

    def number(self, number: int) -> str:
        """Return a number of a handle in one of the forms that scripts have."""
        forms = [f"{number:x}"] * 8 + [f"0x{number:x}", f"{number:X}", f"0{number:x}"]
        return self.random.choice(forms)

    def handle(self, major: int) -> str:
        """Return the handle of a qdisc."""
        if self.chance(0.01):
            return self.random.choice(["5x:", "10000:", "-1:", "none", "root", ":", "zz"])
        return self.number(major) + self.random.choice([":"] * 12 + ["", ":0", ":1"])

    def classid(self, major: int, minor: int) -> str:
        """Return the number of a class."""
        if self.chance(0.01):
            return self.random.choice(["1:1:1", "1:10000", "x:1", "none", "root", f":{minor:x}", f"{minor:x}"])
        return f"{self.number(major)}:{self.number(minor)}"

    def some_major(self) -> int:
        """Return a qdisc that is probably there."""
        known = list(self.handles)
        return self.random.choice(known) if known and self.chance(0.93) else self.random.randint(1, 12)

    def some_class(self, bands: bool = True) -> tuple[int, int]:
        """Return a class that is probably there."""
        known = list(self.classes)
        if bands:
            of_bands = [
                major for major, kind in self.handles.items() if kind in ("prio", "ets", "tbf", "red", "sfb", "netem")
            ]
            known += [(major, self.random.randint(1, 4)) for major in of_bands]
            known += [(major, 1) for major, kind in self.handles.items() if kind in self.of_queues] * 3
        if known and self.chance(0.92):
            return self.random.choice(known)
        return self.some_major(), self.random.choice([0, 1, 2, 3, 0x10, 0x20])

    def words(self, kind: str) -> str:
        """Return the words of a discipline."""
        pick = self.random
        if kind == "htb":
            return pick.choice(["htb", "htb default 10", "htb default 0x1 r2q 5", "htb r2q 100 direct_qlen 50"])
        if kind == "hfsc":
            return pick.choice(["hfsc", "hfsc default 1", "hfsc default 10"])
        if kind == "ets":
            return pick.choice(
                [
                    "ets bands 3",
                    "ets bands 4 strict 2",
                    "ets strict 1 quanta 3000 1500",
                    "ets bands 2 strict 3",
                    "ets strict 2 priomap 1 0",
                ]
            )
        if kind == "prio":
            return pick.choice(
                [
                    "prio",
                    "prio bands 4",
                    "prio bands 2 priomap 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1",
                    "prio bands 2",
                    "prio bands 5 priomap 4 3",
                ]
            )
        options = self.leaves.get(kind, [])
        if kind in TOGETHER:
            return f"{kind} {pick.choice(options)}"
        return " ".join(
            [
                kind,
                *pick.sample(
                    options, pick.choice([0, 1, 1, 2]) if len(options) > 1 else len(options) and pick.randint(0, 1)
                ),
            ]
        )

    def curve(self) -> str:
        """Return the curves of a class of `hfsc`."""
        shapes = ["rate 1mbit", "m1 2mbit d 10ms m2 1mbit", "umax 1500b dmax 20ms rate 500kbit"]
        names = self.random.choice([["sc"], ["rt"], ["ls"], ["rt", "ls"], ["ls", "ul"], ["sc", "ul"]] * 4 + [["ul"]])
        return " ".join(f"{name} {self.random.choice(shapes)}" for name in names)

    def class_words(self, kind: str) -> str:
        """Return the words of a class, now and then of another kind."""
        if self.chance(0.03):
            kind = self.random.choice(["htb", "hfsc", "drr", "ets"])
        if kind == "htb":
            more = [
                "ceil 10mbit",
                "burst 15k",
                "cburst 10k",
                "prio 3",
                "quantum 3000",
                "mtu 1600",
                "overhead 24",
                "linklayer atm",
                "mpu 64",
            ]
            rate = self.random.choice(["rate 1mbit"] * 30 + ["ceil 1mbit"])
            return " ".join(["htb", rate, *self.random.sample(more, self.random.randint(0, 2))])
        if kind == "hfsc":
            return f"hfsc {self.curve()}"
        if kind == "ets":
            return self.random.choice(["ets", "ets quantum 2000"])
        return "drr" + self.random.choice(["", " quantum 3000", " quantum 100"])

    def kind_of_leaf(self) -> str:
        """Return a discipline for a class."""
        return self.random.choice(list(self.leaves)) if self.chance(0.72) else self.random.choice(self.kinds)

    def qdisc(self) -> str:
        """Return a command about a qdisc that may make one."""
        verb = self.random.choice(
            ["add"] * 5 + ["replace"] * 3 + ["change"] * 3 + ["link"] * (1 if self.chance(0.2) else 0)
        )
        parts = ["qdisc", verb, DEVICE]
        major = self.random.choice([self.random.randint(1, 0x20), self.random.randint(1, 12)])
        if not self.handles or self.chance(0.03):
            parts.append("root")
            kind = self.random.choice(self.kinds * 3 + ["tbf", "red", "sfb", "fq_codel", "cake", "sfq", "netem", "fq"])
            major = self.random.choice([1, 1, 1, major])
        elif verb == "change" and self.chance(0.5):
            major = self.some_major()
            kind = self.handles.get(major, self.kind_of_leaf())
            parts += ["handle", self.handle(major)]
            words = self.words(kind)
            return " ".join([*parts, words])
        else:
            parts += ["parent", self.classid(*self.some_class())]
            kind = self.kind_of_leaf()
        if verb != "add" and self.handles and self.chance(0.6):
            major = self.some_major()
            kind = self.handles.get(major, kind)
        if self.chance(0.8):
            parts += ["handle", self.handle(major)]
        if self.chance(0.02):
            parts += ["stab", "overhead", "24"]
        if verb in ("add", "replace"):
            if "root" in parts:
                self.handles.clear()
                self.classes.clear()
            self.handles.setdefault(major, kind)
        return " ".join([*parts, self.words(kind) if self.chance(0.99) else ""]).strip()

    def make_class(self) -> str:
        """Return a command about a class that may make one."""
        verb = self.random.choice(["add"] * 6 + ["replace", "change"])
        of = [major for major, kind in self.handles.items() if kind in ("htb", "hfsc", "drr")]
        major = self.random.choice(of) if of and self.chance(0.97) else self.some_major()
        own = [minor for one, minor in self.classes if one == major]
        minor = self.random.choice([1, 2, 3, 4, 0x10, 0x20, 0x30, self.random.randint(0, 0xFFFF)])
        if own and (verb != "add" or self.chance(0.05)):
            minor = self.random.choice(own)
        parts = ["class", verb, DEVICE]
        if self.chance(0.92):
            above = self.random.choice([0, 0, *own]) if own else 0
            parts += ["parent", f"{self.number(major)}:" if above == 0 else self.classid(major, above)]
            if self.chance(0.02):
                parts[-1] = "root"
        if self.chance(0.97):
            parts += [
                "classid",
                self.classid(major, minor) if self.chance(0.97) else self.classid(self.some_major(), minor),
            ]
        kind = self.handles.get(major, "htb")
        if verb in ("add", "replace"):
            self.classes.append((major, minor))
        return " ".join([*parts, self.class_words(kind) if kind in ("htb", "hfsc", "drr", "ets") else kind])

    def filter_words(self, kind: str, target: str) -> str:
        """Return the words of a filter."""
        pick = self.random
        if kind == "u32":
            if self.chance(0.04):
                return f"u32 {target}"
            match = pick.choice(
                [
                    "match ip6 dst 2001:db8::1/64",
                    "match ip6 dport 443 0xffff",
                    "match u8 0x10 0xff at 33",
                    "match u16 0x0800 0xffff at nexthdr+2",
                    "match u32 0x0a000001 0xffffffff at 28",
                    "match ip dst 10.0.0.1/32",
                    "match ip dport 80 0xffff",
                    "match ip tos 0xb8 0xfc",
                    "match u32 0 0",
                    "match ip protocol 17 0xff match ip src 10.1.0.0/16",
                ]
            )
            return f"u32 {match} {target}"
        if kind == "flower":
            return " ".join(
                [
                    "flower",
                    *pick.sample(
                        ["ip_proto tcp", "dst_ip 10.0.0.1", "src_ip 10.0.0.0/8", "ip_tos 0xb8/0xfc"], pick.randint(0, 2)
                    ),
                    target,
                ]
            )
        if kind == "flow":
            return pick.choice(
                ["flow map key dst divisor 4", "flow hash keys src,dst divisor 8", "flow map key mark baseclass 1:1",
                    "flow hash keys nfct-src,proto divisor 16"]
            )
        return f"{kind} {target}"

    def handle_of_u32(self, node: int) -> str:
        """Return the handle of a filter of `u32`, now and then of another preference's table or of a table."""
        table = self.random.choice([0x800] * 12 + [0x801, 0x802, 0, 0xFFF])
        return f"{table:x}:" if self.chance(0.03) else f"{table:x}::{node:x}"

    def filter(self) -> str:
        """Return a command about a filter that may make one."""
        verb = self.random.choice(["add"] * 7 + ["replace", "replace", "change"])
        parts = ["filter", verb, DEVICE]
        where = self.random.random()
        if where < 0.8:
            parts += ["parent", self.handle(self.some_major())]
        elif where < 0.93:
            parts += ["parent", self.classid(*self.some_class())]
        elif where < 0.95:
            parts.append("root")
        kind = self.random.choice(["u32", "u32", "u32", "flower", "fw", "matchall", "basic", "flow"])
        protocol = (
            "ip"
            if kind == "flower" and self.chance(0.9)
            else self.random.choice(["ip", "ip", "all", "ipv6", "arp", ""])
        )
        if kind == "flower" and protocol != "ip":
            protocol, kind = "ip", "u32"
        if protocol:
            parts += ["protocol", protocol]
        if self.chance(0.75):
            preference = (
                self.random.choice(self.preferences)
                if self.preferences and self.chance(0.5)
                else self.random.randint(1, 9)
            )
            self.preferences.append(preference)
            parts += [self.random.choice(["prio", "pref"]), str(preference)]
        handle = self.random.random()
        if kind in ("fw", "flow") or handle < 0.12:
            number = self.random.randint(1, 4)
            text = {
                "u32": self.handle_of_u32(0x800 + number - 1),
                "fw": self.random.choice([str(number), f"{number}/0xff", f"0x{number:x}"]),
            }.get(kind, str(number))
            parts += ["handle", text]
        word = self.random.choice(["flowid", "classid"])
        target = f"{word} {self.classid(*self.some_class())}" if self.chance(0.96) else ""
        return " ".join([*parts, self.filter_words(kind, target)]).strip()

    def delete(self) -> str:
        """Return a command that takes something away."""
        what = self.random.random()
        if what < 0.35:
            parts = ["qdisc", "del", DEVICE]
            where = self.random.random()
            if where < 0.05:
                self.handles.clear()
                self.classes.clear()
                return " ".join([*parts, "root"])
            if where < 0.9:
                parts += ["parent", self.classid(*self.some_class())]
            if where >= 0.85:
                parts += ["handle", self.handle(self.some_major())]
            if self.chance(0.05):
                parts.append(self.random.choice(["pfifo", "fq_codel"]))
            return " ".join(parts)
        if what < 0.65:
            return f"class del {DEVICE} classid {self.classid(*self.some_class())}"
        parts = ["filter", "del", DEVICE]
        if self.chance(0.15):
            parts += ["protocol", "ip"]
        if self.chance(0.9):
            parts += ["parent", self.handle(self.some_major())]
        if self.chance(0.8):
            parts += ["prio", str(self.random.choice(self.preferences or [1]))]
            if self.chance(0.3):
                kind = self.random.choice(["u32", "fw", "flower", "basic", "matchall"])
                handle = self.handle_of_u32(0x800) if kind == "u32" else "1"
                parts += ["handle", handle, kind] if self.chance(0.5) else [kind]
        return " ".join(parts)

    def write(self) -> list[str]:
        """Return the commands, of which the first makes a root."""
        count = self.random.randint(3, 30)
        has_queues = self.chance(0.04)
        if has_queues or self.chance(0.95):
            kind = self.random.choice(self.of_queues if has_queues else self.kinds)
            self.commands.append(
                f"qdisc add {DEVICE} root handle 1: {kind} {'bands 3' if kind == 'ets' else ''}".strip()
            )
            self.handles[1] = self.kind_at_root = kind
        while len(self.commands) < count:
            if not self.handles:
                self.commands.append(self.qdisc())
                continue
            makes = [self.qdisc] * 5 + [self.make_class] * 6 + [self.filter] * 4 + [self.delete] * 3
            self.commands.append(self.random.choice(makes)())
        if has_queues:
            # The model has one queue, and Linux four.
            of_first = r"(?<= )0?x?0*1:(0x|0*)[2-4]\b" if self.kind_at_root == "mq" else "$^"
            return [re.sub(of_first, "1:1", line).replace(DEVICE, "dev eth1") for line in self.commands]
        return self.commands


def script(seed: int, release: str = "6.1") -> list[str]:
    """Return the script of a seed for Linux of a release."""
    return Script(seed, release).write()
