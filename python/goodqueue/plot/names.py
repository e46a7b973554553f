"""The names in a figure: those of its keys, levels, flows and metrics, and what ``--label`` writes instead of them."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from goodqueue.errors import Option, UserError, quoted


@dataclass(frozen=True, slots=True)
class Labels:
    """The texts of ``--label``, and the names of a figure that they could replace."""

    texts: dict[str, str] = field(default_factory=dict)
    """Texts by key."""
    offered: dict[str, None] = field(default_factory=dict)
    """The keys and names that the figure asked for, in order."""
    used: set[str] = field(default_factory=set)

    def written(self, name: str, keys: Sequence[str]) -> str:
        """Return what the figure writes for ``name``, which is also known by the ``keys``.

        A name of several levels, as ``codel, rtt 10ms``, has them between commas. A level is a value, or a word and a
        value, each of which may have a text of its own.
        """
        if not self.texts:
            return name
        self.offered.update(dict.fromkeys((*keys, name)))
        for key in (*keys, name):
            if (text := self._text(key)) is not None:
                return text
        return ", ".join(self._level(level) for level in name.split(", "))

    def _level(self, level: str) -> str:
        if (whole := self._text(level)) is not None:
            return whole
        word, space, value = level.partition(" ")
        known = (self._text(key) for key in self.texts if key.rpartition(".")[2] == word)
        return f"{next(known, None) or word}{space}{self._text(value) or value}"

    def _text(self, key: str) -> str | None:
        if key in self.texts:
            self.used.add(key)
        return self.texts.get(key)

    def check(self) -> None:
        """Refuse a key that is no name in the figure. Raises UserError with the names that there are."""
        for key in self.texts:
            if key not in self.used:
                known = dict.fromkeys(level for name in self.offered for level in name.split(", ") if level)
                accepted = ", ".join(known)
                raise UserError(Option("label"), f"found {quoted(key)}, no name in this figure; accepted: {accepted}")


def labels(texts: Sequence[str]) -> Labels:
    """Return the labels ``KEY=TEXT``. Raises UserError."""
    found: dict[str, str] = {}
    for assignment in texts:
        key, equals, text = (part.strip() for part in assignment.partition("="))
        if not equals or not key or not text:
            raise UserError(Option("label", assignment), "found no KEY=TEXT; accepted: as in rtt=Base RTT")
        if key in found:
            raise UserError(Option("label", assignment), f"found {quoted(key)} twice; accepted: each once")
        found[key] = text
    return Labels(found)
