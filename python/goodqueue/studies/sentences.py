"""Writes in words what decided a claim: the numbers that were compared, where, and their relation."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from goodqueue.studies.claims import Check, Found
from goodqueue.studies.model import Study
from goodqueue.studies.published import At, Claim
from goodqueue.studies.wording import Name, Words, digits_apart, quantity, significant

NOT_SHOWN = "not tested: no run shows"
"""The beginning of the reason of a claim that lacks numbers. The missing numbers follow."""

SHOWN = 3
"""The largest number of deciding comparisons that a text lists."""


@dataclass(frozen=True, slots=True)
class Side:
    """A looked-up number, with the parts of its name that the other numbers do not share."""

    words: Words
    algorithm: str
    metric: Name | None
    at: At
    scenario: str = ""
    """Named only if nothing else distinguishes two sides."""

    @property
    def place(self) -> str:
        """The point, in words."""
        return " ".join(filter(None, [self.words.point(self.at), f"in {self.scenario}" if self.scenario else ""]))

    def label(self) -> str:
        """Return the words before its number."""
        whose = f"{self.algorithm}'s" if self.algorithm and self.metric else self.algorithm
        return " ".join(filter(None, [whose, self.metric.line if self.metric else "", self.place]))

    def beside(self, number: str) -> str:
        """Return it in words as the other side of a comparison: ``PIE's 8.2 ms at 10 Mbit/s``."""
        if self.metric:
            return f"{self.label() if self.algorithm else f'the {self.label()}'}, {number}"
        return " ".join(filter(None, [f"{self.algorithm}'s" if self.algorithm else "", number, self.place]))


def decided(study: Study, claim: Claim, holds: bool, checks: Sequence[Check]) -> str:
    """Return the comparisons that decided ``claim``, with their numbers: all of them if there are one or two."""
    count = len(checks)
    if count == 1:
        return _comparisons(study, claim, checks)
    against = [check for check in checks if check.verdict is False]
    if claim.quantifier == "all" and not holds:
        return f"{_share(len(against), count, 'fail')}: {_comparisons(study, claim, against)}"
    sentence = _share(count - len(against), count, "hold")
    if claim.quantifier != "all":
        sentence += ", one is enough" if claim.quantifier == "some" else ", more than half must"
    return f"{sentence}: {_comparisons(study, claim, checks)}" if count == 2 else sentence


def _share(some: int, count: int, verb: str) -> str:
    """Return in words how many of several comparisons ``verb`` (hold or fail)."""
    if some == count:
        return f"{'both' if count == 2 else f'all {count}'} comparisons {verb}"
    return f"{some or 'none'} of {count} comparisons {verb if some > 1 else f'{verb}s'}"


def open_ones(study: Study, checks: Sequence[Check]) -> str:
    """Return why a claim is not decided: what was not measured, or that it needs more points."""
    missing = [term for check in checks for term in check.found if term.row is None]
    if not missing:
        return "not tested: one point shows no trend"
    scenarios = list(dict.fromkeys(term.scenario for term in missing if term.scenario))
    if scenarios and not any(study.experiments_of(scenario) for scenario in scenarios):
        names = [study.published.scenarios[scenario].name for scenario in scenarios]
        return f"not tested: the study has no runs for {_listed(names)}"
    return f"{NOT_SHOWN} {'; '.join(_some(_whole(study, term) for term in missing))}"


def compared(study: Study, claim: Claim, check: Check) -> tuple[str, str]:
    """Return one comparison without missing numbers: the words that its sides share, and their relation."""
    if claim.kind == "monotone":
        return _course(study, claim, check)
    head, sides = _sides(study, [term for term in check.found if term.algorithm])
    limits = [claim.low, claim.high] if claim.kind == "within" else []
    values = [term.number or 0.0 for term in check.found]
    digits = digits_apart([*values, *limits])
    units = [study.words.name(term.metric).unit for term in check.found]
    texts = [
        quantity(f"{value:g}" if term.constant else significant(value, digits), unit or units[0])
        for value, term, unit in zip(values, check.found, units, strict=True)
    ]
    first = " ".join(filter(None, [sides[0].label(), texts[0]]))
    if claim.kind == "ordering":
        every = ", ".join(f"{side.label()} {text}".lstrip() for side, text in zip(sides, texts, strict=True))
        return head, f"{every}, {'' if check.verdict else 'not '}in ascending order"
    if claim.kind == "within":
        slack = f" (± {claim.tolerance:g})" if claim.tolerance else ""
        return head, f"{first}; claimed: {claim.low:g} to {quantity(f'{claim.high:g}', units[0])}{slack}"
    right = check.found[1]
    if len(sides) > 1:
        other = sides[1].beside(texts[1])
    else:
        other = f"the {study.words.name(right.metric).line} of {texts[1]}" if right.metric else texts[1]
    return head, f"{first}, {_relation(claim, check, other, values, units[0])}"


def _relation(claim: Claim, check: Check, other: str, values: Sequence[float], unit: str) -> str:
    """Return the relation of the left number to ``other``, the right one in words."""
    no = "" if check.verdict else "not "
    times = f"{claim.factor:g} times " if claim.factor != 1 else ""
    if claim.kind == "less_than":
        return f"{no}{'at most' if claim.or_equal else 'less than'} {times}{other}"
    if claim.kind == "greater_than":
        return f"{no}{'at least' if claim.or_equal else 'more than'} {times}{other}"
    low, high = (claim.low, claim.high) if claim.kind == "ratio_between" else (1 - claim.tolerance, 1 + claim.tolerance)
    if claim.kind == "approximately_equal" and not claim.relative:
        return f"{no}within {quantity(f'{claim.tolerance:g}', 'points' if unit == '%' else unit)} of {other}"
    if not values[1]:
        return f"against {other}; claimed: {low:g} to {high:g} times as much"
    ratio = values[0] / values[1]
    shown = significant(ratio, digits_apart([ratio, low, high]))
    return f"{shown} times {other}; claimed: {low:g} to {high:g} times"


def _course(study: Study, claim: Claim, check: Check) -> tuple[str, str]:
    """Return the numbers along a sweep."""
    terms = check.found
    head, sides = _sides(study, terms)
    values = [term.number or 0.0 for term in terms]
    digits = digits_apart(values)
    unit = study.words.name(terms[0].metric).unit
    direction = "rising" if claim.direction == "increasing" else "falling"
    slack = f" (steps back up to {quantity(f'{claim.tolerance:g}', unit)} are allowed)" if claim.tolerance else ""
    numbers = quantity(", ".join(significant(value, digits) for value in values), unit)
    how = f"{numbers}, {'' if check.verdict else 'not '}{direction} throughout{slack}"
    return f"{head} {_along(study.words, sides)}", how


def _along(words: Words, sides: Sequence[Side]) -> str:
    """Return the points of ``sides`` in one phrase: ``at 1, 2 and 5 Mbit/s``."""
    names = list(dict.fromkeys(name for side in sides for name in side.at))
    word = words.places.get(names[0]) if len(names) == 1 else None
    if isinstance(word, str):
        return word.replace("{}", _listed([str(side.at[names[0]]) for side in sides]))
    return _listed([side.place for side in sides])


def _sides(study: Study, terms: Sequence[Found]) -> tuple[str, list[Side]]:
    """Return the words that all of ``terms`` share, and the rest of each."""
    words = study.words
    points = [{**study.fixed(term.scenario), **term.at} for term in terms]
    common = {name: value for name, value in points[0].items() if all(p.get(name) == value for p in points)}
    one_algorithm = len({term.algorithm for term in terms}) == 1
    one_metric = len({term.metric for term in terms}) == 1
    rests = [{name: value for name, value in point.items() if name not in common} for point in points]
    keys = [(term.algorithm, term.metric, str(rest)) for term, rest in zip(terms, rests, strict=True)]
    unclear = len(set(keys)) < len(keys)
    sides = [
        Side(
            words,
            "" if one_algorithm else words.algorithm(term.algorithm),
            None if one_metric else words.name(term.metric),
            rest,
            study.published.scenarios[term.scenario].name if unclear else "",
        )
        for term, rest in zip(terms, rests, strict=True)
    ]
    first = terms[0]
    shared = Side(
        words,
        words.algorithm(first.algorithm) if one_algorithm else "",
        words.name(first.metric) if one_metric else None,
        common,
    )
    return shared.label(), sides


def _whole(study: Study, term: Found) -> str:
    """Return the name of a looked-up number without its context."""
    return _sides(study, [term])[0] if term.algorithm else study.words.name(term.metric).line


def _comparisons(study: Study, claim: Claim, checks: Sequence[Check]) -> str:
    """Return the comparisons one after the other. Words that several share are written once."""
    groups: dict[str, list[str]] = {}
    for head, text in dict.fromkeys(compared(study, claim, check) for check in checks[:SHOWN]):
        groups.setdefault(head, []).append(text)
    sentence = "; ".join(": ".join(filter(None, [head, "; ".join(texts)])) for head, texts in groups.items())
    return f"{sentence}; …" if len(checks) > SHOWN else sentence


def _some(texts: Iterable[str]) -> list[str]:
    every = list(dict.fromkeys(texts))
    return every[:SHOWN] + (["…"] if len(every) > SHOWN else [])


def _listed(texts: Sequence[str]) -> str:
    return texts[0] if len(texts) == 1 else f"{', '.join(texts[:-1])} and {texts[-1]}"
