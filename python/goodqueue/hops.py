"""The kinds of hops, as the core declares them. A kind is one file in ``crates/netsim/src/path``.

All properties of a kind are declared there. This module reads them once, and names no kind.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of hop."""

    name: str
    summary: str
    has_queue: bool
    """Whether it has a queue discipline: the record then has the measurements of a queue."""
    plural: str
    noun: str
    """What a person reads of a hop without a queue: the noun, then the values that `shows` names."""
    shows: tuple[tuple[str, str], ...]
    """The keys of these values, each with the words before its value."""
    linux: str | None
    """What runs it on Linux: ``shaper``, ``netem``, or None if the kernel engine refuses it."""
    keys: tuple[Mapping[str, Any], ...]
    """Its keys in addition to those of all kinds, in the format of `_goodqueue.hop_kinds`."""

    def described(self, hop: Mapping[str, Any]) -> str:
        """Return a ``hop`` of this kind without a queue in words, such as ``wire, 5ms, loss 1%``."""
        described = ((words, hop.get(key)) for key, words in self.shows)
        return self.noun + "".join(
            f"{words}{value}" for words, value in described if value not in (None, "", "0s", "0%")
        )


@cache
def kinds() -> dict[str, Kind]:
    """Return every kind by its name, in the core's order."""
    from goodqueue import _goodqueue

    return {kind["name"]: _kind(kind) for kind in json.loads(_goodqueue.hop_kinds())}


def queue() -> Kind:
    """Return the kind that has a queue."""
    return next(kind for kind in kinds().values() if kind.has_queue)


def has_queue(hop: Mapping[str, Any]) -> bool:
    """Return whether ``hop``, of a scenario or of a record, is of a kind that has a queue."""
    return any(kind.has_queue and kind.name == hop.get("kind") for kind in kinds().values())


def _kind(data: dict[str, Any]) -> Kind:
    shows = tuple((key, words) for key, words in data["shows"])
    return Kind(**data | {"shows": shows, "keys": tuple(data["keys"])})
