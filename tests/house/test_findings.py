"""Each script in findings/ can be run, says in its head what it shows, and is listed in docs/results/findings.md."""

import os
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SCRIPTS = sorted((ROOT / "findings").glob("*.sh"))


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_a_finding_is_executable_and_has_its_head_and_its_row(script: Path) -> None:
    text = script.read_text()
    assert os.access(script, os.X_OK), f"{script.name} is not executable"
    head = text[: text.index("set -euo pipefail")]
    missing = [word for word in ("Finding", "Versions", "Input", "Seen") if f"\n# {word}: " not in head]
    assert not missing, f"the head of {script.name} lacks {missing}"
    assert re.search(r"Fails if (this|any of this) changes", head), f"the head of {script.name} has no last line"
    page = (ROOT / "docs/results/findings.md").read_text()
    assert f"](../../findings/{script.name})" in page, f"docs/results/findings.md does not list {script.name}"
