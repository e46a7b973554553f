"""The pages of the disciplines: one per discipline, with generated parts that are up to date."""

import re
from collections.abc import Iterator
from types import ModuleType

import pytest

from conftest import ROOT
from goodqueue import traffic
from goodqueue.measures import metrics
from goodqueue.record import layout
from test_pages import load


@pytest.fixture(scope="module")
def generate() -> Iterator[ModuleType]:
    with pytest.MonkeyPatch.context() as patch:
        yield load("generate", patch)


def test_every_discipline_has_a_page_and_every_page_a_discipline(generate: ModuleType) -> None:
    assert {path.name for path in generate.PAGES.glob("*.md")} == {path.name for path in generate.pages()}


def test_what_is_generated_is_current(generate: ModuleType) -> None:
    assert not list(generate.stale()), "run tools/docs/generate.py"


def test_a_page_has_short_prose_that_names_every_variant(generate: ModuleType) -> None:
    for spec in generate.registry():
        text = (generate.PAGES / f"{spec['name']}.md").read_text(encoding="utf-8")
        prose = text.split(generate.BEGIN)[0]
        assert len(prose.splitlines()) <= 60, spec["name"]
        headings = re.findall("^## (.*)$", prose, re.MULTILINE)
        for wanted in ("When to choose it", "How it works", "What its probe shows", "References"):
            assert wanted in headings, spec["name"]
        for param in spec["params"]:
            if param["name"] == "variant":
                assert all(f"`{word}`" in prose for word in param["accepted"].split(", ")), spec["name"]
        for line in prose.splitlines():
            assert len(line) <= 120 or line.startswith("|"), f"{spec['name']}: {line}"


def test_every_key_of_a_record_has_a_sentence(generate: ModuleType) -> None:
    text = generate.record()[ROOT / "docs" / "reference" / "record.md"]
    for part in layout.parts().values():
        for field in part.own:
            assert f"| `{field.key}` |" in text, f"{part.name}.{field.key} is on no page"
            assert field.help, f"{part.name}.{field.key} has no sentence"


def test_every_key_and_column_stands_on_its_page(generate: ModuleType) -> None:
    (keys,), (stored,) = generate.scenario().values(), generate.store().values()
    for kind in traffic.kinds().values():
        section = keys.split(f'### `kind = "{kind.name}"`')[1].split("\n##")[0]
        assert all(f"| `{key['name']}` |" in section for key in kind.keys), kind.name
    for metric in metrics.METRICS:
        assert f"| `{metric.key}` |" in stored


@pytest.mark.parametrize("page", ["scenario", "record", "store"])
def test_the_prose_of_a_reference_is_short(page: str) -> None:
    prose = (ROOT / "docs" / "reference" / f"{page}.md").read_text(encoding="utf-8").split("<!-- Generated")[0]
    assert 5 < len(prose.splitlines()) <= 60
    assert all(len(line) <= 120 for line in prose.splitlines())
