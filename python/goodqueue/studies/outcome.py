"""The outcome of a study, as a value and as JSON."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from goodqueue import running
from goodqueue.store import Store
from goodqueue.studies import execution, judging, readings, trivial, verdicts
from goodqueue.studies.execution import Measured
from goodqueue.studies.judging import Judged
from goodqueue.studies.model import Study
from goodqueue.studies.planning import Plan
from goodqueue.studies.readings import Reconstructed
from goodqueue.studies.selection import Selection
from goodqueue.studies.summary import Error, MetricSummary, summarise
from goodqueue.studies.verdicts import JudgedClaim


@dataclass(frozen=True, slots=True)
class Outcome:
    """A study with the results of its runs."""

    study: Study
    engine: str
    quick: bool
    only: frozenset[str]
    """The ids that were asked for. Empty: everything."""
    runs: int
    """The number of runs made. Cells share some of them."""
    cells: tuple[Measured, ...]
    values: tuple[Judged, ...]
    trivial: Mapping[str, str]
    """The verdicts of a trivial model, by the id of the value. See `goodqueue.studies.trivial`."""
    claims: tuple[JudgedClaim, ...]
    summary: tuple[MetricSummary, ...]
    reconstructed: tuple[Reconstructed, ...] = ()
    """The results of the reconstructions, if they were asked for."""

    def measured(self, scenario: str) -> list[Measured]:
        """Return the cells of one published scenario."""
        return [cell for cell in self.cells if cell.cell.scenario == scenario]


def carry_out(
    plan: Plan,
    selection: Selection,
    workers: int | None = None,
    progress: running.Progress | None = None,
    store: Store | None = None,
    warn: Callable[[str], None] = lambda _: None,
) -> Outcome:
    """Execute the runs of ``plan`` that ``store`` lacks, and judge the study by all runs. See `execution.execute`."""
    measured = execution.execute(plan, workers, progress, store, warn)
    cells = readings.stated(measured)
    values = judging.judge(plan.study, readings.by_place(cells), selection)
    inferred = readings.judge(plan.study, measured, selection) if plan.reconstructed else ()
    return Outcome(
        study=plan.study,
        engine=plan.engine,
        quick=plan.quick,
        only=selection.ids,
        runs=len(plan.scenarios),
        cells=tuple(cells),
        values=tuple(values),
        trivial=trivial.judge(plan.study, values),
        claims=tuple(verdicts.judge(plan.study, cells, selection)),
        summary=tuple(summarise(values)),
        reconstructed=tuple(inferred),
    )


def as_json(outcome: Outcome, version: str) -> dict[str, Any]:
    """Return ``outcome`` as the object that ``study --json`` prints and ``results.json`` holds.

    Beside the stable keys (study, values, claims) it has the summary and the runs. A published range is a list of its
    two ends, null for an open end. Distances are measured − published for percent, ln(measured/published) otherwise.
    A value's ``trivial`` is the verdict of the trivial model. It is null if the model has no answer or nothing was
    compared.
    """
    return {
        "schema": 1,
        "made_by": "goodqueue study",
        "version": version,
        "study": outcome.study.key,
        "engine": outcome.engine,
        "quick": outcome.quick,
        "only": sorted(outcome.only),
        "runs": outcome.runs,
        "confidence": 0.95,
        "values": [_value(judged, outcome.trivial.get(judged.value.id)) for judged in outcome.values],
        "claims": [claim_json(judged) for judged in outcome.claims],
        "summary": {
            "metrics": [_summary(metric) for metric in outcome.summary],
            "values": _count([judged.verdict for judged in outcome.values], judging.VERDICTS),
            "trivial": _trivial(outcome),
            "claims": _count([judged.verdict for judged in outcome.claims], verdicts.VERDICTS),
        },
        "cells": [_cell(cell) for cell in outcome.cells],
        **(
            {"reconstructions": [_reconstructed(reconstructed) for reconstructed in reconstructions]}
            if (reconstructions := outcome.reconstructed)
            else {}
        ),
    }


def _reconstructed(reconstructed: Reconstructed) -> dict[str, Any]:
    """Return the results of a reconstruction. The published numbers are in the study's own values and claims."""
    values = [_value(judged, None) for judged in reconstructed.values]
    keys = ("id", "measured", "ci", "n", "verdict", "distance", "why")
    return {
        "id": reconstructed.reconstruction.id,
        "title": reconstructed.reconstruction.title,
        "evidence": reconstructed.reconstruction.evidence,
        "values": [{key: value[key] for key in keys} for value in values],
        "claims": [claim_json(judged) for judged in reconstructed.claims],
        "summary": {
            "values": _count([judged.verdict for judged in reconstructed.values], judging.VERDICTS),
            "claims": _count([judged.verdict for judged in reconstructed.claims], verdicts.VERDICTS),
        },
    }


def _value(judged: Judged, trivial_verdict: str | None) -> dict[str, Any]:
    value, measured = judged.value, judged.measured
    low, high = (_finite(end) for end in (value.low, value.high))
    published: Any = value.text or None if value.low is None else low if low == high else [low, high]
    interval = None if measured is None or measured.low is None else [measured.low, measured.high]
    return {
        "id": value.id,
        "scenario": value.scenario,
        "algorithm": value.algorithm,
        "metric": value.metric,
        "at": dict(value.at),
        "unit": value.unit,
        "published": published,
        **({} if value.band is None else {"band": value.band}),
        "measured": measured.value if measured else None,
        "ci": interval,
        "n": measured.n if measured else 0,
        "verdict": judged.verdict,
        "distance": _finite(judged.distance),
        "why": judged.why,
        "trivial": trivial_verdict,
    }


def claim_json(judged: JudgedClaim) -> dict[str, Any]:
    """Return a claim with its verdict, in the format of the JSON output."""
    return {
        "id": judged.claim.id,
        "statement": judged.claim.statement,
        "verdict": judged.verdict,
        "certain": judged.certain,
        "measured": dict(judged.measured),
        "why": judged.why,
    }


def _summary(summary: MetricSummary) -> dict[str, Any]:
    def error(mean_error: Error) -> dict[str, Any]:
        return {"error": _finite(mean_error.value), "n": mean_error.n}

    return {
        "metric": summary.metric,
        "unit": summary.unit,
        "measure": summary.measure,
        "overall": error(summary.overall),
        "by_scenario": {name: error(mean_error) for name, mean_error in summary.by_scenario.items()},
        "by_algorithm": {name: error(mean_error) for name, mean_error in summary.by_algorithm.items()},
        "verdicts": summary.verdicts,
    }


def _cell(measured: Measured) -> dict[str, Any]:
    return {
        "scenario": measured.cell.scenario,
        "algorithm": measured.cell.algorithm,
        "at": dict(measured.cell.at),
        "qdisc": measured.qdisc,
        "seeds": list(measured.seeds),
        "runs": {metric: list(number.runs) for metric, number in measured.numbers.items()},
        **({"settled_s": measured.start.settled_s} if measured.start else {}),
    }


def _trivial(outcome: Outcome) -> dict[str, Any]:
    """Return the score of the trivial model, beside our score on the same values."""
    here = [judged.verdict for judged in outcome.values if judged.value.id in outcome.trivial]
    compared = judging.VERDICTS[:3]
    verdicts = _count(list(outcome.trivial.values()), compared)
    return {"model": trivial.NAME, "n": len(here), "verdicts": verdicts, "here": _count(here, compared)}


def _finite(number: float | None) -> float | None:
    return number if number is not None and math.isfinite(number) else None


def _count(words: Sequence[str], every: Sequence[str]) -> dict[str, int]:
    return {word: words.count(word) for word in every}
