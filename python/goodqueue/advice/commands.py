"""The commands to type: ``tc`` commands, the interface for the direction down, and SQM's settings."""

from goodqueue.advice.candidates import Candidate, kbit
from goodqueue.advice.reading import Question

IFB = "ifb0"
"""The interface through which incoming packets are sent."""


def _prepare(device: str) -> list[str]:
    """Return the commands that send incoming packets through an interface of their own (tc-mirred(8))."""
    return [
        f"ip link add {IFB} type ifb; ip link set {IFB} up; tc qdisc add dev {device} handle ffff: ingress",
        f"tc filter add dev {device} parent ffff: matchall action mirred egress redirect dev {IFB}",
    ]


def commands(question: Question, candidate: Candidate) -> dict[str, list[str]]:
    """Return the commands to type, by direction."""
    device = question.wan.name
    down, up = candidate.lines(question, question.wan.header)
    if question.link.key == "wifi":
        root = "noqueue" if candidate.kind == "mac80211" else down
        return {"down": [f"tc qdisc replace dev {device} root {root}"], "up": []}
    if candidate.kind == "nothing":
        return {"prepare": [], "down": [], "up": []}
    return {"prepare": _prepare(device), "up": _typed(up, device), "down": _typed(down, IFB)}


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
    settings = {
        "enabled": "1",
        "interface": question.wan.name,
        "download": kbit(down).removesuffix("kbit"),
        "upload": kbit(up).removesuffix("kbit"),
        "qdisc": "cake" if is_cake else "fq_codel",
        "script": SCRIPTS[candidate.kind],
    }
    if link.framing:
        # Without cake the kernel itself counts the interface's header (tc-stab(8)).
        overhead = link.overhead if is_cake else link.overhead - question.wan.header
        settings |= {"linklayer": "atm" if link.cells == "atm" else "ethernet", "overhead": str(overhead)}
        settings |= {"tcMPU": str(link.mpu)} if link.mpu else {}
    if is_cake:
        options = [_own(line) for line in candidate.lines(question)]
        settings |= {"qdisc_advanced": "1", "qdisc_really_really_advanced": "1", "iqdisc_opts": options[0]}
        settings |= {"eqdisc_opts": options[1]} if options[1] else {}
    return settings


def program(question: Question, candidate: Candidate) -> dict[str, str]:
    """Return the settings of cake-autorate's config.primary.sh. Empty if no program sets the rates."""
    if not candidate.outside:
        return {}
    settings = {"dl_if": IFB, "ul_if": question.wan.name}
    each = zip(("dl", "ul"), candidate.rates_bps(question), candidate.bounds_bps(question), strict=True)
    for direction, base, (least, most) in each:
        for word, bps in (("min", least), ("base", base), ("max", most)):
            settings[f"{word}_{direction}_shaper_rate_kbps"] = str(bps // 1000)
    return settings


def undo(question: Question) -> str:
    """Return the command that takes the typed lines away again."""
    device = question.wan.name
    if question.link.key == "wifi":
        return f"tc qdisc del dev {device} root"
    return f"tc qdisc del dev {device} root; tc qdisc del dev {device} ingress; ip link del {IFB}"


PACKAGES = "opkg install tc-full kmod-ifb kmod-sched-cake; SQM: luci-app-sqm (since 25.12: apk add)"
"""What OpenWrt needs for the typed lines, and for SQM."""

LUCI = "Network > SQM QoS > Basic Settings, Queue Discipline, Link Layer Adaptation"
"""Where OpenWrt's pages have the options of SQM."""


def _own(line: str) -> str:
    """Return the words of cake that SQM has no options for."""
    words = line.split()
    not_in_sqm = ("nat", "dual-dsthost", "dual-srchost", "ingress", "ack-filter", "autorate-ingress")
    left = [word for word in words if word in not_in_sqm]
    return " ".join(([f"rtt {words[words.index('rtt') + 1]}"] if "rtt" in words else []) + left)
