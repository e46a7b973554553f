"""The answer of a sweep: tables along its axes, and the files beside the runs in its store."""

from collections.abc import Iterator

from goodqueue.show.answer import Answer, Part
from goodqueue.store import Store
from goodqueue.sweeps import pages, show
from goodqueue.sweeps.question import Sweep as Question
from goodqueue.sweeps.result import Sweep, as_json

WRITTEN = "results.json, cells.csv, tables.tex, and runs.parquet with one row per run"


def of(sweep: Sweep, question: Question, store: Store | None, computed: int) -> Answer:
    """Return the answer. With a store its files are written there; ``computed`` runs were not in it before."""
    folder, remarks = "", []
    if store is not None:
        folder = str(pages.write(store, sweep))
        keys = {key for cell in sweep.cells for key in cell.keys}
        remarks = [f"{len(keys)} runs in {question.store}, {computed} of them new"]
    return Answer(
        show.describe(sweep),
        list(parts(sweep, question.effect)),
        lambda: as_json(sweep),
        sweep,
        latex=show.tables(sweep, question.effect),
        write=lambda report, _command, _progress: pages.fill(report, sweep),
        folder=f"{{}}: {WRITTEN}",
        written=f"{folder}: {WRITTEN}" if folder else "",
        remarks=remarks,
        failures=show.failures(sweep),
    )


def parts(sweep: Sweep, has_effect: bool = False) -> Iterator[Part]:
    """Yield what a person sees. Effect sizes are shown if it ``has_effect``."""
    yield show.describe(sweep)
    yield from show.not_done(sweep)
    yield from show.tables(sweep, has_effect)
    yield from show.certainty(sweep)
