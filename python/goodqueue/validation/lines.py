"""Lines of `tc`, read by `tc` itself and by goodqueue: what each refuses, and what each makes of the values.

The judge is the `tc` of the kernel engine's machine, on a veth of 10 Gbit/s. Each line goes to it as it is. Where
goodqueue takes the line too, its canonical line, translated for the kernel engine, goes to it as well: `tc` must show
the same of both.
"""

import json
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from goodqueue import qdisc, running
from goodqueue.engines.kernel import cpio, folders, image, tc, vm
from goodqueue.errors import UserError
from goodqueue.validation import decided, line_making

SPEED_BPS = 10_000_000_000
"""The rate of the device: that of a veth."""

OUT_MB = 64

Command = list[str]
Judge = dict[str, str]
"""The releases of `tc` and of Linux."""
Shown = tuple[Any, str]
"""What `tc` shows of a line, or None, and its complaint."""


@dataclass(frozen=True, slots=True)
class Difference:
    """A line that the two read differently."""

    line: str
    tc: str
    """What `tc` shows or says."""
    goodqueue: str
    """The canonical line, or the refusal."""
    decided: str | None = None
    """The name of the decision that explains it."""

    def as_json(self) -> dict[str, Any]:
        """Return the difference as plain data."""
        return {"line": self.line, "tc": self.tc, "goodqueue": self.goodqueue, "decided": self.decided}


@dataclass(slots=True)
class Count:
    """What became of a discipline's lines."""

    tried: int = 0
    taken: int = 0
    """Taken by both."""
    refused: int = 0
    """Refused by both."""
    tc_only: list[Difference] = field(default_factory=list)
    goodqueue_only: list[Difference] = field(default_factory=list)
    values: list[Difference] = field(default_factory=list)

    def lists(self) -> dict[str, list[Difference]]:
        """Return the lists of differences by name."""
        return {"tc_only": self.tc_only, "goodqueue_only": self.goodqueue_only, "values": self.values}


def compare(
    count: int, seed: int, progress: running.Progress, stop: threading.Event, release: str | None = None
) -> tuple[dict[str, Count], Judge]:
    """Return what became of ``count`` lines made from ``seed``, by discipline, and of which `tc`. Raises UserError."""
    return of(line_making.make(count, seed), progress, stop, release)


def of(
    lines: Sequence[str], progress: running.Progress, stop: threading.Event, release: str | None = None
) -> tuple[dict[str, Count], Judge]:
    """Return what became of ``lines``, by discipline, and of which `tc`: that of the image of ``release``.

    Raises UserError if there is no machine.
    """
    ours = [_ours(line) for line in lines]
    entries = [_raw(line) for line in lines]
    translated = [(number, options) for number, (options, _) in enumerate(ours) if options is not None]
    shown, judge = _ask([*entries, *(commands for _, commands in translated)], progress, stop, release)
    again = dict(zip((number for number, _ in translated), shown[len(lines) :], strict=True))
    counts: dict[str, Count] = {}
    for number, line in enumerate(lines):
        count = counts.setdefault(line.split(maxsplit=1)[0], Count())
        count.tried += 1
        (raw, shown_text), (commands, text) = shown[number], ours[number]
        if raw is None and commands is None:
            count.refused += 1
        elif raw is None:
            count.goodqueue_only.append(_explained("goodqueue_only", Difference(line, shown_text, text)))
        elif commands is None:
            count.tc_only.append(_explained("tc_only", Difference(line, json.dumps(raw), text)))
        else:
            count.taken += 1
            second, complaint = again[number]
            if second != raw:
                crossing = f"{text}: {complaint or json.dumps(second)}"
                count.values.append(_explained("values", Difference(line, json.dumps(raw), crossing)))
    return counts, judge


def as_json(counts: dict[str, Count], judge: Judge, count: int, seed: int) -> dict[str, Any]:
    """Return the result as plain data: numbers by discipline and by decision, and each open difference."""
    qdiscs = {}
    for name, counted in sorted(counts.items()):
        lists = {
            key: [each.as_json() for each in differences if each.decided is None]
            for key, differences in counted.lists().items()
        }
        decisions: dict[str, int] = {}
        for differences in counted.lists().values():
            for each in differences:
                if each.decided is not None:
                    decisions[each.decided] = decisions.get(each.decided, 0) + 1
        numbers = {"tried": counted.tried, "taken": counted.taken, "refused": counted.refused}
        qdiscs[name] = numbers | {"decided": dict(sorted(decisions.items())), "open": lists}
    return {"lines": count, "seed": seed, **judge, "decisions": decided.REASONS, "qdiscs": qdiscs}


def _explained(where: str, difference: Difference) -> Difference:
    name = decided.by(where, difference.line, difference.tc, difference.goodqueue)
    return Difference(difference.line, difference.tc, difference.goodqueue, name)


def _raw(line: str) -> list[Command]:
    """Return the commands that type ``line`` as it is: htb's words are those of a class."""
    name, *words = line.split()
    root = ["root", "handle", "1:"]
    if name == "htb":
        return [[*root, "htb", "default", "1"], ["class", "parent", "1:", "classid", "1:1", "htb", *words]]
    return [[*root, name, *words]]


def _ours(line: str) -> tuple[list[Command] | None, str]:
    """Return the commands of goodqueue's canonical line, and that line; or None and the refusal."""
    try:
        canonical = qdisc.make(line, rate=f"{SPEED_BPS}bit").line
    except ValueError as error:
        return None, str(error)
    try:
        commands = tc.translate(canonical, SPEED_BPS, "", "1:")
    except UserError as error:
        return [], f"{canonical}: {error}"
    at_root = [["root", *words[2:]] if words[0] == "parent" else words for words in commands]
    return at_root[: 2 if line.split(maxsplit=1)[0] == "htb" else 1], canonical  # without the discipline inside


def _ask(
    entries: list[list[Command]], progress: running.Progress, stop: threading.Event, release: str | None
) -> tuple[list[Shown], Judge]:
    """Give ``entries`` to `tc` in a machine of its own. Return what it made of them, and which release it is."""
    if (lacking := vm.why_not(release=release)) is not None:
        raise UserError("validate lines", lacking)
    system = image.find(release)
    if system is None:
        command = "goodqueue kernel image" + (f" --kernel {release}" if release else "")
        raise UserError("validate lines", f"found no image of the machine; accepted: after {command}")
    here = Path(__file__)
    files = {
        "init": Path(vm.__file__).with_name("init.sh").read_bytes(),
        "lab/guest.py": here.with_name("lines_guest.py").read_bytes(),
        "plan.json": json.dumps(entries).encode(),
    }
    with folders.private() as folder:
        vm.boot(system, cpio.files(files), OUT_MB, folder, progress, stop)
        result: dict[str, Any] = json.loads((folder / "results" / "lines.json").read_text(encoding="utf-8"))
    judge = {"tc": result["tc"], "kernel": result["kernel"]}
    return [(shown, answer) for shown, answer in result["lines"]], judge
