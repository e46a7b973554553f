"""The answer of one run: what it found, its tables, the distribution of the queueing delay, and its record."""

import json
from collections.abc import Iterator

from goodqueue.files import output
from goodqueue.record import Record
from goodqueue.show import describe, undone
from goodqueue.show.answer import Answer, Distributions, Findings, Part, Section
from goodqueue.show.run import finding, run_parts


def of(name: str, text: str, trace: str | None, written: str | None) -> Answer:
    """Return the answer of the run called ``name`` with the record ``text``.

    ``trace`` is the file that a capture was asked for, and ``written`` the one that it has.
    """
    record: Record = json.loads(text)
    trouble = None
    if trace is not None and written is not None and written != trace:
        trouble = output.appeared(trace, written, "--trace")
    return Answer(name, list(parts(name, record)), dict, record, text=text, trouble=trouble)


def parts(name: str, record: Record) -> Iterator[Part]:
    """Yield what a person sees of the run called ``name``."""
    yield Findings(undone.of_run(record).around(finding.sentences(record)))
    yield describe.run(name, record)
    yield from run_parts(record)
    delays = [
        (direction, [value for value in queue["delay_percentiles_ms"] or () if value is not None])
        for direction, queue in record["queues"].items()
    ]
    if drawn := [(direction, delay) for direction, delay in delays if len(delay) == 101 and delay[-1] > 0]:
        distributions = Distributions("Queueing delay", drawn)
        yield Section("", [distributions], is_detail=True) if "isp" in record else distributions
