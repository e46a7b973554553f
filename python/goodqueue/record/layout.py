"""The layout of a record, as the core declares it: its parts, with the keys of each (`_goodqueue.record_layout`).

tools/docs/generate.py makes this package's types, the page's and docs/reference/record.md from it. The checks of stored
files read it.
"""

import itertools
import json
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

Type = str | Mapping[str, Any]
"""A type of JSON values: ``count``, ``number``, ``text``, ``flag``, ``anything`` or ``scenario``.

Or a table with one key: ``part`` with a part's name, or ``nullable``, ``list``, ``table`` or ``directions`` with the
type within.
"""


@dataclass(frozen=True, slots=True)
class Field:
    """A key of a part."""

    key: str
    type: Type
    """What any engine writes."""
    is_required: bool = True
    """Whether each record has the key."""
    help: str = ""
    unit: str = ""
    of_simulator: Type | None = None
    """What the simulator writes. None if it does not write the key."""
    null_from: tuple[str, ...] = ()
    """The engines that may write null."""
    not_from: tuple[str, ...] = ()
    """The engines that leave the key out."""
    is_optional: bool = False
    """Whether engines that know the key leave it out if there is nothing to tell."""


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a record: a table with known keys."""

    name: str
    help: str
    own: tuple[Field, ...]
    """Its keys, except those that its kind decides."""
    kinds: Mapping[str, str]
    """By kind, the name of the part whose keys stand among its own."""
    fields: Mapping[str, Field]
    """All keys that it may have."""


@cache
def parts() -> dict[str, Part]:
    """Return the parts by name. The first is the record itself."""
    from goodqueue import _goodqueue

    read = json.loads(_goodqueue.record_layout())
    fields_of = {part["name"]: tuple(map(_field, part["fields"])) for part in read}
    parts_made = {
        name: Part(name, "", fields, {}, {field.key: field for field in fields}) for name, fields in fields_of.items()
    }
    for part in read:
        name, kinds = part["name"], dict(part["kinds"])
        # Engines without such a part write none of its keys.
        absent = {
            engine
            for field in fields_of["Record"]
            if field.type == {"list": {"part": name}}
            for engine in field.not_from
        }
        variants = [
            [_from_others(field, absent) for field in fields_of[other]] for other in dict.fromkeys(kinds.values())
        ]
        parts_made[name] = Part(
            name,
            part["help"],
            fields_of[name],
            kinds,
            {**parts_made[name].fields, **_any_of(variants, name, parts_made)},
        )
    return parts_made


def _from_others(field: Field, absent: Set[str]) -> Field:
    """Return ``field`` as it is in records of engines that are not ``absent``."""
    is_null = not field.null_from or not set(field.null_from) <= absent
    return field if is_null or field.of_simulator is None else replace(field, type=field.of_simulator)


def _any_of(variants: Sequence[Iterable[Field]], name: str, parts_made: dict[str, Part]) -> dict[str, Field]:
    """Return the keys of the part ``name`` that has those of one of ``variants``.

    If two of them have different parts at one key, ``parts_made`` gets a part with the keys of both.
    """
    by_key: dict[str, list[Field]] = {}
    for field in itertools.chain(*variants):
        by_key.setdefault(field.key, []).append(field)
    merged = {}
    for key, fields in by_key.items():
        types = [not_null(field.type) for field in fields]
        inner = dict.fromkeys(type_["part"] for type_ in types if isinstance(type_, Mapping) and "part" in type_)
        shape = types[0]
        if len(inner) > 1:
            both = name + key.capitalize()
            shape = {"part": both}
            parts_made[both] = Part(
                both, fields[0].help, (), {}, _any_of([parts_made[part].own for part in inner], both, parts_made)
            )
        if any(not_null(field.type) != field.type for field in fields):
            shape = {"nullable": shape}
        of_simulator = None if fields[0].of_simulator is None else shape
        is_required = len(fields) == len(variants) and all(field.is_required for field in fields)
        merged[key] = replace(
            fields[0], type=shape, of_simulator=of_simulator, is_required=is_required, is_optional=not is_required
        )
    return merged


def sources() -> list[str]:
    """Return the programs whose files become records. Each is the name of its engine and the key of its source."""
    return [field.key for field in parts()["Record"].own if field.type == {"part": "SourceFile"}]


def not_null(type_: Type) -> Type:
    """Return ``type_`` without null."""
    return type_["nullable"] if isinstance(type_, Mapping) and "nullable" in type_ else type_


def _field(read: Mapping[str, Any]) -> Field:
    return Field(
        read["key"],
        read["any_type"],
        not read["is_optional"] and not read["not_from"],
        read["help"],
        read["unit"],
        None if "sim" in read["not_from"] else read["type"],
        tuple(read["null_from"]),
        tuple(read["not_from"]),
        read["is_optional"],
    )
