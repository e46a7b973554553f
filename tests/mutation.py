"""Random mutations: of JSON, of which one value anywhere is changed or removed, and of text, which is edited."""

import copy
import random
import re
from typing import Any

ODD: tuple[Any, ...] = (
    None, True, 0, -1, 1.5, 1 << 64, 10**400, 1e308, float("nan"), float("inf"), "", "x", "\x1b[2J", "9" * 5000,
    [], [[]], [None], ["x"], [1e308], {}, {"x": {}},
)  # fmt: skip


def mutated(data: Any, draw: random.Random) -> tuple[Any, str]:
    """Return a copy of ``data`` with one change, and a description of the change."""
    data = copy.deepcopy(data)
    here, path = data, []
    while True:
        keys = list(here) if isinstance(here, dict) else range(len(here))
        key = draw.choice(list(keys))
        path.append(str(key))
        inner = here[key]
        if isinstance(inner, dict | list) and inner and draw.random() < 0.85:
            here = inner
            continue
        if draw.random() < 0.15:
            del here[key]
            return data, f"{'.'.join(path)} gone"
        here[key] = draw.choice(ODD)
        return data, f"{'.'.join(path)} = {here[key]!r:.50}"


WORDS = (
    "", "0", "-1", "1e309", "nan", "1_0", "\u0661\u0660", "9" * 400, "99999999999", "0x10", "\u2028", "\x00", "\x1b[2J",
    "\ufeff", "\ud800", "a" * 5000, "'", '"', "\\", "$", "$(", "`", "#", ",", ";", "=", "/", "*", "::", "1:ffff",
    "10.0.0.0/8", "none", "None", "\r", "\t", "\n\n",
)  # fmt: skip


def edited(text: str, draw: random.Random) -> str:
    """Return ``text`` with one to four edits: of a word, a character, a line, or a cut."""
    for _ in range(draw.randint(1, 4)):
        lines = text.split("\n")
        at = draw.randrange(len(lines))
        words = [found.span() for found in re.finditer(r"[^\s,=:']+", text)]
        act = draw.randrange(8)
        if act < 4 and words:
            start, end = draw.choice(words)
            other = draw.choice(words)
            text = text[:start] + (text[slice(*other)] if act == 0 else draw.choice(WORDS)) + text[end:]
        elif act == 4:
            place = draw.randrange(len(text) + 1)
            text = text[:place] + draw.choice(WORDS) + text[place + draw.randint(0, 2) :]
        elif act == 5:
            lines.insert(draw.randrange(len(lines)), lines[at])
            text = "\n".join(lines)
        elif act == 6:
            del lines[at]
            text = "\n".join(lines)
        elif draw.random() < 0.3:
            text = text[: draw.randrange(len(text) + 1)]
    return text
