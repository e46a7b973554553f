"""The documentation site: it builds, a dead link stops the build, and the guides' commands do what the guides say."""

import contextlib
import os
import re
import shlex
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import ROOT

NEEDS = {"cluster": ["dask"], "real-kernel": ["qemu", "image"]}
LONG = {"real-kernel", "reproduce-a-paper"}
ELSEWHERE = {
    "advise": "test_pages.py runs each command",
    "browser": "web/tests; test_serve.py",
    "flent": "needs Flent; test_flent.py",
    "link": "needs a server; test_link_programs.py",
    "neighbours": "needs irtt and iperf3; test_calibrate.py",
    "search": "minutes; test_pages.py runs each command",
    "suites": "minutes; test_suite.py",
    "transports": "needs goodqueue-transports, whose tests `make transports-test` runs",
}
"""Guides that do not run as a whole: the reason, and what tests them."""
GUIDES = [
    pytest.param(
        page,
        marks=[pytest.mark.needs(*NEEDS.get(page.stem, [])), *([pytest.mark.long] if page.stem in LONG else [])],
        id=page.stem,
    )
    for page in sorted((ROOT / "docs" / "guides").glob("*.md"))
    if page.stem not in ELSEWHERE
]
FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
FILE = re.compile(r"`\./(\w+\.py):|`(\w+\.py)`")


def build(out: Path, root: Path = ROOT) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, str(root / "tools" / "docs" / "site.py"), str(out)],
        capture_output=True,
        text=True,
        check=False,
        env={"PATH": "/usr/bin:/bin", "PYTHONPATH": str(ROOT / "python"), "NO_MKDOCS_2_WARNING": "1"},
    )


@pytest.mark.long
@pytest.mark.needs("checkout")
def test_the_site_builds_and_has_every_page(tmp_path: Path) -> None:
    done = build(tmp_path / "site")
    assert done.returncode == 0, done.stdout + done.stderr
    command = ["git", "ls-files", "*.md", ":!.github"]
    pages = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
    for page in pages.stdout.split():
        made = (tmp_path / "site" / page).with_suffix(".html")
        assert (made.with_name("index.html") if made.stem == "README" else made).is_file(), page
    commands = (tmp_path / "site" / "docs" / "reference" / "commands.html").read_text(encoding="utf-8")
    assert 'id="goodqueue-compare"' in commands, "each verb has a section"
    assert (tmp_path / "site" / "search" / "search_index.json").is_file()


@pytest.mark.long
@pytest.mark.needs("checkout")
@pytest.mark.parametrize("dead", ["[gone](gone.md)", "[no such part](style.md#nothing)"])
def test_a_dead_link_stops_the_site(tmp_path: Path, dead: str) -> None:
    root = tmp_path / "clone"
    subprocess.run(["git", "clone", "--quiet", "--depth", "1", f"file://{ROOT}", str(root)], check=True)
    with (root / "docs" / "style.md").open("a", encoding="utf-8") as page:
        page.write(f"\n{dead}\n")
    done = build(tmp_path / "site", root)
    assert done.returncode != 0
    assert "style.md" in done.stdout + done.stderr


WRAPPER = f"""#!/bin/sh
exec {shlex.quote(sys.executable)} -m goodqueue "$@"
"""


def run(command: list[str], folder: Path) -> None:
    """Run a part of a guide with our command first on PATH. Its background processes end with it."""
    found = {**os.environ, "PATH": f"{folder / 'bin'}:{Path(sys.executable).parent}:{os.environ['PATH']}"}
    found |= {"PYTHONPATH": str(ROOT / "python"), "MPLBACKEND": "agg"}
    with subprocess.Popen(
        command,
        cwd=folder,
        env=found,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    ) as process:
        lines = []
        assert process.stdout is not None
        for line in process.stdout:
            lines.append(line)
            if line == DONE:
                break
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGTERM)
    assert lines[-1:] == [DONE], "".join(lines)


DONE = "guide: done\n"


@pytest.mark.long
@pytest.mark.parametrize("page", GUIDES)
def test_the_commands_of_a_guide_run(page: Path, tmp_path: Path) -> None:
    """In order, in one folder, as a reader would type them. A class is saved under the page's name for it."""
    parts = FENCE.findall(page.read_text(encoding="utf-8"))
    name = next((one or other for one, other in FILE.findall(page.read_text(encoding="utf-8"))), None)
    shell = "".join(code for language, code in parts if language == "sh")
    python = "".join(code for language, code in parts if language == "python")
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "goodqueue").write_text(WRAPPER, encoding="utf-8")
    (tmp_path / "bin" / "goodqueue").chmod(0o755)
    if name is not None:
        (tmp_path / name).write_text(python, encoding="utf-8")
    elif python:
        run([sys.executable, "-c", f"{python}\nprint({DONE.strip()!r})"], tmp_path)
    if shell:
        run(["bash", "-ec", f"{shell}\necho {shlex.quote(DONE.strip())}"], tmp_path)
    assert shell.count("goodqueue ") + python.count("gq.") >= 2
