"""Reconstructions: choices that a paper does not state but that its numbers imply, laid out beside the stated reading.

Each changes qdisc lines or scenario keys of some experiments; `readings` judges them.
"""

import copy
from dataclasses import replace

from goodqueue import scenario as scenarios
from goodqueue.studies.model import Experiment, Lines, Reconstruction, Study


def changed(study: Study, reconstruction: Reconstruction) -> Study:
    """Return ``study`` with nothing but the experiments that ``reconstruction`` changes, as it has them."""
    own = [one for one in study.experiments if one.id in reconstruction.experiments]
    return replace(study, experiments=tuple(_changed(one, reconstruction) for one in own))


def _changed(experiment: Experiment, reconstruction: Reconstruction) -> Experiment:
    lines = {
        name: _appended(reconstruction.qdiscs.get(name, line), reconstruction.append.get(name, ""))
        for name, line in experiment.qdiscs.items()
    }
    scenario = copy.deepcopy(experiment.scenario)
    for key, text in reconstruction.set.items():
        scenarios.apply_set(scenario, f"{key}={text}")
    return replace(
        experiment,
        id=f"{experiment.id}, {reconstruction.id}",  # what runs tell is told apart by this
        reconstruction=reconstruction.id,
        qdiscs=lines,
        scenario=scenario,
        keep_records=False,
    )


def _appended(lines: Lines, words: str) -> Lines:
    if not words:
        return lines
    return f"{lines} {words}" if isinstance(lines, str) else {key: f"{line} {words}" for key, line in lines.items()}
