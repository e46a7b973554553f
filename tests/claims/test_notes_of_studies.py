"""The notes of the studies beside the newest whole result: notes name causes, docs/results/claims.md has the counts."""

import re
from collections.abc import Iterator, Mapping

import pytest

from conftest import ROOT
from goodqueue.claims import result
from goodqueue.studies import libraries

NOTES = {name: folder / "NOTES.md" for name, folder in libraries.STUDIES.available().items()}
LINK = "[All claims and values](../../docs/results/claims.md)"
COUNT = re.compile(
    r"\b\d+ of \d+\b(?! Mbit)|\b(?:all|no|\d+)(?: of)?(?: the)?(?: \d+)? claims\b.{0,40}?\b(?:hold|fail)"
    r"|\b\d+ hold\b"
)
"""A count of verdicts, such as "3 of 12", "38 claims hold" or "all 10 claims hold"."""
SEEN = re.compile(r"\bseeds?\b|--quick")
"""Words that say how a count was seen, if it is not of the whole run."""
BARE = re.compile(
    r"(?:^|(?<=[.:] ))Claims? (c\d\d(?:(?:, | and |, and | to )c\d\d)*) (hold|fail)s?(?: for certain)?[.,]"
)
"""A sentence that gives the verdict of claims without any condition: "Claims c49 and c50 hold."."""


def sections(notes: str) -> Iterator[tuple[str, str]]:
    """Yield the heading and the text of each section, each in one line."""
    for section in re.split(r"^#{2,} ", notes, flags=re.MULTILINE)[1:]:
        heading, _, text = section.partition("\n")
        yield heading, " ".join(text.split())


def uncounted(notes: str) -> list[str]:
    """Return the counts in ``notes`` that do not say how they were seen. The results have none at all."""
    return [
        f"{heading}: {count}"
        for heading, text in sections(notes)
        for count in COUNT.findall(text)
        if "claim" in f"{heading} {text}".lower() and (heading == "Results" or not SEEN.search(text))
    ]


def listed(words: str) -> list[str]:
    """Return the claims that "c25 to c28 and c30" names."""
    found = []
    for first, _, last in re.findall(r"c(\d\d)( to c(\d\d))?", words):
        found += [f"c{number:02}" for number in range(int(first), int(last or first) + 1)]
    return found


def contradicted(notes: str, verdicts: Mapping[str, str]) -> list[str]:
    """Return what ``notes`` say without a condition and what the ``verdicts`` contradict, or leave without a cause."""
    said = [(id_, f"{verb}s") for _, text in sections(notes) for ids, verb in BARE.findall(text) for id_ in listed(ids)]
    wrong = [f"{id_} {verdict}, the notes say" for id_, verdict in said if verdicts.get(id_) != verdict]
    named = set(listed(notes))
    return wrong + [
        f"{id_} fails, and no word on it" for id_ in verdicts if verdicts[id_] == "fails" and id_ not in named
    ]


@pytest.mark.parametrize("name", NOTES)
def test_notes_leave_the_counts_to_the_page(name: str) -> None:
    text = NOTES[name].read_text(encoding="utf-8")
    assert uncounted(text) == []
    assert LINK in dict(sections(text))["Results"]


def test_notes_contradict_no_verdict_of_the_newest_whole_result() -> None:
    stored = [one for _, one in result.stored(ROOT / "experiments" / "claims") if one.is_whole]
    for part in stored[0].parts if stored else ():
        verdicts = {id_.rpartition("/")[2]: claim["verdict"] for id_, claim in part.claims.items()}
        assert contradicted(NOTES[part.study].read_text(encoding="utf-8"), verdicts) == [], part.study


def test_a_count_that_does_not_say_how_it_was_seen_is_found() -> None:
    notes = "# Seen\n\n## Results\n\n| claims | 3 of\n12 | two seeds\n\n## Ring\n\nSo 38 claims\nhold.\n\n"
    assert uncounted(notes) == ["Results: 3 of 12", "Ring: 38 claims hold"]
    assert uncounted("## Results\n\nAll claims: all 10 claims hold. Of 23 claims 20 hold.") != []
    assert uncounted("## Ring\n\nWith two seeds 38 claims hold.\n\n## Load\n\nIt passed 45 of 60 packets.") == []


def test_a_verdict_that_the_result_contradicts_is_found() -> None:
    verdicts = {"c01": "holds", "c02": "fails", "c03": "fails", "c04": "holds", "c05": "fails"}
    notes = (
        "## Ring\n\nClaims c01 to c03 fail. Claim c04 holds, as printed. With a ring c04 fails. Claim c02 holds then."
    )
    assert contradicted(notes, verdicts) == ["c01 fails, the notes say", "c05 fails, and no word on it"]
