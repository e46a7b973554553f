"""Runs from which the compiler learns what code is hot, for `make optimised`, on a build that counts.

The runs are the cases and the users' runs of `goodqueue bench`, each discipline with ten flows, the examples, and one
short run for each experiment and discipline of each study. The compiler makes code that no run reaches small instead of
fast, so every kind of traffic and link must be here.

    PYTHONPATH=python .venv/bin/python benches/training.py target/x86_64-unknown-linux-gnu/release/lib_goodqueue.so
"""

import importlib.util
import sys
from collections.abc import Iterator
from importlib.machinery import ExtensionFileLoader, ModuleSpec
from pathlib import Path

# The build that counts is not installed. It takes the installed one's place before any other module loads that.
NAME = "goodqueue._goodqueue"
loader = ExtensionFileLoader(NAME, sys.argv[1])
sys.modules[NAME] = importlib.util.module_from_spec(ModuleSpec(NAME, loader, origin=sys.argv[1]))
loader.exec_module(sys.modules[NAME])

from goodqueue import scenario as scenarios  # noqa: E402
from goodqueue._goodqueue import Simulation  # noqa: E402
from goodqueue.engines import loads  # noqa: E402
from goodqueue.record import Scenario  # noqa: E402
from goodqueue.scenario.parameters import registry  # noqa: E402
from goodqueue.speed import bench_runs  # noqa: E402
from goodqueue.speed.bench import CASES, PACKMIME, WEB  # noqa: E402
from goodqueue.studies import loading, planning, selection  # noqa: E402
from goodqueue.studies.libraries import STUDIES  # noqa: E402

EXAMPLES = Path(__file__).parents[1] / "examples"

LONGEST_S = 5.0
"""The longest run in seconds of simulated time. Its next seconds would do the same."""


def main() -> int:
    """Run all scenarios, and the standard cases on two threads, too."""
    for scenario in training():
        play(scenario)
    for case in CASES:
        play(case.scenario(quick=True), threads=2)
    return 0


def play(scenario: Scenario, threads: int = 1) -> None:
    """Run ``scenario``, or its beginning."""
    simulation = Simulation(scenarios.to_json(scenario))
    simulation.cut(threads)
    simulation.advance(min(simulation.duration_s, LONGEST_S))
    simulation.record()


def training() -> Iterator[Scenario]:
    """Return what is run, as resolved scenarios."""
    for case in (*CASES, WEB, PACKMIME):
        yield case.scenario(quick=False)
    ten = CASES[1].scenario(quick=False)
    for name in registry():
        yield ten | {"bottleneck": {**ten["bottleneck"], "qdisc": name}}
    for _, run in bench_runs.scenarios().values():
        yield scenarios.resolve(bench_runs.lasting(run, LONGEST_S))
    for file in sorted(EXAMPLES.glob("*.toml")):
        yield loads.from_file(file)
    for folder in STUDIES.available().values():
        study = loading.load(folder)
        plan = planning.plan(study, selection.select(study, ()), quick=True, seeds=1)
        seen = set()
        for position, cell in enumerate(plan.cells):
            if (kind := (cell.experiment.id, cell.algorithm)) not in seen:
                seen.add(kind)
                yield plan.scenarios[plan.runs[position][0]]


if __name__ == "__main__":
    sys.exit(main())
