"""``gq.run``: one scenario, once."""

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from threading import Event
from typing import TYPE_CHECKING, Any

from goodqueue import engines
from goodqueue import scenario as reading
from goodqueue.api import asking, frames, showing
from goodqueue.errors import UserError, quoted
from goodqueue.files import output
from goodqueue.measures import metrics
from goodqueue.plot import series as courses
from goodqueue.plot import stored
from goodqueue.plot.stored import Group
from goodqueue.record import App, Flow, Queue, Record, Scenario
from goodqueue.show import describe, notes, tables, terminal
from goodqueue.show.tables import Table
from goodqueue.store import columns

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    from matplotlib.figure import Figure


@dataclass(frozen=True, repr=False)
class Run(showing.Shown):
    """One run: its record, and ways to look at it.

    >>> import goodqueue as gq
    >>> one = gq.run(qdisc="codel", duration="10s", seed=1, series__interval="100ms")
    >>> one.queue["qdisc"].split()[0], one.queue["packets"]["dropped"] > 0
    ('codel', True)
    >>> one.array("delay_ms").shape == one.time_s.shape == (100,)
    True
    """

    text: str = field(repr=False)
    """The record as the engine wrote it: the bytes of ``goodqueue run --json``, without the line's end."""
    name: str = "run"
    """What the headline calls it: the scenario's file, if there is one."""

    @cached_property
    def record(self) -> Record:
        """The record as a dict; the types in ``goodqueue.record`` say what it holds. Units are in the names."""
        found: Record = json.loads(self.text)
        return found

    @property
    def scenario(self) -> Scenario:
        """The scenario with nothing left open, as a dict; `gq.run` takes it back and gives the same record."""
        return self.record["scenario"]

    @property
    def queues(self) -> dict[str, Queue]:
        """What each direction of the bottleneck measured, by ``"down"`` and ``"up"``."""
        return self.record["queues"]

    @property
    def queue(self) -> Queue:
        """That of `queues` which is loaded; down where both are."""
        return self.queues[stored.loaded([self._group])[0]]

    @property
    def flows(self) -> list[Flow]:
        """The flows that carry data, in the scenario's order: goodput in Mbit/s, RTT in ms, losses."""
        return self.record["flows"]

    @property
    def apps(self) -> list[App]:
        """The applications with a measure of their own: pings, transfers, requests, streams, calls, pages."""
        return self.record["apps"]

    @property
    def metrics(self) -> dict[str, float | None]:
        """Each metric of comparisons and sweeps by its name, with its unit in it; None where there is no number."""
        return metrics.numbers(self.record)

    @property
    def df(self) -> "pd.DataFrame":
        """A DataFrame with a row per flow. A distribution is a column per statistic, as ``rtt_p95_ms``.

        Raises `gq.UserError` where pandas is missing, as `series` does.
        """
        return frames.frame([frames.flat(flow) for flow in self.flows])

    @property
    def series(self) -> "pd.DataFrame":
        """A DataFrame with a row per interval, its index ``time_s`` (seconds, an interval's end), a column per series.

        Columns have the names that `array` takes; a flow's own end with its series, as ``flows.bulk/0.cwnd_packets``.
        Raises `gq.UserError` where the scenario did not ask for series (``series__interval="100ms"``).
        """
        found = {name: self.array(name) for name in courses.available([self._group])}
        times = self.time_s
        each = {name: values for name, values in columns.series_of(self.record["series"]) if name.startswith("flows.")}
        whole = {name: _array(values) for name, values in each.items()}
        return frames.frame({"time_s": times, **found, **whole}, "time_s")

    @property
    def time_s(self) -> "np.ndarray[tuple[int], np.dtype[np.float64]]":
        """The ends of the series' intervals in seconds of the run, shape ``(intervals,)``.

        Raises `gq.UserError` as `series` does.
        """
        if not (found := self.record.get("series")) or not found["time_s"]:
            raise UserError("series", 'the run has none; accepted: a scenario with series__interval="100ms"')
        return _array(found["time_s"])

    def array(self, name: str) -> "np.ndarray[tuple[int], np.dtype[np.float64]]":
        """Return one series as numbers, shape ``(intervals,)`` as `time_s`; no value is NaN.

        ``name`` is one of ``goodqueue plot time``: ``delay_ms``, ``backlog_packets``, ``drop_probability``,
        ``goodput_mbps``, ``cwnd_packets``, ``ping_rtt_ms``; ``up_delay_ms`` and so on for the way up; a variable of the
        law, such as ``count``, with ``series__law=True``. Raises `gq.UserError` where there is no such series.
        """
        times = self.time_s
        found = courses.series(self.record, name)
        if found is None:
            there = ", ".join(courses.available([self._group]))
            raise UserError("series", f"found {quoted(name)}; accepted of this run: {there}")
        assert len(found[1]) == len(times)
        return _array(found[1])

    def delay_percentiles_ms(self, way: str = "down") -> "np.ndarray[tuple[int], np.dtype[np.float64]]":
        """Return the 0th to the 100th percentile of the queueing delay in ms, shape ``(101,)``.

        ``way`` is ``"down"`` or ``"up"``. A queue that forwarded nothing has shape ``(0,)``.
        """
        if way not in metrics.WAYS:
            raise UserError("way", f"found {quoted(way)}; accepted: {', '.join(metrics.WAYS)}")
        return _array(self.queues[way]["delay_percentiles_ms"] or [])

    @asking.in_words_of_python
    def plot(self, kind: str = "cdf", metric: str | Sequence[str] | None = None, title: str = "") -> "Figure":
        """Return a figure of ``goodqueue plot``: ``kind`` cdf, box, bar, time, ellipse or jain.

        ``metric`` is what is drawn where the kind leaves a choice; ``time`` takes several, a row each, and needs
        series. Raises `gq.UserError` where the run has no such number.
        """
        return showing.drawn(kind, [self.record], asking.metrics_of(metric), None, None, title)

    @asking.in_words_of_python
    def save(self, path: str | os.PathLike[str], force: bool = False) -> None:
        """Write the record to the file ``path``: the bytes of ``goodqueue run --json``, which other verbs read.

        Raises `gq.UserError` where it cannot be written, or is there already and ``force`` is not set.
        """
        name = os.fspath(path)
        output.check_file(name, force)
        written = output.write_file(name, force, f"{self.text}\n".encode())
        if written != name:
            raise output.appeared(name, written)

    @property
    def _group(self) -> Group:
        return Group(self.name, [self.record])

    def _parts(self) -> tuple[str, list[Table], list[str]]:
        return describe.run(self.name, self.record), tables.run_tables(self.record), []


def _array(values: Sequence[float | None]) -> "np.ndarray[tuple[int], np.dtype[np.float64]]":
    import numpy as np

    return np.array(values, dtype=np.float64)


@asking.in_words_of_python
def run(scenario: asking.Source | None = None, *, seed: int | None = None, engine: str = "sim", **sets: Any) -> Run:
    """Run one scenario once, and return what it measured.

    Args:
        scenario: The path of a TOML file, or its tables as a dict. Without one it is what the options of ``goodqueue
            compare`` say, with its defaults: ``rate`` (10mbit), ``rtt`` (50ms, without queueing), ``up_rate``,
            ``buffer`` (``"2bdp"``), ``duration`` (60s), ``warmup`` (5s), ``flows`` (4), ``cc``, ``ecn``, ``traffic``
            (``"bulk,ping"``); ``wifi`` (``"802.11n"``) and ``stations`` in place of the rate.
        seed: Of the random draws; the scenario's own, or 1, where None.
        engine: ``"sim"``, ``"kernel"`` for Linux's own qdiscs and TCP (once before: ``goodqueue kernel doctor``), or
            ``"live"`` for this host's TCP across our path, in real time.
        **sets: ``qdisc``, a line as after ``tc qdisc add dev X root``; those of the options above that say nothing of
            the traffic; and any key of the scenario, with ``__`` for the dot: ``path__rtt="10ms"``,
            ``traffic__0__count=4``, ``series__interval="100ms"``. Rates and times are text with their unit.

    Returns:
        A `Run`. The same scenario and seed give the same record, to the byte, as ``goodqueue run --json``.

    Raises:
        UserError: The scenario or an option is refused; one line says what was found and what is accepted.

    >>> import goodqueue as gq
    >>> one = gq.run(qdisc="fq_codel", rate="20mbit", rtt="20ms", traffic="bulk:2,voip", duration="10s")
    >>> [flow["name"] for flow in one.flows][:2], round(one.metrics["utilisation_percent"], -1)
    (['bulk/0', 'bulk/1'], 100.0)
    """
    (on,) = engines.parse(engine, several=False)
    base, origins, _ = asking.scenario_of(scenario, sets)
    if seed is not None:
        base["seed"] = asking.whole("seed", seed, 0)
        origins["seed"] = "--seed"
    name = "run" if scenario is None or isinstance(scenario, Mapping) else os.fspath(scenario)
    resolved = reading.resolve(base, "" if name == "run" else name, origins)
    notes.tell(base, origins)
    with terminal.progress("simulating" if on == "sim" else f"engine {on}") as progress:
        return Run(engines.find(on)(resolved, progress, Event()), name)
