"""The examples that come with the package: scenarios, each with a picture and commands to try."""

from pathlib import Path

from goodqueue.errors import UserError, quoted

FOLDER = Path(__file__).parent / "library"
"""A link to the repository's ``examples/``. An installed package has the files themselves."""

FIRST = "first"
"""The example that `goodqueue init` writes by default."""


def names() -> list[str]:
    """Return the names of all examples."""
    return sorted(file.stem for file in FOLDER.glob("*.toml"))


def read(name: str) -> str:
    """Return the text of the example ``name``. Raises UserError."""
    if name not in names():
        raise UserError("--example", f"found {quoted(name)}; accepted: {', '.join(names())}")
    return (FOLDER / f"{name}.toml").read_text(encoding="utf-8")


def available() -> list[dict[str, str]]:
    """Return the name and the summary (the first line) of each example."""
    return [{"name": name, "summary": read(name).partition("\n")[0].lstrip("# ")} for name in names()]
