"""What to type: tc's commands, OpenWrt's settings, and the way back. Each block is pasted as it stands."""

import textwrap
from collections.abc import Iterator

from goodqueue.advice import commands
from goodqueue.advice.reading import Question
from goodqueue.advice.result import Advice
from goodqueue.show.answer import Code, Part, Section

WIDE = 78
"""The most characters of a line, so that the usual terminal of 80 columns does not break a command."""


def section(advice: Advice) -> Section:
    """Return what to type, under its heading. It is empty if there is nothing to type."""
    return Section("What to type", list(_parts(advice)))


def _parts(advice: Advice) -> Iterator[Part]:
    typed = advice.commands
    if not typed["down"]:
        return
    if advice.question.link.key == "wifi":
        yield "On the access point, as root:"
        yield block(typed["down"])
        if advice.down == "mac80211":
            yield "The line leaves all to the driver's own queues; `iw phy | grep TXQ` says whether the driver has any."
    else:
        yield f"On the router, as root ({_interface(advice.question)}):"
        once = ["# once: packets that come in pass through ifb0", *typed["prepare"]]
        yield block([*once, "# the shapers", *typed["up"], *typed["down"]])
    if advice.program:
        yield "Then let cake-autorate set the rates. In its config.primary.sh:"
        yield block([f"{name}={value}" for name, value in advice.program.items()])
    if advice.sqm:
        yield "Or on OpenWrt with SQM, as root in its shell:"
        yield _code(_options(advice.sqm))
    if advice.question.link.key != "wifi":
        yield f"Packages: {commands.PACKAGES}."
        yield f"LuCI: {commands.LUCI}."
    yield "To take it away again:"
    yield block([advice.undo])


def _interface(question: Question) -> str:
    name = question.wan.name
    if not question.wan.header:
        return f"{name} is its PPPoE interface"
    return f"{name} is its port that faces the modem"


def block(typed: list[str]) -> Code:
    """Return commands as they are pasted, each in lines of its own."""
    return _code(line for each in typed for command in each.split("; ") for line in pasted(command))


def _code(lines: Iterator[str]) -> Code:
    return Code("\n".join(f"  {line}" for line in lines), is_apart=False)


def pasted(command: str) -> list[str]:
    """Return ``command`` in lines that a shell reads as one: a backslash ends each except the last."""
    lines = textwrap.wrap(command, WIDE - 4, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)
    return [*(f"{line} \\" for line in lines[:-1]), lines[-1]]


def _options(sqm: dict[str, str]) -> Iterator[str]:
    """Yield the options for `uci`, in a loop. A value in quotes stays in one line."""
    words = [f"{name}='{value}'" if " " in value else f"{name}={value}" for name, value in sqm.items()]
    row = "for option in"
    for word in words:
        if len(row) + len(word) > WIDE - 5:
            yield f"{row} \\"
            row = " "
        row += f" {word}"
    yield row
    yield 'do uci set "sqm.@queue[0].$option"; done'
    yield "uci commit sqm; /etc/init.d/sqm restart"
