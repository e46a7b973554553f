"""The answer of one run: its tables, the distribution of the queueing delay, and its record."""

import json
from collections.abc import Iterator

from goodqueue.files import output
from goodqueue.record import Record
from goodqueue.show import describe, undone
from goodqueue.show.answer import Answer, Distributions, Part
from goodqueue.show.run import run_tables


def of(name: str, text: str, trace: str | None, written: str | None) -> Answer:
    """Return the answer of the run called ``name`` with the record ``text``.

    ``trace`` is the file that a capture was asked for, and ``written`` the one that it has.
    """
    record: Record = json.loads(text)
    trouble = None
    if trace is not None and written is not None and written != trace:
        trouble = output.appeared(trace, written, "--trace")
    return Answer(name, list(_parts(name, record)), dict, record, text=text, trouble=trouble)


def _parts(name: str, record: Record) -> Iterator[Part]:
    yield describe.run(name, record)
    yield from undone.of_run(record)
    yield from run_tables(record)
    delays = [
        (direction, [value for value in queue["delay_percentiles_ms"] or () if value is not None])
        for direction, queue in record["queues"].items()
    ]
    if drawn := [(direction, delay) for direction, delay in delays if len(delay) == 101 and delay[-1] > 0]:
        yield Distributions("Queueing delay", drawn)
