"""``goodqueue cite``: prints a BibTeX entry for this version."""

from typing import Any


def cite() -> None:
    """Print a BibTeX entry for this version.

    \b
    Example:
      goodqueue cite >> paper.bib

    The entry is made from CITATION.cff. Name the version: another one may measure other numbers.
    """
    from importlib.resources import files

    from goodqueue._goodqueue import VERSION
    from goodqueue.show import terminal

    text = files("goodqueue").joinpath("CITATION.cff").read_text(encoding="utf-8")
    terminal.emit(bibtex(read(text), VERSION))


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
    """Return the entry. Its type is known to every style; braces keep names of groups and capitals whole."""
    from goodqueue.show.latex import escaped

    year = str(about.get("date-released", ""))[:4]
    fields = {
        "author": " and ".join(f"{{{escaped(name)}}}" for name in about["authors"]),
        "title": f"{{{escaped(about['title'])}}}",
        "howpublished": "Computer software",
        "year": year,
        "note": f"Version {escaped(version)}",
    }
    lines = [f"  {name:<12} = {{{value}}}," for name, value in fields.items() if value]
    return "\n".join(["@misc{goodqueue,", *lines, "}"]) + "\n"
