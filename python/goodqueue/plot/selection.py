"""Selects the runs of a figure, and its lines and panels, by keys of the scenarios."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from goodqueue.errors import UserError, quoted
from goodqueue.plot import stored
from goodqueue.plot.stored import Group
from goodqueue.record import Record
from goodqueue.scenario.flat import flat
from goodqueue.scenario.lists import split
from goodqueue.scenario.quantity import same
from goodqueue.show import labels as naming
from goodqueue.show.labels import MIX, QDISCS
from goodqueue.store import results

SHORT = {"qdisc": "bottleneck.qdisc", "rate": "bottleneck.rate", "rtt": "path.rtt"}
"""The keys for short words that could mean several keys."""

NONE = "none"
"""The value of a key that a scenario does not have."""

Run = Mapping[str, str]
"""The keys of one run's scenario and its engine, with their values."""


@dataclass(frozen=True, slots=True)
class Runs:
    """Records, and the keys that distinguish them."""

    records: Sequence[Record]
    at: Sequence[Run]
    """One run per record."""
    differ: Sequence[str]
    """The keys that distinguish the records, without the seed and without keys that follow from another key."""

    def values(self, key: str) -> list[str]:
        """Return the values of ``key`` in the order of the runs."""
        return list(dict.fromkeys(run.get(key, NONE) for run in self.at))

    def whole(self, at: int, key: str) -> str:
        """Return the value of ``key`` in the record ``at``. For a qdisc, this is its whole line."""
        if key in QDISCS:
            bottleneck = self.records[at]["scenario"]["bottleneck"]
            table = bottleneck if key == QDISCS[0] else bottleneck.get("up") or {}
            return str(table.get("qdisc", NONE))
        return self.at[at].get(key, NONE)

    def named(self, key: str) -> dict[str, str]:
        """Return the name of each value of ``key`` in a figure."""
        return naming.of_values(key, self.values(key))

    def said(self) -> str:
        """Return the keys that differ, for an error message: ``path.rtt (3 values)``."""
        keys = [f"{key} ({len(self.values(key))} values)" for key in self.differ]
        return ", ".join(keys) or "the seed alone"


def runs(records: Sequence[Record], mixes: Sequence[str] = ()) -> Runs:
    """Return ``records`` with the keys that distinguish them.

    ``mixes`` are the names of their traffic, the values of the key `MIX`. A record without such a name has an empty
    one.
    """
    at: list[dict[str, str]] = []
    for record, mix in zip(records, mixes or [""] * len(records), strict=True):
        keys = flat(record["scenario"]) | ({MIX: mix} if mix else {})
        at.append({**keys, "engine": str(record["engine"]), "version": str(record["version"])})
    _drop_limits(at)
    return Runs(records, at, _telling(at))


def _telling(at: Sequence[Run]) -> list[str]:
    """Return a minimal list of keys that distinguishes the runs as well as all keys do.

    Keys of higher levels of the scenario are first: ``path.rtt`` before the ``traffic.0.rtt`` that follows from it.
    """
    every = list(dict.fromkeys(key for run in at for key in run if key != "seed"))
    every.sort(key=lambda key: (key == "version", key.count(".")))
    chosen: list[str] = []
    apart: list[tuple[str, ...]] = [() for _ in at]
    for key in every:
        finer = [(*values, run.get(key, NONE)) for values, run in zip(apart, at, strict=True)]
        if len(set(finer)) > len(set(apart)):
            chosen.append(key)
            apart = finer
    return chosen


def _drop_limits(at: Sequence[dict[str, str]]) -> None:
    """Remove the limit from the qdiscs' lines if it follows from the rest, such as from a buffer in BDPs."""
    without = [{key: _unlimited(value) if key in QDISCS else value for key, value in run.items()} for run in at]
    before, after = ({json.dumps(run, sort_keys=True) for run in some} for some in (at, without))
    if len(before) == len(after):
        for run, shorter in zip(at, without, strict=True):
            run.update({key: shorter[key] for key in QDISCS if key in run})


def _unlimited(line: str) -> str:
    words = line.split()
    if "limit" in words[:-1]:
        index = words.index("limit")
        del words[index : index + 2]
    return " ".join(words)


def with_parameter(runs: Runs, key: str) -> Runs:
    """Return the runs with a parameter of a qdisc's line as a key of its own, removed from the line.

    ``key`` is such a key, for example ``bottleneck.qdisc.target``. Any other key leaves the runs unchanged.
    """
    line, _, name = key.rpartition(".")
    line = SHORT.get(line, line)

    def taken_out(run: Run) -> Run:
        words = run.get(line, "").split()
        if line not in QDISCS or name not in words[1:-1]:
            return run
        index = words.index(name, 1)
        return {**run, line: " ".join(words[:index] + words[index + 2 :]), f"{line}.{name}": words[index + 1]}

    at = [taken_out(run) for run in runs.at]
    return Runs(runs.records, at, _telling(at))


def key_of(runs: Runs, text: str, option: str) -> str:
    """Return the key that ``text`` names: a dotted key, or its last word. Raises UserError."""
    keys = list(dict.fromkeys(key for run in runs.at for key in run))
    if text in keys:
        return text
    first, dot, rest = text.partition(".")
    if (whole := f"{SHORT.get(first, first)}{dot}{rest}") in keys:
        return whole
    ends = [key for key in keys if key.rpartition(".")[2] == text]
    telling = [key for key in ends if key in runs.differ]
    if len(ends) == 1 or len(telling) == 1:
        return (telling or ends)[0]
    if ends:
        raise UserError(option, f"found {quoted(text)}, the last word of several; accepted: {', '.join(ends)}")
    accepted = ", ".join([*runs.differ, "seed"])
    raise UserError(
        option, f"found no key {quoted(text)} in these runs; accepted: what differs ({accepted}), or others"
    )


def where(all_runs: Runs, conditions: Sequence[str]) -> Runs:
    """Return the runs that fulfil each of ``conditions``, ``KEY=VALUE[,VALUE]``, in the order of these values.

    Raises UserError.
    """
    chosen = list(range(len(all_runs.records)))
    for condition in conditions:
        name, equals, text = condition.partition("=")
        option = f"--where {condition}"
        values = [" ".join(value.split()) for value in split(text, option)]
        if not equals or "" in values:
            raise UserError(option, "found no KEY=VALUE; accepted: as in rtt=10ms,50ms or bottleneck.qdisc=codel")
        key = key_of(all_runs, name.strip(), option)
        for value in values:
            if not any(_fits(key, value, all_runs.whole(at, key)) for at in range(len(all_runs.records))):
                names = ", ".join(all_runs.values(key))
                raise UserError(option, f"found no run with {name.strip()} {quoted(value)}; accepted: {names}")
        fitting = [(wanted_at, at) for at in chosen if (wanted_at := _place(all_runs, key, at, values)) is not None]
        chosen = [at for _, at in sorted(fitting, key=lambda pair: pair[0])]
    if not chosen:
        raise UserError("--where", f"found no run that fulfils all; accepted: values of {all_runs.said()}")
    if not conditions:
        return all_runs
    return runs([all_runs.records[at] for at in chosen], [all_runs.at[at].get(MIX, "") for at in chosen])


def _place(runs: Runs, key: str, at: int, values: Sequence[str]) -> int | None:
    """Return which of the values ``values`` the run ``at`` has, or None."""
    value = runs.whole(at, key)
    return next((index for index, accepted in enumerate(values) if _fits(key, accepted, value)), None)


def _fits(key: str, accepted: str, value: str) -> bool:
    """Return whether a run's ``value`` fits ``accepted``. For a qdisc, only the given words of the line must match."""
    if key.rpartition(".")[2] != "qdisc":
        return same(accepted, value)
    (name, *words), (qdisc, *line) = accepted.split(), value.split() or [""]
    return name == qdisc and all(word in line for word in words)


def groups(runs: Runs, by: Sequence[str], leave: Sequence[str] = ()) -> list[Group]:
    """Return the runs in groups of repeats: one group for each line of a figure, in each of its panels.

    The lines are the values of the keys ``by``. All other differences, except ``leave``, become panels. Without
    ``by`` the lines are all differences, and there is one panel.
    """
    if not by and not leave:
        return stored.groups(runs.records, results.labels(runs.records, [run.get(MIX, "") for run in runs.at]))
    panels = [key for key in runs.differ if key not in by and key not in leave and _tells(runs, key, [*by, *leave])]
    names = {key: runs.named(key) for key in (*by, *panels)}
    ranks = {key: {value: at for at, value in enumerate(labels)} for key, labels in names.items()}
    sorted_runs = sorted(
        range(len(runs.records)), key=lambda at: [ranks[key][runs.at[at].get(key, NONE)] for key in (*panels, *by)]
    )
    by_place: dict[tuple[str, str], list[Record]] = {}
    for at in sorted_runs:
        labels = {key: names[key][runs.at[at].get(key, NONE)] for key in names}
        cell = ", ".join(labels[key] for key in panels), ", ".join(labels[key] for key in by)
        by_place.setdefault(cell, []).append(runs.records[at])
    return [Group(label or "all", labels, panel) for (panel, label), labels in by_place.items()]


def _tells(runs: Runs, key: str, others: Sequence[str]) -> bool:
    """Return whether ``key`` distinguishes runs that ``others`` do not."""
    coarse = {tuple(run.get(other, NONE) for other in others) for run in runs.at}
    fine = {tuple(run.get(other, NONE) for other in (*others, key)) for run in runs.at}
    return len(fine) > len(coarse)
