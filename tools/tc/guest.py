"""What Linux makes of scripts of `tc` commands: runs as root in a machine of its own, with a device that queues.

`python3 guest.py DEVICE IN OUT`: IN is a JSON list of scripts, each a list of commands without `tc` in front. Each script
begins on a device without a qdisc and goes on after a refusal, as `tc -batch -force` does. OUT gets, per script, what
was said of each command that was refused (an empty text: it was taken), and the device's state afterwards.
"""

import json
import os
import re
import subprocess
import sys

MARK = "mark-of-the-end"
"""A command that `tc` does not know: what it says of it stands behind what it says of the command before."""


def carry_out(device: str, commands: list[str]) -> tuple[int, list[str], str]:
    """Carries out commands on a device without a qdisc.

    Gives the next handle that Linux counts to, as the count goes on from script to script; the refusal of each command
    (an empty text: it was taken); and what the device has then. A command that ends `tc` itself, as a wrong number does,
    ends its own alone.
    """
    begin = [f"qdisc del dev {device} root", f"qdisc add dev {device} root pfifo", f"qdisc show dev {device}"]
    end = [f"qdisc show dev {device}", f"class show dev {device}"]
    rest = [*begin, begin[0], *commands, *end]
    said: list[str] = []
    shown = ""
    while rest:
        lines = "".join(f"{command}\nqdisc {MARK}\n" for command in rest)
        run = subprocess.run(["tc", "-d", "-force", "-batch", "-"], input=lines, capture_output=True, text=True, check=False)
        shown += run.stdout
        parts = re.split(rf'Command "{MARK}" is unknown[^\n]*\nCommand failed [^\n]*\n', run.stderr)
        done = parts[: min(len(parts) - 1, len(rest))]
        said += [part if "Command failed" in part else "" for part in done]
        rest = rest[len(done) :]
        if rest:
            said.append(parts[-1] or f"tc ended with {run.returncode}")
            rest = rest[1:]
    first, _, state = shown.partition("\n")
    found = re.search(r"pfifo ([0-9a-f]+):", first)
    return int(found[1], 16) + 1 if found else 0, said[4:-2], state


def filters(device: str, state: str) -> list[str]:
    """The filters of each qdisc and class, as `tc` shows them. The line of another device stands between two of them."""
    places = re.findall(r"^qdisc \S+ ([0-9a-f]+:)", state, re.M) + re.findall(r"^class h\S+ (\S+:\S+) ", state, re.M)
    lines = "".join(f"filter show dev {device} parent {place}\nqdisc show dev lo\n" for place in places)
    run = subprocess.run(["tc", "-force", "-batch", "-"], input=lines, capture_output=True, text=True, check=False)
    shown = re.split(r"^qdisc [^\n]*\n", run.stdout, flags=re.M)
    return [f"[{place}] {line}" for place, text in zip(places, shown) for line in text.splitlines()]


def main() -> None:
    device, scripts, answers = sys.argv[1:]
    for name in ("lo", device):
        subprocess.run(["ip", "link", "set", name, "up"], check=True)
    with open(scripts, encoding="utf-8") as file:
        jobs = json.load(file)
    with open(answers + ".part", "w", encoding="utf-8") as file:
        for commands in jobs:
            first, said, state = carry_out(device, commands)
            lines = state.splitlines()
            if any(command.startswith("filter") and not why for command, why in zip(commands, said, strict=True)):
                lines += filters(device, state)
            file.write(json.dumps({"first": first, "said": said, "state": lines}) + "\n")
            file.flush()
    os.replace(answers + ".part", answers)


if __name__ == "__main__":
    main()
