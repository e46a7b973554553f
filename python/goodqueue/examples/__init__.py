"""The examples that come with the package: scenarios, each with a picture and the commands to try on it."""

from pathlib import Path

from goodqueue.errors import UserError, quoted

FOLDER = Path(__file__).parent / "library"
"""A link to the repository's ``examples/``, whose files an installed package has here."""

FIRST = "first"
"""The example that `goodqueue init` writes unless another one is asked for."""


def names() -> list[str]:
    """Return the names of all examples."""
    return sorted(file.stem for file in FOLDER.glob("*.toml"))


def read(name: str) -> str:
    """Return the text of the example ``name``. Raises UserError."""
    if name not in names():
        raise UserError("--example", f"found {quoted(name)}; accepted: {', '.join(names())}")
    return (FOLDER / f"{name}.toml").read_text(encoding="utf-8")


def available() -> list[dict[str, str]]:
    """Return name and summary (the first line) of each."""
    return [{"name": name, "summary": read(name).partition("\n")[0].lstrip("# ")} for name in names()]
