"""OpenWrt's ``/etc/config/qosmate``: what qosmate types for it.

Source: qosmate (github.com/hudra0/qosmate, ad5ef37): etc/config/qosmate and etc/qosmate.sh.
"""

from collections.abc import Sequence

from goodqueue.errors import UserError
from goodqueue.settings import qosmate_trees
from goodqueue.settings.draft import Draft, Way
from goodqueue.settings.qosmate_trees import Side, Words
from goodqueue.settings.uci import Section

DEFAULTS = {
    "ROOT_QDISC": "hfsc",
    "COMMON_LINK_PRESETS": "ethernet",
    "WASHDSCPUP": "1",
    "WASHDSCPDOWN": "1",
    "gameqdisc": "pfifo",
    "nongameqdisc": "fq_codel",
    "nongameqdiscoptions": "besteffort ack-filter",
    "MAXDEL": "24",
    "PFIFOMIN": "5",
    "PACKETSIZE": "450",
    "netemdelayms": "30",
    "netemjitterms": "7",
    "netemdist": "normal",
    "netem_direction": "both",
    "pktlossp": "none",
    "PRIORITY_QUEUE_INGRESS": "diffserv4",
    "PRIORITY_QUEUE_EGRESS": "diffserv4",
    "HOST_ISOLATION": "1",
    "NAT_INGRESS": "1",
    "NAT_EGRESS": "1",
    "ACK_FILTER_EGRESS": "auto",
    "AUTORATE_INGRESS": "0",
}
"""What qosmate adds to a file that lacks these options."""

OF_SOME_KINDS = (
    "GAMEUP",
    "GAMEDOWN",
    "OVERHEAD",
    "MPU",
    "LINK_COMPENSATION",
    "ETHER_VLAN_KEYWORD",
    "RTT",
    "EXTRA_PARAMETERS_INGRESS",
    "EXTRA_PARAMETERS_EGRESS",
)
"""Further options, which qosmate reads for some kinds of ``ROOT_QDISC`` only, as many of `DEFAULTS`."""

WITHOUT_EFFECT = ("enabled", "PRESERVE_CONFIG_FILES", "NFT_HOOK", "NFT_PRIORITY", "interval")
"""Options without effect on packets."""

BY_NFTABLES = (
    "ACKRATE",
    "BWMAXRATIO",
    "UDP_RATE_LIMIT_ENABLED",
    "TCP_UPGRADE_ENABLED",
    "TCP_DOWNPRIO_INITIAL_ENABLED",
    "TCP_DOWNPRIO_SUSTAINED_ENABLED",
    "UDPBULKPORT",
    "TCPBULKPORT",
    "VIDCONFPORTS",
    "REALTIME4",
    "REALTIME6",
    "LOWPRIOLAN4",
    "LOWPRIOLAN6",
    "MSS",
    "MAX_CONNECTIONS",
)
"""Options of nftables' rules, by which qosmate sets codepoints, drops ACKs and clamps segments."""

RULES = ("rule", "ipset", "ratelimit", "custom_rules")
"""Kinds of sections that make rules of nftables."""


class Reader:
    """Finds options in any section, as the names of one section are not those of another."""

    def __init__(self, file: str, sections: Sequence[Section]) -> None:
        """Take the sections of settings."""
        self.file = file
        self.sections = [section for section in sections if section.kind not in (*RULES, "autorate")]

    def holder(self, name: str) -> Section | None:
        """Return the section that has the option ``name``."""
        return next((section for section in self.sections if name in section.options), None)

    def text(self, name: str, default: str = "") -> str:
        """Return an option, or its default."""
        section = self.holder(name)
        return (section.text(name) if section else "") or default or DEFAULTS.get(name, "")

    def whole(self, name: str, default: int = 0) -> int:
        """Return an option that is a whole number. Raises UserError."""
        section, text = self.holder(name), self.text(name)
        number = section.whole(name) if section and section.text(name) else int(text or default)
        return number or default


def draft(file: str, sections: Sequence[Section]) -> Draft:
    """Return the scenario of the settings. Raises UserError."""
    reader = Reader(file, sections)
    rates = {name: reader.whole(name) for name in ("DOWNRATE", "UPRATE")}
    if missing := [name for name, kbps in rates.items() if not kbps]:
        raise UserError(file, f"found no {missing[0]}; accepted: option {missing[0]} 'KBIT' in the section settings")
    kind = reader.text("ROOT_QDISC")
    device = reader.text("WAN", "eth1")
    sides = [
        Side(f"ifb-{device}", True, rates["DOWNRATE"], reader.whole("GAMEDOWN", rates["DOWNRATE"] * 15 // 100 + 400)),
        Side(device, False, rates["UPRATE"], reader.whole("GAMEUP", rates["UPRATE"] * 15 // 100 + 400)),
    ]
    words = Words(reader.text, reader.whole)
    make = qosmate_trees.KINDS.get(kind, qosmate_trees.hfsc)
    down, up = (Way(side.kbps, make(words, side, rates["DOWNRATE"] // rates["UPRATE"])) for side in sides)
    made = Draft(f"The settings of {file}: what qosmate types for ROOT_QDISC {kind!r}.", down, up)
    if kind not in qosmate_trees.KINDS:
        made.left_out.append(f"ROOT_QDISC {kind!r}: qosmate does not know it either, and takes hfsc")
    if kind != "cake":
        made.remarks.append(
            "On the way up, qosmate chooses classes by rules of nftables. Here all packets of that way go to 1:13."
        )
    made.left_out += _left_out(reader, sections)
    return made


def _left_out(reader: Reader, sections: Sequence[Section]) -> list[str]:
    texts = []
    for section in sections:
        if section.kind in RULES and section.options:
            texts.append(
                f"line {section.line}: {section.kind} {section.name!r}: a rule of nftables. The dscp of a [[traffic]] "
                "stands for it"
            )
        if section.kind == "autorate" and section.text("enabled") == "1":
            texts.append(
                f"{section.at('enabled')}: autorate: qosmate's own program that sets rates. [autorate] has the rules "
                "of cake-autorate, which differ"
            )
    for section in reader.sections:
        section.asked.update(WITHOUT_EFFECT)
        for name in BY_NFTABLES:
            if section.text(name, "0") != "0":
                texts.append(f"{section.written(name)}: a rule of nftables")
        section.asked.update([*DEFAULTS, *OF_SOME_KINDS])
        if section.text("USE_MQ", "0") != "0":
            texts.append(f"{section.written('USE_MQ')}: cake_mq needs several transmit queues; here it is cake")
        texts += section.left()
    return texts
