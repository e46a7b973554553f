"""Counts and lists in prose are those of the registries. A page that says 13 controls must not when there are 14."""

import json
import re
import subprocess

import pytest

from conftest import ROOT
from goodqueue import _goodqueue, traffic
from goodqueue.show import reference

DISCIPLINES = [one["name"] for one in reference.disciplines()]
CONTROLS = [one["name"] for one in json.loads(_goodqueue.congestion_controls())]
HOPS = next(table["kinds"] for table in reference.tables() if table["name"] == "[hop]")
COUNTS = {
    "congestion controls": len(CONTROLS),
    "disciplines": len(DISCIPLINES),
    "queue disciplines": len(DISCIPLINES),
    "qdiscs": len(DISCIPLINES),
    "kinds of traffic": len(traffic.kinds()),
    "kinds of hops": len(HOPS),
}
WORDS = ("two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
COUNTED = re.compile(rf"\b(\d+|{'|'.join(WORDS)})\s+({'|'.join(COUNTS)})\b")
OF_THEIR_TIME = ("CHANGELOG.md", "docs/results/mutants.md", "docs/decisions/", "docs/results/validation-log.md")
"""Pages that say what was so on a day."""


def wrong(text: str) -> list[str]:
    """Return the counts in ``text`` that no registry has. In letters, a count of few of many may stand."""
    return [
        f"{count} {what}: there are {COUNTS[what]}"
        for count, what in COUNTED.findall(text)
        if (int(count) if count.isdigit() else WORDS.index(count) + 2) != COUNTS[what]
        and (count.isdigit() or COUNTS[what] <= len(WORDS))
    ]


@pytest.mark.needs("checkout")
def test_a_page_counts_what_there_is() -> None:
    listed = subprocess.run(["git", "ls-files", "*.md"], cwd=ROOT, check=True, capture_output=True, text=True)
    pages = [name for name in listed.stdout.splitlines() if not name.startswith(OF_THEIR_TIME)]
    texts = {name: (ROOT / name).read_text(encoding="utf-8") for name in pages}
    assert sum(len(COUNTED.findall(text)) for text in texts.values()) >= 3
    found = [f"{name}: {one}" for name, text in texts.items() for one in wrong(text)]
    assert not found, "\n".join(found)


def test_a_count_that_is_not_current_is_found() -> None:
    assert wrong("[99\n  congestion controls]") == [f"99 congestion controls: there are {len(CONTROLS)}"]
    assert not wrong(f"{len(CONTROLS)} congestion controls, of which three disciplines see two")
    assert wrong("There are twelve kinds of hops")


def test_the_page_of_what_it_can_do_lists_every_discipline() -> None:
    section = (
        (ROOT / "docs" / "reference" / "what-it-can-do.md")
        .read_text(encoding="utf-8")
        .partition("- **Queue disciplines**")[2]
        .partition("\n- ")[0]
    )
    assert sorted(re.findall(r"`(\w+)`", section)) == sorted([*DISCIPLINES, "tc"])
