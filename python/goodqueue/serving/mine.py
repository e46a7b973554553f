"""The user's scenarios and results on the page. They are found once, and read again on each request."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from goodqueue import scenario as scenarios
from goodqueue import store
from goodqueue.errors import UserError
from goodqueue.files.output import RESULTS
from goodqueue.record import Scenario
from goodqueue.running import Progress
from goodqueue.store import Store, results
from goodqueue.store.results import About

ACCEPTED = f"a scenario (.toml), a folder of them, {results.ACCEPTED}"

MOST = 2000
"""The most results that are listed: reading the name of one takes some milliseconds."""

LESSONS = "lessons.json"
"""The address of the user's lessons."""

One = TypeVar("One")


@dataclass(frozen=True, slots=True)
class Entry:
    """A scenario or a result."""

    name: str
    read: Callable[[], str]
    """Returns its present content as JSON. Raises UserError."""


@dataclass(frozen=True, slots=True)
class Mine:
    """The scenarios and results that were found."""

    scenarios: list[Entry]
    results: list[Entry]
    left_out: list[str]
    """The files that were left out, and why, in one line each."""
    opens: int | None = None
    """The number of the entry that the page opens."""
    lessons: str = ""
    """The folder of the user's lessons, or nothing if there is none."""

    @property
    def entries(self) -> list[Entry]:
        """All entries. Their order gives their numbers."""
        return [*self.scenarios, *self.results]

    def listing(self) -> dict[str, Any]:
        """Return names and addresses, in the format of ``mine.json``."""
        rows = [{"name": entry.name, "url": f"mine/{number}.json"} for number, entry in enumerate(self.entries)]
        listed: dict[str, Any] = {"scenarios": rows[: len(self.scenarios)], "results": rows[len(self.scenarios) :]}
        if self.opens is not None:
            listed["opens"] = rows[self.opens]["url"]
        if self.lessons:
            listed["lessons"] = LESSONS
        return listed


@dataclass(slots=True)
class _Search:
    """The entries found so far, by place: a file that is given twice is listed once."""

    progress: Progress
    scenarios: dict[str, Entry] = field(default_factory=dict)
    runs: dict[str, tuple[About, Callable[[], str]]] = field(default_factory=dict)
    left_out: list[str] = field(default_factory=list)

    def take(self, where: Path, results: Sequence[One]) -> Sequence[One]:
        """Return as many of ``results`` as can still be listed."""
        room = MOST - len(self.runs)
        if len(results) > room:
            count = f"{len(results) - room} of {len(results)} results"
            self.left_out.append(f"{where}: left out: {count}; {MOST} are listed at most")
        return results[:room]


def find(paths: Sequence[str], progress: Progress = lambda _: None) -> Mine:
    """Return the entries in ``paths``, or the scenarios in this folder if there are none. Raises UserError.

    If the first path is a file, the page opens it. Of a file with several records, it opens the first one.
    """
    search = _Search(progress)
    opens_scenario = opens_run = False
    for index, name in enumerate(paths):
        _look(Path(name), search)
        if index == 0 and Path(name).is_file():
            opens_scenario, opens_run = bool(search.scenarios), bool(search.runs)
    if not paths:
        _look_for_scenarios(Path(), search)
    opens = 0 if opens_scenario else len(search.scenarios) if opens_run else None
    return Mine(list(search.scenarios.values()), _named_entries(search.runs), search.left_out, opens)


def _look(path: Path, search: _Search) -> None:
    if path.name == RESULTS:
        path = path.parent
    if path.is_dir():
        if store.is_one(path):
            _look_in_store(store.find(path), search)
        elif (path / results.RECORDS).exists():
            _look_for_records(path / results.RECORDS, search)
        elif not _look_for_scenarios(path, search):
            held = f"no {store.MANIFEST}, no {results.RECORDS} and no scenario in it"
            raise UserError(str(path), f"{held}; accepted: {ACCEPTED}")
    elif path.exists() and not path.is_file():
        raise UserError(str(path), "found no regular file, and what is served is read several times; accepted: a file")
    elif path.suffix == ".toml":
        if not _is_scenario(scenarios.load(path)):
            raise UserError(str(path), "found no [bottleneck]; accepted: a scenario in TOML")
        _add_scenario(path, search)
    else:
        _look_for_records(path, search)


def _look_for_scenarios(folder: Path, search: _Search) -> bool:
    """Find the scenarios in ``folder``, and return whether there is one. Other TOML files are ignored."""
    has_found = False
    for file in sorted(folder.glob("*.toml")):
        try:
            if _is_scenario(scenarios.load(file, pipes=False)):
                _add_scenario(file, search)
                has_found = True
        except UserError as error:
            search.left_out.append(f"left out: {error}")
    return has_found


def _is_scenario(scenario: Scenario) -> bool:
    return "bottleneck" in scenario


def _add_scenario(file: Path, search: _Search) -> None:
    search.scenarios[str(file)] = Entry(str(file), partial(_scenario, file))


def _scenario(file: Path) -> str:
    """Return the scenario in ``file`` for the page, which passes it to the core. Raises UserError."""
    scenario = scenarios.load(file, pipes=False)
    try:
        return f'{{"scenario": {scenarios.to_json(scenario)}}}'
    except UserError as error:
        raise UserError(str(file), str(error)) from None


def _look_for_records(file: Path, search: _Search) -> None:
    records = results.in_file(file, ACCEPTED, pipes=False)
    for index, loose in enumerate(search.take(file, records)):
        search.runs[loose.place] = loose.record, partial(_record, file, index)


def _record(file: Path, index: int) -> str:
    """Return the text of a record, which may have changed since it was found. Raises UserError."""
    texts = results.texts(file, ACCEPTED, pipes=False)
    if index >= len(texts):
        raise UserError(str(file), f"found {len(texts)} records; accepted: {index + 1} or more, as it had before")
    text, where = texts[index]
    results.record(text, where, ACCEPTED)
    return text


def _look_in_store(store: Store, search: _Search) -> None:
    keys = search.take(store.folder, store.all_keys())
    abouts = []
    for key, about in zip(keys, results.about_in_store(store, keys), strict=True):
        abouts.append((key, about))
        search.progress(len(abouts) / len(keys))
    for key, about in sorted(abouts, key=lambda pair: results.order(pair[1])):
        search.runs[str(store.path(key))] = about, partial(_stored, store, key)


def _stored(store: Store, key: str) -> str:
    return results.in_store(store, [key])[0].text


def _named_entries(runs: dict[str, tuple[About, Callable[[], str]]]) -> list[Entry]:
    """Return the runs, each with a unique name: the difference of its scenario from the others, its seed, its place."""
    abouts = [about for about, _ in runs.values()]
    labels = results.labels(abouts)
    names = [f"{label}, seed {about['seed']}" for label, about in zip(labels, abouts, strict=True)]
    counts = Counter(names)
    return [
        Entry(f"{name}, {where}" if counts[name] > 1 else name, read)
        for name, (where, (_, read)) in zip(names, runs.items(), strict=True)
    ]
