"""Tables and sentences on what reconstructions change against the stated reading."""

from collections.abc import Iterator, Sequence

from goodqueue.show.table import Column, Table
from goodqueue.studies import show_fit
from goodqueue.studies.judging import Judged
from goodqueue.studies.outcome import Outcome
from goodqueue.studies.readings import Reconstructed
from goodqueue.studies.verdicts import JudgedClaim
from goodqueue.studies.wording import bounds, significant

INFERRED = "inferred, not stated"


def tables(outcome: Outcome) -> list[Table]:
    """Return for each reconstruction the values and the claims that it changes, stated and inferred.

    Of the combinations that ``--fit`` tried, there are two tables in all.
    """
    if is_fit(outcome):
        return show_fit.tables(outcome)
    tables = []
    for reconstructed in outcome.reconstructed:
        title = f"With {reconstructed.reconstruction.title} ({INFERRED})"
        if rows := list(_values(outcome, reconstructed)):
            left = [Column(text, numeric=False) for text in ("of", "where", "qdisc", "metric")]
            stated = [Column("paper"), Column("stated"), Column("", numeric=False)]
            columns = [*left, *stated, Column("inferred"), Column("", numeric=False)]
            tables.append(
                Table(
                    f"{title}: values", columns, rows, [f"Evidence: {reconstructed.reconstruction.evidence}"], names=4
                )
            )
        if rows := list(_claims(outcome, reconstructed)):
            columns = [Column(text, numeric=False) for text in ("claim", "stated", "inferred", "statement")]
            tables.append(Table(f"{title}: claims that turn", columns, rows))
    return tables


def is_fit(outcome: Outcome) -> bool:
    """Return whether the readings are the combinations of ``--fit``."""
    return any(reconstructed.reconstruction.parts for reconstructed in outcome.reconstructed)


def _values(outcome: Outcome, reconstructed: Reconstructed) -> Iterator[list[str]]:
    words, printed = outcome.study.words, outcome.study.published.scenarios
    for before, after in _pairs(outcome, reconstructed):
        value, name = before.value, words.name(before.value.metric)
        if before.distance is not None and after.distance is not None and _number(before) != _number(after):
            paper = f"{value.number:g}" if value.number is not None else bounds(value.low, value.high)
            names = [printed[value.scenario].name, words.point(value.at), words.algorithm(value.algorithm), str(name)]
            yield [*names, paper, _number(before), before.verdict, _number(after), after.verdict]


def _number(judged: Judged) -> str:
    measured = judged.measured.value if judged.measured else None
    return "–" if measured is None else significant(measured)


def _claims(outcome: Outcome, reconstructed: Reconstructed) -> Iterator[list[str]]:
    for before, after in zip(outcome.claims, reconstructed.claims, strict=True):
        if before.verdict != after.verdict:
            texts = f"{after.claim.statement}\n{after.why}"
            yield [_short(after), before.verdict.replace("_", " "), after.verdict.replace("_", " "), texts]


def counts(outcome: Outcome) -> list[str]:
    """Return one sentence per reconstruction: how many more claims hold, and how many values are reproduced."""
    if is_fit(outcome):
        return show_fit.answer(outcome)
    return [_count(outcome, reconstructed) for reconstructed in outcome.reconstructed]


def _count(outcome: Outcome, reconstructed: Reconstructed) -> str:
    turned = [
        (old, new) for old, new in zip(outcome.claims, reconstructed.claims, strict=True) if old.verdict != new.verdict
    ]
    more = [_short(new) for _, new in turned if new.verdict == "holds"]
    fewer = [_short(new) for old, new in turned if old.verdict == "holds"]
    compared = [(old, new) for old, new in _pairs(outcome, reconstructed) if new.distance is not None]
    before, after = ([judged.verdict for judged in side].count("reproduced") for side in _sides(compared))
    changes = [f"{_claims_that(len(more), 'more')}{_listed(more)}"]
    if fewer:
        changes.append(f"{_claims_that(len(fewer), 'no longer')}{_listed(fewer)}")
    values = f"{after} of {len(compared)} values reproduced, {before} as stated"
    return f"With {reconstructed.reconstruction.title} ({INFERRED}): {', '.join(changes)}; {values}."


def _claims_that(count: int, how: str) -> str:
    if how == "more":
        return f"{count or 'no'} more claim{'' if count == 1 else 's'} {'holds' if count == 1 else 'hold'}"
    return f"{count} no longer {'does' if count == 1 else 'do'}"


def _listed(ids: Sequence[str]) -> str:
    return f" ({', '.join(ids)})" if ids else ""


def _pairs(outcome: Outcome, reconstructed: Reconstructed) -> list[tuple[Judged, Judged]]:
    return list(zip(outcome.values, reconstructed.values, strict=True))


def _sides(pairs: Sequence[tuple[Judged, Judged]]) -> tuple[list[Judged], list[Judged]]:
    return [before for before, _ in pairs], [after for _, after in pairs]


def _short(judged: JudgedClaim) -> str:
    return judged.claim.id.rpartition("/")[2]
