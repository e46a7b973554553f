"""The answer of a study: its values and claims beside those that were published, and its report."""

from collections.abc import Iterator

from goodqueue._goodqueue import VERSION
from goodqueue.show.answer import Answer, Part
from goodqueue.studies import pages, show, show_readings
from goodqueue.studies.figures import Draw
from goodqueue.studies.outcome import Outcome, as_json


def of(outcome: Outcome, draw: Draw | None) -> Answer:
    """Return the answer. ``draw`` draws the study's own figures."""
    return Answer(
        outcome.study.title,
        list(_parts(outcome)),
        lambda: as_json(outcome, VERSION),
        outcome,
        write=lambda folder, command, progress: pages.write(folder, outcome, command, draw, progress),
        beside=("results.json", "measured.csv"),
    )


def _parts(outcome: Outcome) -> Iterator[Part]:
    yield from show.describe(outcome)
    yield from show.tables(outcome)
    yield from show.claims_tables(outcome)
    if outcome.summary:
        yield show.summary_table(outcome)
    yield from show_readings.tables(outcome)
    yield from show.counts(outcome)
    yield from show_readings.counts(outcome)
