"""Reads a file of Flent, or of a program that `goodqueue.neighbours` reads. Its content says which one wrote it."""

from collections.abc import Iterator
from typing import Any

from goodqueue.errors import UserError
from goodqueue.flent import importing, reading
from goodqueue.neighbours import iperf3, irtt, opening
from goodqueue.record import Record, Scenario
from goodqueue.store import checking


def records(file: str, scenario: Scenario | None, number: int) -> Iterator[Record]:
    """Yield a record of each test in ``file``. Raises UserError for a file of no program that is read here.

    Each record is checked as those in files are. So a store never gets one that no verb reads.
    """
    for record in _unchecked(file, scenario, number):
        checking.record(record, file)
        yield record


def _unchecked(file: str, scenario: Scenario | None, number: int) -> Iterator[Record]:
    documents: list[Any] = opening.documents(file)
    if len(documents) > 1:
        documents = [
            data for data in documents if opening.program(data) != "iperf3" or iperf3.has_test(data)
        ] or documents[:1]
    for index, data in enumerate(documents):
        name = file if len(documents) == 1 else f"{file}#{index + 1}"
        match opening.program(data):
            case "flent":
                yield importing.record(reading.parsed(data, name), scenario, number + index)
            case "irtt":
                yield irtt.record(data, name, scenario, number + index)
            case "iperf3":
                yield iperf3.record(data, name, scenario, number + index)
            case _:
                is_ours = isinstance(data, dict) and {"schema", "engine", "scenario"} <= data.keys()
                why = (
                    "a record of goodqueue's, which report, plot and export read as it is"
                    if is_ours
                    else ("JSON of no program that is read here")
                )
                raise UserError(name, f"found {why}; accepted: {opening.ACCEPTED}")
