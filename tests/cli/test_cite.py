"""`goodqueue cite` prints an entry that BibTeX reads, from the file that the repository has."""

import re
from collections.abc import Callable

import yaml

from conftest import ROOT, Result
from goodqueue._goodqueue import VERSION
from goodqueue.cli import cite

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
    assert said.out.count("{") == said.out.count("}")
    assert said.out.endswith("\n}\n")


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
