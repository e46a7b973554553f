"""Kinds of links: the framing of packets on each, and the assumptions if nobody measured. Each has its source."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Link:
    """A kind of link."""

    key: str
    """Its name for ``--link``."""
    title: str
    framing: str = ""
    """cake's word for the link's framing."""
    overhead: int = 14
    """The bytes that the framing adds to an IP packet. If nothing is known, an Ethernet header."""
    mpu: int = 0
    """The least number of bytes that a packet occupies."""
    cells: str = ""
    """``atm`` (48 of 53 bytes are the packet's) or ``ptm`` (64 of 65)."""
    source: str = ""
    buffer_s: float = 0.25
    """The assumed length of the present queue, in seconds at the link's rate."""
    buffer_source: str = ""

    @property
    def is_radio(self) -> bool:
        """Whether its rate varies."""
        return self.follows_file or self.key == "starlink"

    @property
    def follows_file(self) -> bool:
        """Whether its rate follows a file of rates."""
        return self.key in ("lte", "5g")

    @property
    def has_page(self) -> bool:
        """Whether the page in the browser runs it: it reads no files of rates."""
        return not self.follows_file

    def access(self, direction: str, rate_bps: int) -> str:
        """Return the access network of a link of ``rate_bps`` in one direction. Empty: none is simulated."""
        if self.key == "starlink":
            return "starlink"
        # Proactive grants of a tenth of the rate carry a household's low-latency packets.
        is_modem = self.key == "lld" and direction == "up"
        return f"docsis map 1ms channel {_channel(rate_bps)}bit ggr {rate_bps // 10}bit" if is_modem else ""

    def grants(self, direction: str, rate_bps: int) -> str:
        """Return the access network of a cable whose modem asks for grants. Empty on the way down.

        It is a doubt and not the link itself, so that Linux can run the link.
        """
        return f"docsis channel {_channel(rate_bps)}bit" if self.key == "docsis" and direction == "up" else ""

    def queue(self, rate_bps: int, buffer_s: float) -> str:
        """Return the present queue of a link of ``rate_bps`` that is ``buffer_s`` long when it is full."""
        held = max(2 * FRAME, round(rate_bps * buffer_s / 8))
        if self.key == "starlink":
            return f"pfifo_head_drop limit {max(2, held // FRAME)}"
        if self.key == "lld":
            return f"docsis_lld classic_buffer {1e3 * buffer_s:g}ms"
        return f"bfifo limit {held}"


def _channel(rate_bps: int) -> int:
    """Return the rate of a modem's upstream channel in bit/s: docs/concepts/access-links.md's, above ``rate_bps``."""
    return max(400_000_000, 2 * rate_bps)


SHALLOW = "as RFC 9332, A.1 has it; modems had more, White et al. 2011"

LINKS = {
    link.key: link
    for link in (
        Link("docsis", "Cable (DOCSIS)", "docsis", 18, 64, "", "tc-cake(8): docsis", buffer_source=SHALLOW),
        Link("dsl", "ADSL (PPPoE over ATM)", "pppoe-llcsnap", 40, 0, "atm", "tc-cake(8): pppoe-llcsnap", 0.25, SHALLOW),
        Link("vdsl", "VDSL (PPPoE over PTM)", "pppoe-ptm", 30, 0, "ptm", "tc-cake(8): pppoe-ptm", 0.25, SHALLOW),
        Link("ethernet", "Ethernet or fibre", "ethernet", 38, 84, "", "tc-cake(8): ethernet", buffer_source=SHALLOW),
        Link(
            "lld",
            "Cable with Low Latency DOCSIS",
            "docsis",
            18,
            64,
            source="tc-cake(8): docsis",
            buffer_s=0.1,
            buffer_source="the classic queue's usual buffer; docs/concepts/access-links.md",
        ),
        Link(
            "lte",
            "LTE",
            source="what the radio adds is not known to tc",
            buffer_s=1.0,
            buffer_source="base stations queue for seconds, Winstein et al. 2013",
        ),
        Link(
            "5g",
            "5G",
            source="what the radio adds is not known to tc",
            buffer_s=0.5,
            buffer_source="3GPP's RLC queues per user, hundreds of ms and more; docs/guides/advise.md",
        ),
        Link(
            "starlink",
            "Starlink",
            source="what the satellite link adds is not known to tc",
            buffer_source="an assumption: no source says how long its queue is; docs/concepts/access-links.md",
        ),
        Link("wifi", "Wi-Fi", source="docs/concepts/wifi.md: the driver holds what a discipline does not see"),
    )
}
"""Kinds of links by key. Rates are those of the link itself: for DSL the modem calls it its sync rate."""

SYNONYMS = {
    "docsis": ("cable", "hfc"),
    "dsl": ("adsl", "adsl2", "adsl2+"),
    "vdsl": ("vdsl2", "fttc"),
    "ethernet": ("fibre", "fiber", "ftth", "gpon"),
    "lld": ("low-latency-docsis",),
    "lte": ("4g",),
    "5g": ("nr",),
    "starlink": ("leo",),
    "wifi": ("wi-fi", "wlan"),
}
"""What people call a kind of link, by its key."""


def find(name: str) -> Link | None:
    """Return the kind of link that ``name`` means, in any case, or None."""
    word = name.lower()
    return next((link for key, link in LINKS.items() if word in (key, *SYNONYMS[key])), None)


FULL_PACKET = 1500
FRAME = 1514
"""The bytes of a full packet, as links of a scenario count them."""


def frames_bps(link: Link, rate_bps: int) -> int:
    """Return the rate of a ``link`` of ``rate_bps``, in frames as a scenario's links count them.

    For full packets it is exact. Smaller packets take a little less time here. ATM's cells are not included.
    """
    share = FRAME / (FULL_PACKET + link.overhead)
    return round(rate_bps * share * (64 / 65 if link.cells == "ptm" else 1))


CELLS = (
    ("802.11n:20", (6.5, 13.0, 19.5, 26.0, 39.0, 52.0, 58.5, 65.0, 13.0, 26.0, 39.0, 52.0, 78.0, 104.0, 117.0, 130.0)),
    ("802.11n:40", (13.5, 27.0, 40.5, 54.0, 81.0, 108.0, 121.5, 135.0,
                    27.0, 54.0, 81.0, 108.0, 162.0, 216.0, 243.0, 270.0)),
)  # fmt: skip
"""The rates of 802.11n in Mbit/s, by channel: MCS 0 to 15 (IEEE 802.11-2012, 20.6)."""

CARRIED = 0.7
"""TCP's share of the rate on the air in such a cell, for a single download. `docs/guides/advise.md` has the runs."""


def cell(down_bps: int) -> tuple[str, str] | None:
    """Return standard and rate of the slowest cell in which a download gets ``down_bps``. None if no cell is enough."""
    needed_mbps = down_bps / 1e6 / CARRIED
    for standard, rates in CELLS:
        fits = [(rate, index) for index, rate in enumerate(rates) if rate >= needed_mbps]
        if fits:
            return standard, f"mcs{min(fits)[1]}"
    return None


def air_mbps(standard: str, rate: str) -> float:
    """Return the rate on the air, in Mbit/s, of a rate of `cell`."""
    return dict(CELLS)[standard][int(rate.removeprefix("mcs"))]
