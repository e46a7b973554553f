"""The notes of a study or a suite: what somebody saw in its results, in Markdown."""

from pathlib import Path

from goodqueue.files import inputs
from goodqueue.studies.keys import MOST_BYTES


def text_in(folder: Path) -> str:
    """Return the notes in ``folder``, or nothing if it has none. Raises UserError if they are no text."""
    file = folder / "NOTES.md"
    return inputs.read_text(file, MOST_BYTES, "notes in Markdown", pipes=False) if file.is_file() else ""
