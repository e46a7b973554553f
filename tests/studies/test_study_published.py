"""Published facts as people write them: numbers, ranges and texts; claims with few keys, and claims with all keys."""

from pathlib import Path

import pytest

from goodqueue.errors import UserError
from goodqueue.studies import published
from goodqueue.studies.published import Claim, Published, PublishedScenario, Term

HEAD = '[paper]\nkey = "k"\ntitle = "t"\n[[scenario]]\nid = "k/s"\n'
VALUE = '[[value]]\nid = "{}"\nscenario = "k/s"\nalgorithm = "a"\nmetric = "m"\nunit = "ms"\n{}\n'
CLAIM = '[[claim]]\nid = "c"\nscenario = "k/s"\nstatement = "…"\n{}\n'
SIDES = 'left = { algorithm = "a", metric = "m" }\nright = { algorithm = ["b", "c"], at = { x = 1 } }\n'


def facts(folder: Path, text: str) -> Published:
    (folder / "p.toml").write_text(HEAD + text, encoding="utf-8")
    return published.load(folder / "p.toml")


def claim(folder: Path, text: str) -> Claim:
    return facts(folder, CLAIM.format(text)).claims[0]


def refused(folder: Path, text: str) -> str:
    with pytest.raises(UserError) as found:
        facts(folder, text)
    return str(found.value).removeprefix(f"{folder / 'p.toml'}: ")


@pytest.mark.parametrize(
    ("said", "low", "high", "number"),
    [
        ("value = 3", 3, 3, 3),
        ("low = 1\nhigh = 2", 1, 2, None),
        ("low = 1", 1, float("inf"), None),
        ("high = 2", float("-inf"), 2, None),
        ('text = "about three"', None, None, None),
    ],
)
def test_a_value_is_a_number_a_range_or_a_text(
    tmp_path: Path, said: str, low: float | None, high: float | None, number: float | None
) -> None:
    (value,) = facts(tmp_path, VALUE.format("v", said)).values
    assert (value.low, value.high, value.number, value.half_digit) == (low, high, number, 0)


def test_a_claim_that_says_no_more_than_its_sides(tmp_path: Path) -> None:
    """Guards against a tolerance, a factor or a quantifier that nobody wrote."""
    plain = claim(tmp_path, f'kind = "less_than"\n{SIDES}')
    left, right = Term(algorithms=("a",), metrics=("m",)), Term(algorithms=("b", "c"), at={"x": 1})
    assert plain == Claim("c", ("k/s",), "…", "less_than", left, right)
    assert (plain.factor, plain.tolerance, plain.or_equal, plain.relative, plain.agrees) == (1, 0, False, False, True)
    assert (plain.low, plain.high, plain.quantifier, plain.points, plain.needs) == (0, 0, "all", ({},), ())


@pytest.mark.parametrize(
    ("said", "want", "is_lookup"),
    [
        ("value = 5", Term(constant=5.0), False),
        ('param = "x"', Term(param="x"), False),
        ('metric = "m"', Term(metrics=("m",)), True),
    ],
)
def test_a_side_is_a_number_a_swept_value_or_looked_up(tmp_path: Path, said: str, want: Term, is_lookup: bool) -> None:
    left = 'left = { algorithm = "a", metric = "m" }'
    right = claim(tmp_path, f'kind = "less_than"\n{left}\nright = {{ {said} }}').right
    assert right == want
    assert right.is_lookup is is_lookup


def test_a_claim_that_says_all(tmp_path: Path) -> None:
    whole = (
        'kind = "approximately_equal"\ntolerance = 0.5\ntolerance_kind = "relative"\nquantifier = "most"\nfactor = 2\n'
    )
    whole += 'or_equal = true\nagrees = false\nnote = "n"\nneeds = ["radio"]\nover = { param = "x", values = [1, 2] }\n'
    found = claim(tmp_path, whole + SIDES)
    assert (found.tolerance, found.relative, found.quantifier, found.factor) == (0.5, True, "most", 2)
    assert (found.or_equal, found.agrees, found.note, found.needs) == (True, False, "n", ("radio",))
    assert found.points == ({"x": 1}, {"x": 2})
    points = claim(tmp_path, f'kind = "less_than"\nover.points = [{{ x = 1, y = 2 }}, {{ x = 3 }}]\n{SIDES}').points
    assert points == ({"x": 1, "y": 2}, {"x": 3})


@pytest.mark.parametrize(
    ("said", "want"),
    [
        ('kind = "within"\nlow = 1\nleft = { metric = "m" }', "claim[c].high: missing; accepted: a number"),
        ('kind = "ratio_between"\nhigh = 1\n' + SIDES, "claim[c].low: missing; accepted: a number"),
        ('kind = "approximately_equal"\n' + SIDES, "claim[c].tolerance: missing; accepted: a number"),
        ('kind = "ordering"\n' + SIDES, "claim[c].items: missing; accepted: a list of terms"),
        ('kind = "monotone"\nright = { value = 1 }', "claim[c].left: missing; accepted: a term"),
        ('kind = "monotone"\nleft = { metric = "m" }', "claim[c].direction: missing; accepted: a text"),
        ('kind = "greater_than"\nleft = { metric = "m" }', "claim[c].right: missing; accepted: a term"),
        (
            'kind = "less_than"\nover = { param = "x", values = 3 }\n' + SIDES,
            "claim[c].over.values: found 3; accepted: a",
        ),
    ],
)
def test_each_kind_of_claim_says_what_it_lacks(tmp_path: Path, said: str, want: str) -> None:
    assert refused(tmp_path, CLAIM.format(said)).startswith(want)


def test_an_id_stands_once_among_scenarios_values_and_claims(tmp_path: Path) -> None:
    twice = VALUE.format("c", "value = 1") + CLAIM.format(f'kind = "less_than"\n{SIDES}')
    assert refused(tmp_path, twice) == 'the id "c" is used twice; accepted: ids that differ'


@pytest.mark.parametrize(
    ("where", "name"),
    [("see Figure 2(a), left", "Figure 2(a)"), ("section 4.3", "section 4.3"), ("", "s")],
)
def test_a_scenario_is_called_as_the_paper_calls_it(where: str, name: str) -> None:
    assert PublishedScenario("k/s", "", where, {}).name == name


def test_panels_stand_in_the_order_of_their_letters() -> None:
    assert sorted(["figure2b", "figure10", "figure2a", "table1", "notes"], key=published.order) == [
        "figure2a",
        "figure2b",
        "figure10",
        "table1",
        "notes",
    ]
