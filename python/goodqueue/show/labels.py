"""Shortens names so that they stay distinct: of queue disciplines, and of anything named beside others.

The order is fixed. A name that fits stays as it is. Otherwise it loses its folder, then the parts that all share.
A name that is still too long is cut after the last whole word that fits, or in its middle.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate, pairwise

CUT = "…"
"""Replaces the letters that were left out."""

BOTH = " / "
"""Separates the line down from the line up if they are named together."""

QDISCS = ("bottleneck.qdisc", "bottleneck.up.qdisc")
"""The keys of a scenario whose values are qdisc lines."""

MIX = "traffic"
"""The key whose values are mixes of traffic by name (``sweep --mix``)."""


def short(lines: Sequence[str]) -> dict[str, str]:
    """Return a short name for each of several qdisc lines: its discipline, and the parameters that distinguish it.

    A discipline in Python is named by its class. If two lines would get the same name that way, or without the shared
    parameters, both keep more words. For lines of both directions (``codel / pie``) each half is shortened.
    """
    if any(BOTH in line for line in lines):
        return _halves(lines, short)
    lines = list(dict.fromkeys(lines))
    if trees := _trees(lines):
        return trees | (short([line for line in lines if line not in trees]) if len(trees) < len(lines) else {})
    heads = _heads(lines)
    parameters = {line: parts(line)[1:] for line in lines}
    names: dict[str, str] = {}
    for line in lines:
        rivals = [set(parameters[other]) for other in lines if other != line and heads[other] == heads[line]]
        distinct = [part for part in parameters[line] if any(part not in rival for rival in rivals)]
        names[line] = " ".join([heads[line], *distinct])
    taken = list(names.values())
    if len(set(taken)) == len(taken):
        return names
    # Lines that differ only in the order of words keep every word. Then a name could still equal another line.
    whole = {line: line if taken.count(name) > 1 else name for line, name in names.items()}
    return whole if len(set(whole.values())) == len(whole) else {line: line for line in lines}


def along(key: str, values: Sequence[str]) -> tuple[dict[str, str], str]:
    """Return a name for each of the ``values`` of a scenario's key, and the key's own, empty if no reader needs it.

    A class in Python is named without its file.
    """
    if key in QDISCS:
        return short(values) if all(value.split() for value in values) else {value: value for value in values}, ""
    names = called(values) if any(".py:" in value for value in values) else {value: value for value in values}
    return names, key.rpartition(".")[2]


def of_values(key: str, values: Sequence[str]) -> dict[str, str]:
    """Return a name for each of the ``values`` of a scenario's key, in a figure of others: ``rtt 10ms``, ``codel``."""
    names, word = along(key, values)
    is_plain = not word or key in (MIX, "engine")
    return {value: name if is_plain else f"{word} {name}" for value, name in names.items()}


def directions(line: str) -> list[str]:
    """Return the line down, and also the line up if ``line`` has both."""
    return line.split(BOTH, 1)


def _halves(lines: Sequence[str], shorten: Callable[[Sequence[str]], dict[str, str]]) -> dict[str, str]:
    """Return the names of ``lines`` whose halves ``shorten`` shortens."""
    downs = shorten([directions(line)[0] for line in lines])
    ups = shorten([up for line in lines for up in directions(line)[1:]])
    return {
        line: BOTH.join([downs[down], *(ups[half] for half in up)])
        for line in lines
        for down, *up in [directions(line)]
    }


TREE_COMMAND = re.compile(r"tc qdisc (?:add|replace)(?: (?:dev|parent|handle) \S+| root)* (\w+)")
"""A command that puts a discipline into a tree, in any order of its first words (tc(8))."""


TREE = "tc "
"""The begin of a line that is a tree: its commands, with a semicolon between them."""

OWN = 24
"""The most characters that a tree's name has of its commands."""


def discipline(line: str) -> str:
    """Return the name of a line's discipline. Of a tree it is its disciplines from the root on: ``htb, fq_codel``."""
    return ", ".join(dict.fromkeys(TREE_COMMAND.findall(line))) or _first(line)


def _trees(lines: Sequence[str]) -> dict[str, str]:
    """Return a name for each tree among ``lines``, unlike those of all others.

    It is the tree's disciplines. Of several trees of the same disciplines, each adds what the others do not have, or
    its number.
    """
    trees = [line for line in dict.fromkeys(lines) if line.startswith(TREE)]
    others = {_first(line) for line in lines if line not in trees}
    plain = {line: discipline(line) for line in trees}
    pairs = {line: list(dict.fromkeys(pairwise(line.replace(";", " ").split()))) for line in trees}
    names: dict[str, str] = {}
    for line in trees:
        rivals = [set(pairs[other]) for other in trees if other != line and plain[other] == plain[line]]
        own = " ".join(next((pair for pair in pairs[line] if all(pair not in rival for rival in rivals)), ()))
        names[line] = plain[line]
        if rivals:
            names[line] += f" ({own if own and len(own) <= OWN else f'tree {1 + sorted(trees).index(line)}'})"
        elif plain[line] in others:
            names[line] += " (tree)"
    return names


def called(lines: Sequence[str]) -> dict[str, str]:
    """Return a name for each of several qdisc lines: the whole line, but without the path of a Python file.

    A tree, whose line is its commands, has the name of `_trees`.
    """
    if any(BOTH in line for line in lines):
        return _halves(lines, called)
    heads, trees = _heads(lines), _trees(lines)
    names = {line: trees.get(line) or " ".join([heads[line], *line.split()[1:]]) for line in lines}
    return names if len(set(names.values())) == len(names) else {line: line for line in lines}


def _heads(lines: Sequence[str]) -> dict[str, str]:
    """Return the name of each line's discipline: ``PiTwist`` for ``./pitwist.py:PiTwist``, if it is unique."""
    words = list(dict.fromkeys(_first(line) for line in lines))
    called = {word: word for word in words}
    for shorter in (_in_file, _class):  # the file's name stays if two files have a class of the same name
        tried = {word: shorter(word) for word in words}
        called = {word: name if list(tried.values()).count(name) == 1 else called[word] for word, name in tried.items()}
    if len(set(called.values())) < len(words):
        called = {word: word for word in words}
    return {line: called[_first(line)] for line in lines}


def _first(line: str) -> str:
    return next(iter(line.split()), "")


def _in_file(word: str) -> str:
    """Return ``pitwist.py:PiTwist`` for ``./ideas/pitwist.py:PiTwist``."""
    return word.rpartition("/")[2] if ".py:" in word else word


def _class(word: str) -> str:
    """Return ``PiTwist`` for ``./pitwist.py:PiTwist``."""
    return word.rpartition(":")[2] or word if ".py:" in word else word


def parts(line: str) -> list[str]:
    """Return the words of ``line``. After the first word, a number joins the word before it: ``target 5ms``."""
    grouped: list[str] = []
    for word in line.split():
        if len(grouped) > 1 and " " not in grouped[-1] and not _is_value(grouped[-1]) and _is_value(word):
            grouped[-1] += f" {word}"
        else:
            grouped.append(word)
    return grouped


def _is_value(word: str) -> bool:
    return word.lstrip("+-.")[:1].isdigit()


def fit(names: Sequence[str], width: int) -> list[str]:
    """Return ``names``, each in at most ``width`` characters. Equal names stay equal, different names different.

    Names that fit stay as they are. If a name does not fit, it and the others of its discipline lose their folder, then
    the parameters that they share. A name that is still too long is `cut`.
    """
    bases = _bases(list(dict.fromkeys(names)), width)
    return cut([bases[name] for name in names], width)


def cut(names: Sequence[str], width: int) -> list[str]:
    """Return ``names`` with those longer than ``width`` cut. Equal names stay equal, different names different.

    If other names have the same cuts, the name ends with a number: ``codel li…#2``. A name is longer than ``width``
    only if ``width`` has no room for that number.
    """
    distinct = list(dict.fromkeys(names))
    taken = {name for name in distinct if len(name) <= width}
    fitted: dict[str, str] = {}
    for name in distinct:
        tried = name
        if len(name) > width:
            tried = next((cut for cut in _cuts(name, width) if cut not in taken), "") or _numbered(name, width, taken)
            taken.add(tried)
        fitted[name] = tried
    return [fitted[name] for name in names]


def _bases(names: Sequence[str], width: int) -> dict[str, str]:
    """Return the form of each of ``names`` before anything is cut."""
    heads, plain, shorter = _heads(names), called(names), short(names)
    bases: dict[str, str] = {}
    for head in dict.fromkeys(heads.values()):
        same_head = [name for name in names if heads[name] == head]
        for tried in (
            {name: name for name in same_head},
            {name: plain[name] for name in same_head},
            {name: shorter[name].rstrip(",") for name in same_head},
        ):
            bases |= tried
            if all(len(base) <= width for base in tried.values()):
                break
    unique = len(set(bases.values())) == len(bases)
    return bases if unique else {name: name for name in names}


def _cuts(name: str, width: int) -> Iterator[str]:
    """Yield the cuts of ``name``: after the last whole word that fits, then in the middle."""
    heads = accumulate(parts(name), lambda head, part: f"{head} {part}")
    if fitting := [head for head in heads if len(head) + len(CUT) <= width]:
        yield fitting[-1] + CUT
    room = max(0, width - len(CUT))
    yield name[: room // 2] + CUT + name[len(name) - room + room // 2 :]


def _numbered(name: str, width: int, taken: set[str]) -> str:
    """Return the beginning of ``name`` with the first number that makes it different from all ``taken``."""
    number = 1
    while True:
        end = f"#{number}"
        room = width - len(CUT) - len(end)
        tried = f"{name[:room]}{CUT}{end}" if room > 0 else end
        if tried not in taken:
            return tried
        number += 1
