"""``goodqueue cite``: prints BibTeX entries, for this version and for what a study or a suite runs again."""

import re
from typing import TYPE_CHECKING, Annotated, Any

import typer

from goodqueue.cli import words

if TYPE_CHECKING:
    from pathlib import Path

ADDRESSES = (
    (r"RFC (\d+)", "https://www.rfc-editor.org/rfc/rfc{}"),
    (r"(draft-[a-z0-9-]+)-\d\d", "https://datatracker.ietf.org/doc/{}/"),
)
"""What stands in a citation, and the address of it: RFCs, and drafts of the IETF."""


def cite(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[STUDY|SUITE]...",
            help="Studies and suites whose sources are cited, too.",
            autocompletion=words.study,
        ),
    ] = None,
) -> None:
    """Print BibTeX of this version, and of a study's paper.

    \b
    Examples:
      goodqueue cite >> paper.bib
      goodqueue cite schwardmann2014 rfc7928 >> paper.bib

    The first entry is made from CITATION.cff. It has an address as soon as that file has one: the project has no public
    address yet. Name the version: another one may measure other numbers. The other entries have the year, the DOI where
    the study's file has one, and the address of an RFC or a draft.
    """
    from importlib.resources import files

    from goodqueue._goodqueue import VERSION
    from goodqueue.show import terminal

    folders = [_found(name) for name in names or []]
    text = files("goodqueue").joinpath("CITATION.cff").read_text(encoding="utf-8")
    terminal.emit("\n".join([bibtex(read(text), VERSION), *map(of_paper, folders)]))


def _found(name: str) -> "Path":
    """Return the folder of the study or the suite ``name``. Raises UserError."""
    from goodqueue.errors import UserError
    from goodqueue.studies.keys import unknown
    from goodqueue.studies.libraries import STUDIES, SUITES

    ours = STUDIES.available() | SUITES.available()
    if name not in ours:
        raise UserError("STUDY|SUITE", unknown(name, ours))
    return ours[name]


def read(text: str) -> dict[str, Any]:
    """Return the keys of CITATION.cff: texts, and lists of texts.

    It is YAML, of which the file needs only ``key: value`` and lists of these. A test holds it to that.
    """
    found: dict[str, Any] = {}
    key = ""
    for line in text.splitlines():
        if not line.strip():
            continue
        if line.startswith("  - "):
            item = line.removeprefix("  - ").removeprefix("name:").strip()
            found[key].append(item.strip('"'))
        else:
            key, _, value = line.partition(":")
            found[key] = value.strip().strip('"') or []
    return found


def bibtex(about: dict[str, Any], version: str) -> str:
    """Return the entry of this version. Braces keep names of groups and capitals whole."""
    from goodqueue.show.latex import escaped

    return _entry(
        "goodqueue",
        author=" and ".join(f"{{{escaped(name)}}}" for name in about["authors"]),
        title=f"{{{escaped(about['title'])}}}",
        howpublished="Computer software",
        year=about["date-released"][:4],
        note=f"Version {escaped(version)}",
        url=about.get("url", ""),
        doi=about.get("doi", ""),
    )


def of_paper(folder: "Path") -> str:
    """Return the entry of what the study or the suite in ``folder`` runs again, from the sentence that cites it."""
    import tomllib

    from goodqueue.show.latex import escaped

    (file,) = (folder / f"{what}.toml" for what in ("study", "suite") if (folder / f"{what}.toml").is_file())
    about = tomllib.loads(file.read_text(encoding="utf-8"))[file.stem]
    authors, _, rest = about["citation"].partition(": ")
    title, _, where = re.sub(r"(?<=[.?!]) ", "\n", rest, count=1).partition("\n")
    found = ((re.search(pattern, where), address) for pattern, address in ADDRESSES)
    addresses = [address.format(match[1]) for match, address in found if match]
    years = re.findall(r"\b(?:19|20)\d\d\b", where)
    return _entry(
        folder.name,
        author=escaped(authors.replace(", ", " and ")),
        title=f"{{{escaped(title.rstrip('.'))}}}",
        howpublished=escaped(where),
        year=years[0],
        url=next(iter(addresses), ""),
        doi=about.get("doi", ""),
    )


def _entry(key: str, **fields: str) -> str:
    """Return an entry of a type that every style knows. Fields without a text are left out."""
    lines = [f"  {name:<12} = {{{value}}}," for name, value in fields.items() if value]
    return "\n".join([f"@misc{{{key},", *lines, "}"]) + "\n"
