"""The commands to type: ``tc`` commands, the interface for the direction down, and SQM's settings."""

from goodqueue.advise.candidates import Candidate, kbit
from goodqueue.advise.question import Question

DEVICE, IFB = "eth0", "ifb0"
"""The router's port to the modem, and the interface through which incoming packets are sent."""

PREPARE = [
    f"ip link add {IFB} type ifb; ip link set {IFB} up; tc qdisc add dev {DEVICE} handle ffff: ingress",
    f"tc filter add dev {DEVICE} parent ffff: matchall action mirred egress redirect dev {IFB}",
]
"""A qdisc acts on outgoing packets. Incoming ones must be sent through an interface of their own (tc-mirred(8))."""


def commands(question: Question, candidate: Candidate) -> dict[str, list[str]]:
    """Return the commands to type, by direction."""
    down, up = candidate.lines(question)
    if question.link.key == "wifi":
        root = "noqueue" if candidate.kind == "mac80211" else down
        return {"down": [f"tc qdisc replace dev wlan0 root {root}"], "up": []}
    if candidate.kind == "nothing":
        return {"prepare": [], "down": [], "up": []}
    return {"prepare": PREPARE, "up": _typed(up, DEVICE), "down": _typed(down, IFB)}


def _typed(line: str, device: str) -> list[str]:
    """Return the commands that set up ``line`` on ``device``."""
    outer, _, child = line.partition(" child ")
    name, _, words = outer.partition(" ")
    add = f"tc qdisc replace dev {device} root"
    if not child:
        return [f"{add} {line}"]
    if name == "tbf":  # tc requires a limit; it belongs to the queue that the child replaces
        return [f"{add} handle 1: {outer} limit 1514000", f"tc qdisc add dev {device} parent 1:1 {child}"]
    return [
        f"{add} handle 1: htb default 1",
        f"tc class add dev {device} parent 1: classid 1:1 {name} {words}",
        f"tc qdisc add dev {device} parent 1:1 {child}",
    ]


SCRIPTS = {"cake": "piece_of_cake.qos", "htb": "simplest.qos", "tbf": "simplest_tbf.qos"}
"""The scripts of sqm-scripts without traffic classes."""


def sqm(question: Question, candidate: Candidate) -> dict[str, str]:
    """Return the equivalent options of a queue section of OpenWrt's /etc/config/sqm. Empty if there are none."""
    if candidate.kind not in SCRIPTS:
        return {}
    down, up = candidate.rates_bps(question)
    link, is_cake = question.link, candidate.kind == "cake"
    if is_cake and link.cells == "ptm":  # SQM has no option for PTM
        down, up = down * 64 // 65, up * 64 // 65
    found = {
        "enabled": "1",
        "interface": DEVICE,
        "download": kbit(down).removesuffix("kbit"),
        "upload": kbit(up).removesuffix("kbit"),
        "qdisc": "cake" if is_cake else "fq_codel",
        "script": SCRIPTS[candidate.kind],
    }
    if link.framing:
        # Without cake the kernel itself counts the Ethernet header (tc-stab(8)).
        overhead = link.overhead if is_cake else link.overhead - 14
        found |= {"linklayer": "atm" if link.cells == "atm" else "ethernet", "overhead": str(overhead)}
        found |= {"tcMPU": str(link.mpu)} if link.mpu else {}
    if is_cake:
        own = [_own(line) for line in candidate.lines(question)]
        found |= {"qdisc_advanced": "1", "qdisc_really_really_advanced": "1", "iqdisc_opts": own[0]}
        found |= {"eqdisc_opts": own[1]} if own[1] else {}
    return found


def _own(line: str) -> str:
    """Return the words of cake that SQM has no options for."""
    words = line.split()
    known = ("nat", "dual-dsthost", "dual-srchost", "ingress", "ack-filter", "autorate-ingress")
    kept = [word for word in words if word in known]
    return " ".join(([f"rtt {words[words.index('rtt') + 1]}"] if "rtt" in words else []) + kept)
