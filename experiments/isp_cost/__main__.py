"""Counts the instructions per packet of Linux's disciplines, for the question how many cores an ISP needs.

``.venv/bin/python -m experiments.isp_cost`` boots the kernel engine's machine, whose clock counts instructions. It
writes experiments/isp_cost/results.json and the tables of docs/results/isp-cost.md. experiments/isp_cost/guest.py is
what runs inside.
"""

import json
import threading
from pathlib import Path
from typing import Any

from experiments import kept
from goodqueue.engines.kernel import cpio, folders, image, vm

PAGE = kept.PAGES / "isp-cost.md"
HERE = Path(__file__).parent
OUT_MB = 512
PACKETS = 8000
FULL, SMALL = 1514, 114
BURST, RATE_MBIT = 200, 200
MANY = 200
LEAVES = ("pfifo", "fq_codel", "cake diffserv4")
NOTHING = "no discipline"
"""The case whose cost the others are measured against."""


def tree(subscribers: int, leaf: str | None, rate: str, by_filters: bool = False) -> list[str]:
    """Return the tree of an ISP: the link, a node, and a class per subscriber, which borrows from both."""
    lines = [
        "qdisc add DEV root handle 1: htb default ffff",
        f"class add DEV parent 1: classid 1:1 htb rate {rate} ceil {rate}",
        f"class add DEV parent 1:1 classid 1:2 htb rate 100mbit ceil {rate}",
    ]
    for number in range(0x10, 0x10 + subscribers):
        lines.append(f"class add DEV parent 1:2 classid 1:{number:x} htb rate 1mbit ceil {rate} quantum 1514")
        if leaf is not None:
            lines.append(f"qdisc add DEV parent 1:{number:x} {leaf}")
        if by_filters:
            address = f"100.64.{(number - 0xF) >> 8}.{(number - 0xF) & 255}/32"
            matched = f"u32 match ip dst {address} flowid 1:{number:x}"
            lines.append(f"filter add DEV parent 1: protocol ip prio 1 {matched}")
    return lines


def cases() -> dict[str, dict[str, Any]]:
    """Return what is measured, by name."""
    usual = {"length": FULL, "subscribers": 1, "packets": PACKETS, "burst": 0, "pause_s": 0.0, "by": "priority"}
    waiting = usual | {"burst": BURST, "pause_s": 1.3 * BURST * FULL * 8 / (RATE_MBIT * 1e6)}
    found = {
        NOTHING: usual | {"tc": []},
        f"{NOTHING}, {MANY}": usual | {"tc": [], "subscribers": MANY},
        f"{NOTHING}, waiting": waiting | {"tc": []},
        "cake bandwidth": usual | {"tc": ["qdisc add DEV root cake diffserv4 bandwidth 10gbit"]},
        "cake bandwidth, waiting": waiting | {"tc": [f"qdisc add DEV root cake diffserv4 bandwidth {RATE_MBIT}mbit"]},
    }
    for leaf in LEAVES:
        for many in (1, MANY):
            own = usual | {"subscribers": many}
            name = f"htb, {leaf}" + (f", {many}" if many > 1 else "")
            found[name] = own | {"tc": tree(many, leaf, "10gbit")}
        found[f"htb, {leaf}, waiting"] = waiting | {"tc": tree(1, leaf, f"{RATE_MBIT}mbit")}
    filtered = tree(MANY, "fq_codel", "10gbit", by_filters=True)
    found[f"htb, fq_codel, {MANY}, filters"] = usual | {"subscribers": MANY, "by": "filter", "tc": filtered}
    return found


def measured() -> dict[str, Any]:
    """Boot a machine, and return the instructions per packet by case, with the kernel's release."""
    system = image.find(None)
    if system is None:
        raise SystemExit("found no image of the machine; accepted: after goodqueue kernel image")
    files = {
        "init": Path(vm.__file__).with_name("init.sh").read_bytes(),
        "lab/guest.py": (HERE / "guest.py").read_bytes(),
        "plan.json": json.dumps(cases()).encode(),
    }
    with folders.private() as folder:
        vm.boot(system, cpio.files(files), OUT_MB, folder, lambda share: print(share, flush=True), threading.Event())
        made: dict[str, Any] = json.loads((folder / "results" / "instructions.json").read_text(encoding="utf-8"))
    slopes = {name: (more[1] - less[1]) / (more[0] - less[0]) for name, (less, more) in made["cases"].items()}
    return {"kernel": made["kernel"], "instructions": {name: round(slope) for name, slope in slopes.items()}}


GHZ = 3.0
"""The clock of the core that a rate is given for, at one instruction per cycle."""


def write(found: dict[str, Any]) -> None:
    """Write the table below the mark: what a discipline adds to sending a packet."""
    counts: dict[str, int] = found["instructions"]

    def added(name: str) -> int:
        many = f", {MANY}" if f", {MANY}" in name else ""
        waits = ", waiting" if name.endswith(", waiting") else ""
        return counts[name] - counts[f"{NOTHING}{many}{waits}"]

    lines = [
        f"Linux {found['kernel'].split()[0]}. Gbit/s: full packets at {GHZ:g} GHz and one instruction per cycle.",
        "",
        "| tree | subscribers | at once | Gbit/s | waiting | Gbit/s |",
        "|---|---|---|---|---|---|",
    ]
    for name in counts:
        if name.startswith(NOTHING) or name.endswith(", waiting"):
            continue
        cells = []
        for case in (name, f"{name}, waiting"):
            cost = added(case) if case in counts else None
            cells += ["–", "–"] if cost is None else [str(cost), f"{GHZ * FULL * 8 / cost:.1f}"]
        many = str(MANY) if f", {MANY}" in name else "1"
        lines.append(f"| {name.replace(f', {MANY}', '')} | {many} | {' | '.join(cells)} |")
    kept.below(PAGE, HERE, lines)


if __name__ == "__main__":
    made = measured()
    kept.keep(HERE, made)
    write(made)
