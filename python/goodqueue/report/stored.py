"""A report on whatever results there are: stores, records, and the folders of studies, comparisons and validations."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from goodqueue import store
from goodqueue.errors import UserError, quoted
from goodqueue.output import RESULTS
from goodqueue.record import Record, Scenario
from goodqueue.report import rendering, sections
from goodqueue.report.sections import Section
from goodqueue.run import Progress
from goodqueue.store import DamagedError, Store
from goodqueue.sweep import pages as sweeps
from goodqueue.sweep import result

ACCEPTED = "a store, a record in JSON, or a folder that study, compare, sweep or validate made"

SCHEMA = 1
"""The newest layout of records and results that is read here."""

Make = Callable[[str], Section]
"""Makes a section; the identifiers of its figures begin with the argument."""

Maker = tuple[str, str, str | None]
"""An engine, goodqueue's version, and the simulator's build."""

Alike = tuple[tuple[Maker, ...], tuple[int, ...]]
"""Makers, and the seeds that all of them ran."""


@dataclass(frozen=True, slots=True)
class Loose:
    """A record that is part of no sweep."""

    text: str
    record: Record
    build: str | None
    """Of the simulator that made it, where that is known."""

    @property
    def maker(self) -> Maker:
        """What computed it."""
        return self.record["engine"], self.record["version"], self.build


@dataclass(slots=True)
class Found:
    """What was read: sections to be made, in order, and the records that are grouped after them."""

    makers: list[Make]
    loose: list[Loose]


def page(paths: Sequence[str], command: str, progress: Progress = lambda _: None) -> str:
    """Return one HTML page, which needs nothing else, of all that ``paths`` hold. Raises UserError."""
    from goodqueue._goodqueue import VERSION

    found = Found([], [])
    for path in paths:
        _read(Path(path), found)
    makers = [*found.makers, *_groups(found.loose)]
    if not makers:
        raise UserError(", ".join(paths), "no results; accepted: a store with runs in it")
    made: list[Section] = []
    for index, maker in enumerate(makers):
        made.append(maker(f"s{index + 1}"))
        progress((index + 1) / len(makers))
    title = made[0].title if len(made) == 1 else f"{len(made)} results of {', '.join(paths)}"
    return rendering.render("report/stored.html.j2", title=title, sections=made, command=command, version=VERSION)


def _read(path: Path, found: Found) -> None:
    if path.is_dir():
        if (path / store.MANIFEST).exists():
            _read_store(store.find(path), found)
        elif (path / RESULTS).exists():
            _read_folder(path, found)
        else:
            raise UserError(str(path), f"no {store.MANIFEST} and no {RESULTS} in it; accepted: {ACCEPTED}")
        return
    if path.name == RESULTS:
        _read_folder(path.parent, found)
        return
    texts = _text(path).splitlines() if path.suffix == ".jsonl" else [_text(path)]
    for number, text in enumerate(texts, 1):
        place = str(path) if len(texts) == 1 else f"{path}: line {number}"
        found.loose.append(Loose(text.strip(), _record(text, place), None))


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise UserError(str(path), f"not found; accepted: {ACCEPTED}") from None
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or "not UTF-8"
        raise UserError(str(path), f"cannot be read: {why}; accepted: {ACCEPTED}") from None


def _record(text: str, place: str) -> Record:
    data = _json(text, place)
    if not isinstance(data, dict) or not {"queues", "scenario", "flows", "seed", "engine", "version"} <= data.keys():
        raise UserError(place, "not a record; accepted: what `goodqueue run --json` prints")
    record: Record = data  # type: ignore[assignment]
    return record


def _json(text: str, place: str) -> Any:
    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise UserError(place, f"not JSON: {error}; accepted: {ACCEPTED}") from None
    schema = data.get("schema") if isinstance(data, dict) else None
    if isinstance(schema, int) and schema > SCHEMA:
        raise UserError(place, f"found schema {schema}, of a newer goodqueue; accepted: {SCHEMA} at most")
    return data


def _read_store(kept: Store, found: Found) -> None:
    swept: set[str] = set()
    for file in sorted((kept.folder / sweeps.FOLDER).glob(f"*/{RESULTS}")):
        sweep = _sweep(_json(_text(file), str(file)), str(file))
        swept |= {key for cell in sweep.cells for key in cell.keys}
        found.makers.append(partial(sections.of_sweep, sweep, str(kept.folder)))
    keys = [key for key in kept.all_keys() if key not in swept]
    loose: list[Loose] = []
    try:
        for row in kept.rows(keys, ["build", "record"]):
            text, build = str(row["record"]), row["build"]
            loose.append(Loose(text, json.loads(text), None if build is None else str(build)))
    except DamagedError as damaged:
        accepted = "whole files (`goodqueue sweep` sets broken ones aside and runs them again)"
        raise UserError(f"{damaged}; accepted: {accepted}") from None
    found.loose += sorted(loose, key=lambda one: (_shared(one.record["scenario"]), _line(one), one.record["seed"]))


def _sweep(data: Any, place: str) -> result.Sweep:
    try:
        return result.from_json(data)
    except (KeyError, TypeError, AttributeError, UserError) as error:
        raise UserError(place, f"not the result of a sweep that this version reads: {error}") from None


def _read_folder(folder: Path, found: Found) -> None:
    file = folder / RESULTS
    data = _json(_text(file), str(file))
    kind = data.get("made_by") if isinstance(data, dict) else None
    if kind == "goodqueue compare":
        _read(folder / "records.jsonl", found)
    elif kind == "goodqueue study":
        found.makers.append(partial(sections.of_study, data, folder))
    elif kind == "goodqueue sweep":
        found.makers.append(partial(sections.of_sweep, _sweep(data, str(file)), str(folder)))
    elif kind == "goodqueue validate" and not data.get("unfinished"):
        found.makers.append(partial(sections.of_validation, folder))
    else:
        raise UserError(str(file), f"found made_by {quoted(kind)}; accepted: {ACCEPTED}, finished")


def _groups(loose: Sequence[Loose]) -> Iterator[Make]:
    """Yield what makes a section of each group of records that can be compared.

    They share the scenario but for qdisc and seed; each qdisc has the same seeds, from the same makers. Groups and
    qdiscs are in the order in which they came.
    """
    runs: dict[tuple[str, str], dict[Maker, dict[int, Loose]]] = {}
    for one in loose:
        place = _shared(one.record["scenario"]), _line(one)
        runs.setdefault(place, {}).setdefault(one.maker, {})[one.record["seed"]] = one
    groups: dict[tuple[str, Alike], list[tuple[str, dict[Maker, dict[int, Loose]]]]] = {}
    for (shared, line), own in runs.items():
        for alike in _alike(own):
            groups.setdefault((shared, alike), []).append((line, own))
    for (_, (makers, seeds)), members in groups.items():
        yield partial(
            sections.of_records,
            [line for line, _ in members],
            seeds,
            {maker[0]: [own[maker][seed].text for _, own in members for seed in seeds] for maker in makers},
            next((build for _, _, build in makers if build), None),
        )


def _alike(own: Mapping[Maker, Mapping[int, Loose]]) -> Iterator[Alike]:
    """Yield the makers of one qdisc's runs: together where they are different engines on the same seeds."""
    seeds = {maker: tuple(sorted(found)) for maker, found in own.items()}
    makers = tuple(sorted(own, key=lambda maker: (maker[0] != "sim", maker[0], maker[1], maker[2] or "")))
    if len(set(seeds.values())) == 1 and len({engine for engine, _, _ in makers}) == len(makers):
        yield makers, seeds[makers[0]]
        return
    for maker in makers:
        yield (maker,), seeds[maker]


def _line(one: Loose) -> str:
    line: str = one.record["scenario"]["bottleneck"]["qdisc"]
    return line


def _shared(scenario: Scenario) -> str:
    """Return what a group has in common, as text: the scenario without its seed and its qdisc."""
    shared = {key: value for key, value in scenario.items() if key != "seed"}
    bottleneck = dict(shared["bottleneck"])
    line = bottleneck.pop("qdisc")
    up = dict(bottleneck.get("up") or {})
    if up.get("qdisc") == line:
        up.pop("qdisc")
    return json.dumps({**shared, "bottleneck": {**bottleneck, "up": up}}, sort_keys=True)
