"""The bytes that a link adds to each packet if the line dials in by PPPoE or has a VLAN, and the router's interface.

cake counts its ``overhead`` from the IP packet on any interface (tc-cake(8), "raw" and "overhead"). `htb` and `tbf`
add theirs to the frame that the interface sends (tc-stab(8)): an Ethernet interface has 14 bytes of header more than
the IP packet, ``pppoe-wan`` has none, since the kernel adds PPPoE's bytes below it.
"""

import re
from dataclasses import dataclass, replace

from goodqueue.advice.links import Link
from goodqueue.errors import Option, UserError, quoted

HEADER = 14
"""The bytes of an Ethernet header, which an Ethernet interface counts."""

PPPOE = 8
"""The bytes of PPPoE's and PPP's headers (RFC 2516, 4; RFC 1661, 2)."""

VLAN = 4
"""The bytes of a VLAN's tag (IEEE 802.1Q); cake's word ``ether-vlan``."""

DIALLED, PORT, CARD = "pppoe-wan", "eth0", "wlan0"
"""The router's interface: OpenWrt's if the router itself dials, an Ethernet port, and a Wi-Fi card."""

WHO_DIALS = ("router", "modem", "no")

BARE = {"dsl": ("bridged-llcsnap", 32), "vdsl": ("bridged-ptm", 22)}
"""cake's words for the links whose usual framing has PPPoE, without it (tc-cake(8))."""

MOST = 256
"""The largest ``overhead`` of cake (tc-cake(8))."""

_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.@-]{0,14}")
"""Names of interfaces: up to 15 bytes (Linux, dev_valid_name), and only those that a shell leaves as they are."""


@dataclass(frozen=True, slots=True)
class Wan:
    """The router's interface to the Internet."""

    name: str
    header: int = HEADER
    """The bytes that it counts beside the IP packet."""


USUAL = Wan(PORT)


def framed(link: Link, pppoe: str | None, vlan: bool, overhead: int | None, wan: str | None) -> tuple[Link, Wan]:
    """Return the link with its framing, and the router's interface, as the options say. Raises UserError."""
    if pppoe is not None and pppoe not in WHO_DIALS:
        raise UserError(Option("pppoe"), f"found {quoted(pppoe)}; accepted: {', '.join(WHO_DIALS)}")
    if wan is not None and not _NAME.fullmatch(wan):
        raise UserError(Option("wan"), f"found {quoted(wan)}; accepted: an interface's name, such as eth0 or pppoe-wan")
    given_options = {"pppoe": pppoe is not None, "vlan": vlan, "overhead": overhead is not None}
    if not link.framing:
        for option, is_said in given_options.items():
            if is_said:
                raise UserError(
                    Option(option), ["found with ", Option("link", link.key), "; accepted: with a link by wire"]
                )
        return link, Wan(wan or (CARD if link.key == "wifi" else PORT))
    if vlan and overhead is not None:
        both = Option("overhead")
        raise UserError(
            Option("vlan"), ["found beside ", both, "; accepted: one of them, as ", both, " counts all bytes"]
        )
    dials = pppoe == "router" or (pppoe is None and wan is not None and wan.startswith("ppp"))
    pppoe = "router" if dials else pppoe
    interface = Wan(wan or (DIALLED if dials else PORT), 0 if dials else HEADER)
    if overhead is not None:
        words = [
            f"overhead {overhead}",
            *([f"mpu {link.mpu}"] if link.mpu else []),
            *([link.cells] if link.cells else []),
        ]
        return replace(link, framing=" ".join(words), overhead=overhead, source="as said"), interface
    return _with_vlan(_with_pppoe(link, pppoe), vlan), interface


def _with_pppoe(link: Link, pppoe: str | None) -> Link:
    usual = "modem" if link.key in BARE else "no"
    if (pppoe or usual) == "no":
        if link.key not in BARE:
            return link
        word, count = BARE[link.key]
        return replace(link, title=f"{link.title.split()[0]} (no PPPoE)", framing=word, overhead=count,
                       source=f"tc-cake(8): {word}")  # fmt: skip
    if link.key in BARE:
        return link
    count = link.overhead + PPPOE
    title = f"{link.title}, PPPoE"
    return replace(link, title=title, framing=f"overhead {count} mpu {link.mpu}", overhead=count,
                   source=f"{link.source}, and {PPPOE} of PPPoE, RFC 2516")  # fmt: skip


def _with_vlan(link: Link, vlan: bool) -> Link:
    if not vlan:
        return link
    return replace(link, framing=f"{link.framing} ether-vlan", overhead=link.overhead + VLAN,
                   source=f"{link.source}, and {VLAN} of ether-vlan")  # fmt: skip
