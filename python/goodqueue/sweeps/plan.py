"""Makes the plan of a sweep, and refuses what cannot be run before any run."""

from collections.abc import Mapping

from goodqueue import engines
from goodqueue.comparison import request
from goodqueue.measures import metrics, numbers
from goodqueue.scenario import asked
from goodqueue.show import notes
from goodqueue.show.labels import MIX
from goodqueue.sweeps import grid, result
from goodqueue.sweeps.carrying import Plan
from goodqueue.sweeps.question import Sweep
from goodqueue.sweeps.result import Goal


def of(question: Sweep) -> Plan:
    """Return the plan. Raises UserError."""
    correction = request.correction(question.correct)
    (engine,) = engines.parse(question.engine, several=False)
    shown = numbers.find(question.metric) or list(metrics.METRICS)
    percent = question.goal_percent()
    goal = None if percent is None else Goal(percent, shown[0].key, question.most_seeds())
    mixes = grid.mixes(question.mixes)
    if isinstance(question.grid, Mapping):
        axes = grid.checked([grid.axis(key, values) for key, values in question.grid.items()])
    else:
        axes = grid.axes(question.grid)
    axes = grid.with_mixes(axes, mixes)
    first = None if question.against is None else result.baseline(question.against, axes)
    base, _ = asked.base(question.scenario, question.described, question.keys)
    file = question.scenario if isinstance(question.scenario, str) else ""
    cells = grid.cells(base, axes, file, engine, mixes, question.workers)
    if question.metric:
        numbers.check(shown, [cell.scenario for cell in cells if cell.scenario is not None])
    notes.warn_of_grid(base, [(axis.key, axis.values) for axis in axes if axis.key != MIX])
    name = "sweep" if question.scenario is None else file or "sweep"
    return Plan(name, base, axes, cells, engine, shown, question.seed, question.seeds, goal, first, correction, mixes)
