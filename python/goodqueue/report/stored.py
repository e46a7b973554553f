"""A report on stored results: stores, records, and the folders of studies, comparisons and validations."""

import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from goodqueue import store
from goodqueue.comparison.meanings import STORED
from goodqueue.errors import UserError, quoted
from goodqueue.files import inputs, output
from goodqueue.files.output import RESULTS
from goodqueue.pages import render, without_figures
from goodqueue.record import Scenario
from goodqueue.report import sections
from goodqueue.running import Progress
from goodqueue.show.answer import Code, Section, Terms
from goodqueue.store import Store, results
from goodqueue.store.results import Loose
from goodqueue.sweeps import result

ACCEPTED = "a store, a record in JSON, or a folder that study, compare, sweep or validate made"

Make = Callable[[str], Section]
"""Makes a section. The identifiers of its figures begin with the argument."""

Maker = tuple[str, str, str | None]
"""An engine, goodqueue's version, and the simulator's build."""

Alike = tuple[tuple[Maker, ...], tuple[int, ...]]
"""The makers, and the seeds that all of them ran."""


@dataclass(slots=True)
class Found:
    """The results read: functions that make sections, in order, and the records, which are grouped after them."""

    makers: list[Make]
    loose: list[Loose]


def page(paths: Sequence[str], command: str, progress: Progress = lambda _: None) -> str:
    """Return one self-contained HTML page on all results in ``paths``. Raises UserError."""
    collected = Found([], [])
    for path in paths:
        _read(Path(path), collected)
    makers = [*collected.makers, *_groups(collected.loose)]
    if not makers:
        raise UserError(", ".join(paths), "no results; accepted: a store with runs in it")
    page_sections: list[Section] = []
    for index, maker in enumerate(makers):
        page_sections.append(maker(f"s{index + 1}"))
        progress((index + 1) / len(makers))
    below = [
        Section("Figures", without_figures()),  # a section without parts is not shown
        Section("What the numbers mean", [Terms(STORED)]),
        Section("Do it again", [Code(command, wraps=True)]),
    ]
    if len(page_sections) == 1:
        return render(page_sections[0].title, [page_sections[0]._replace(title="", name="s1"), *below])
    named_sections = [section._replace(name=f"s{index}") for index, section in enumerate(page_sections, 1)]
    return render(f"{len(page_sections)} results of {', '.join(paths)}", [*named_sections, *below], named_sections)


def _read(path: Path, collected: Found) -> None:
    if path.is_dir():
        if store.is_one(path):
            _read_store(store.find(path), collected)
        elif (path / RESULTS).exists():
            _read_folder(path, collected)
        else:
            raise UserError(str(path), f"no {store.MANIFEST} and no {RESULTS} in it; accepted: {ACCEPTED}")
    elif path.name == RESULTS:
        _read_folder(path.parent, collected)
    else:
        collected.loose += results.in_file(path, ACCEPTED)


def _read_store(runs_store: Store, collected: Found) -> None:
    swept: set[str] = set()
    found_files = (folder / RESULTS for folder in sorted((runs_store.folder / store.SWEEPS).glob("*")))
    for file in inputs.found(filter(os.path.lexists, found_files), ACCEPTED):
        sweep = _long(file) if results.is_long(file) else _sweep(_parsed(file), str(file))
        swept |= {key for cell in sweep.cells for key in cell.keys}
        collected.makers.append(partial(sections.of_sweep, sweep, str(runs_store.folder), runs_store))
    keys = [key for key in runs_store.all_keys() if key not in swept]
    loose = results.in_store(runs_store, keys)
    collected.loose += sorted(
        loose, key=lambda loose_run: (_shared(loose_run.record["scenario"]), _line(loose_run), loose_run.record["seed"])
    )


def _parsed(file: Path) -> Any:
    return results.parse(results.text(file, ACCEPTED, pipes=False), str(file), ACCEPTED)


def _long(file: Path) -> result.Sweep:
    try:
        return result.long(file, ACCEPTED)
    except (KeyError, TypeError, AttributeError) as error:
        raise UserError(str(file), f"not the result of a sweep that this version reads: {error}") from None


def _sweep(data: Any, where: str) -> result.Sweep:
    try:
        return result.from_json(data)
    except (KeyError, TypeError, AttributeError, UserError) as error:
        raise UserError(where, f"not the result of a sweep that this version reads: {error}") from None


def _read_folder(folder: Path, collected: Found) -> None:
    file = folder / RESULTS
    if results.is_long(file) and output.about(folder).get("made_by") == "goodqueue sweep":
        collected.makers.append(partial(sections.of_sweep, _long(file), str(folder), None))
        return
    data = _parsed(file)
    kind = data.get("made_by") if isinstance(data, dict) else None
    if kind == "goodqueue compare":
        command = str(data.get("command", ""))
        loose = results.in_file(folder / results.RECORDS, ACCEPTED, pipes=False)
        collected.loose += [replace(loose_run, command=command) for loose_run in loose]
    elif kind == "goodqueue study":
        collected.makers.append(partial(sections.of_study, data, folder))
    elif kind == "goodqueue sweep":
        collected.makers.append(partial(sections.of_sweep, _sweep(data, str(file)), str(folder), None))
    elif kind == "goodqueue validate" and not data.get("unfinished"):
        collected.makers.append(partial(sections.of_validation, folder))
    else:
        raise UserError(str(file), f"found made_by {quoted(kind)}; accepted: {ACCEPTED}, finished")


def _groups(loose: Sequence[Loose]) -> Iterator[Make]:
    """Yield, for each group of comparable records, the function that makes its section.

    The records of a group share the scenario except for qdisc and seed. Each qdisc has the same seeds, from the same
    makers. Groups and qdiscs keep their order.
    """
    runs: dict[tuple[str, str], dict[Maker, dict[int, Loose]]] = {}
    for loose_run in loose:
        group = _shared(loose_run.record["scenario"]), _line(loose_run)
        runs.setdefault(group, {}).setdefault(loose_run.maker, {})[loose_run.record["seed"]] = loose_run
    groups: dict[tuple[str, Alike], list[tuple[str, dict[Maker, dict[int, Loose]]]]] = {}
    for (shared, line), run in runs.items():
        for alike in _alike(run):
            groups.setdefault((shared, alike), []).append((line, run))
    for (_, (makers, seeds)), members in groups.items():
        yield partial(
            sections.of_records,
            [line for line, _ in members],
            seeds,
            {maker[0]: [by_seed[maker][seed].text for _, by_seed in members for seed in seeds] for maker in makers},
            next((build for _, _, build in makers if build), None),
            _command([by_seed[maker][seed] for maker in makers for _, by_seed in members for seed in seeds]),
        )


def _command(members: Sequence[Loose]) -> str:
    """Return the command that made all of ``members``, or an empty text."""
    commands = {member.command for member in members}
    return commands.pop() if len(commands) == 1 else ""


def _alike(by_maker: Mapping[Maker, Mapping[int, Loose]]) -> Iterator[Alike]:
    """Yield the makers of one qdisc's runs: together if they are different engines, on the seeds that all of them ran.

    A validation's simulator also ran other seeds, which show the influence of chance.
    """
    seeds = {maker: tuple(sorted(seeds_of_maker)) for maker, seeds_of_maker in by_maker.items()}
    common = tuple(sorted(set.intersection(*(set(seeds_of_maker) for seeds_of_maker in by_maker.values()))))
    makers = tuple(sorted(by_maker, key=lambda maker: (maker[0] != "sim", maker[0], maker[1], maker[2] or "")))
    if common and len({engine for engine, _, _ in makers}) == len(makers):
        yield makers, common
        return
    for maker in makers:
        yield (maker,), seeds[maker]


def _line(loose_run: Loose) -> str:
    line: str = loose_run.record["scenario"]["bottleneck"]["qdisc"]
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
