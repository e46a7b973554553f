"""The types of a record for Python and for the page, made from the core's layout for tools/docs/generate.py."""

import re
import textwrap
from collections.abc import Iterator

from goodqueue.record import layout
from goodqueue.record.layout import Part, Type

WIDTH = 120

PYTHON = '''"""The record of one run, as every engine returns it (schema 1). Units are in the names.

These types describe JSON, and None is its null. tools/docs/generate.py makes this file from the core's layout of a
record: do not edit it, edit its parts (`part!`).
"""

from typing import Any, NotRequired, TypedDict

Scenario = dict[str, Any]
"""A scenario as TOML has it: nested tables. The core validates it."""
'''

TYPESCRIPT = """\
// The record of a run of the simulator. docs/reference/record.md describes the keys. tools/docs/generate.py makes this
// file from the core's layout of a record: do not edit it, edit its parts (`part!`).

import type { Table } from "./table.ts";
"""

IN_PYTHON = {"count": "int", "number": "float", "text": "str", "flag": "bool"}
IN_PYTHON |= {"anything": "Any", "scenario": "Scenario"}
IN_TYPESCRIPT = {"count": "number", "number": "number", "text": "string", "flag": "boolean"}
IN_TYPESCRIPT |= {"anything": "unknown", "scenario": "Table"}


def python() -> str:
    """Return the module of the types of all parts, for records of any engine."""
    of_kinds, found, classes = set(layout.parts()["App"].kinds.values()), dict[str, Part](), []
    for name in layout.parts():
        if name not in of_kinds:  # `App` has the keys of all of these
            _within(name, found, of_simulator=False)
    for part in found.values():
        lines = [f"class {part.name}(TypedDict):", _comment(part.help, summary=True)]
        for field in part.fields.values():
            hint = _python(field.type)
            lines.append(f"    {field.key}: {hint if field.is_required else f'NotRequired[{hint}]'}")
            lines.append(_comment(field.help))
        lines[1] += "\n"
        classes.append("\n".join(lines))
    return "\n\n\n".join([PYTHON.rstrip(), *classes]) + "\n"


def typescript() -> str:
    """Return the module of the types of the parts that the simulator writes."""
    interfaces = []
    for part in reversed(_within("Record", {}, of_simulator=True).values()):
        lines = [f"export interface {_named(part.name)} {{"]
        for field in part.fields.values():
            if field.of_simulator is not None:
                mark = "?" if field.is_optional else ""
                lines.append(f"  {field.key}{mark}: {_typescript(field.of_simulator)};")
        interfaces.append("\n".join([*lines, "}"]))
    return "\n\n".join([TYPESCRIPT.rstrip(), *interfaces]) + "\n"


def _within(name: str, found: dict[str, Part], *, of_simulator: bool) -> dict[str, Part]:
    """Add the part ``name`` to ``found``, after all parts that it has."""
    part = layout.parts()[name]
    for field in [] if name in found else part.fields.values():
        shape = field.of_simulator if of_simulator else field.type
        for inner in _parts_in(shape):
            _within(inner, found, of_simulator=of_simulator)
    found.setdefault(name, part)
    return found


def _parts_in(found: Type | None) -> Iterator[str]:
    if isinstance(found, dict):
        for key, inner in found.items():
            yield from [inner] if key == "part" else _parts_in(inner)


def _comment(text: str, *, summary: bool = False) -> str:
    """Return ``text`` as a docstring with an indent of four. If it is long, a ``summary`` is its first sentence."""
    one = f'    """{text}"""'
    if len(one) <= WIDTH:
        return one
    first, rest = re.match(r"(.*?\.)(?:\s+(.*))?$", text, re.DOTALL).groups() if summary else (text, None)  # type: ignore[union-attr]
    lines = textwrap.fill(f'"""{first}', WIDTH, initial_indent="    ", subsequent_indent="    ")
    if rest:
        return f'{lines}\n\n{textwrap.fill(rest, WIDTH, initial_indent="    ", subsequent_indent="    ")}\n    """'
    return lines + '"""' if len(lines.rpartition("\n")[2]) <= WIDTH - 3 else f'{lines}\n    """'


def _python(found: Type) -> str:
    match found:
        case str():
            return IN_PYTHON[found]
        case {"part": name}:
            return str(name)
        case {"nullable": inner}:
            return f"{_python(inner)} | None"
        case {"list": inner}:
            return f"list[{_python(inner)}]"
        case {"table": inner} | {"directions": inner}:
            return f"dict[str, {_python(inner)}]"
    raise ValueError(found)


def _named(name: str) -> str:
    """Return the name of a part in TypeScript, where ``Record`` is taken."""
    return "RunRecord" if name == "Record" else name


def _typescript(found: Type) -> str:
    match found:
        case str():
            return IN_TYPESCRIPT[found]
        case {"part": name}:
            return _named(name)
        case {"nullable": inner}:
            return f"{_typescript(inner)} | null"
        case {"list": inner}:
            words = _typescript(inner)
            return f"({words})[]" if " " in words else f"{words}[]"
        case {"directions": inner}:
            words = _typescript(inner)
            return f"{{ down: {words}; up: {words} }}"
        case {"table": inner}:
            return f"Record<string, {_typescript(inner)}>"
    raise ValueError(found)
