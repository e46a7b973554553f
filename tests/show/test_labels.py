"""Short names: distinct, no longer than requested, always the same, and with the words that distinguish them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goodqueue.show import labels

WORDS = st.sampled_from(
    [
        "codel",
        "pie",
        "./a.py:Own",
        "./b.py:Own",
        "a.py:Own",
        "target",
        "5ms",
        "10ms",
        "ecn",
        "limit",
        "1000p",
        "…",
        "#1",
    ]
)
LINES = st.lists(st.lists(WORDS, min_size=1, max_size=12).map(" ".join), min_size=1, max_size=8)
ALIKE = st.lists(st.text("ab…#1 ", min_size=1, max_size=30), min_size=1, max_size=12)


@given(LINES)
def test_short_names_are_distinct_and_always_the_same(lines: list[str]) -> None:
    names = labels.short(lines)
    assert list(names) == list(dict.fromkeys(lines))
    assert len(set(names.values())) == len(names)
    assert labels.short(lines[::-1]) == names, "the order of the lines must not change a name"


@given(LINES | ALIKE, st.integers(4, 40))
def test_names_that_were_fitted_are_distinct_and_fit(names: list[str], width: int) -> None:
    fitted = labels.fit(names, width)
    assert len(set(zip(names, fitted, strict=True))) == len(set(names)) == len(set(fitted))
    assert max(map(len, fitted)) <= width
    assert labels.fit(names, width) == fitted
    if max(map(len, names)) <= width:
        assert fitted == names, "what fits must stay as it is"


@given(LINES, st.integers(1, 3))
def test_where_there_is_no_room_names_are_distinct_still(names: list[str], width: int) -> None:
    fitted = labels.fit(names, width)
    assert len(set(fitted)) == len(set(names))
    assert max(map(len, fitted)) <= 3


def test_a_class_in_python_goes_by_its_name() -> None:
    lines = [
        "./ideas/pitwist.py:PiTwist target 10ms tupdate 16ms",
        "./ideas/pitwist.py:PiTwist target 20ms tupdate 16ms",
    ]
    assert list(labels.short(lines).values()) == ["PiTwist target 10ms", "PiTwist target 20ms"]
    assert list(labels.called(lines).values()) == [
        f"PiTwist target {target} tupdate 16ms" for target in ("10ms", "20ms")
    ]
    assert labels.fit([*lines, "pfifo"], 22) == ["PiTwist target 10ms", "PiTwist target 20ms", "pfifo"]
    assert labels.fit(["./ideas/pitwist.py:PiTwist", "pie"], 22) == ["PiTwist", "pie"]


def test_the_file_stays_where_it_tells_two_classes_apart() -> None:
    assert list(labels.short(["./a.py:Own", "./b.py:Own"]).values()) == ["a.py:Own", "b.py:Own"]
    assert list(labels.short(["./x/a.py:Own", "./y/a.py:Own"]).values()) == ["./x/a.py:Own", "./y/a.py:Own"]
    assert list(labels.short(["./x/codel.py:codel", "codel"]).values()) == ["codel.py:codel", "codel"]


def test_parameters_that_differ_stay_with_their_numbers() -> None:
    lines = ["codel limit 1000 target 5ms", "codel limit 1000 target 20ms", "pie limit 1000"]
    assert list(labels.short(lines).values()) == ["codel target 5ms", "codel target 20ms", "pie"]
    assert labels.short(["codel", "codel ecn"]) == {"codel": "codel", "codel ecn": "codel ecn"}
    flags = ["codel noecn interval 100ms target 5ms", "codel noecn interval 100ms target 9ms"]
    assert list(labels.short(flags).values()) == ["codel target 5ms", "codel target 9ms"]


@pytest.mark.parametrize(
    ("names", "width", "fitted"),
    [
        (
            ["fq_codel flows 1024 target 5ms interval 100ms", "pfifo"],
            22,
            ["fq_codel", "pfifo"],
        ),
        (
            ["fq_codel flows 1024 target 5ms quantum 300", "fq_codel flows 32 target 9ms quantum 300"],
            30,
            ["fq_codel flows 1024 target 5ms", "fq_codel flows 32 target 9ms"],
        ),
        (["all of it at the office, Monday", "all of it at the office, Friday"], 20, ["all Monday", "all Friday"]),
        (["averyverylongname", "averyverylongnose"], 12, ["avery…ngname", "avery…ngnose"]),
    ],
)
def test_what_is_cut_is_what_is_shared(names: list[str], width: int, fitted: list[str]) -> None:
    assert labels.fit(names, width) == fitted


def test_titles_are_cut_and_lose_no_word_for_being_alone() -> None:
    assert labels.cut(["Friday afternoon at the office with cake", "x"], 24) == ["Friday afternoon at the…", "x"]
    alike = [f"codel target 5ms limit {limit}" for limit in (1, 2, 12)]
    assert labels.cut(alike, 18) == ["codel target 5ms…", "codel ta…s limit 2", "codel ta… limit 12"]


TREE = "tc qdisc add dev e root handle 1: htb default 10; tc class add dev e parent 1: classid 1:10 htb rate 20mbit; "
LEAF = "tc qdisc add dev e parent 1:10 fq_codel"


def test_trees_have_short_names_of_their_own() -> None:
    """Their lines are all their commands, which fill six lines of a table."""
    slower, bare, one = TREE.replace("20mbit", "5mbit") + LEAF, TREE.rstrip("; "), "tc qdisc add dev e root fq_codel"
    long = [TREE + LEAF + f" memory_limit {number}0000000000000000000b" for number in (1, 2)]
    for lines, expected in [
        ([TREE + LEAF, "fq_codel"], ["htb, fq_codel", "fq_codel"]),
        ([TREE + LEAF, slower, bare], ["htb, fq_codel (rate 20mbit)", "htb, fq_codel (rate 5mbit)", "htb"]),
        ([one, "fq_codel", "fq_codel target 9ms"], ["fq_codel (tree)", "fq_codel", "fq_codel target 9ms"]),
        (long, ["htb, fq_codel (tree 1)", "htb, fq_codel (tree 2)"]),
        ([f"{one} / {slower}", "fq_codel"], ["fq_codel (tree) / htb, fq_codel", "fq_codel"]),
    ]:
        for name in (labels.called, labels.short):
            assert list(name(lines).values()) == expected
            assert name(lines[::-1]) == name(lines), "the order of the lines must not change a name"
