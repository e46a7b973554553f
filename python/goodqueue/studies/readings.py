"""Judges the readings of a study by the same rules: the stated reading, and one per reconstruction."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from goodqueue.studies import judging, verdicts
from goodqueue.studies.execution import Measured
from goodqueue.studies.judging import Judged
from goodqueue.studies.model import Reconstruction, Study
from goodqueue.studies.selection import Selection
from goodqueue.studies.verdicts import JudgedClaim


@dataclass(frozen=True, slots=True)
class Reconstructed:
    """The results of a reconstruction, in the order of the stated reading's values and claims."""

    reconstruction: Reconstruction
    values: tuple[Judged, ...]
    claims: tuple[JudgedClaim, ...]


def stated(cells: Iterable[Measured]) -> list[Measured]:
    """Return the ``cells`` that are as the paper states them."""
    return [cell for cell in cells if not cell.cell.experiment.reconstruction]


def judge(study: Study, measured: Sequence[Measured], selection: Selection) -> Iterator[Reconstructed]:
    """Judge ``study`` again for each reconstruction, with its cells in place of the cells that it changes."""
    for reconstruction in study.reconstructions:
        cells = [cell for cell in stated(measured) if cell.cell.experiment.id not in reconstruction.experiments]
        cells += [cell for cell in measured if cell.cell.experiment.reconstruction == reconstruction.id]
        values = judging.judge(study, by_place(cells), selection)
        yield Reconstructed(reconstruction, tuple(values), tuple(verdicts.judge(study, cells, selection)))


def by_place(cells: Iterable[Measured]) -> dict[tuple[str, str], list[Measured]]:
    """Return ``cells`` by published scenario and algorithm."""
    by_curve: dict[tuple[str, str], list[Measured]] = {}
    for cell in cells:
        by_curve.setdefault((cell.cell.scenario, cell.cell.algorithm), []).append(cell)
    return by_curve
