"""`goodqueue cite` prints an entry that BibTeX reads, from the file that the repository has."""

import re
from collections.abc import Callable
from typing import Any

import yaml

from conftest import ROOT, Result
from goodqueue._goodqueue import VERSION
from goodqueue.cli import cite
from goodqueue.studies import libraries

Command = Callable[..., Result]


def test_the_entry_is_bibtex_of_this_version(goodqueue: Command) -> None:
    said = goodqueue("cite")
    assert (said.status, said.err) == (0, "")
    kind, key, *fields = re.split(r"[{,]\n?", said.out, maxsplit=2)
    assert (kind, key) == ("@misc", "goodqueue")
    found = dict(re.findall(r"^  (\w+) += \{(.*)\},$", "".join(fields), re.MULTILINE))
    assert found["author"] == "{The goodqueue developers}", "a group's name is one word for BibTeX"
    assert found["title"] == "{goodqueue: a laboratory for active queue management}"
    assert found["note"] == f"Version {VERSION}"
    assert found["year"] == read_cff()["date-released"][:4]
    assert said.out.count("{") == said.out.count("}")
    assert said.out.endswith("\n}\n")


def test_each_study_and_suite_is_cited_with_its_year_and_its_doi(goodqueue: Command) -> None:
    """A DOI is in the study's file, or there is none."""
    names = [*libraries.STUDIES.available(), *libraries.SUITES.available()]
    said = goodqueue("cite", *names)
    assert (said.status, said.err) == (0, "")
    entries = dict(re.findall(r"^@misc\{(\w+),\n(.*?)\n\}$", said.out, re.MULTILINE | re.DOTALL))
    assert list(entries) == ["goodqueue", *names]
    for name, entry in entries.items():
        fields = [line.split()[0] for line in entry.splitlines()]
        assert {"author", "title", "howpublished", "year"} <= set(fields), name
    assert entries["schwardmann2014"].splitlines() == [
        "  author       = {J. Schwardmann and D. Wagner and M. Kühlewind},",
        "  title        = {{Evaluation of ARED, CoDel and PIE}},",
        "  howpublished = {EUNICE 2014, LNCS 8846},",
        "  year         = {2014},",
        "  doi          = {10.1007/978-3-319-13488-8_17},",
    ]
    assert "  url          = {https://www.rfc-editor.org/rfc/rfc7928}," in entries["rfc7928"].splitlines()
    assert "doi" not in entries["hoiland2017"], "USENIX gives none"
    refused = goodqueue("cite", "schwardman2014")
    assert (refused.status, refused.out) == (2, "")
    assert refused.err.startswith('goodqueue: STUDY|SUITE: found "schwardman2014"; did you mean "schwardmann2014"?')


def read_cff() -> dict[str, Any]:
    return cite.read((ROOT / "CITATION.cff").read_text(encoding="utf-8"))


def test_our_reader_of_the_file_agrees_with_one_of_yaml() -> None:
    text = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    ours, theirs = cite.read(text), yaml.safe_load(text)
    theirs["authors"] = [one["name"] for one in theirs["authors"]]
    assert ours == {key: value if isinstance(value, list) else str(value) for key, value in theirs.items()}
    assert ours["version"] == VERSION


def test_the_wheel_has_the_file() -> None:
    link = ROOT / "python" / "goodqueue" / "CITATION.cff"
    assert link.resolve() == ROOT / "CITATION.cff"
    assert 'path = "python/goodqueue/CITATION.cff", format = ["sdist", "wheel"]' in (ROOT / "pyproject.toml").read_text(
        encoding="utf-8"
    )
