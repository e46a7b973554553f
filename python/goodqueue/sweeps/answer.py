"""The answer of a sweep: what is best and where, tables and figures along its axes, and the files beside the runs."""

from collections.abc import Iterator
from pathlib import Path

from goodqueue.comparison.meanings import STORED
from goodqueue.files.output import RESULTS
from goodqueue.scenario.toml import to_toml
from goodqueue.show.answer import Answer, Code, Findings, Part, Section, Terms, Text
from goodqueue.store import Store
from goodqueue.sweeps import figures, files, show
from goodqueue.sweeps.grid import QDISC
from goodqueue.sweeps.question import Sweep as Question
from goodqueue.sweeps.result import Sweep, as_json, as_long_json

STORED_FILES = f"{RESULTS}, cells.csv, tables.tex, and runs.parquet with one row per run"
"""What a store has of a sweep."""


def of(sweep: Sweep, question: Question, store: Store | None, computed: int) -> Answer:
    """Return the answer. With a store its files are written there; ``computed`` runs were not in it before."""
    folder, remarks = "", []
    if store is not None:
        folder = str(files.write(store, sweep))
        keys = {key for cell in sweep.cells for key in cell.keys}
        remarks = [f"{len(keys)} runs in {question.store}, {computed} of them new"]
    return Answer(
        f"Sweep of {Path(sweep.name).name}",
        list(parts(sweep, question.effect)),
        lambda: as_json(sweep),
        sweep,
        made_files=lambda: files.of(sweep),
        latex=show.tables(sweep, question.effect),
        beside=(RESULTS, "cells.csv", "runs.parquet", "tables.tex"),
        written=f"{folder}: {STORED_FILES}" if folder else "",
        remarks=remarks,
        failures=show.failures(sweep),
        long_data=lambda: as_long_json(sweep),
    )


def parts(sweep: Sweep, has_effect: bool = False) -> Iterator[Part]:
    """Yield what a person sees. Effect sizes are shown if it ``has_effect``."""
    yield Findings(show.not_done(sweep).around(show.headline(sweep)))
    yield Text(show.describe(sweep), "lead")
    yield from show.tables(sweep, has_effect)
    yield from show.others(sweep)
    yield from (Text(sentence, "note") for sentence in show.certainty(sweep))
    yield Section("Figures", list(figures.of(sweep)))
    lines = {cell.cell.at.get(QDISC, "qdisc"): cell.qdisc for cell in sweep.cells if cell.qdisc}
    experiment = [
        Section("Queue disciplines", [Terms(lines, are_code=True)]),
        Section("Scenario", [Code(to_toml(sweep.scenario))]),
        Section("What the numbers mean", [Terms(STORED)]),
    ]
    yield Section("The experiment", experiment, is_detail=True)
