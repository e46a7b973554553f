"""What Linux makes of scripts of `tc` commands: runs as root in a machine of its own, with a device that queues.

`python3 guest.py DEVICE IN OUT`: IN is a JSON list of scripts, each a list of commands without `tc` in front. Each script
begins on a device without a qdisc and goes on after a refusal, as `tc -batch -force` does. OUT gets, per script, what
was said of each command (an empty text: nothing, and it was taken) and the device's state afterwards.
"""

import json
import os
import re
import subprocess
import sys

MARK = "mark-of-the-end"
"""A command that `tc` does not know: what it says of it stands behind what it says of the command before."""


def tc(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["tc", *words], capture_output=True, text=True, check=False)


def first_handle(device: str) -> int:
    """The number of the next handle that Linux gives, as the count goes on from script to script."""
    tc("qdisc", "add", "dev", device, "root", "pfifo")
    found = re.search(r"pfifo ([0-9a-f]+):", tc("qdisc", "show", "dev", device).stdout)
    tc("qdisc", "del", "dev", device, "root")
    return int(found[1], 16) + 1 if found else 0


def carry_out(commands: list[str]) -> list[str]:
    """What `tc` says of each command. A command that ends `tc` itself, as a wrong number does, ends its own alone."""
    said: list[str] = []
    while len(said) < len(commands):
        rest = commands[len(said) :]
        lines = "".join(f"{command}\nqdisc {MARK}\n" for command in rest)
        run = subprocess.run(["tc", "-force", "-batch", "-"], input=lines, capture_output=True, text=True, check=False)
        parts = re.split(rf'Command "{MARK}" is unknown[^\n]*\nCommand failed [^\n]*\n', run.stderr)
        done = min(len(parts) - 1, len(rest))
        said += parts[:done]
        if done < len(rest):
            said.append(parts[-1] or f"tc ended with {run.returncode}")
    return said


def state(device: str) -> list[str]:
    """The qdiscs, the classes, and the filters of each qdisc and class, as `tc` shows them."""
    qdiscs = tc("-d", "qdisc", "show", "dev", device).stdout
    classes = tc("-d", "class", "show", "dev", device).stdout
    places = re.findall(r"^qdisc \S+ ([0-9a-f]+:)", qdiscs, re.M) + re.findall(r"^class \S+ (\S+)", classes, re.M)
    lines = qdiscs.splitlines() + classes.splitlines()
    for place in places:
        shown = tc("filter", "show", "dev", device, "parent", place).stdout
        lines += [f"[{place}] {line}" for line in shown.splitlines()]
    return lines


def main() -> None:
    device, scripts, answers = sys.argv[1:]
    subprocess.run(["ip", "link", "set", device, "up"], check=True)
    with open(scripts, encoding="utf-8") as file:
        jobs = json.load(file)
    with open(answers + ".part", "w", encoding="utf-8") as file:
        for commands in jobs:
            tc("qdisc", "del", "dev", device, "root")
            first = first_handle(device)
            said = carry_out(commands)
            file.write(json.dumps({"first": first, "said": said, "state": state(device)}) + "\n")
            file.flush()
    os.replace(answers + ".part", answers)


if __name__ == "__main__":
    main()
