"""The meaning of what a report's tables and figures show."""

from goodqueue.traffic import probe

STORED = {
    "direction": "Tables and figures are of the direction that is loaded, down or up, or of both. Names and axes say "
    "which, except where the way down alone is.",
    "delay": "A forwarded packet's time from its arrival at the queue to the start of its transmission (ms), of the "
    "packets that leave after the warm-up.",
    "utilisation": "Bits at the bottleneck, headers included, against its rate.",
    "±": "Half of the 95 % confidence interval of the mean, by Student's t over the seeds. Differences are taken seed "
    "by seed, since a seed gives each qdisc the same random draws. A sweep that adds seeds until an interval is "
    "narrow looks at it several times, so the last one is a little too narrow.",
}
"""In a report on stored results."""

MEANINGS = {
    "direction": "Tables and figures are of the direction that is loaded, down or up, or of both. A direction is "
    "loaded where its link is used more than 80 % with one of the disciplines, or 5 % of its packets queue longer "
    "than 5 ms. The files beside this page have both.",
    "delay": STORED["delay"],
    "utilisation": STORED["utilisation"],
    "goodput": "What the flows in one direction deliver to their applications, all together.",
    "drops": "Dropped packets against packets offered to the queue.",
    probe().name: "Round-trip time of small packets in both directions, base RTT included.",
    "call (voip)": "One-way delay and loss of a call's packets, and its mean opinion score (MOS) by ITU-T G.107's "
    "E-model, behind the play-out buffer that suits it best: 1 is bad, 4.4 is as good as this codec gets.",
    "page, transfer": "From the lookup of a page's host to the last byte of its last object; from a transfer's SYN to "
    "its last byte. Those that ended while measuring count.",
    "Jain": "Jain's index of the goodput of the bulk flows in one direction: 1 for equal shares, 1/n if one of n has "
    "everything.",
    "±": STORED["±"].partition(" A sweep")[0],
}
"""In a report of a comparison."""
