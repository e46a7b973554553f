"""The answer to a comparison: tables and sentences about the loaded directions, and a report of its own."""

from collections.abc import Iterator

from goodqueue.comparison import pages, tables
from goodqueue.comparison.comparing import Comparison, as_json
from goodqueue.comparison.question import Compare
from goodqueue.show import describe
from goodqueue.show.answer import Answer, Distributions, Part


def of(comparison: Comparison, question: Compare) -> Answer:
    """Return the answer."""
    differences = tables.difference_tables(comparison, question.effect)
    return Answer(
        "",
        list(_parts(comparison, question)),
        lambda: as_json(comparison),
        comparison,
        latex=[*tables.full_tables(comparison), *differences],
        beside=("results.json", "records.jsonl"),
        write=lambda folder, command, progress: pages.write(folder, comparison, command, progress),
    )


def _parts(comparison: Comparison, question: Compare) -> Iterator[Part]:
    yield describe.whole(comparison.scenario)
    yield from tables.not_done(comparison)
    yield from tables.tables(comparison)
    for direction in comparison.loaded():
        runs = [
            (entry.label, delays) for entry in comparison.entries if (delays := entry.delay_percentiles_ms[direction])
        ]
        if runs:
            yield Distributions(f"Queueing delay, {direction}, all seeds", runs)
    yield from tables.difference_tables(comparison, question.effect)
    yield from tables.findings(comparison)
    yield from tables.certainty(comparison)
