"""What the generators share: the folders of the pages, a page with its generated part renewed, and a table."""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
REFERENCE, CONCEPTS, RESULTS = (ROOT / "docs" / kind for kind in ("reference", "concepts", "results"))
END = "<!-- End of what is generated. -->"


def renewed(path: Path, title: str, block: str, begin: str) -> str:
    """Return the page at ``path`` with ``block`` between its two marks; a page that is missing gets its title."""
    text = path.read_text(encoding="utf-8") if path.exists() else f"# {title}\n"
    return f"{text.split(begin)[0].rstrip()}\n\n{begin}\n\n{block}\n\n{END}\n"


def table(heading: list[str], rows: list[list[str]]) -> str:
    """Return a table in Markdown."""
    lines = [heading, ["---"] * len(heading), *([cell.replace("|", "\\|") for cell in row] for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
