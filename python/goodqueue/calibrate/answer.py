"""The answer of ``calibrate``: a table per program, and how well repeats agree."""

from pathlib import Path

from goodqueue.calibrate import pages, show
from goodqueue.calibrate.pages import Calibration
from goodqueue.show.answer import Answer


def of(calibration: Calibration) -> Answer:
    """Return the answer. Its report is `pages`' own."""

    def write(folder: Path, command: str, _: object) -> None:
        pages.fill(folder, calibration, command)

    return Answer(
        "Measuring programs beside the queue",
        [
            *show.tables(calibration.figures, calibration.programs),
            *show.sentences(calibration.results, calibration.agreements),
        ],
        lambda: pages.as_json(calibration),
        calibration,
        write=write,
        folder=f"{{}}/{pages.TABLE}, with results.json beside it",
    )
