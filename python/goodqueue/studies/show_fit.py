"""Shows which combinations of what a paper leaves open explain most of it: ``study --fit``."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import fmean

from goodqueue.show.table import Table
from goodqueue.studies.judging import Judged
from goodqueue.studies.model import Reconstruction
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
    titles: dict[str, str]
    """What the value of each unknown is, in words of the study's file."""

    @property
    def order(self) -> tuple[int, int, int]:
        """The best first: most claims, most values, fewest changes."""
        return -len(self.claims), -self.reproduced, len(self.parts)


def scores(outcome: Outcome) -> list[Score]:
    """Return the stated reading and all combinations, the best first."""
    rows = [_score(STATED, (), outcome.values, outcome.claims)]
    for reconstructed in outcome.reconstructed:
        one = reconstructed.reconstruction
        rows.append(_score(one.id, one.parts, reconstructed.values, reconstructed.claims))
    return sorted(rows, key=lambda score: score.order)


def _score(
    name: str, parts: Sequence[Reconstruction], judged: Sequence[Judged], claims: Sequence[JudgedClaim]
) -> Score:
    holding = tuple(claim.claim.id.rpartition("/")[2] for claim in claims if claim.verdict == "holds")
    reproduced = sum(value.verdict == "reproduced" for value in judged)
    values, titles = {part.unknown: part.id for part in parts}, {part.id: part.title for part in parts}
    return Score(name, values, holding, reproduced, titles)


def tables(outcome: Outcome) -> list[Table]:
    """Return the best combinations, and what each value of each unknown does on average."""
    readings = scores(outcome)
    stated = next(row for row in readings if row.name == STATED)
    judged = sum(claim.verdict in ("holds", "fails") for claim in outcome.claims)
    rows = [_row(row, stated) for row in readings[:SHOWN]]
    if stated not in readings[:SHOWN]:
        rows.append(_row(stated, stated))
    caution = "Inferred, not stated: the best of many readings fits by chance, too."
    words = {id_: title for row in readings for id_, title in row.titles.items()}
    notes = [f"{id_}: {title}." for id_, title in words.items()]
    notes.append(f"{len(readings)} readings; {judged} claims were judged. {caution}")
    best = Table.of("What explains most of the paper", rows, notes, texts=("reading", "gained", "lost"))
    values = list(_values(readings))
    return [best, Table.of("Each open value, over all combinations of the others", values, texts=("unknown", "value"))]


def _row(score: Score, stated: Score) -> dict[str, str]:
    return {
        "reading": score.name,
        "claims that hold": str(len(score.claims)),
        "values reproduced": str(score.reproduced),
        "gained": ", ".join(id_ for id_ in score.claims if id_ not in stated.claims) or "–",
        "lost": ", ".join(id_ for id_ in stated.claims if id_ not in score.claims) or "–",
    }


def _values(scores: Sequence[Score]) -> Iterator[dict[str, str]]:
    unknowns: dict[str, None] = dict.fromkeys(unknown for score in scores for unknown in score.parts)
    for unknown in unknowns:
        values = dict.fromkeys([STATED, *(score.parts[unknown] for score in scores if unknown in score.parts)])
        for value in values:
            with_value = [score for score in scores if score.parts.get(unknown, STATED) == value]
            yield {
                "unknown": unknown,
                "value": value,
                "claims that hold": f"{fmean(len(score.claims) for score in with_value):.1f}",
                "most": str(max(len(score.claims) for score in with_value)),
                "values reproduced": f"{fmean(score.reproduced for score in with_value):.1f}",
            }


def answer(outcome: Outcome) -> list[str]:
    """Return the answer: the best reading, those that cannot be told from it, and the stated one."""
    rows = scores(outcome)
    stated = next(row for row in rows if row.name == STATED)
    best = rows[0]
    if best.name == STATED:
        return [f"No combination explains more than the paper as stated: {len(stated.claims)} claims hold."]
    equal = [row.name for row in rows[1:] if row.order[:2] == best.order[:2]]
    claims = f"{len(best.claims)}, and {len(stated.claims)} as stated"
    values = f"{best.reproduced} values are reproduced, and {stated.reproduced} as stated"
    lines = [f"Most claims hold with {best.name}: {claims}; {values}. Inferred, not stated."]
    lines.append(f"That is {'; and '.join(best.titles.values())}.")
    if equal:
        lines.append(f"The paper does not tell it from {', '.join(equal)}.")
    return lines
