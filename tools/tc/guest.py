"""What Linux makes of scripts of `tc` commands: runs as root in a machine of its own, on a device that queues.

`python3 guest.py IN OUT`: IN is a JSON list of scripts, each a list of commands without `tc` in front. Each
script begins on a device without a qdisc and goes on after a refusal, as `tc -batch -force` does. For each script, OUT
gets what was said of each command that was refused (an empty text: it was taken), and the device's state afterwards.
"""

import json
import pathlib
import re
import shutil
import socket
import struct
import subprocess
import sys
import time

MARK = "mark-of-the-end"
"""A command that `tc` does not know: what it says of it stands behind what it says of the command before."""


TC = shutil.which("tc") or "tc"
IP = [shutil.which("ip")] if shutil.which("ip") else ["busybox", "ip"]


def carry_out(device: str, commands: list[str]) -> tuple[int, list[str], str]:
    """Carry out commands on a device without a qdisc.

    Return the next handle that Linux counts to, as the count goes on from script to script; the refusal of each
    command (an empty text: it was taken); and what the device has then. A command that ends `tc` itself, as a wrong
    number does, ends its own alone.
    """
    begin = [f"qdisc del dev {device} root", f"qdisc add dev {device} root pfifo", f"qdisc show dev {device}"]
    end = [f"qdisc show dev {device}", f"class show dev {device}"]
    rest = [*begin, begin[0], *commands, *end]
    said: list[str] = []
    shown = ""
    while rest:
        lines = "".join(f"{command}\nqdisc {MARK}\n" for command in rest)
        run = subprocess.run(
            [TC, "-d", "-force", "-batch", "-"], input=lines, capture_output=True, text=True, check=False
        )
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
    """Return the filters of each qdisc and class, as `tc` shows them, with a line of another device between."""
    places = re.findall(r"^qdisc \S+ ([0-9a-f]+:)", state, re.M) + re.findall(r"^class h\S+ (\S+:\S+) ", state, re.M)
    lines = "".join(f"filter show dev {device} parent {place}\nqdisc show dev lo\n" for place in places)
    run = subprocess.run([TC, "-force", "-batch", "-"], input=lines, capture_output=True, text=True, check=False)
    shown = re.split(r"^qdisc [^\n]*\n", run.stdout, flags=re.M)
    return [f"[{place}] {line}" for place, text in zip(places, shown, strict=False) for line in text.splitlines()]


def make(device: str) -> None:
    """Make a device that queues, as an Ethernet device does, if there is none. `eth1` has four queues.

    No program of the machine can say how many queues a device gets, so this is the message (rtnetlink(7)).
    """
    if not pathlib.Path("/sys/class/net", device).exists():
        name, kind, link_info, queue_length, queues = 3, 1, 18, 13, 31

        def part(number: int, data: bytes) -> bytes:
            return struct.pack("HH", 4 + len(data), number) + data + bytes(-len(data) % 4)

        body = bytes(16) + part(name, device.encode() + b"\0") + part(link_info, part(kind, b"ifb\0"))
        body += part(queue_length, struct.pack("I", 1000)) + part(queues, struct.pack("I", 4 if device == "eth1" else 1))
        new_link, request_and_create = 16, 0x605
        with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, socket.NETLINK_ROUTE) as netlink:
            netlink.send(struct.pack("IHHII", 16 + len(body), new_link, request_and_create, 1, 0) + body)
            error = struct.unpack_from("i", netlink.recv(4096), 16)[0]
        if error:
            sys.exit(f"no device {device}: error {-error}")
    subprocess.run([*IP, "link", "set", device, "up"], check=True)


def main() -> None:
    """Carry out all scripts."""
    scripts, answers = sys.argv[1:]
    for device in ("lo", "eth1", "eth0"):
        make(device)
    # Soon after the boot the timers still tick coarsely, and the burst that `tc` gives a class of htb is longer.
    time.sleep(1)
    jobs = json.loads(pathlib.Path(scripts).read_text(encoding="utf-8"))
    part = pathlib.Path(answers + ".part")
    with part.open("w", encoding="utf-8") as file:
        for commands in jobs:
            # A device without a qdisc needs no command: it is that of the script before.
            device = next((name for name in re.findall(r"dev (\S+)", " ".join(commands[:1]))), device)
            first, said, state = carry_out(device, commands)
            lines = state.splitlines()
            if any(command.startswith("filter") and not why for command, why in zip(commands, said, strict=True)):
                lines += filters(device, state)
            file.write(json.dumps({"first": first, "said": said, "state": lines}) + "\n")
            file.flush()
    part.replace(answers)


if __name__ == "__main__":
    main()
