"""What never started, and what the end of a run cut, in sentences. No distribution has a time of it."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, cast

from goodqueue import traffic
from goodqueue.measures import metrics
from goodqueue.record import App, Record
from goodqueue.show.findings import Of
from goodqueue.show.table import number

MANY = 0.1
"""From this share of unfinished things on, the times of the finished ones say too little of all. The number is ours."""


MOST = 3
"""The most disciplines or cells that a sentence names."""


def keys(kind: traffic.Kind) -> tuple[str, str]:
    """Return the metrics of ``kind`` that count what never started, and what was unfinished."""
    return f"{kind.name}_never_started", f"{kind.name}_unfinished"


def columns(apps: Sequence[App]) -> Iterator[tuple[str, list[int]]]:
    """Yield the heading and the numbers of each column of what was not done, if a number is not 0."""
    for heading, counts in (
        ("never\nstarted", [app.get("never_started", 0) for app in apps]),
        ("un-\nfinished", [app.get("unfinished", 0) for app in apps]),
    ):
        if any(counts):
            yield heading, counts


class Undone(NamedTuple):
    """Sentences on what was not done."""

    never: list[str]
    """What never started: without it the findings would be about less than they say."""
    cut: list[str]
    """What had not ended."""

    def around(self, findings: Sequence[str]) -> list[str]:
        """Return ``findings`` between them."""
        return [*self.never, *findings, *self.cut]


def of_run(record: Record) -> Undone:
    """Return a sentence per kind of traffic and reason, if there is something to say of a run."""
    undone = Undone([], [])
    for kind in traffic.probes_first():
        if apps := [app for app in record["apps"] if app["kind"] == kind.name]:
            _add(undone, kind, apps)
    return undone


def _add(undone: Undone, kind: traffic.Kind, apps: Sequence[App]) -> None:
    new = sum(app.get("never_started", 0) for app in apps)
    cut = sum(app.get("unfinished", 0) for app in apps)
    if new:
        count = f"{new} of {_things(kind, len(apps))}" if kind.is_one_per_flow else _things(kind, new)
        undone.never.append(f"{count} never started: nothing of {_them(new)} came until the end of the run.")
    ended = len(apps) - new - cut if kind.is_one_per_flow else sum(cast("Any", app).get(kind.ended, 0) for app in apps)
    if cut and cut >= MANY * (cut + ended):
        times = (
            ""
            if kind.is_one_per_flow
            else f", {ended} had; the times are those of the latter"
            if ended
            else ", none had"
        )
        undone.cut.append(f"{_things(kind, cut)} had not ended at the end of the run{times}.")


def of_many(found: Sequence[Of], name: Callable[[Of], str]) -> Undone:
    """Return a sentence on each kind of traffic of which something never started, or much had not ended.

    ``found`` have means over the seeds, ``name`` returns their names.
    """
    undone = Undone([], [])
    for kind in traffic.probes_first():
        new, cut = (_means(found, key) for key in keys(kind))
        done = next((_means(found, one.key) for one in kind.measures if one.path == kind.ended), {})
        if any(new.values()):
            undone.never.append(f"{_capital(kind)} that never started: {_each(new, found, name)}.")
        is_known = kind.is_one_per_flow or bool(done)
        if is_known and any(mean and mean >= MANY * (mean + done.get(at, 0.0)) for at, mean in cut.items()):
            times = "" if kind.is_one_per_flow else "; the times are those of the others"
            told = _each(cut, found, name)
            undone.cut.append(f"{_capital(kind)} that had not ended at the end of the run: {told}{times}.")
    return undone


def _means(found: Sequence[Of], key: str) -> dict[int, float]:
    """Return the mean of the metric ``key`` over the seeds, by the place among ``found``, where it is known."""
    means = {at: metrics.mean(one.values.get(key, ())) for at, one in enumerate(found)}
    return {at: mean for at, mean in means.items() if mean is not None}


def _each(means: Mapping[int, float], found: Sequence[Of], name: Callable[[Of], str]) -> str:
    """Return the three of ``found`` with the highest means, and how many of the others have more than 0."""
    worst = sorted((mean, -at) for at, mean in means.items() if mean)[::-1]
    said = [f"{number(mean)} a run with {name(found[-at])}" for mean, at in worst[:MOST]]
    if (left := len(worst) - MOST) > 0:
        said.append(f"and fewer with {left} more")
    return "; ".join([*said, *(["none with the others"] if len(worst) < len(means) else [])])


def _capital(kind: traffic.Kind) -> str:
    return f"{kind.things[:1].upper()}{kind.things[1:]}"


def _things(kind: traffic.Kind, count: int) -> str:
    return f"{count} {kind.things.removesuffix('s') if count == 1 else kind.things}"


def _them(count: int) -> str:
    return "it" if count == 1 else "them"
