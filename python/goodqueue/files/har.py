"""Web pages from HAR files (HTTP Archive 1.2), as browsers save them: the objects of a scenario's ``page``.

Only sizes and hosts are used. `har_entries` says what each entry moved across the network. An entry that moved
something becomes an object, and the one that began first becomes the document.

A file may have several pages. ``FILE.har#2`` names the second one, and ``FILE.har#ID`` the one with this id or title.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from goodqueue.errors import UserError, quoted, warn
from goodqueue.files import har_entries, inputs
from goodqueue.files.har_entries import Entry

KEY = "page"
"""The key of a traffic source that may name a HAR file."""

ACCEPTED = "a HAR file, as a browser's developer tools save it"

MOST_BYTES = 256 * inputs.MIB
"""The largest size of a file. It may hold the pages' content too."""

_NAME = re.compile(r"(?P<file>.*?\.har)(?:#(?P<which>.+))?", re.IGNORECASE | re.DOTALL)


@dataclass(slots=True)
class Page:
    """A page of a file, and its entries in the order of the file."""

    number: int
    id: str
    title: str = ""
    began: float | None = None
    """When the page was opened, in seconds since 1970, if the file says it."""
    entries: list[Entry] = field(default_factory=list)

    def said(self) -> str:
        """Return the page in words: its number, and its title or id if it has any."""
        name = self.title or self.id
        return f"{self.number} ({name})" if name else str(self.number)


def is_har(page: object) -> bool:
    """Return whether ``page`` names a HAR file, or a page in one."""
    return isinstance(page, str) and _NAME.fullmatch(page) is not None


def expand(traffic: Any, folder: Path, pipes: bool = True) -> None:
    """Add to each table of ``traffic`` whose ``page`` is a HAR file (relative to ``folder``) the objects in the file.

    A malformed ``traffic`` is left for the core to refuse. Raises UserError for a broken file.
    """
    for source in traffic if isinstance(traffic, list) else []:
        if isinstance(source, dict) and is_har(source.get(KEY)) and "objects" not in source:
            name, objects = read(source[KEY], folder, pipes)
            source |= {KEY: name, "objects": objects}


def read(page: str, folder: Path, pipes: bool = True) -> tuple[str, list[dict[str, str]]]:
    """Return name and objects of ``page``: a file (relative to ``folder``), with ``#`` and one of its pages or without.

    An object is as a scenario has it: ``host``, ``request`` (if known) and ``response``. If the file has several pages
    and none is named, the first one that fetched something is read. Notes on standard error say which page was read
    and what was left out. Raises UserError with the file, what was found and what is accepted.
    """
    parts = _NAME.fullmatch(page)
    if parts is None:
        raise UserError(page, f"not the name of a HAR file; accepted: {ACCEPTED}")
    file = folder / parts["file"]
    pages = _pages(file, pipes)
    chosen = _chosen(pages, parts["which"], str(file))
    several = len(pages) > 1
    if not parts["which"] and several:
        others = f"{file.name}#1 to {file.name}#{len(pages)}"
        _note(file.resolve(), f"{file}: {len(pages)} pages; read: page {chosen.said()}; accepted: {others}")
    if left_out := har_entries.left_out(chosen.entries):
        count = len(chosen.entries)
        moved = sum(entry.moved > 0 for entry in chosen.entries)
        _note(file.resolve(), f"{file}: {moved} of {count} entries crossed the network; left out: {left_out}")
    return f"{file.name}#{chosen.number}" if several else file.name, _objects(chosen.entries)


@cache
def _note(file: Path, text: str) -> None:  # noqa: ARG001 - the file distinguishes equal names in different folders
    """Write a note once, although a scenario may be made several times."""
    warn(text)


def _pages(file: Path, pipes: bool) -> list[Page]:
    """Return the pages of ``file``. A file that groups nothing by pages has one."""
    text = inputs.read_text(file, MOST_BYTES, ACCEPTED, pipes)
    try:
        data = inputs.from_json(text)
    except ValueError as error:
        raise UserError(str(file), f"cannot be read: {error}; accepted: {ACCEPTED}") from None
    log = data.get("log") if isinstance(data, dict) else None
    listed = log.get("entries") if isinstance(log, dict) else None
    if log is None or not isinstance(listed, list):
        raise UserError(str(file), f"found no log.entries; accepted: {ACCEPTED}")
    entries = []
    for index, entry in enumerate(listed):
        try:
            entries.append(har_entries.read(entry, _creator(log)))
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            why = f"no {error}" if isinstance(error, KeyError) else str(error)
            raise UserError(str(file), f"log.entries[{index}]: {why}; accepted: {ACCEPTED}") from None
    pages = list(_listed(log.get("pages")))
    by_id = {page.id: page for page in reversed(pages)}  # of two pages with one id, the first has the entries
    for entry in entries:
        if entry.page is not None and entry.page not in by_id:
            by_id[entry.page] = Page(len(pages) + 1, entry.page)
            pages.append(by_id[entry.page])
    pages = pages or [Page(1, "")]
    for entry in entries:
        (by_id[entry.page] if entry.page is not None else _at(pages, entry.began)).entries.append(entry)
    return pages


def _creator(log: Mapping[str, Any]) -> str:
    creator = log.get("creator")
    return str(creator.get("name")) if isinstance(creator, dict) else ""


def _listed(pages: object) -> Iterator[Page]:
    """Yield the pages that the file lists. Some programs list none, or have null there."""
    tables = [page for page in pages if isinstance(page, dict)] if isinstance(pages, list) else []
    for number, page in enumerate(tables, 1):
        name, title = (str(page.get(key) or "") for key in ("id", "title"))
        yield Page(number, name, title, har_entries.seconds(page.get("startedDateTime")))


def _at(pages: Sequence[Page], began: float | None) -> Page:
    """Return the page that was open at the time ``began``, for an entry that names no page."""
    open_by_then = [page for page in pages if began is not None and page.began is not None and page.began <= began]
    return max(open_by_then, key=lambda page: page.began or 0.0, default=pages[0])


def _chosen(pages: Sequence[Page], which: str | None, file: str) -> Page:
    """Return the page ``which``: a number from 1, an id or a title. None is the first page that fetched something."""
    fetching = [page for page in pages if any(entry.moved for entry in page.entries)]
    if not fetching:
        count = sum(len(page.entries) for page in pages)
        left_out = har_entries.left_out(entry for page in pages for entry in page.entries)
        found_none = f"found {count} entries, none of them fetched across the network" + f" ({left_out})" * bool(
            left_out
        )
        raise UserError(file, f"{found_none}; accepted: {ACCEPTED}")
    if which is None:
        return fetching[0]
    numbers = {str(page.number): page for page in reversed(pages)}
    by_name = {name: page for page in reversed(pages) for name in (page.title, page.id) if name}
    chosen = numbers.get(which) or by_name.get(which)
    accepted = ", ".join(page.said() for page in fetching[:10]) + (" and more" if len(fetching) > 10 else "")
    if chosen is None:
        raise UserError(file, f"found no page {quoted(which)}; accepted: {accepted}")
    if chosen not in fetching:
        raise UserError(file, f"page {chosen.said()} fetched nothing across the network; accepted: {accepted}")
    return chosen


def _objects(entries: Sequence[Entry]) -> list[dict[str, str]]:
    """Return the objects of ``entries`` in the order in which they began. One without a time follows the one before."""
    last = float("-inf")
    timed = []
    for entry in entries:
        last = last if entry.began is None else entry.began
        if entry.moved:
            timed.append((last, entry))
    return [
        {"host": entry.host}
        | ({"request": f"{entry.request}B"} if entry.request else {})
        | {"response": f"{entry.moved}B"}
        for _, entry in sorted(timed, key=lambda pair: pair[0])
    ]
