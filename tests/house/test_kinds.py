"""The kinds of pages: docs/style.md has the rules. A page is a guide, a concept, reference or a result.

The walks are those of people who come for the first time: from the README to a result in at most three pages.
"""

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from conftest import ROOT

DOCS = ROOT / "docs"
KINDS = ("guides", "concepts", "reference", "results")
OF_THE_PROJECT = {"compare.md", "style.md", "release.md"}
"""The pages beside the folders, with those of docs/decisions."""
PAGES = sorted(DOCS.rglob("*.md"))
NAV: dict[str, Any] = {
    title: entry
    for tab in yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))["nav"]
    for title, entry in tab.items()
}
LINK = re.compile(r"\]\(([^)\s#]+)(?:#[^)\s]*)?\)")
FENCE = re.compile(r"^```sh\n.*?^```$", re.MULTILINE | re.DOTALL)
IN_A_SENTENCE = re.compile(r"`(?:goodqueue|make|cargo|(?:\.venv/bin/)?python -m experiments\.)\b")


def text_of(page: Path) -> str:
    return page.read_text(encoding="utf-8")


def beside(page: str) -> bool:
    """Return whether a page, named from docs/, is one of the project's own."""
    return page in OF_THE_PROJECT or page.startswith("decisions/")


def test_every_page_has_a_kind_and_docs_holds_pages() -> None:
    names = [str(page.relative_to(DOCS)) for page in PAGES]
    assert len(names) > 100
    assert [name for name in names if name.partition("/")[0] not in KINDS and not beside(name)] == []
    files = (
        path.relative_to(DOCS) for path in DOCS.rglob("*") if path.is_file() and path.suffix not in (".md", ".pyc")
    )
    assert [str(path) for path in files if path.parts[0] != "pictures"] == []


def test_no_two_pages_have_the_same_title() -> None:
    pages = [*PAGES, *ROOT.glob("*.md"), ROOT / "studies/README.md", ROOT / "suites/README.md"]
    titles = Counter(text_of(page).partition("\n")[0] for page in pages)
    assert all(title.startswith("# ") for title in titles)
    assert [title for title, count in titles.items() if count > 1] == []


@pytest.mark.parametrize("kind", KINDS)
def test_a_tab_of_the_site_has_the_pages_of_its_kind(kind: str) -> None:
    listed = [name for entry in NAV[kind.capitalize()] for name in entry.values()]
    folder = f"docs/{kind}/"
    assert [name for name in listed if name.startswith("docs/") and not name.startswith(folder)] == []
    own = {str(page.relative_to(ROOT)) for page in (DOCS / kind).glob("*.md")}
    assert sorted(own - set(listed)) == []


def test_a_guide_ends_in_an_action() -> None:
    for page in (DOCS / "guides").glob("*.md"):
        _, _, last = text_of(page).rpartition("\n## ")
        assert last.startswith("Go on\n"), page.name
        assert LINK.search(last), page.name


def test_a_result_has_its_command() -> None:
    for page in (DOCS / "results").glob("*.md"):
        text = text_of(page)
        assert FENCE.search(text) or IN_A_SENTENCE.search(" ".join(text.split())), page.name


def reached(page: str) -> Iterator[str]:
    """Yield the pages to which a page links."""
    for target in LINK.findall(text_of(ROOT / page)):
        if "://" not in target and target.endswith(".md"):
            yield str((ROOT / page).parent.joinpath(target).resolve().relative_to(ROOT))


WALKS = {
    "operator": ("README.md", "docs/guides/advise.md", "docs/guides/link.md"),
    "researcher": ("README.md", "docs/guides/reproduce-a-paper.md", "docs/results/claims.md"),
    "implementer": ("README.md", "docs/guides/my-aqm.md", "docs/guides/my-aqm-in-rust.md"),
    "student": ("README.md", "docs/guides/first-hour.md", "docs/guides/browser.md"),
}
"""Three pages for each, the last one further than a first result."""


@pytest.mark.parametrize("reader", WALKS)
def test_a_newcomer_walks_from_the_readme_to_a_result(reader: str) -> None:
    first, second, third = WALKS[reader]
    assert second in set(reached(first))
    assert third in set(reached(second))
    assert "goodqueue " in text_of(ROOT / second)


def test_the_readme_fits_on_two_screens_and_leads_to_all_rows() -> None:
    text = text_of(ROOT / "README.md")
    assert len(text.splitlines()) <= 100
    rows = [line for line in text.splitlines() if line.startswith("| ") and "`" in line and "I want" not in line]
    assert len(rows) == 10
    page = "docs/reference/what-it-can-do.md"
    assert page in set(reached("README.md"))
    commands = set(re.findall(r"`(goodqueue [^`]*)`", text_of(ROOT / page)))
    assert len(commands) > 40
