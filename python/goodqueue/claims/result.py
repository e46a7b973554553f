"""A result: the verdict of each claim and of each value of several studies, with the day and the commit of the runs.

Its file is the answers of ``goodqueue study --json`` in a list, below a header. Of each answer the file keeps what
another result is compared with. Each value and each claim has a line of its own, so that ``git diff`` shows them.
"""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from goodqueue.errors import UserError, quoted
from goodqueue.store import results
from goodqueue.studies import judging, verdicts

MADE_BY = "goodqueue claims"
ACCEPTED = "what `goodqueue claims --out` wrote"

VALUE_KEYS = ("id", "unit", "published", "measured", "ci", "n", "verdict")
CLAIM_KEYS = ("id", "statement", "verdict", "certain", "measured", "why")
"""What is kept of a value and of a claim."""

DIGITS = 6
"""The significant digits of a measured number that are kept."""


@dataclass(frozen=True, slots=True)
class Part:
    """The result of one study."""

    study: str
    engine: str
    quick: bool
    only: tuple[str, ...]
    runs: int
    seeds: tuple[int, int]
    """The least and the greatest number of seeds of a cell."""
    cpu_s: float | None
    """The processor time of the runs and of judging them. None if some runs were not made here."""
    values: Mapping[str, Mapping[str, Any]]
    claims: Mapping[str, Mapping[str, Any]]
    """By id, with the keys of `VALUE_KEYS` and `CLAIM_KEYS`."""

    @property
    def is_whole(self) -> bool:
        """Whether all of the study was run, at full length."""
        return not self.quick and not self.only


@dataclass(frozen=True, slots=True)
class Result:
    """The results of several studies."""

    version: str
    commit: str
    """The commit of the source. Empty if it is not known."""
    date: str
    """The day of the runs, or the day and the time: ``2026-11-28`` or ``2026-11-28T14:05Z``."""
    parts: tuple[Part, ...]

    @property
    def is_whole(self) -> bool:
        """Whether each study is whole."""
        return all(part.is_whole for part in self.parts)

    @property
    def name(self) -> str:
        """The name of its file: ``2026-11-28-33c32b7b.json``."""
        return f"{'-'.join(filter(None, (self.date[:10], self.commit)))}.json"

    @property
    def title(self) -> str:
        """The day and the commit in words: ``2026-11-28 (33c32b7b)``."""
        return f"{self.date[:10]}{f' ({self.commit})' if self.commit else ''}"


def part_of(answer: Mapping[str, Any], cpu_s: float | None = None) -> Part:
    """Return the part of a result that ``answer``, an object of ``goodqueue study --json``, is.

    Raises KeyError, TypeError or ValueError if it is no such object.
    """
    counts = [len(cell["seeds"]) for cell in answer["cells"]]
    return _part(answer, [min(counts, default=0), max(counts, default=0)], cpu_s)


def _part(data: Mapping[str, Any], seeds: Sequence[int], cpu_s: float | None) -> Part:
    """Return the part that ``data`` is: an answer, or a study in the file of a result. Raises as `part_of` does."""
    least, greatest = seeds
    return Part(
        study=data["study"],
        engine=data["engine"],
        quick=data["quick"],
        only=tuple(data["only"]),
        runs=data["runs"],
        seeds=(least, greatest),
        cpu_s=cpu_s,
        values=_kept_keys(data["values"], VALUE_KEYS, judging.VERDICTS),
        claims=_kept_keys(data["claims"], CLAIM_KEYS, verdicts.VERDICTS),
    )


def _kept_keys(
    rows: Sequence[Mapping[str, Any]], keys: Sequence[str], verdicts: Sequence[str]
) -> dict[str, dict[str, Any]]:
    """Return the ``keys`` of each of ``rows``, by id. Raises ValueError if a verdict is none of ``verdicts``."""
    for row in rows:
        if row["verdict"] not in verdicts:
            raise ValueError(f"verdict {quoted(row['verdict'])} of {row['id']}")
    return {
        row["id"]: {key: _rounded(row[key]) if key in ("measured", "ci") else row[key] for key in keys} for row in rows
    }


def _rounded(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {name: _rounded(part) for name, part in value.items()}
    if isinstance(value, list):
        return [_rounded(part) for part in value]
    return float(f"{value:.{DIGITS}g}") if isinstance(value, float) and math.isfinite(value) else value


def as_json(result: Result) -> dict[str, Any]:
    """Return ``result`` as the object of its file."""
    return {
        "schema": 1,
        "made_by": MADE_BY,
        "version": result.version,
        "commit": result.commit,
        "date": result.date,
        "studies": [
            {
                "study": part.study,
                "engine": part.engine,
                "quick": part.quick,
                "only": list(part.only),
                "runs": part.runs,
                "seeds": list(part.seeds),
                "cpu_s": part.cpu_s,
                "values": list(part.values.values()),
                "claims": list(part.claims.values()),
            }
            for part in result.parts
        ],
    }


def text(result: Result) -> str:
    """Return the content of the file of ``result``."""

    def compact(data: object) -> str:
        return json.dumps(data, ensure_ascii=False, separators=(",", ":"))

    def rows(items: Sequence[object]) -> str:
        return "[" + ",".join(f"\n{compact(row)}" for row in items) + "]"

    data = as_json(result)
    studies = []
    for study in data.pop("studies"):
        values, claims = study.pop("values"), study.pop("claims")
        studies.append(f'\n{compact(study)[:-1]},\n"values":{rows(values)},\n"claims":{rows(claims)}}}')
    return f'{compact(data)[:-1]},\n"studies":[{",".join(studies)}]}}\n'


def read(path: Path) -> Result:
    """Return the result in the file ``path``. Raises UserError."""
    return parse(load(path, ACCEPTED), str(path))


def load(path: Path, accepted: str) -> Any:
    """Return the JSON in the file ``path``. Raises UserError that says what is ``accepted``."""
    return results.parse(results.text(path, accepted), str(path), accepted)


def parse(data: Any, where: str) -> Result:
    """Return the result in the object ``data`` of a file. Raises UserError with ``where``."""
    if not isinstance(data, dict) or data.get("made_by") != MADE_BY:
        made_by = data.get("made_by", "no made_by") if isinstance(data, dict) else type(data).__name__
        raise UserError(where, f"found {quoted(made_by)}; accepted: {ACCEPTED}")
    try:  # the layout of `goodqueue.store` has checked keys and types already
        parts = tuple(_part(study, study["seeds"], study["cpu_s"]) for study in data["studies"])
    except ValueError as error:
        raise UserError(where, f"damaged ({error}); accepted: {ACCEPTED}") from None
    return Result(data["version"], data["commit"], data["date"], parts)


def stored(folder: Path) -> list[tuple[Path, Result]]:
    """Return the files of results in ``folder`` with their results, the newest first. Raises UserError."""
    results = [(path, read(path)) for path in sorted(folder.glob("*.json"))]
    return sorted(results, key=lambda pair: pair[1].date, reverse=True)
