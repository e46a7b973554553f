"""``gq.attack``, ``gq.sensitivity``, ``gq.tune`` and ``gq.fit``: questions that thousands of runs answer."""

import json
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from goodqueue import executors
from goodqueue._goodqueue import VERSION
from goodqueue.api import asking, showing
from goodqueue.record import Scenario
from goodqueue.running import Progress
from goodqueue.search.runner import Runner
from goodqueue.show.tables import Table

if TYPE_CHECKING:
    from goodqueue.search.attack import Attack
    from goodqueue.search.fitting import Fit
    from goodqueue.search.sensitivity import Sensitivity
    from goodqueue.search.tuning import Tuning
    from goodqueue.store import Store


@dataclass(frozen=True, repr=False)
class Search(showing.Shown):
    """The result of a search.

    >>> import goodqueue as gq
    >>> from goodqueue.traffic import BULK
    >>> link = {"duration": "4s", "warmup": "1s", "bottleneck": {"rate": "4mbit", "qdisc": "pfifo"},
    ...         "path": {"rtt": "20ms"}, "traffic": [{"kind": BULK}]}
    >>> found = gq.fit(link, vary={"bottleneck.rate": "2mbit..9mbit"}, observed={"goodput_mbps": (5.0, 0.1)},
    ...                evaluations=60, progress=False)
    >>> found.data["settings"]["bottleneck.rate"]["is_told"]
    True
    """

    result: "Attack | Sensitivity | Tuning | Fit"
    """What was found, from which the tables are made."""
    data: Mapping[str, Any]
    """The same as JSON has it: what ``--json`` prints."""
    shown: Sequence[str | Table]

    def _parts(self) -> tuple[str, list[Table], list[str]]:
        words = [one for one in self.shown if isinstance(one, str) and one]
        return "\n".join(words[:1]), [one for one in self.shown if isinstance(one, Table)], words[1:]


def _made(result: Any, as_json: Callable[[Any, str], Any], parts: Callable[[Any], Iterable[str | Table]]) -> Search:
    return Search(result, json.loads(json.dumps(as_json(result, VERSION))), list(parts(result)))


def _pairs(name: str, given: object) -> list[str]:
    """Return ``{"path.rtt": "1ms..9ms"}`` as the command line has it: ``path.rtt=1ms..9ms``. A list stays."""
    if not isinstance(given, Mapping):
        return asking.words(name, given)
    return [f"{key}={value if isinstance(value, str) else ','.join(map(str, value))}" for key, value in given.items()]


@asking.in_words_of_python
def attack(
    subject: str,
    property: str | Sequence[str],  # noqa: A002 - the command line's name, as max and min below
    *,
    bound: Mapping[str, str] | Sequence[str] = (),
    without: str | None = None,
    qdisc: str | Sequence[str] = (),
    cc: str | Sequence[str] = (),
    ecn: bool = False,
    evaluations: int = 2000,
    finds: int = 1,
    method: str = "tpe",
    draw_seed: int = 1,
    kernel: str | None = None,
    store: str | os.PathLike[str] | None = None,
    workers: int | None = None,
    progress: bool = True,
) -> Search:
    """Find scenarios in which a property of a discipline or of a congestion control breaks.

    Args:
        subject: A tc line, a congestion control, or ``FILE.py:CLASS``.
        property: Conditions that must all hold, such as ``"drop_percent >= 3"``, or a name such as ``"delay"``.
        bound: Narrower ranges: ``{"rate": "10..100"}``.
        without: What to leave out: ``"cbr,loss"``.
        qdisc: The lines of the link, for a congestion control. If empty, pfifo.
        cc: The flows' congestion controls. If empty, cubic, reno and bbr.
        ecn: Whether the flows use ECN.
        evaluations: The most scenarios to try.
        finds: The number of different finds after which the search ends.
        method: ``"tpe"``, ``"random"`` or ``"nsga2"``.
        draw_seed: Draws what the search tries.
        kernel: A release of Linux, such as ``"6.1"``, that runs what is found.
        store: A folder that keeps each run. A run that is in it is not run again.
        workers: Number of threads; the result does not depend on it. If None, all cores.
        progress: Whether a terminal shows a progress bar.

    Returns:
        A `Search`. Its ``data["finds"]`` has the scenarios.

    Raises:
        UserError: An argument is refused.
    """
    from goodqueue.search import attack as attacking
    from goodqueue.search import attack_show, request
    from goodqueue.search.evaluating import Evaluator

    said = request.World(_pairs("bound", bound), without, asking.words("qdisc", qdisc), asking.words("cc", cc), ecn)
    plan = request.attack(
        subject, asking.words("property", property), said, method, draw_seed, evaluations, finds, kernel
    )

    def work(note: Progress, kept: "Store | None") -> "Attack":
        runner = Runner(executors.local(workers), kept)
        return attacking.carry_out(plan, Evaluator(plan.subject, plan.broken.conditions, runner), note)

    found = asking.working(f"{evaluations} scenarios", store, progress, work)
    return _made(found, attack_show.as_json, attack_show.parts)


@asking.in_words_of_python
def sensitivity(
    scenario: asking.Source,
    vary: Mapping[str, str] | Sequence[str],
    *,
    metric: str | Sequence[str] = ("delay_p95_ms", "goodput_mbps"),
    method: str = "sobol",
    samples: int | None = None,
    seeds: int = 1,
    seed: int = 1,
    store: str | os.PathLike[str] | None = None,
    workers: int | None = None,
    progress: bool = True,
) -> Search:
    """Say which keys of a scenario matter, and how much.

    Args:
        scenario: A file in TOML, or a dict.
        vary: The keys and their ranges: ``{"path.rtt": "10ms..100ms"}``; two at least.
        metric: The metrics.
        method: ``"sobol"``, or ``"morris"`` for many keys.
        samples: The base sample. If None, 128 for Sobol and 20 for Morris.
        seeds: Runs per point.
        seed: The first seed.
        store: A folder that keeps each run. A run that is in it is not run again.
        workers: Number of threads. If None, all cores.
        progress: Whether a terminal shows a progress bar.

    Returns:
        A `Search`. Its ``data["metrics"]`` has the indices with their intervals.

    Raises:
        UserError: An argument is refused.
    """
    from goodqueue.measures import numbers
    from goodqueue.search import ranges, sensitivity_show
    from goodqueue.search import sensitivity as searching

    name, base = _named(scenario)
    wanted = numbers.find(asking.words("metric", metric))
    varied = ranges.read(_pairs("vary", vary))
    plan = searching.plan(name, base, varied, wanted, method, samples, seeds, seed)

    def work(note: Progress, kept: "Store | None") -> "Sensitivity":
        return searching.carry_out(plan, kept, executors.local(workers), note)

    label = f"{len(plan.values) * seeds} runs"
    return _made(asking.working(label, store, progress, work), sensitivity_show.as_json, sensitivity_show.parts)


@asking.in_words_of_python
def tune(
    qdisc: str,
    *,
    rate: str | None = None,
    rtt: str | None = None,
    on: str | Sequence[str] = (),
    held_out: str | Sequence[str] = (),
    vary: Mapping[str, str] | Sequence[str] = (),
    want: str | Sequence[str] = (),
    max: str | Sequence[str] = (),  # noqa: A002
    min: str | Sequence[str] = (),  # noqa: A002
    evaluations: int = 128,
    seeds: int = 2,
    method: str = "tpe",
    draw_seed: int = 1,
    store: str | os.PathLike[str] | None = None,
    workers: int | None = None,
    progress: bool = True,
) -> Search:
    """Find the best values of a line's parameters.

    Args:
        qdisc: The tc line.
        rate: The link's rate, with ``rtt``.
        rtt: The base RTT.
        on: Scenario files to tune on, instead of a link.
        held_out: Scenario files to judge on.
        vary: The parameters: ``{"target": "1ms..50ms"}``, or names. If empty, times and real numbers.
        want: What must hold: ``"delay_p95_ms < 20"``.
        max: Metrics to make large.
        min: Metrics to make small.
        evaluations: The number of candidates.
        seeds: Runs per scenario.
        method: ``"tpe"``, ``"random"`` or ``"nsga2"``.
        draw_seed: Draws what the search tries.
        store: A folder that keeps each run. A run that is in it is not run again.
        workers: Number of threads. If None, all cores.
        progress: Whether a terminal shows a progress bar.

    Returns:
        A `Search`. Its ``data["best"]`` is the line, ``data["front"]`` the trade-offs.

    Raises:
        UserError: An argument is refused.
    """
    from goodqueue.search import tune_request, tune_show, tuning

    link = tune_request.Link(rate, rtt, asking.words("on", on), asking.words("held_out", held_out))
    wants, large, small = asking.words("want", want), asking.words("max", max), asking.words("min", min)
    plan = tune_request.plan(
        qdisc, link, _pairs("vary", vary), wants, large, small, method, draw_seed, seeds, evaluations
    )

    def work(note: Progress, kept: "Store | None") -> "Tuning":
        return tuning.carry_out(plan, Runner(executors.local(workers), kept), note)

    return _made(asking.working(f"{evaluations} candidates", store, progress, work), tune_show.as_json, tune_show.parts)


@asking.in_words_of_python
def fit(
    source: asking.Source,
    *,
    vary: Mapping[str, str | Sequence[str]] | Sequence[str] = (),
    observed: Mapping[str, float | tuple[float, float]] = MappingProxyType({}),
    qdisc: str | Sequence[str] = (),
    evaluations: int = 1000,
    draw_seed: int = 1,
    store: str | os.PathLike[str] | None = None,
    workers: int | None = None,
    progress: bool = True,
) -> Search:
    """Say which unknown settings explain what was measured.

    Args:
        source: A file of Flent, iperf3 or irtt; or a scenario, as a file in TOML or a dict.
        vary: The unknown settings: ``{"path.rtt": "10ms..100ms", "bottleneck.qdisc": ["pfifo", "codel"]}``.
        observed: For a scenario: the measured numbers, each alone or with its error: ``{"goodput_mbps": (9.4, 0.1)}``.
        qdisc: For a measurement: the lines that the link may have.
        evaluations: The number of settings to try.
        draw_seed: Draws what the search tries.
        store: A folder that keeps each run. A run that is in it is not run again.
        workers: Number of threads. If None, all cores.
        progress: Whether a terminal shows a progress bar.

    Returns:
        A `Search`. Its ``data["settings"]`` has the intervals, ``data["choices"]`` the probabilities.

    Raises:
        UserError: An argument is refused.
    """
    from goodqueue.search import fit_request, fit_show, fitting

    numbers = [
        f"{name}={value[0]}+-{value[1]}" if isinstance(value, tuple) else f"{name}={value}"
        for name, value in observed.items()
    ]
    asked = fit_request.Asked(_pairs("vary", vary), numbers, [], asking.words("qdisc", qdisc))
    if isinstance(source, Mapping) or os.fspath(source).endswith(".toml"):
        plan = fit_request.of_scenario(*_named(source), asked, evaluations, draw_seed)
    else:
        plan = fit_request.of_measurement(asking.place("source", source), asked, evaluations, draw_seed)

    def work(note: Progress, kept: "Store | None") -> "Fit":
        return fitting.carry_out(plan, Runner(executors.local(workers), kept), note)

    return _made(asking.working(f"{evaluations} settings", store, progress, work), fit_show.as_json, fit_show.parts)


def _named(source: asking.Source) -> tuple[str, Scenario]:
    """Return the name and the tables of a scenario. Raises UserError."""
    base, _ = asking.scenario_of(source, {})
    return "scenario" if isinstance(source, Mapping) else os.fspath(source), base
