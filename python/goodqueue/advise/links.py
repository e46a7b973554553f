"""Kinds of link: what a packet weighs on each, and what is assumed of it where nobody measured. Each has its source."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Link:
    """A kind of link."""

    key: str
    """What ``--link`` calls it."""
    title: str
    framing: str = ""
    """cake's word for what the link adds to a packet."""
    overhead: int = 14
    """Bytes that it adds to an IP packet, by that word; an Ethernet header where nothing is known."""
    mpu: int = 0
    """Bytes that a packet occupies at least."""
    cells: str = ""
    """``atm`` (48 of 53 bytes are the packet's) or ``ptm`` (64 of 65)."""
    source: str = ""
    buffer_s: float = 0.25
    """How long the queue that is there now is assumed to be, at the link's rate."""
    buffer_source: str = ""


SHALLOW = "as RFC 9332, A.1 has it; modems had more, White et al. 2011"

LINKS = {
    link.key: link
    for link in (
        Link("docsis", "Cable (DOCSIS)", "docsis", 18, 64, "", "tc-cake(8): docsis", buffer_source=SHALLOW),
        Link("dsl", "ADSL (PPPoE over ATM)", "pppoe-llcsnap", 40, 0, "atm", "tc-cake(8): pppoe-llcsnap", 0.25, SHALLOW),
        Link("vdsl", "VDSL (PPPoE over PTM)", "pppoe-ptm", 30, 0, "ptm", "tc-cake(8): pppoe-ptm", 0.25, SHALLOW),
        Link("ethernet", "Ethernet or fibre", "ethernet", 38, 84, "", "tc-cake(8): ethernet", buffer_source=SHALLOW),
        Link(
            "lte",
            "LTE",
            source="what the radio adds is not known to tc",
            buffer_s=1.0,
            buffer_source="base stations queue for seconds, Winstein et al. 2013",
        ),
        Link("wifi", "Wi-Fi", source="docs/wifi.md: the driver holds what a discipline does not see"),
    )
}
"""By key. Rates are what the link itself sends with: of DSL that is what the modem calls its sync rate."""

FULL_PACKET = 1500
FRAME = 1514
"""A full packet, as links of a scenario count it."""


def frames_bps(link: Link, rate_bps: int) -> int:
    """Return the rate, in frames as a scenario's links count them, of a ``link`` that sends ``rate_bps`` itself.

    Of full packets it is exact; smaller ones weigh a little less here. Cells of ATM are not in it.
    """
    share = FRAME / (FULL_PACKET + link.overhead)
    return round(rate_bps * share * (64 / 65 if link.cells == "ptm" else 1))


CELLS = (
    ("802.11n:20", (6.5, 13.0, 19.5, 26.0, 39.0, 52.0, 58.5, 65.0, 13.0, 26.0, 39.0, 52.0, 78.0, 104.0, 117.0, 130.0)),
    ("802.11n:40", (13.5, 27.0, 40.5, 54.0, 81.0, 108.0, 121.5, 135.0,
                    27.0, 54.0, 81.0, 108.0, 162.0, 216.0, 243.0, 270.0)),
)  # fmt: skip
"""What 802.11n sends with in Mbit/s, by channel: MCS 0 to 15 (IEEE 802.11-2012, 20.6)."""

CARRIED = 0.7
"""The share of the air's rate that TCP gets through in such a cell; a download alone, `docs/advise.md` has the runs."""


def cell(down_bps: int) -> tuple[str, str] | None:
    """Return standard and rate of the slowest cell in which a download gets ``down_bps``; None where none is fast."""
    wanted = down_bps / 1e6 / CARRIED
    for standard, rates in CELLS:
        fits = [(rate, place) for place, rate in enumerate(rates) if rate >= wanted]
        if fits:
            return standard, f"mcs{min(fits)[1]}"
    return None


def air_mbps(standard: str, rate: str) -> float:
    """Return what a rate of `cell` sends with."""
    return dict(CELLS)[standard][int(rate.removeprefix("mcs"))]
