"""The ends of a link: their names and addresses, and those of further hosts that the user declares."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from goodqueue.engines.kernel.lab.addresses import SIDES, address
from goodqueue.errors import Option, UserError, quoted

DEEPEST = 16
"""The maximum number of links within each other."""

_MOST = 250
_NAME = re.compile(r"[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?(\.[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?)*")
"""The name of a host (RFC 1123, 2.1)."""


class Declared(NamedTuple):
    """A host that the user declares: a name with an address of its own, at one end of the path."""

    name: str
    side: str

    @property
    def names(self) -> tuple[str, str]:
        """The name of its IPv4 address, and that of its IPv6 address."""
        return self.name, f"{self.name}6"


@dataclass(frozen=True, slots=True)
class End:
    """A host at an end of the path."""

    name: str
    side: str
    ipv4: str
    ipv6: str | None = None

    def names(self) -> dict[str, list[str]]:
        """Return the addresses by name. The host's name is its IPv4 address, as in simulated runs."""
        addresses_of = {self.name: [self.ipv4]}
        if self.ipv6 is not None and Path("/proc/self/net/if_inet6").exists():
            addresses_of[f"{self.name}6"] = [self.ipv6]
        return addresses_of


def declared(texts: Sequence[str]) -> tuple[Declared, ...]:
    """Return the hosts in ``texts``, each a name or ``NAME=END``: the server's end, if none is named.

    Raises UserError.
    """
    taken = {"localhost", "host", *(name for side in SIDES for name in Declared(side, side).names)}
    hosts = []
    for text in texts:
        name, _, side = text.partition("=")
        if not _NAME.fullmatch(name) or (side or SIDES[0]) not in SIDES:
            accepted = "a name, or a name and its end, as phone=client"
            raise UserError(Option("host"), f"found {quoted(text)}; accepted: {accepted}")
        host = Declared(name, side or SIDES[0])
        if taken.intersection(host.names):
            raise UserError(Option("host"), f"found {quoted(name)}, which is taken; accepted: another name")
        taken.update(host.names)
        hosts.append(host)
    if len(hosts) > _MOST:
        raise UserError(Option("host"), f"found {len(hosts)} hosts; accepted: at most {_MOST}")
    return tuple(hosts)


def of_link(depth: int, hosts: Sequence[Declared]) -> list[End]:
    """Return the ends of link number ``depth`` of those within each other, and the further ``hosts``.

    The IPv4 addresses are from the block for providers' NAT (RFC 6598), like mahimahi's. The IPv6 addresses are
    private (RFC 4193).
    """
    every = [*(Declared(side, side) for side in SIDES), *hosts]
    return [
        End(host.name, host.side, f"100.64.{depth}.{number}", f"fd67:6f6f:6471:{depth:x}::{number:x}")
        for number, host in enumerate(every, 1)
    ]


def of_laboratory(hosts: Sequence[Declared]) -> list[End]:
    """Return the ends of Linux's own path, and the further ``hosts``. The laboratory has IPv4 alone."""
    counts = dict.fromkeys(SIDES, 0)
    ends = []
    for host in [*(Declared(side, side) for side in SIDES), *hosts]:
        counts[host.side] += 1
        ends.append(End(host.name, host.side, address(host.side, counts[host.side])))
    return ends


def beyond(depth: int, side: str) -> list[str]:
    """Return the prefixes beyond the path: everything for a client, and deeper links' ends for a server."""
    if side == "client":
        return ["0.0.0.0/0", "::/0"]
    deeper = range(depth, DEEPEST + 1)
    return [prefix for at in deeper for prefix in (f"100.64.{at}.0/24", f"fd67:6f6f:6471:{at:x}::/64")]
