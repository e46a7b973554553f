"""Build the documentation site: ``python tools/docs/site.py FOLDER``.

The pages are the Markdown files of the repository, at the places where they stand, so that a link works here as it does
on a forge. Files that a page links to (a scenario, a source file) go along as they are.

Some pages of the reference exist in the site only, and are made when it is built: the command line (what ``--help``
shows), the Python API (tools/docs/api_page.py), and the lists of traffic, path elements, studies, suites and examples
(tools/docs/list_pages.py).

mkdocs with the Material theme builds it (mkdocs.yml). It stops at a link or an anchor that leads nowhere.
"""

import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import api_page
import list_pages
import typer

from goodqueue.cli import command_line

ROOT = Path(__file__).resolve().parents[2]
STYLE = "tools/docs/site.css"
LINK = re.compile(r"(!?\[[^\]]*\])\(([^)\s#]+)(#[^)\s]*)?\)")
FENCE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)


def pages() -> list[str]:
    """Return the Markdown files that are kept in the repository, except the forge's templates."""
    command = ["git", "ls-files", "*.md", ":!.github"]
    listed = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
    return listed.stdout.split()


def commands(context: Any, depth: int = 2) -> Iterator[str]:
    """Yield the section of a command and those of its verbs."""
    yield f"{'#' * depth} {context.command_path}\n\n```text\n{context.command.get_help(context).rstrip()}\n```\n"
    for name, command in getattr(context.command, "commands", {}).items():
        inner = typer.Context(command, info_name=name, parent=context, terminal_width=100)
        yield from commands(inner, min(depth + 1, 3))


def command_page() -> str:
    """Return the page of the command line."""
    context = typer.Context(command_line(), info_name="goodqueue", terminal_width=100)
    return "# Command line\n\nWhat `--help` shows, verb by verb.\n\n" + "\n".join(commands(context))


MADE = {"docs/reference/commands.md": command_page, **api_page.PAGES, **list_pages.PAGES}
"""The pages that exist in the site only, each with what makes it."""


def linked(page: str, text: str) -> Iterator[tuple[str, str]]:
    """Yield each link of a page to this repository: as it is written, and its target from the root."""
    for _, target, _ in LINK.findall(FENCE.sub("", text)):
        if "://" not in target and not target.startswith("mailto:"):
            yield target, str((ROOT / page).parent.joinpath(target).resolve().relative_to(ROOT))


def listed(folder: str, place: Path) -> None:
    """Write to ``place`` a page that links to each file of a folder, and the files."""
    files = [path for path in sorted((ROOT / folder).iterdir()) if path.is_file()]
    (place / folder).mkdir(parents=True, exist_ok=True)
    for path in files:
        shutil.copyfile(path, place / folder / path.name)
    lines = [f"- [{path.name}]({path.name})" for path in files]
    (place / folder / "README.md").write_text("\n".join([f"# {folder}", "", *lines, ""]), encoding="utf-8")


def staged(page: str, text: str, place: Path) -> None:
    """Write a page to ``place``, and copy what it links to.

    A link to a folder becomes one to the folder's README, or else to a list of its files.
    """
    for written, target in linked(page, text):
        if (ROOT / target).is_dir():
            text = text.replace(f"]({written})", f"]({written.rstrip('/')}/README.md)")
            if not (ROOT / target / "README.md").exists():
                listed(target, place)
        elif (ROOT / target).is_file() and not target.endswith(".md"):
            (place / target).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / target, place / target)
    (place / page).parent.mkdir(parents=True, exist_ok=True)
    (place / page).write_text(text, encoding="utf-8")


def build(out: Path) -> int:
    """Build the site into ``out`` and return the exit status of mkdocs."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        for page in pages():
            staged(page, (ROOT / page).read_text(encoding="utf-8"), place)
        for page, make in MADE.items():
            staged(page, make(), place)
        (place / STYLE).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / STYLE, place / STYLE)
        config = place.parent / f"{place.name}.yml"
        config.write_text(
            f"INHERIT: {ROOT / 'mkdocs.yml'}\ndocs_dir: {place}\nsite_dir: {out.resolve()}\n", encoding="utf-8"
        )
        try:
            command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--config-file", str(config)]
            done = subprocess.run(command, check=False, capture_output=True, text=True)
            found = [line for line in done.stderr.splitlines() if line.startswith(("WARNING", "ERROR"))]
            if done.returncode != 0:  # "--quiet" would hide the warnings from mkdocs itself, and none would be counted
                print("\n".join(found), file=sys.stderr)
            return done.returncode
        finally:
            config.unlink()


if __name__ == "__main__":
    sys.exit(build(Path(sys.argv[1])))
