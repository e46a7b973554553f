"""Looks: a discipline has the same colour, marker and line in every figure, with colour and without."""

import itertools
import json
import random

import pytest

from goodqueue import _goodqueue
from goodqueue.plot import style
from goodqueue.plot.looks import DISCIPLINES, contrast
from goodqueue.plot.style import Look

REGISTRY = [one["name"] for one in json.loads(_goodqueue.qdiscs())]


def test_each_discipline_of_the_registry_has_a_look() -> None:
    assert sorted(DISCIPLINES) == sorted(REGISTRY), "a new discipline takes a line in DISCIPLINES"


def test_no_two_disciplines_can_be_taken_for_each_other() -> None:
    for one, other in itertools.combinations(DISCIPLINES.values(), 2):
        assert one[0] != other[0], "colour alone"
        assert one[:2] != other[:2], "colour and marker"
        assert one[1:] != other[1:], "marker and line: what print without colour leaves"


def differ(found: list[Look]) -> bool:
    """Return whether all combinations of colour, marker, line and fill differ, regardless of the ink."""
    return len({(one.colour, one.marker, one.line, one.filled) for one in found}) == len(found)


@pytest.mark.parametrize("seed", range(20))
def test_the_series_of_a_figure_all_look_different(seed: int) -> None:
    dice = random.Random(seed)
    words = ["", "target 20ms", "limit 100", "(kernel)", "ecn", "#2"]
    first = [*REGISTRY, "./idea.py:Shorter", "idea.py:Other", "droptail", "5", "10ms", "down"]
    every = [f"{name} {word}".strip() for name in first for word in words]
    assert differ(style.looks(dice.sample(every, 40)))


@pytest.mark.parametrize("name", ["codel", "idea.py:Shorter", "flows"])
def test_forty_of_one_kind_all_look_different(name: str) -> None:
    assert differ(style.looks([f"{name} limit {number}" for number in range(40)]))


def test_a_discipline_looks_the_same_whatever_stands_beside_it() -> None:
    for name in REGISTRY:
        others = random.Random(name).sample(REGISTRY, 8)
        for labels in ([name], [*others, name], [f"{name} limit 9", "3 flows", name], ["down", f"{name}, 5ms", name]):
            position = labels.index(name)
            assert style.looks(labels)[position] == style.looks([name])[0], labels


def test_variants_of_a_discipline_keep_its_hue_and_marker() -> None:
    plain, slow, kernel, fifo = style.looks(["codel", "codel target 20ms", "codel (kernel)", "pfifo"])
    assert {plain.marker, slow.marker, kernel.marker} == {"s"}
    assert fifo.marker != "s"
    assert len({plain.line, slow.line, kernel.line}) == 3
    red, green, blue = (int(slow.colour[at : at + 2], 16) for at in (1, 3, 5))
    assert red < green < blue, "a lighter codel is blue, too"


def test_names_that_mean_the_same_look_the_same() -> None:
    assert style.looks(["droptail"]) == style.looks(["pfifo"])
    assert style.looks(["CoDel"]) == style.looks(["codel"])
    assert style.looks(["codel, 10mbit, 5ms"]) == style.looks(["codel"])


def test_names_can_be_read_on_white() -> None:
    labels = [*REGISTRY, *(f"codel limit {number}" for number in range(8)), *map(str, range(16))]
    assert min(contrast(look.ink) for look in style.looks(labels)) >= 4.5
    assert contrast("#ffffff") == pytest.approx(1)
    assert contrast("#000000") == pytest.approx(21)
