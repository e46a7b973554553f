"""A reader of the JSON of ``tc -j``, which is not always JSON: some parts of `tc` print text for people all the same.

An hfsc of iproute2 before 7.1 has ``"options":{default 1 }``, and a multiq ``{bands 2/2 }``. Other releases may print
other words, or a number that JSON lacks, as ``nan``. What is no member of an object and no entry of a list is skipped
here, and everything around it is read.
"""

import json
import re
from typing import Any

_DECODER = json.JSONDecoder()
_NAME = re.compile(r'("(?:[^"\\]|\\.)*")\s*:\s*')
_SIMPLE = re.compile(r'["\d-]|true\b|false\b|null\b')


def read(text: str) -> Any:
    """Return the list or the object of ``text``, or None if it has none."""
    try:
        return json.loads(text)  # a run has no time to spare, and this is quick
    except ValueError:
        begin = re.search(r"[\[{]", text)
        return _value(text, begin.start())[0] if begin else None


def _value(text: str, at: int) -> tuple[Any, int]:
    """Return the value at ``at``, and where it ends, which is ``at`` if there is none."""
    if text.startswith("{", at):
        return _object(text, at + 1)
    if text.startswith("[", at):
        return _list(text, at + 1)
    try:
        return _DECODER.raw_decode(text, at) if _SIMPLE.match(text, at) else (None, at)
    except ValueError:
        return None, at


def _object(text: str, at: int) -> tuple[dict[str, Any], int]:
    members: dict[str, Any] = {}
    while at < len(text) and text[at] != "}":
        if name := _NAME.match(text, at):
            members[json.loads(name[1])], at = _value(text, name.end())
        else:
            at += 1
    return members, at + 1


def _list(text: str, at: int) -> tuple[list[Any], int]:
    entries = []
    while at < len(text) and text[at] != "]":
        value, end = _value(text, at)
        if end > at:
            entries.append(value)
        at = max(end, at + 1)
    return entries, at + 1
