"""Lines that people read fit a page: docs/style.md. What rustfmt and ruff leave alone is held here."""

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from conftest import ROOT

WIDEST = 120
"""Characters of a line. Tables and lines that are one link may be wider."""

LINK = re.compile(r"\s*([-*] )?\[[^\]]*\](\([^)]*\)|: ?\S+)\S*")
COMMENT = re.compile(r"\s*(//|\*|#( |$))")


def wide(path: Path) -> Iterator[int]:
    """Yield the numbers of the lines of prose in ``path`` that are wider than `WIDEST`."""
    is_code = is_generated = False
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if path.suffix == ".md":
            is_code ^= line.lstrip().startswith("```")
            is_generated = (is_generated or line.startswith("<!-- Generated")) and not line.startswith("<!-- End")
            is_prose = not (is_code or is_generated) and not line.startswith("|") and not LINK.fullmatch(line)
        else:
            is_prose = bool(COMMENT.match(line))
        if is_prose and len(line) > WIDEST:
            yield number


@pytest.mark.parametrize("suffix", ["md", "rs", "ts", "c", "h", "toml", "sh"])
def test_no_line_of_prose_is_wider_than_a_page(suffix: str) -> None:
    listed = subprocess.run(["git", "ls-files", f"*.{suffix}"], cwd=ROOT, check=True, capture_output=True, text=True)
    names = [name for name in listed.stdout.splitlines() if not (ROOT / name).is_symlink()]
    assert names
    found = [f"{name}:{number}" for name in names for number in wide(ROOT / name)]
    assert not found, f"{len(found)} lines"


def test_a_table_and_a_link_may_be_wider_and_prose_may_not(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    long = "word " * 30
    page.write_text(f"| {long}|\n[{long}](there.md)\n```\n{long}\n```\n- {long}\n", encoding="utf-8")
    assert list(wide(page)) == [6]
    code = tmp_path / "code.rs"
    code.write_text(f"let text = {long!r}; // {long}\n    /// {long}\n", encoding="utf-8")
    assert list(wide(code)) == [2], "a comment on a line of its own"
