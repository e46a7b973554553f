"""Kills processes of links at random moments, and checks that nothing is lost and nothing is left.

    python tests/link_kills.py [NUMBER [SEED]]

prints a summary of NUMBER kills (100 by default). Three kinds of links take turns:

- *nested*: three links within each other. Each has a capture and a record, which replace earlier files (``--force``).
- *containers*: two links, each in namespaces of processes and mounts of its own, with the same names of files in one
  folder. One of them loses a process.
- *work*: a link whose command runs the live engine with a capture, and a comparison that replaces an earlier one.

Lost: an earlier file that is neither as it was nor a whole new one, or a result of a link that ended by itself. Left: a
process, a network, or a file that no command named.
"""

import json
import os
import random
import re
import signal
import struct
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from conftest import TOML
from goodqueue.engines.kernel import folders
from goodqueue.files import drafts
from linked import MARK, PATIENCE_S, Link, environment, gone, ordinary, program, public_folder

LONGEST_S = 6.0
"""The kill comes at most this long after the start. Three links take 2 to 4 s to be built, and the innermost command
`WORK_S`."""

WORK_S = 1.5

BEFORE = b"from before"
"""The content of the files that are there before the links."""

CONTAINER = ["unshare", "--user", "--map-current-user", "--pid", "--mount", "--fork", "--mount-proc", "--kill-child"]


@dataclass
class Killed:
    """What was killed, and how the outermost link ended. For containers it is the other link."""

    what: str
    status: int
    said: str


def nested(folder: Path, dice: random.Random) -> Killed:
    """Kill any process of three links within each other."""
    command = ["sh", "-c", f"sleep 60 & setsid sleep 61 & sleep {WORK_S}"]
    for level in (3, 2, 1):
        for ending in ("pcapng", "json"):
            (folder / f"{level}.{ending}").write_bytes(BEFORE)
        files = ("--trace", f"{level}.pcapng", "--record", f"{level}.json", "--force")
        words = ("--quiet", "--rtt", "10ms", *files, "--", *command)
        command = [str(program(folder)), "link", *words]
    link = Link(words)
    running = link.start()
    what, seen = _kill(link, dice)
    _, said = running.communicate(timeout=PATIENCE_S)
    gone(link, seen)
    _check(folder, {f"{level}.{ending}" for level in (1, 2, 3) for ending in ("pcapng", "json")})
    return Killed(what, running.returncode, said)


def containers(folder: Path, dice: random.Random) -> Killed:
    """Kill any process of one of two links, each in a container of its own, that write to one folder."""
    words = ("--quiet", "--trace", "a.pcapng", "--record", "a.json", "--", "sleep", str(WORK_S))
    links = [Link(words) for _ in range(2)]
    before = ordinary()
    pipe = subprocess.PIPE
    running = [
        subprocess.Popen(
            [*before, *CONTAINER, *link.command()[len(before) :]],
            env=environment(**{MARK: link.mark}),
            stdin=subprocess.DEVNULL,
            stdout=pipe,
            stderr=pipe,
            text=True,
        )
        for link in links
    ]
    what, seen = _kill(links[0], dice)
    ended = [one.communicate(timeout=PATIENCE_S) for one in running]
    for link in links:
        gone(link, seen)
    status, said = running[1].returncode, ended[1][1]
    names = _check(folder, {f"a{number}.{ending}" for number in ("", "-2") for ending in ("pcapng", "json")})
    # The other link has its results, under their own names or, if the first one was faster, beside these.
    assert status == 0 or (status == 2 and "appeared in the meantime" in said), (what, status, said)
    assert {name.rpartition(".")[2] for name in names} == {"pcapng", "json"}, (what, names, said)
    return Killed(f"a container's {what}", status, said)


def work(folder: Path, dice: random.Random) -> Killed:
    """Kill any process of a link, or of the runs behind it."""
    (folder / "a.toml").write_text(TOML.replace("4s", "2s"), encoding="utf-8")
    (folder / "a.pcapng").write_bytes(BEFORE)
    (folder / "report").mkdir()
    (folder / "report" / "results.json").write_text('{"files": ["results.json"]}', encoding="utf-8")
    script = """
        "$0" run a.toml --engine live --trace a.pcapng --force --json >/dev/null &
        "$0" compare pfifo codel --scenario a.toml --seeds 1 --out report --force --json >/dev/null 2>&1
        wait
    """
    link = Link(("--quiet", "--", "sh", "-c", script, str(program(folder))))
    running = link.start()
    what, seen = _kill(link, dice)
    _, said = running.communicate(timeout=PATIENCE_S)
    gone(link, seen)
    if running.returncode == -signal.SIGKILL:
        # Nobody lived who could remove the folders in which the runs worked. The next command does.
        drafts.sweep(folder)
        folders.sweep(folder)
    _check(folder, {"a.toml", "a.pcapng", "report"})
    assert (folder / "report" / "results.json").exists()
    return Killed(f"{what} (work)", running.returncode, said)


Kind = Callable[[Path, random.Random], Killed]


def _kill(link: Link, dice: random.Random) -> tuple[str, dict[int, str]]:
    """Kill any process of ``link`` at some moment. Return its name, and the processes and networks that were there."""
    time.sleep(dice.uniform(0.0, LONGEST_S))
    seen = link.left()
    if not seen:
        return "nothing, since it had ended", seen
    process = dice.choice(sorted(seen))
    what = _name(process)
    try:
        os.kill(process, signal.SIGKILL)
    except ProcessLookupError:
        return "nothing, since it had ended", seen
    return what, seen | link.left()


def _name(process: int) -> str:
    """Return what a process is: a link's command, its lab, or another program."""
    try:
        words = Path(f"/proc/{process}/cmdline").read_bytes().decode().split("\0")
    except OSError:
        return "zombie"
    if "goodqueue.engines.live.inside" in words:
        parent = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[1]
        return "lab" if "goodqueue.engines.live.inside" not in _words(parent) else "lab's child"
    return "link" if "link" in words else Path(words[0]).name or "zombie"


def _words(process: str) -> str:
    try:
        return Path(f"/proc/{process}/cmdline").read_bytes().decode()
    except OSError:
        return ""


def _check(folder: Path, known: set[str]) -> set[str]:
    """Check that ``folder`` has only files of these names, and that each is whole. Return the names."""
    names = {file.name for file in folder.iterdir()} - {"goodqueue"}
    assert names <= known, f"left: {sorted(names - known)}"
    for name in (name for name in names if (folder / name).is_file()):
        data = (folder / name).read_bytes()
        if data != BEFORE and name != "a.toml":
            assert json.loads(data) if name.endswith("json") else _is_whole(data), f"lost: {name}"
    return names


def _is_whole(capture: bytes) -> bool:
    """Return whether pcapng's blocks, each with its length at both ends, fill the file."""
    at = 0
    while at + 12 <= len(capture):
        (length,) = struct.unpack_from("<I", capture, at + 4)
        if length < 12 or capture[at + length - 4 : at + length] != struct.pack("<I", length):
            return False
        at += length
    return 0 < at == len(capture)


def kill(number: int, seed: int, kinds: Sequence[Kind] = (nested, containers, work)) -> list[Killed]:
    """Kill ``number`` times. Raises AssertionError if anything is lost or left."""
    dice = random.Random(seed)
    found = []
    for turn in range(number):
        with public_folder() as folder, public_folder() as elsewhere:
            before, home = dict(os.environ), Path.cwd()
            os.environ |= {"TMPDIR": str(folder), "MPLCONFIGDIR": str(elsewhere)}
            os.chdir(folder)
            try:
                one = kinds[turn % len(kinds)](folder, dice)
            finally:
                os.chdir(home)
                os.environ.clear()
                os.environ.update(before)
            found.append(one)
            for line in one.said.splitlines():
                assert re.fullmatch(r"goodqueue: [^\n]+|.*Killed.*", line), one
            assert one.status in (0, 1, 2, 137, -signal.SIGKILL), one
    return found


def main() -> None:
    """Print what was killed, and how the links ended."""
    number, seed = map(int, [*sys.argv[1:], *("100", "1")[len(sys.argv) - 1 :]])
    found = kill(number, seed)
    for what, count in Counter(one.what for one in found).most_common():
        print(f"{count:5} {what}")
    print("status:", dict(Counter(one.status for one in found)))
    print(f"{len(found)} kills (seed {seed}): nothing lost, nothing left")


if __name__ == "__main__":
    main()
