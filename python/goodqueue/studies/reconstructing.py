"""Reconstructions: choices that a paper does not state but that its numbers imply, run beside the stated reading.

Each changes qdisc lines or scenario keys of some experiments. `readings` judges them.
"""

import copy
from dataclasses import replace

from goodqueue import scenario as scenarios
from goodqueue.studies.model import Experiment, Lines, Reconstruction, Study


def changed(study: Study, reconstruction: Reconstruction) -> Study:
    """Return ``study`` with only the experiments that ``reconstruction`` changes, changed."""
    rerun = [experiment for experiment in study.experiments if experiment.id in reconstruction.experiments]
    return replace(study, experiments=tuple(_changed(experiment, reconstruction) for experiment in rerun))


def _changed(experiment: Experiment, reconstruction: Reconstruction) -> Experiment:
    made_of = experiment
    for part in reconstruction.parts or (reconstruction,):
        if experiment.id in part.experiments:
            made_of = _with(made_of, part)
    return replace(
        made_of,
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
    def reworded(line: str) -> str:
        for words, others in reconstruction.replace.items():
            line = line.replace(words, others)
        return f"{line} {added}".rstrip()

    return reworded(lines) if isinstance(lines, str) else {key: reworded(line) for key, line in lines.items()}
