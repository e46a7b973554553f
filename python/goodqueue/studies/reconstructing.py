"""Reconstructions: choices that a paper does not state but that its numbers imply, run beside the stated reading.

Each changes qdisc lines or scenario keys of some experiments. `readings` judges them.
"""

import copy
from dataclasses import replace

from goodqueue import scenario as scenarios
from goodqueue.studies.model import Experiment, Lines, Reconstruction, Study


def changed(study: Study, reconstruction: Reconstruction) -> Study:
    """Return ``study`` with only the experiments that ``reconstruction`` changes, changed."""
    own = [one for one in study.experiments if one.id in reconstruction.experiments]
    return replace(study, experiments=tuple(_changed(one, reconstruction) for one in own))


def _changed(experiment: Experiment, reconstruction: Reconstruction) -> Experiment:
    made = experiment
    for part in reconstruction.parts or (reconstruction,):
        if experiment.id in part.experiments:
            made = _with(made, part)
    return replace(
        made,
        id=f"{experiment.id}, {reconstruction.id}",  # the runs' numbers are stored by this id
        reconstruction=reconstruction.id,
        keep_records=False,
    )


def _with(experiment: Experiment, reconstruction: Reconstruction) -> Experiment:
    lines = {
        name: _reworded(reconstruction.qdiscs.get(name, line), reconstruction, reconstruction.append.get(name, ""))
        for name, line in experiment.qdiscs.items()
    }
    scenario = copy.deepcopy(experiment.scenario)
    for key, text in reconstruction.set.items():
        scenarios.apply_set(scenario, f"{key}={text}")
    return replace(experiment, qdiscs=lines, scenario=scenario)


def _reworded(lines: Lines, reconstruction: Reconstruction, added: str) -> Lines:
    def one(line: str) -> str:
        for words, others in reconstruction.replace.items():
            line = line.replace(words, others)
        return f"{line} {added}".rstrip()

    return one(lines) if isinstance(lines, str) else {key: one(line) for key, line in lines.items()}
