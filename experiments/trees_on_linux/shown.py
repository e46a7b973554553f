"""Keeps what `tc` of each release prints: ``.venv/bin/python -m experiments.trees_on_linux.shown``.

Gives one tree of each discipline to `tc` in the kernel engine's machine. Prints which outputs are no JSON, and keeps
these and all warnings in tests/engines/shown, for the reader of `tc`'s output.
"""

import json
import threading
from pathlib import Path
from typing import Any

from goodqueue.engines.kernel import cpio, folders, image, vm
from goodqueue.engines.releases import RELEASES

HERE = Path(__file__).resolve().parent
KEPT = HERE.parents[1] / "tests" / "engines" / "shown"

LINES = """
pfifo|bfifo|pfifo_head_drop|pfifo_fast|prio|codel|fq|fq_codel|fq_pie|pie|sfq|cake|cake bandwidth 10mbit|sfb
red limit 60000 min 5000 max 15000 avpkt 1000 burst 8 bandwidth 10mbit
choke limit 1000 min 83 max 250 bandwidth 10mbit|sfq redflowlimit 60000 min 4000 max 12000 avpkt 1000 burst 6
tbf rate 1mbit burst 5k latency 50ms|netem delay 10ms 1ms loss 1% rate 1mbit|netem slot 1ms 2ms loss gemodel 1%
htb default 1|hfsc default 1|drr|qfq|ets bands 3 strict 1|multiq|mq|hhf|skbprio|plug|etf clockid CLOCK_TAI|dualpi2
gred setup DPs 3 default 0|cake_mq|atm|cbq bandwidth 10mbit avpkt 1000|dsmark indices 4|cbs
mqprio num_tc 2 map 0 1 queues 1@0 1@1 hw 0
"""
"""The roots, each with the handle 1:. A line has several with bars between them."""

CLASSES = {
    "htb": "htb rate 40mbit",
    "hfsc": "hfsc sc rate 10mbit ul rate 10mbit",
    "drr": "drr",
    "qfq": "qfq weight 2 maxpkt 1600",
    "cbq": "cbq bandwidth 10mbit rate 1mbit avpkt 1000 allot 1514",
}


def trees() -> list[list[str]]:
    """Return the commands of each tree."""
    lists = []
    for line in LINES.replace("\n", "|").strip("|").split("|"):
        commands = [f"qdisc add dev v0 root handle 1: {line}"]
        if options := CLASSES.get(line.split()[0]):
            commands.append(f"class add dev v0 parent 1: classid 1:1 {options}")
        lists.append(commands)
    return lists


def is_json(text: str) -> bool:
    """Return whether ``text`` is JSON."""
    try:
        json.loads(text or "[]")
    except ValueError:
        return False
    return True


def main() -> None:
    """Ask the `tc` of each release."""
    KEPT.mkdir(exist_ok=True)
    for release in RELEASES:
        system = image.find(release) or image.build(release=release)
        files = {
            "init": Path(vm.__file__).with_name("init.sh").read_bytes(),
            "lab/guest.py": HERE.joinpath("shown_guest.py").read_bytes(),
            "plan.json": json.dumps(trees()).encode(),
        }
        with folders.private() as folder:
            vm.boot(system, cpio.files(files), 64, folder, lambda _: None, threading.Event())
            found: dict[str, Any] = json.loads((folder / "results" / "shown.json").read_bytes())
        kept = []
        for entry in found["seen"]:
            broken = [name for name in ("qdiscs", "classes") if not is_json(entry[name])]
            if "qdiscs" in broken or (entry["said"] and not entry["status"]):
                kept.append({name: entry[name] for name in ("commands", "said", "qdiscs")})
            if broken or entry["said"]:
                print(f"{found['tc']}: {entry['commands'][0]}: no JSON: {broken}, said: {entry['said'].strip()!r}")
        text = json.dumps(found | {"seen": kept}, indent=1)
        (KEPT / f"tc-{release}.json").write_text(f"{text}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
