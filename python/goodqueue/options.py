"""The options that describe a scenario, each once: for the command line, for Python and for the reference pages.

An option sets a key of the scenario. Its value is what a user wrote: text on the command line, and any value in Python.
"""

import math
import shlex
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from goodqueue.errors import Option, Part, UserError, quoted, worded

MOST = 2**63 - 1
"""The largest whole number of an option."""

BOUNDS = {
    "seed": (0, MOST),
    "seeds": (1, 10_000),
    "workers": (1, 4096),
    "threads": (1, 256),
    # From the headers of Ethernet, IPv4 and TCP without options to more than any packet has.
    "trace_snap": (54, 65536),
}
"""The least and the most of the numbers that several verbs and functions take."""

Read = Callable[[Option, Any], Any]
"""Returns the value of an option for the scenario, or raises UserError."""


def quantity(_: Option, value: Any) -> Any:
    """Return a bare number as a number, as a file has it, so that the core asks for its unit. The core reads the rest.

    Only text is read: a number in Python is a number already.
    """
    from goodqueue.files.inputs import parse_value

    read = parse_value(value.strip()) if isinstance(value, str) else value
    return read if isinstance(read, int | float) and not isinstance(read, bool) else value


def text(option: Option, value: Any) -> str:
    """Return ``value``, which must be text. Raises UserError."""
    if not isinstance(value, str):
        raise UserError(option, f"found {quoted(value)}; accepted: text")
    return value


def flag(option: Option, value: Any) -> bool | None:
    """Return True, or None for False, which says nothing. Raises UserError for anything else."""
    if not isinstance(value, bool):
        raise UserError(option, f"found {quoted(value)}; accepted: True or False")
    return value or None


def whole(option: Option, value: Any, least: int, most: int = MOST) -> int:
    """Return ``value``, a whole number within bounds or its text. Raises UserError."""
    try:
        number = value
        if isinstance(value, str):
            number = int(value) if value.isascii() and "_" not in value else None
    except ValueError:
        number = None
    if not isinstance(number, int) or isinstance(number, bool) or not least <= number <= most:
        is_large = isinstance(number, int) and number > most
        upto = f" to {most}" if is_large or most < MOST else ""
        raise UserError(option, f"found {quoted(value)}; accepted: a whole number from {least}{upto}")
    return number


def number(option: Option, value: Any) -> float:
    """Return ``value``, a number or its text. Raises UserError."""
    from goodqueue.files import inputs

    try:
        return inputs.number(value) if isinstance(value, str) else float(value)
    except (TypeError, ValueError):
        raise UserError(option, f"found {quoted(value)}; accepted: a number, as 1.1") from None


def whole_from(least: int, most: int = MOST) -> Read:
    """Return the reader of a whole number within bounds."""
    return lambda option, value: whole(option, value, least, most)


def bdps(option: Option, value: Any) -> dict[str, float]:
    """Return the scenario's ``buffer`` for ``2bdp``, ``0.5bdp`` or a number. Raises UserError."""
    from goodqueue.files import inputs

    try:
        bdp = inputs.number(str(value).strip().lower().removesuffix("bdp").strip())
    except ValueError:
        bdp = math.nan
    if not 0 < bdp < math.inf:
        accepted = "a multiple of the bandwidth-delay product, such as 2bdp"
        raise UserError(option, f"found {quoted(value)}; accepted: {accepted}")
    return {"bdp": bdp}


@dataclass(frozen=True, slots=True)
class Declared:
    """An option that describes a scenario."""

    name: str
    """The name in Python: ``up_rate`` is ``--up-rate`` on the command line."""
    key: str
    """The key of the scenario. ``*`` stands for the flows that it applies to."""
    metavar: str
    """What the value is, in one word. Empty for a flag."""
    help: str
    default: Any = None
    """The value if neither an option nor a scenario's file has one."""
    otherwise: Part = ""
    """What holds without the option, in words, beside its default."""
    read: Read = text
    completes: str = ""
    """The function of `cli.words` that completes its value."""
    instead_of: str = ""
    """The option whose default this one replaces."""
    of_traffic: bool = False
    """Whether it describes the traffic or the air, so that it may not stand beside a scenario's file."""

    @property
    def option(self) -> Option:
        """The option, for error messages."""
        return Option(self.name)

    def described(self, otherwise: str | None = None, named: Callable[[Option], str] = str) -> str:
        """Return the help, with what holds without the option in brackets: ``otherwise``, or its own words."""
        said = otherwise or self.without(named)
        return f"{self.help} [{said}]" if said else self.help

    def without(self, named: Callable[[Option], str] = str) -> str:
        """Return what holds without the option, in words."""
        usual = [] if self.default is None else [str(self.default)]
        return ", ".join(filter(None, [*usual, worded(self.otherwise, named)]))


DECLARED = {
    one.name: one
    for one in (
        Declared("rate", "bottleneck.rate", "RATE", "Bottleneck rate.", "10mbit", read=quantity),
        Declared("rtt", "path.rtt", "TIME", "Round trip without queueing.", "50ms", read=quantity),
        Declared("qdisc", "bottleneck.qdisc", "QDISC", "The bottleneck's tc line.", completes="qdisc"),
        Declared(
            "wifi", "bottleneck.wifi", "STANDARD",
            "A Wi-Fi cell instead of a rate: 802.11n, 802.11n:40:sgi, 802.11g.", instead_of="rate", of_traffic=True,
        ),
        Declared(
            "stations", "bottleneck.wifi.station", "LIST", "NAME:RATE[@SNR][*N],... e.g. fast:mcs15*2,slow:mcs0.",
            otherwise="one, by Minstrel", of_traffic=True,
        ),
        Declared(
            "up_rate", "bottleneck.up.rate", "RATE", "Rate of the way up.", otherwise=["as ", Option("rate")],
            read=quantity,
        ),
        Declared("up_qdisc", "bottleneck.up.qdisc", "QDISC", "The tc line of the way up.", completes="qdisc"),
        Declared(
            "trace_down", "bottleneck.trace", "FILE", "File of rates for the way down: mahimahi's, or rates over time.",
            instead_of="rate",
        ),
        Declared("trace_up", "bottleneck.up.trace", "FILE", "File of rates for the way up."),
        Declared("flows", "traffic.*.count", "N", "Bulk flows.", 4, read=whole_from(1), of_traffic=True),
        Declared(
            "cc", "traffic.*.cc", "LINE", "A congestion control: 'cubic abe', FILE.py:CLASS.", "cubic", completes="cc",
            of_traffic=True,
        ),
        Declared(
            "ecn", "traffic.*.ecn", "", "Bulk flows use ECN; the qdisc's line needs `ecn` too.", read=flag,
            of_traffic=True,
        ),
        Declared(
            "traffic", "traffic", "LIST",
            "KIND[:COUNT][:down|up][:DETAIL][:host=NAME],... e.g. bulk:4,bulk:up,cbr:1mbit,ping.", "bulk,ping",
            completes="traffic", of_traffic=True,
        ),
        Declared("duration", "duration", "TIME", "Simulated time of a run.", "60s", read=quantity),
        Declared(
            "warmup", "warmup", "TIME", "Left out of the statistics.", "5s", otherwise="or half of a shorter run",
            read=quantity,
        ),
        Declared(
            "buffer", "bottleneck.buffer", "Nbdp", "Buffer in BDPs.", otherwise="each qdisc's own limit", read=bdps
        ),
        Declared("seed", "seed", "N", "Seed of the draws.", read=whole_from(0)),
    )
}  # fmt: skip
"""The options, by name."""

COMPARED = (
    "rate", "rtt", "wifi", "stations", "up_rate", "up_qdisc", "flows", "cc", "ecn", "traffic", "duration", "warmup",
    "buffer",
)  # fmt: skip
"""The options of ``goodqueue compare``, in the order of its help."""


def command(*words: str, **said: object) -> str:
    """Return the command ``goodqueue WORDS`` with the options ``said``, by their names in Python.

    None and False are no options, True is a flag, and a list is an option that is given several times.
    """
    found = ["goodqueue", *words]
    for name, value in said.items():
        for one in value if isinstance(value, list | tuple) else [value]:
            if one is not None and one is not False:
                found += [str(Option(name)), *([] if one is True else [str(one)])]
    return shlex.join(found)
