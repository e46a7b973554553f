"""Turns a tree of classes, which a resolved scenario has as ``tc`` commands, into commands for Linux below a shaper.

The commands are Linux's own, so schedulers, classes and filters pass with other numbers. The root has the handle of a
scenario's discipline (`tc.LEAF`), and the disciplines at leaves are translated as single lines are.
"""

import math
import re
from collections.abc import Iterable, Iterator
from itertools import pairwise

from goodqueue.engines.kernel import tc
from goodqueue.errors import UserError, quoted
from goodqueue.scenario import discipline

SCHEDULERS = ("htb", "hfsc", "drr", "ets", "prio")
"""Disciplines with classes, which are commands of Linux as they are."""

MQ = "mq"

SHAPER = "cbs"
"""What plays the serial link above a tree: a tree holds packets back (`tc.shaper`)."""

NOBODY = "0"
"""The number of a discipline that a filter names and no command makes."""

WITHOUT_A_LINE = "pfifo limit 1000"
"""What Linux puts below a class without a discipline."""

_IDS = {
    "qdisc": ("parent", "handle"),
    "class": ("parent", "classid"),
    "filter": ("parent", "flowid", "classid", "baseclass"),
}
"""The words of each command before the number of a discipline or a class."""

_ID = re.compile(r"(?:0[xX])?([0-9a-fA-F]*)(?::|(?=[0-9a-fA-F]{4}$))((?<=:)(?:0[xX])?[0-9a-fA-F]*|[0-9a-fA-F]{4})")
"""A number with a colon, or one of more than four digits: `tc` reads ``10002`` as ``1:2``, and ``0x1:2``, too."""

_NO_RATE = re.compile(r"0[a-zA-Z]*")
"""What an hfsc has for a slope that it does not use."""


def is_tree(line: str) -> bool:
    """Return whether a resolved ``line`` is a tree of classes."""
    return discipline.name_of(line) == discipline.TREE


def translate(line: str, rate_bps: int) -> list[list[str]]:
    """Return the commands that make the tree of a canonical ``line`` on a link of ``rate_bps``.

    Each command is the words after ``tc qdisc add dev DEV``, or after ``tc class`` or ``tc filter`` and these words, if
    the first word says so. Raises UserError, without the key, for what the laboratory lacks.
    """
    if stab := discipline.split_stab(line)[0]:
        accepted = "a tree without stab, which Linux takes only at the root, where the link's shaper is"
        raise UserError(f"found {quoted(' '.join(stab))}; accepted by the kernel engine: {accepted}")
    majors = _majors(line)
    cakes = [words[words.index("handle") + 1] for kind, words in _commands(line) if kind == "qdisc" and "cake" in words]
    commands = []
    for kind, written in _commands(line):
        if kind == "filter" and (cake := written[written.index("parent") + 1]) in cakes:
            commands.append([kind, *_numbered("qdisc", _as_hosts(written, cake), majors)])
            continue
        words = _numbered(kind, written, majors)
        if kind != "qdisc":
            commands.append([kind, *words])
            continue
        parent, discipline_words = _place(words)
        if discipline_words[0] in SCHEDULERS:
            commands.append([*parent, *discipline_words])
        else:
            commands += tc.translate(" ".join(discipline_words), rate_bps, parent[1], parent[3])
    if not commands:
        raise UserError('found "mq" alone; accepted by the kernel engine: one with a discipline at its queue')
    return commands


def _as_hosts(words: list[str], cake: str) -> list[str]:
    """Return the ``words`` of a filter at the ``cake`` with this handle.

    The number before the colon of its class is a host to `cake`, and so it stays as it is. `flow` without a class takes
    that of the handle, which is another one on Linux here (net/sched/cls_flow.c: flow_change).
    """
    return [*words, "baseclass", f"{cake}1"] if "flow" in words and "baseclass" not in words else words


def translate_change(commands: str, line: str) -> list[list[str]]:
    """Return the ``commands`` of a change of the tree that ``line`` makes, with the numbers of `translate`.

    Each command is the words after ``tc qdisc change dev DEV``, or after ``tc class change dev DEV`` behind the word
    ``class``. Parameters are those of the scenario's commands, since Linux keeps some that a command does not name.
    """
    majors = _majors(line)
    commands_made = []
    for kind, written in _commands(commands):
        words = _numbered(kind, written, majors)
        if kind == "class":
            commands_made.append([kind, *words])
        else:
            parent, discipline_words = _place(words)
            commands_made.append([*parent, *discipline_words])
    return commands_made


def leaves(line: str) -> Iterator[str]:
    """Yield the lines of the disciplines at the leaves of a tree."""
    for kind, words in _commands(line):
        if kind == "qdisc" and (discipline_words := _place(words)[1])[0] not in SCHEDULERS:
            yield " ".join(discipline_words)


def slowest_bps(line: str, rate_bps: int, later: Iterable[list[str]] = ()) -> int:
    """Return the lowest rate that a class may borrow up to, or ``rate_bps`` if that is less.

    ``later`` are the commands of `translate_change`.
    """
    commands = [*_commands(line), *((words[0], words) for words in later)]
    return min([rate_bps, *(rate for kind, words in commands if kind == "class" for rate in _upper_bps(words))])


def most_bps(line: str) -> int | None:
    """Return the most that the tree lets through, or None if it may be anything.

    Packets that no class takes do not count, as few trees leave any. They pass an htb at the link's rate.
    """
    caps: dict[str, float] = {}
    below: dict[str, list[str]] = {}
    for kind, words in _commands(line):
        if kind == "filter":
            continue
        name = words[words.index("classid" if kind == "class" else "handle") + 1]
        below.setdefault(words[words.index("parent") + 1] if "parent" in words else "", []).append(name)
        caps[name] = max(_upper_bps(words) if kind == "class" else _own_bps(words), default=math.inf)

    def most(name: str) -> float:
        inner = [most(lower) for lower in below.get(name, [])]
        return min(caps[name], sum(inner) if inner else math.inf)

    whole = sum(most(root) for root in below[""])
    return None if math.isinf(whole) else int(whole)


def _upper_bps(words: list[str]) -> list[int]:
    """Return the rate that a class of htb may borrow up to, or the rates of an hfsc's upper limit."""
    from goodqueue import _goodqueue

    if "htb" in words:
        return [_goodqueue.rate_bps(words[words.index("ceil" if "ceil" in words else "rate") + 1])]
    upper = words[words.index("ul") + 1 :] if "ul" in words else []
    rates = [rate for before, rate in pairwise(upper) if before in ("m1", "m2", "rate")]
    return [_goodqueue.rate_bps(rate) for rate in rates if not _NO_RATE.fullmatch(rate)]


def _own_bps(words: list[str]) -> list[int]:
    """Return the rate to which the discipline at a leaf shapes, if it does."""
    from goodqueue import _goodqueue

    discipline_words = _place(words)[1]
    is_leaf = discipline_words[0] not in SCHEDULERS
    rate = tc.own_rate(tc.parse(" ".join(discipline_words))) if is_leaf else None
    return [] if rate is None else [_goodqueue.rate_bps(rate)]


def _majors(line: str) -> dict[str, str]:
    """Return the laboratory's number of each discipline of the tree that ``line`` makes, by the number there."""
    majors: dict[str, str] = {}
    first = int(tc.LEAF.rstrip(":"), 16)
    for kind, words in _commands(line):
        if kind == "qdisc":
            majors.setdefault(words[words.index("handle") + 1].rstrip(":"), f"{first + len(majors):x}")
    return majors


def _commands(line: str) -> Iterator[tuple[str, list[str]]]:
    """Yield the kind of each command, and its words after ``add dev DEV`` or ``change dev DEV``.

    `mq` has one queue here, whose discipline takes its place: Linux takes `mq` only at the root, where the link's
    shaper is.
    """
    queue = None
    for command in line.split("; "):
        _, kind, _, _, _, *words = command.split()
        if words[-1] == MQ:
            queue = ["parent", f"{words[words.index('handle') + 1]}1"]
        else:
            yield kind, ["root", *words[2:]] if words[:2] == queue else words


def _place(words: list[str]) -> tuple[list[str], list[str]]:
    """Return the place of a discipline as ``parent ID handle ID``, and its own words. The root is below the shaper."""
    at = words.index("handle")
    parent = "1:1" if words[0] == "root" else words[1]
    return ["parent", parent, *words[at : at + 2]], words[at + 2 :]


def _numbered(kind: str, words: list[str], majors: dict[str, str]) -> list[str]:
    """Return ``words`` with the numbers that the laboratory gives. Before the shaper's handle there is no other."""
    numbered = list(words)
    for name in _IDS[kind]:
        # The words of a class or of a discipline follow its place, and none of them is a name before a number.
        for at, word in enumerate(words[:-1]):
            if word == name and (number := _ID.fullmatch(words[at + 1])):
                major, minor = number[1] or "", number[2]
                numbered[at + 1] = f"{majors.get(f'{int(major, 16):x}' if major else '', NOBODY)}:{minor}"
    return numbered
