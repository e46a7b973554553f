"""``study --fit``: all combinations of what a paper leaves open, each a reading of the study beside the stated one.

What is open are the study's reconstructions and candidates, by their unknowns. Each unknown has the stated value and
the others. Equal runs of several combinations are made once.
"""

import itertools
from collections.abc import Sequence
from dataclasses import replace

from goodqueue.errors import UserError
from goodqueue.studies.model import Reconstruction, Study

MOST = 256
"""The most combinations. With more, those with the fewest changes are tried."""

BESIDE = " + "
"""What is between the parts of a combination's name."""


def combined(study: Study, name: str) -> Study:
    """Return ``study`` with the combinations in place of its reconstructions. Raises UserError if nothing is open."""
    values = (*study.reconstructions, *study.candidates)
    if not values:
        raise UserError(
            "--fit", f"{name} leaves nothing open; accepted: a study with [[reconstruction]] or [[candidate]]"
        )
    unknowns: dict[str, list[Reconstruction]] = {}
    for reconstruction in values:
        unknowns.setdefault(reconstruction.unknown, []).append(reconstruction)
    every = itertools.product(*([None, *readings] for readings in unknowns.values()))
    chosen = [[reading for reading in row if reading is not None] for row in every]
    chosen.sort(key=len)
    return replace(study, reconstructions=tuple(_combination(chosen_parts) for chosen_parts in chosen[1 : MOST + 1]))


def _combination(parts: Sequence[Reconstruction]) -> Reconstruction:
    return Reconstruction(
        id=BESIDE.join(part.id for part in parts),
        title=BESIDE.join(part.title for part in parts),
        evidence="--fit tried it",
        experiments=tuple(dict.fromkeys(id_ for part in parts for id_ in part.experiments)),
        qdiscs={},
        append={},
        replace={},
        set={},
        unknown="",
        parts=tuple(parts),
    )
