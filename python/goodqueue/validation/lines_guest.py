"""``lines_guest.py OUT``: gives lines to `tc` in the virtual machine, and notes what `tc` makes of each.

The file `LINES` is a JSON list. Each entry is a list of commands: the words after ``tc qdisc add dev DEV``, or after
``tc class add dev DEV`` if they begin with ``class``. OUT/lines.json has the releases of `tc` and of Linux, and one
list ``[shown, said]`` per entry. ``shown`` is what ``tc -j qdisc show`` shows of the root's options (of an htb: the
text of its class), or null if `tc` or the kernel refused a command. ``said`` is the first line of `tc`'s complaint.

One `tc` reads a batch of commands, because a program's start is what costs time here. An incomplete command ends `tc`.
The next batch then begins behind it. A batch that a signal ends loses what it had to print, so its lines are tried one
at a time.
"""

import itertools
import json
import os
import re
import subprocess
import sys
from pathlib import Path

from pyroute2 import IPRoute

DEVICE = "v0"
"""A veth, because it has a speed (10 Gbit/s), which a rate in percent needs."""
LINES = Path("/plan.json")
TYPED = Path("/typed")
BATCH = 250
IGNORED = ("Usage", "Warning", "RED: set", "SFQ: WARN", "RED: WARN", "CHOKE: WARN")
"""Beginnings of what `tc` says and that refuses nothing."""
FAILED = re.compile(r"Command failed \S+:(\d+)")


def has_class(entry: list[list[str]]) -> bool:
    """Return whether ``entry`` is of an htb. This release of `tc` shows a class only as text."""
    return any(words[0] == "class" for words in entry)


def commands(entry: list[list[str]]) -> list[str]:
    """Return the commands of an entry as a batch has them: add all, show, delete."""
    adds = []
    for words in entry:
        kind = "class" if words[0] == "class" else "qdisc"
        adds.append(f"{kind} add dev {DEVICE} {' '.join(words[1:] if kind == 'class' else words)}")
    shows = [f"qdisc show dev {DEVICE}", *([f"class show dev {DEVICE}"] if has_class(entry) else [])]
    return [*adds, *shows, f"qdisc del dev {DEVICE} root"]


def typed(entries: list[list[list[str]]], json_of: bool) -> tuple[list[list[object]], bool]:
    """Give ``entries`` to one `tc`. Return what it made of those that it came to, and whether a signal ended it."""
    lines, owner = [], []
    for number, entry in enumerate(entries):
        text = commands(entry)
        lines += [f"{line}\n" for line in text]
        owner += [number if index < len(entry) else None for index in range(len(text))]
    TYPED.write_text("".join(lines), encoding="utf-8")
    command = ["tc", *(["-j"] if json_of else []), "-force", "-batch", str(TYPED)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode < 0:
        return [], True
    complaints: dict[int | None, str] = {}
    complaint = ""
    for line in done.stderr.splitlines():
        if failed := FAILED.search(line):
            complaints.setdefault(owner[int(failed[1]) - 1], complaint or "refused")
            complaint = ""
        elif line.strip() and not line.startswith(IGNORED):
            complaint = complaint or line.strip()
    results: list[list[object]] = []
    for number, options in enumerate(roots(done.stdout) if json_of else classes(done.stdout)):
        refused = complaints.get(number)
        results.append([None if refused else options, refused or ""])
    if len(results) < len(entries):  # it ended at the next entry
        results.append([None, complaint or "incomplete"])
    return results, False


def roots(text: str) -> list[object]:
    """Return the options of the root of each list in JSON."""
    options_of_roots: list[object] = []
    decoder, rest = json.JSONDecoder(), text.strip()
    while rest:
        value, end = decoder.raw_decode(rest)
        options_of_roots.append(next((entry.get("options") for entry in value if entry.get("root")), None))
        rest = rest[end:].lstrip()
    return options_of_roots


def classes(text: str) -> list[object]:
    """Return the text of the class behind each line of a qdisc."""
    options_of_classes: list[object] = []
    for line in text.splitlines():
        if line.startswith("qdisc "):
            options_of_classes.append(None)
        elif line.startswith("class ") and options_of_classes:
            options_of_classes[-1] = line.partition(" root ")[2].strip()
    return options_of_classes


def all_of(entries: list[list[list[str]]]) -> list[list[object]]:
    """Return what `tc` makes of ``entries``."""
    results: list[list[object]] = []
    while len(results) < len(entries):
        begun = len(results)
        groups = itertools.groupby(entries[begun : begun + BATCH], has_class)
        classes_of, alike = next(groups)
        batch, json_of = list(alike), not classes_of
        shown, crashed = typed(batch, json_of)
        if crashed:
            for entry in batch:
                shown_alone, again = typed([entry], json_of)
                results += [[None, "tc crashed"]] if again else shown_alone
        results += shown
        # If the batch ended at the class of an htb, its root is still there.
        left = ["tc", "qdisc", "del", "dev", DEVICE, "root"]
        subprocess.run(left, capture_output=True, check=False)
        print(f"progress {len(results) / len(entries):.3f}", flush=True)
    return results


def main() -> None:
    """Do what the module says."""
    _, out = sys.argv
    with IPRoute() as route:
        route.link("add", ifname=DEVICE, kind="veth", peer="v1")
        for device in (DEVICE, "v1"):
            route.link("set", index=route.link_lookup(ifname=device)[0], state="up")
    entries = json.loads(LINES.read_text(encoding="utf-8"))
    command = ["tc", "-V"]
    version = subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    result = {"tc": version, "kernel": os.uname().release, "lines": all_of(entries)}
    Path(out, "lines.json").write_text(json.dumps(result), encoding="utf-8")


main()
