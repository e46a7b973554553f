"""Lines for readers fit a page: docs/style.md. This test covers what rustfmt and ruff do not check."""

import re
import shlex
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
import typer

from conftest import ROOT
from goodqueue import cli

WIDEST = 120
"""The maximum width of a line. Tables, lines that are one link, and commands and drawings in comments may be wider."""

LINK = re.compile(r"\s*([-*] )?\[[^\]]*\](\([^)]*\)|: ?\S+)\S*")
COMMENT = re.compile(r"\s*(//[/!]?|/?\*|#) ?(?! )")


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


@pytest.mark.needs("checkout")
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


FENCED = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
IN_A_FENCE = re.compile(r"^(?:\$ )?goodqueue (.*)", re.MULTILINE)
IN_A_SENTENCE = re.compile(r"`goodqueue ([^`]*)`")
SHELL = re.compile(r"""("[^"]*"|'[^']*')|(?:(?<=\s)[>|&#].*|;.*)""")


def commands() -> dict[str, str]:
    """Return each of our commands in Markdown, without the program's name, and a page that contains it."""
    listed = subprocess.run(["git", "ls-files", "*.md"], cwd=ROOT, check=True, capture_output=True, text=True)
    found = {}
    for name in listed.stdout.splitlines():
        text = (ROOT / name).read_text(encoding="utf-8").replace("\\|", "|").replace("\\\n", " ")
        lines = [line for fence in FENCED.findall(text) for line in IN_A_FENCE.findall(fence)]
        lines += IN_A_SENTENCE.findall(FENCED.sub("", text))
        found |= {SHELL.sub(lambda part: part[1] or "", " ".join(line.split())): name for line in lines}
    return found


@pytest.mark.needs("checkout")
def test_every_command_in_a_page_is_one_that_the_command_line_takes() -> None:
    """The verb and the options exist, and the values have the right type. The guides' commands are also run."""
    root = cli.command_line()
    found = commands()
    assert len(found) > 100
    refused = []
    for line, page in found.items():
        verb, *words = shlex.split(line)
        command = root.commands.get(verb)  # type: ignore[attr-defined]
        if verb == "VERB":  # a placeholder for any verb
            continue
        if command is None:
            refused.append(f"{page}: goodqueue {line}: no such verb")
        elif not {"…", "..."} & set(words):  # words were left out
            try:
                command.make_context(verb, words)
            except typer.Exit:  # --help
                pass
            except typer.TyperException as error:
                said = error.format_message()
                if not said.startswith("Missing") and not said.endswith(
                    "requires an argument."
                ):  # a mention, not a command
                    refused.append(f"{page}: goodqueue {line}: {said}")
    assert not refused, "\n".join(refused)


@pytest.mark.needs("checkout")
def test_a_word_of_the_glossary_is_in_use() -> None:
    """A word of ours that nobody uses any more would send a reader to look for it."""
    glossary = (ROOT / "docs" / "style.md").read_text(encoding="utf-8").partition("\n## Glossary\n")[2]
    words = re.findall(r"^\| ([a-z ]+) \|", glossary, re.MULTILINE)[1:]
    assert words == sorted(words)
    for word in words:
        command = ["git", "grep", "--quiet", "--ignore-case", "--word-regexp", f"{word}s\\?", "--"]
        used = subprocess.run([*command, "crates", "python", "web/src"], cwd=ROOT, check=False)
        assert used.returncode == 0, word
