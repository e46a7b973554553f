"""The installed files: all of the repository's data for them. The index's page. What the workflows call."""

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from conftest import ROOT
from goodqueue import _goodqueue

PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
MATURIN = PYPROJECT["tool"]["maturin"]

LINKS = {
    "examples": "python/goodqueue/examples/library",
    "golden": "python/goodqueue/golden",
    "studies": "python/goodqueue/studies/library",
    "suites": "python/goodqueue/suites/library",
}
"""Folders at the root, and the links that lead into the package."""

READERS_ONLY = {"golden/MUTANTS.md", "studies/README.md", "suites/README.md"}
"""Files among the data that are only for readers of the repository."""


@pytest.mark.needs("checkout")
@pytest.mark.parametrize("folder", LINKS)
def test_all_data_are_in_the_wheel(folder: str) -> None:
    """Behind a link maturin only takes files that match a pattern: a file one folder deeper would be missing."""
    link = ROOT / LINKS[folder]
    assert link.is_symlink()
    assert link.resolve() == ROOT / folder
    patterns = [one["path"] for one in MATURIN["include"] if "wheel" in one["format"]]
    taken = {path for pattern in patterns for path in ROOT.glob(pattern)}
    command = ["git", "ls-files", folder]
    tracked = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout.splitlines()
    assert len(tracked) > 3
    left_out = {name for name in tracked if link / name.removeprefix(f"{folder}/") not in taken}
    assert left_out <= READERS_ONLY, left_out - READERS_ONLY


def folders_in(built: Path) -> set[str]:
    """Return the folders of this machine that a file contains: homes, and the checkout."""
    home = Path.home()
    cargo = os.environ.get("CARGO_HOME", home / ".cargo")
    rustup = os.environ.get("RUSTUP_HOME", home / ".rustup")
    content = built.read_bytes()
    return {str(folder) for folder in (home / "_", cargo, rustup, ROOT) if str(folder).strip("_").encode() in content}


def test_what_is_built_names_no_folder_of_its_builder() -> None:
    """A wheel from somebody's home would tell the name of that person. A cargo without make's flags writes it, too."""
    assert folders_in(Path(_goodqueue.__file__)) == set(), "make .venv/.package builds it with the flags"


def test_the_wheel_has_no_list_of_crates_with_folders() -> None:
    """maturin's list (SBOM) has the path of each of our crates."""
    assert MATURIN["sbom"]["rust"] is False


def test_the_readme_of_an_index_needs_no_repository() -> None:
    """An index shows the page alone: a link to a file beside it, or a target of make, would lead nowhere."""
    text = (ROOT / PYPROJECT["project"]["readme"]).read_text(encoding="utf-8")
    assert not re.findall(r"\]\((?!https://)", text)
    assert not re.findall(r"\bmake \w|examples/", text)


def test_the_readme_of_an_index_shows_python_that_runs() -> None:
    text = (ROOT / PYPROJECT["project"]["readme"]).read_text(encoding="utf-8")
    (example,) = re.findall("^```python\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
    shown = subprocess.run([sys.executable, "-c", example], check=True, capture_output=True, text=True).stdout
    assert "codel" in shown


def test_no_address_of_the_project_is_invented() -> None:
    """The project has no public address yet. An invented one would send users to a stranger."""
    assert "urls" not in PYPROJECT["project"]
    workspace = tomllib.loads((ROOT / "Cargo.toml").read_text(encoding="utf-8"))["workspace"]["package"]
    assert not {"repository", "homepage", "documentation"} & set(workspace)


def test_workflows_call_what_the_makefile_has() -> None:
    targets = re.findall(r"^\.PHONY: (.*)$", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    known = set(" ".join(targets).split())
    for workflow in (ROOT / ".github" / "workflows").iterdir():
        called = re.findall(r"\bmake ([a-z-]+)", workflow.read_text(encoding="utf-8"))
        assert called, workflow.name
        assert set(called) <= known, workflow.name
