"""Reads records from stores, files and folders, and gives each a label."""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypedDict

from goodqueue import store
from goodqueue.errors import UserError
from goodqueue.files import inputs, long_json, output
from goodqueue.files.output import RESULTS
from goodqueue.record import Record, Scenario
from goodqueue.record.reading import UNKNOWN
from goodqueue.show import describe
from goodqueue.show import labels as naming
from goodqueue.store import DamagedError, Store, checking
from goodqueue.store.index import Index

ACCEPTED = "a store, a record in JSON (.json, or .jsonl with one a line), or a folder that `goodqueue compare` made"

SCHEMA = 1
"""The newest schema of records and results that this version reads."""

RECORDS = "records.jsonl"
"""The records of a comparison, in a file beside its `output.RESULTS`."""


class About(TypedDict):
    """The parts of a record that distinguish it from others."""

    scenario: Scenario
    engine: str
    version: str
    seed: int


@dataclass(frozen=True, slots=True)
class Loose:
    """A record that belongs to no sweep."""

    text: str
    record: Record
    build: str | None
    """The build of the simulator that made it, if known."""
    place: str = ""
    """The file, and the line if it has several, in which it was found."""
    command: str = ""
    """The command that made it, if known."""
    mix: str = ""
    """The name that a sweep of its store gives its traffic (``sweep --mix``), if any does."""

    @property
    def maker(self) -> tuple[str, str, str | None]:
        """The code that computed it: engine, goodqueue's version, the simulator's build."""
        return self.record["engine"], self.record["version"], self.build


def records(paths: Sequence[str]) -> list[Loose]:
    """Return all records in ``paths``. Raises UserError.

    Records of a store stand in the order of its sweeps, as their axes were written. Others follow, by scenario, qdisc
    and seed.
    """
    loose: list[Loose] = []
    for name in paths:
        path = Path(name)
        if path.name == RESULTS:
            path = path.parent
        if not path.is_dir():
            loose += in_file(path, ACCEPTED)
        elif store.is_one(path):
            runs_store = store.find(path)
            keys = runs_store.all_keys()
            swept = _swept(runs_store)
            others = {*keys}
            first = [key for key in swept if key in others]
            others -= {*first}
            loose += [replace(run, mix=swept[key]) for key, run in zip(first, in_store(runs_store, first), strict=True)]
            loose += sorted(in_store(runs_store, sorted(others)), key=lambda run: order(run.record))
        elif (path / RECORDS).exists():
            loose += in_file(path / RECORDS, ACCEPTED, pipes=False)
        else:
            raise UserError(name, f"no {store.MANIFEST} and no {RECORDS} in it; accepted: {ACCEPTED}")
    if not loose:
        raise UserError(", ".join(paths), "no results; accepted: a store with runs in it")
    return loose


def _swept(runs_store: Store) -> dict[str, str]:
    """Return the keys of the runs of a store's sweeps, each with the name of its mix of traffic, or an empty text.

    They stand in the order of the cells, which is that of the user's values. A results.json that is none has no order.
    """
    mixes: dict[str, str] = {}
    for file in sorted((runs_store.folder / store.SWEEPS).glob(f"*/{RESULTS}")):
        try:
            if is_long(file):
                sweep = long(file, ACCEPTED, lambda _, cell: {"at": cell["at"], "runs": cell["runs"]})
            else:
                sweep = parse(text(file, ACCEPTED, pipes=False), str(file), ACCEPTED)
            for cell in sweep["cells"]:
                mix = _mix(sweep, cell["at"])
                for key in cell["runs"]:
                    mixes[str(key)] = mixes.get(str(key)) or mix
        except (KeyError, TypeError, UserError):
            continue
    return mixes


def _mix(sweep: Any, at: Mapping[str, str]) -> str:
    """Return the name of the traffic in the cell ``at`` of a sweep. A single mix is no axis, and is in all cells."""
    names = [str(mix["name"]) for mix in sweep.get("mixes", [])]
    return at.get(naming.MIX, names[0]) if names else ""


def order(record: About) -> tuple[list[float | str], str, int]:
    """Return the sort key of a store's records: scenario, qdisc and seed. Numbers in the scenario count as numbers."""
    scenario = record["scenario"]
    words = re.split(r"(\d+\.?\d*)", _shared(scenario))
    shared: list[float | str] = [float(word) if at % 2 else word for at, word in enumerate(words)]
    return shared, str(scenario["bottleneck"]["qdisc"]), record["seed"]


def in_store(store: Store, keys: Sequence[str]) -> list[Loose]:
    """Return the records of the runs ``keys``. Raises UserError if a file is damaged."""
    loose = {
        key: Loose(text, json.loads(text), build, str(store.path(key))) for key, build, text in Index(store).rows(keys)
    }
    with _whole_files():
        others = [key for key in keys if key not in loose]
        for key, row in zip(others, store.rows(others, ["build", "record"]), strict=True):
            text, build = str(row["record"]), row["build"]
            loose[key] = Loose(text, json.loads(text), None if build is None else str(build), str(store.path(key)))
    return [loose[key] for key in keys]


def about_in_store(store: Store, keys: Sequence[str]) -> Iterator[About]:
    """Yield the distinguishing parts of each run of ``keys``, without its record. Raises as `in_store` does."""
    with _whole_files():
        for row in store.rows(keys, ["key", "scenario", "engine", "version", "seed"]):
            path = store.path(str(row["key"]))
            try:
                scenario = inputs.from_json(str(row["scenario"]))
            except ValueError:
                raise DamagedError(path, "its scenario is none") from None
            checking.scenario(scenario, f"{path}: scenario")
            about: Any = row | {"scenario": scenario}
            yield about


@contextmanager
def _whole_files() -> Iterator[None]:
    """Turn the error for a damaged file of a store into a UserError that says how to repair it."""
    try:
        yield
    except DamagedError as damaged:
        accepted = "whole files (`goodqueue sweep` sets broken ones aside and runs them again)"
        raise UserError(f"{damaged}; accepted: {accepted}") from None


def in_file(path: Path, accepted: str, pipes: bool = True) -> list[Loose]:
    """Return the record in a file, or the records in a file with the suffix ``.jsonl``. Raises UserError."""
    return [Loose(line, record(line, where, accepted), None, where) for line, where in texts(path, accepted, pipes)]


def texts(path: Path, accepted: str, pipes: bool = True) -> list[tuple[str, str]]:
    """Return the text and the place of each record in a file, as `in_file` does. Raises UserError."""
    whole = text(path, accepted, pipes)
    lines = whole.splitlines() if path.suffix == ".jsonl" else [whole]
    places = [str(path)] if len(lines) == 1 else [f"{path}: line {number}" for number in range(1, len(lines) + 1)]
    return [(line.strip(), where) for line, where in zip(lines, places, strict=True)]


def text(path: Path, accepted: str, pipes: bool = True) -> str:
    """Return the content of a file. Raises UserError, and without ``pipes`` also for a pipe."""
    return inputs.read_text(path, output.MOST_BYTES, accepted, pipes)


def record(text: str, where: str, accepted: str) -> Record:
    """Return ``text`` as a record. Raises UserError."""
    data = parse(text, where, accepted)
    if not isinstance(data, dict) or not {"queues", "scenario", "flows", "seed", "engine", "version"} <= data.keys():
        raise UserError(where, "not a record; accepted: what `goodqueue run --json` prints")
    return checking.record(data, where)


def parse(text: str, where: str, accepted: str) -> Any:
    """Return JSON. Raises UserError if a newer goodqueue wrote it, or if it does not match its ``made_by``."""
    try:
        data = inputs.from_json(text)
    except ValueError as error:
        raise UserError(where, f"not JSON: {error}; accepted: {accepted}") from None
    check_schema(data, where)
    checking.results(data, where)
    return data


def check_schema(data: Any, where: str) -> None:
    """Raise UserError if a newer goodqueue wrote ``data``."""
    schema = data.get("schema") if isinstance(data, dict) else None
    if isinstance(schema, int) and schema > SCHEMA:
        raise UserError(where, f"found schema {schema}, of a newer goodqueue; accepted: {SCHEMA} at most")


LONG = 64 * inputs.MIB
"""From this size on, results are read piece by piece."""


def is_long(file: Path) -> bool:
    """Return whether the results in ``file`` are to be read by `long`."""
    try:
        return file.stat().st_size >= LONG
    except OSError:
        return False


def long(file: Path, accepted: str, take: Callable[[int, Any], Any]) -> Any:
    """Return the JSON in ``file``, of whose ``cells`` each is what ``take`` makes of it. Raises UserError."""
    try:
        return long_json.read_file(file, accepted, "cells", take)
    except UnicodeDecodeError:
        raise UserError(str(file), f"cannot be read: not UTF-8; accepted: {accepted}") from None
    except ValueError as error:
        raise UserError(str(file), f"not JSON: {error}; accepted: {accepted}") from None
    except OSError as error:
        raise UserError(str(file), f"cannot be read: {error.strerror or error}; accepted: {accepted}") from None


NAME = 40
"""The number of characters of a measurement's title that are shown."""


def labels(records: Sequence[About], mixes: Sequence[str] = ()) -> list[str]:
    """Return a label for each of several records: its qdisc, and the words needed to distinguish it from the others.

    Repeats, which differ only in the seed, have the same label. All others differ. ``mixes`` are the names of the
    records' traffic, empty where it has none.
    """
    kinds = [
        json.dumps([_unseeded(record["scenario"]), record["engine"], record["version"]], sort_keys=True)
        for record in records
    ]
    called = _names(records)
    ups = naming.short([_up(record) for record in records])
    aspects = (
        [f"{ups[_up(record)]} up" for record in records],
        [describe.link(record["scenario"]) for record in records],
        [str(record["scenario"]["path"]["rtt"]) for record in records],
        [
            mix or describe.traffic(record["scenario"])
            for record, mix in zip(records, mixes or [""] * len(records), strict=True)
        ],
        [record["engine"] for record in records],
    )
    for words in aspects:
        if len(set(zip(called, words, strict=True))) > len(set(called)):
            called = [f"{name}, {word}" for name, word in zip(called, words, strict=True)]
    numbers: dict[str, dict[str, int]] = {}
    result = []
    for label, kind in zip(called, kinds, strict=True):
        same_label = numbers.setdefault(label, {})
        number = same_label.setdefault(kind, len(same_label))
        result.append(f"{label} #{number + 1}" if number else label)
    return result


def _up(record: About) -> str:
    bottleneck = record["scenario"]["bottleneck"]
    return str((bottleneck.get("up") or {}).get("qdisc") or bottleneck["qdisc"])


def _names(records: Sequence[About]) -> list[str]:
    """Return each record's qdisc. For a measurement whose link is not known, it is the title."""
    lines = [str(record["scenario"]["bottleneck"]["qdisc"]) for record in records]
    has_link = [record["scenario"]["bottleneck"].get("rate") != UNKNOWN for record in records]
    qdiscs = naming.short([line for line, is_known in zip(lines, has_link, strict=True) if is_known])
    titles = dict(zip(lines, naming.cut(lines, NAME), strict=True))
    return [qdiscs[line] if is_known else titles[line] for line, is_known in zip(lines, has_link, strict=True)]


def _unseeded(scenario: Scenario) -> Scenario:
    return {key: value for key, value in scenario.items() if key != "seed"}


def _shared(scenario: Scenario) -> str:
    bottleneck = {key: value for key, value in scenario["bottleneck"].items() if key not in ("qdisc", "up")}
    return json.dumps(_unseeded(scenario) | {"bottleneck": bottleneck}, sort_keys=True)
