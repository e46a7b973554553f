"""The answers of ``validate``: the errors of the simulator, cell by cell, and the lines that tc reads otherwise."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from goodqueue.show.answer import Answer, Part
from goodqueue.validation import judging, lines_show, pages, show
from goodqueue.validation.result import Validation

MOST_SHOWN = 20
"""The most differences of a discipline and a kind that are listed."""


def of(validation: Validation) -> Answer:
    """Return the answer. Its report is `pages`' own."""
    judgement = judging.judge(validation.results)

    def write(folder: Path, *_: object) -> None:
        pages.write(folder, validation, judgement)

    return Answer(
        "The simulator against Linux",
        [show.describe(validation), *show.tables(validation, judgement), *show.headline(validation, judgement)],
        lambda: pages.as_json(validation, judgement),
        validation,
        write=write,
        folder=f"{{}}/{pages.TABLE}, with figures and results.json beside it",
    )


def of_lines(result: Mapping[str, Any]) -> Answer:
    """Return the answer of a comparison of lines, of which ``result`` is the JSON."""
    return Answer(lines_show.table(result).title, list(_of_lines(result)), lambda: result, result)


def _of_lines(result: Mapping[str, Any]) -> Iterator[Part]:
    yield lines_show.table(result)
    for name, qdisc in result["qdiscs"].items():
        for key, heading in lines_show.LISTS.items():
            for difference in qdisc["open"][key][:MOST_SHOWN]:
                ours, theirs = difference["goodqueue"], difference["tc"]
                yield f"{name}, {heading}: {difference['line']}\n  tc: {theirs}\n  goodqueue: {ours}"
