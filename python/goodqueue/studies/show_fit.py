"""Shows which combinations of what a paper leaves open explain most of it: ``study --fit``."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import fmean

from goodqueue.show.table import Table
from goodqueue.studies.judging import Judged
from goodqueue.studies.outcome import Outcome
from goodqueue.studies.verdicts import JudgedClaim

SHOWN = 12
"""The combinations in the table: the best ones."""

STATED = "as stated"


@dataclass(frozen=True, slots=True)
class Score:
    """How much of a paper a reading explains."""

    name: str
    parts: dict[str, str]
    """The value of each unknown that is not as stated."""
    claims: tuple[str, ...]
    """The ids of the claims that hold."""
    reproduced: int

    @property
    def order(self) -> tuple[int, int, int]:
        """The best first: most claims, most values, fewest changes."""
        return -len(self.claims), -self.reproduced, len(self.parts)


def scores(outcome: Outcome) -> list[Score]:
    """Return the stated reading and all combinations, the best first."""
    found = [_score(STATED, {}, outcome.values, outcome.claims)]
    for one in outcome.reconstructed:
        parts = {part.unknown: part.id for part in one.reconstruction.parts}
        found.append(_score(one.reconstruction.id, parts, one.values, one.claims))
    return sorted(found, key=lambda score: score.order)


def _score(name: str, parts: dict[str, str], values: Sequence[Judged], claims: Sequence[JudgedClaim]) -> Score:
    holding = tuple(one.claim.id.rpartition("/")[2] for one in claims if one.verdict == "holds")
    return Score(name, parts, holding, sum(one.verdict == "reproduced" for one in values))


def tables(outcome: Outcome) -> list[Table]:
    """Return the best combinations, and what each value of each unknown does on average."""
    found = scores(outcome)
    stated = next(one for one in found if one.name == STATED)
    judged = sum(one.verdict in ("holds", "fails") for one in outcome.claims)
    rows = [_row(one, stated) for one in found[:SHOWN]]
    if stated not in found[:SHOWN]:
        rows.append(_row(stated, stated))
    caution = "Inferred, not stated: the best of many readings fits by chance, too."
    notes = [f"{len(found)} readings; {judged} claims were judged. {caution}"]
    best = Table.of("What explains most of the paper", rows, notes, texts=("reading", "gained", "lost"))
    values = list(_values(found))
    return [best, Table.of("Each open value, over all combinations of the others", values, texts=("unknown", "value"))]


def _row(one: Score, stated: Score) -> dict[str, str]:
    return {
        "reading": one.name,
        "claims that hold": str(len(one.claims)),
        "values reproduced": str(one.reproduced),
        "gained": ", ".join(id_ for id_ in one.claims if id_ not in stated.claims) or "–",
        "lost": ", ".join(id_ for id_ in stated.claims if id_ not in one.claims) or "–",
    }


def _values(found: Sequence[Score]) -> Iterator[dict[str, str]]:
    unknowns: dict[str, None] = dict.fromkeys(unknown for one in found for unknown in one.parts)
    for unknown in unknowns:
        values = dict.fromkeys([STATED, *(one.parts[unknown] for one in found if unknown in one.parts)])
        for value in values:
            own = [one for one in found if one.parts.get(unknown, STATED) == value]
            yield {
                "unknown": unknown,
                "value": value,
                "claims that hold": f"{fmean(len(one.claims) for one in own):.1f}",
                "most": str(max(len(one.claims) for one in own)),
                "values reproduced": f"{fmean(one.reproduced for one in own):.1f}",
            }


def answer(outcome: Outcome) -> list[str]:
    """Return the answer: the best reading, those that cannot be told from it, and the stated one."""
    found = scores(outcome)
    stated = next(one for one in found if one.name == STATED)
    best = found[0]
    if best.name == STATED:
        return [f"No combination explains more than the paper as stated: {len(stated.claims)} claims hold."]
    equal = [one.name for one in found[1:] if one.order[:2] == best.order[:2]]
    claims = f"{len(best.claims)}, and {len(stated.claims)} as stated"
    values = f"{best.reproduced} values are reproduced, and {stated.reproduced} as stated"
    lines = [f"Most claims hold with {best.name}: {claims}; {values}. Inferred, not stated."]
    if equal:
        lines.append(f"The paper does not tell it from {', '.join(equal)}.")
    return lines
