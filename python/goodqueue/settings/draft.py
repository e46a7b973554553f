"""A scenario made of settings, as TOML with comments."""

import json
import textwrap
from dataclasses import dataclass, field

from goodqueue.errors import printable
from goodqueue.traffic import BULK, probe

WIDTH = 110
"""The most characters of a line of comments."""

SPARE = 10, 9
"""An unknown line has this much more than its shaper: a ninth."""


@dataclass(frozen=True)
class Way:
    """One direction of the line, with the queue that the settings make."""

    kbps: int
    """The rate of the shaper. 0: there is none."""
    commands: list[str]
    """Commands of tc that make a tree, or one line of a qdisc."""
    remark: str = ""

    @property
    def is_tree(self) -> bool:
        """Whether the queue is a tree of classes."""
        return any(command.startswith("tc ") for command in self.commands)


@dataclass
class Draft:
    """What the settings of a file say, and what not."""

    title: str
    down: Way
    up: Way
    remarks: list[str] = field(default_factory=list)
    """Sentences on what a reader has to know."""
    left_out: list[str] = field(default_factory=list)
    """What the scenario leaves out, each with its line in the file of settings."""
    tables: list[str] = field(default_factory=list)
    """Further tables."""

    def toml(self, file: str) -> str:
        """Return the scenario, which will be the ``file``."""
        head = [*_comment(self.title), "#", f"#   goodqueue run {file}"]
        for remark in self.remarks:
            head += ["#", *_comment(remark)]
        if self.left_out:
            head += ["#", "# Left out:", *(row for text in self.left_out for row in _comment(f"- {text}", "  "))]
        rate = max(self.down.kbps, self.up.kbps)
        parts = [
            "\n".join(head),
            'duration = "30s"\nwarmup = "5s"',
            "\n".join(["[bottleneck]", *_way(self.down, rate)]),
            "\n".join(["[bottleneck.up]", *_way(self.up, rate)]),
            '[path]                        # an example, as the traffic is\nrtt = "30ms"',
            f'[[traffic]]\nkind = "{BULK}"\ncount = 2\nstart_spread = "1s"',
            f'[[traffic]]\nkind = "{BULK}"\ndirection = "up"\nstart_spread = "1s"',
            *self.tables,
        ]
        kind = f'kind = "{probe().name}"'
        if not any(kind in table for table in self.tables):
            parts.append(f"[[traffic]]\n{kind}")
        return "\n\n".join(parts) + "\n"


def _way(way: Way, other_kbps: int) -> list[str]:
    shaped = -(-way.kbps * SPARE[0] // SPARE[1])
    why = "the line itself, which the settings do not say: a ninth more than the shaper"
    if not way.kbps:
        shaped, why = other_kbps, "the line itself, which the settings do not say, as they do not shape this way"
    rows = [f'rate = "{shaped}kbit"'.ljust(30) + f"# {why}"]
    rows += _comment(way.remark) if way.remark else []
    if not way.is_tree:
        return [*rows, f"qdisc = {_quoted(way.commands[0])}"]
    return [*rows, "tc = [", *(f"    {_quoted(command)}," for command in way.commands), "]"]


def _quoted(text: str) -> str:
    """Return ``text`` as TOML has it. JSON leaves DEL as it is, which TOML does not take."""
    return json.dumps(text).replace("\x7f", "\\u007f")


def _comment(text: str, indent: str = "") -> list[str]:
    # A comment in TOML has no control characters.
    return textwrap.wrap(
        printable(text), WIDTH, initial_indent="# ", subsequent_indent=f"# {indent}", break_on_hyphens=False
    )
