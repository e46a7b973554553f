"""Compares two results: which claims and values have another verdict, and what cannot be compared."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from goodqueue.claims.result import Part, Result
from goodqueue.studies.wording import bounds

Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Change:
    """A claim or a value whose verdict changed."""

    was: Row
    now: Row


@dataclass(frozen=True, slots=True)
class Moved:
    """What moved from one result to another."""

    was: Result
    now: Result
    claims: tuple[Change, ...]
    of_claims: int
    """The number of claims that both results have."""
    values: tuple[Change, ...]
    of_values: int
    """The number of values that both results have."""
    numbers: int
    """The number of values that both results measured, and with different numbers."""
    of_numbers: int
    """The number of values that both results measured."""
    apart: tuple[str, ...]
    """Sentences on what differs in the results themselves, so that a change may have another cause than the source."""


def compare(was: Result, now: Result) -> Moved:
    """Return what moved from the result ``was`` to ``now``. Claims and values are compared by their ids."""
    before, after = _parts(was), _parts(now)
    both = [(before[name], after[name]) for name in after if name in before]
    claims = [
        Change(earlier.claims[id_], claim)
        for earlier, later in both
        for id_, claim in later.claims.items()
        if id_ in earlier.claims
    ]
    values = [
        Change(earlier.values[id_], value)
        for earlier, later in both
        for id_, value in later.values.items()
        if id_ in earlier.values
    ]
    compared = [change for change in values if None not in (change.was["measured"], change.now["measured"])]
    return Moved(
        was=was,
        now=now,
        claims=tuple(change for change in claims if change.was["verdict"] != change.now["verdict"]),
        of_claims=len(claims),
        values=tuple(change for change in values if change.was["verdict"] != change.now["verdict"]),
        of_values=len(values),
        numbers=sum(change.was["measured"] != change.now["measured"] for change in compared),
        of_numbers=len(compared),
        apart=tuple(_apart(before, after)),
    )


def _parts(result: Result) -> dict[str, Part]:
    return {part.study: part for part in result.parts}


def _apart(before: Mapping[str, Part], after: Mapping[str, Part]) -> Iterator[str]:
    """Yield a sentence for each difference between the results that is no verdict and no measured number."""
    for name in (name for name in after if name not in before):
        yield f"The study {name} is new."
    for name in (name for name in before if name not in after):
        yield f"The study {name} is missing: it was in the earlier result."
    for name in (name for name in after if name in before):
        was, now = before[name], after[name]
        if not (was.is_whole and now.is_whole):
            yield f"{name} is not whole: it was {_extent(was)} and is {_extent(now)}, so a verdict may differ for that."
        elif was.seeds != now.seeds:
            yield f"{name} had {seeds(was)} seeds per cell and has {seeds(now)}."
        if was.engine != now.engine:
            yield f"{name} ran on the engine {was.engine} and now on {now.engine}."
        yield from _listed(name, "claim", was.claims, now.claims)
        yield from _listed(name, "value", was.values, now.values)
        for id_, claim in now.claims.items():
            if id_ in was.claims and was.claims[id_]["statement"] != claim["statement"]:
                yield f'The text of {id_} changed. It was: "{was.claims[id_]["statement"]}"'
        for id_, value in now.values.items():
            if id_ in was.values and was.values[id_]["published"] != value["published"]:
                yield f"The published number of {id_} was {published(was.values[id_])} and is {published(value)}."


def _listed(study: str, what: str, was: Mapping[str, Row], now: Mapping[str, Row]) -> Iterator[str]:
    new, missing = ([id_ for id_ in ids if id_ not in other] for ids, other in ((now, was), (was, now)))
    for word, ids in (("new", new), ("missing", missing)):
        if ids:
            plural = f"{what}s are" if len(ids) > 1 else f"{what} is"
            yield f"{len(ids)} {plural} {word} in {study}: {', '.join(id_.rpartition('/')[2] for id_ in ids)}."


def _extent(part: Part) -> str:
    """Return how much of a study was run, in words."""
    return "whole" if part.is_whole else "a quick look" if part.quick else f"a part ({', '.join(part.only)})"


def seeds(part: Part) -> str:
    """Return the number of seeds of a study's cells: ``10``, or ``1 to 30``."""
    return " to ".join(map(str, dict.fromkeys(part.seeds)))


def published(value: Row) -> str:
    """Return the published number, range or text of a value, without its unit."""
    published = value["published"]
    if isinstance(published, list):
        return bounds(*published)
    return f"{published:g}" if isinstance(published, float) else str(published)


def as_json(moved: Moved) -> dict[str, Any]:
    """Return ``moved`` for the JSON output."""

    def each(changes: Sequence[Change], *keys: str) -> list[dict[str, Any]]:
        return [
            {"id": change.now["id"], **{key: {"was": change.was[key], "now": change.now[key]} for key in keys}}
            for change in changes
        ]

    return {
        "beside": {"version": moved.was.version, "commit": moved.was.commit, "date": moved.was.date},
        "claims": each(moved.claims, "verdict", "why"),
        "claims_compared": moved.of_claims,
        "values": each(moved.values, "verdict", "measured"),
        "values_compared": moved.of_values,
        "numbers_that_differ": moved.numbers,
        "numbers_compared": moved.of_numbers,
        "apart": list(moved.apart),
    }
