"""OpenWrt's ``/etc/config/sqm``: what the scripts of SQM type for it.

Source: sqm-scripts (github.com/tohojo/sqm-scripts, 95337de): run-openwrt.sh, defaults.sh, functions.sh and the scripts.
The options ``qdisc_advanced`` and ``qdisc_really_really_advanced`` are the web interface's. The scripts ask for none.
"""

from collections.abc import Callable, Sequence

from goodqueue.errors import UserError, quoted
from goodqueue.settings import sqm_scripts
from goodqueue.settings.draft import Draft, Way
from goodqueue.settings.sqm_scripts import Direction, Queue
from goodqueue.settings.uci import Section

Script = Callable[[Queue, Direction], list[str]]

SCRIPTS: dict[str, Script] = {
    "piece_of_cake.qos": sqm_scripts.piece_of_cake,
    "layer_cake.qos": sqm_scripts.layer_cake,
    "simple.qos": sqm_scripts.simple,
    "simplest.qos": sqm_scripts.simplest,
    "simplest_tbf.qos": sqm_scripts.simplest_tbf,
}

OF_THE_PAGE = (
    "debug_logging",
    "verbosity",
    "qdisc_advanced",
    "qdisc_really_really_advanced",
    "linklayer_advanced",
    "target",
)
"""Options without effect on packets."""


def draft(file: str, sections: Sequence[Section]) -> Draft:
    """Return the scenario of the first queue that is enabled. Raises UserError."""
    queues = [section for section in sections if section.kind == "queue"]
    enabled = [queue for queue in queues if queue.text("enabled") == "1"]
    section = (enabled or queues)[0]
    queue, script = _queue(section)
    down, up = (_way(script, queue, direction) for direction in _directions(section))
    made = Draft(
        f"The queue {section.name!r} of {file} (line {section.line}): what {section.text('script')} of SQM types.",
        down,
        up,
    )
    if not enabled:
        made.remarks.append("The file does not enable this queue.")
    made.remarks.append(
        "On the router the shaper of the way down stands behind the line, and sees packets after the line's own "
        "queue. Here it stands before the line."
    )
    made.left_out += [
        f"line {other.line}: the queue {other.name!r}: one queue is a scenario"
        for other in queues
        if other is not section
    ]
    if script is sqm_scripts.simple and up.is_tree:
        made.left_out.append(
            f"{section.at('script')}: simple.qos sets marks by iptables, by which the filters of the way up choose. "
            "Here no packet has a mark, and all but ICMP goes to 1:12"
        )
    for name in OF_THE_PAGE:
        section.text(name)
    made.left_out += section.left()
    return made


def _queue(section: Section) -> tuple[Queue, Script]:
    name = section.text("script", "nothing")
    if name not in SCRIPTS:
        accepted = ", ".join(SCRIPTS)
        raise UserError(section.file, f"{section.at('script')}: script: found {quoted(name)}; accepted: {accepted}")
    queue = Queue(
        qdisc=section.text("qdisc", "fq_codel"),
        adaptation=section.text("linklayer_adaptation_mechanism", "default"),
        linklayer=section.text("linklayer", "none"),
        overhead=section.text("overhead", "0"),
        mtu=section.text("tcMTU", "2047"),
        size=section.text("tcTSIZE", "512"),
        mpu=section.text("tcMPU", "0"),
        squashes=section.text("squash_dscp", "1") == "1",
        ignores=section.text("squash_ingress", "1") == "1",
    )
    return queue, SCRIPTS[name]


def _directions(section: Section) -> list[Direction]:
    """Return the way down and the way up."""
    device = section.text("interface", "eth0")
    return [
        Direction(
            device=name,
            is_down=is_down,
            kbps=section.whole(rate),
            limit=section.text(f"{letter}limit"),
            target=section.text(f"{letter}target"),
            ecn=section.text(f"{word}_ecn", "ECN"),
            options=section.text(f"{letter}qdisc_opts"),
        )
        for name, is_down, rate, letter, word in [
            (f"ifb4{device}"[:15], True, "download", "i", "ingress"),
            (device, False, "upload", "e", "egress"),
        ]
    ]


def _way(script: Script, queue: Queue, direction: Direction) -> Way:
    if not direction.kbps:
        return Way(0, ["pfifo"], "SQM does not shape this way.")
    return Way(direction.kbps, script(queue, direction))
