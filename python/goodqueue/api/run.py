"""``gq.run``: runs one scenario once."""

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from goodqueue.api import asking, frames, showing
from goodqueue.ask.question import Question
from goodqueue.errors import UserError, quoted
from goodqueue.files import output
from goodqueue.measures import metrics
from goodqueue.plot import series as courses
from goodqueue.plot import stored
from goodqueue.plot.stored import Group
from goodqueue.record import App, Flow, Queue, Record, Scenario
from goodqueue.runs import question
from goodqueue.show import describe, undone
from goodqueue.show.answer import Answer, Part
from goodqueue.show.run import run_tables
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
    """The record as the engine wrote it: the bytes of ``goodqueue run --json``, without the newline at the end."""
    name: str = "run"
    """The run's name in the headline: the scenario's file, if there is one."""

    @cached_property
    def record(self) -> Record:
        """The record as a dict. The types in ``goodqueue.record`` describe its keys; units are in the names."""
        found: Record = json.loads(self.text)
        return found

    @property
    def scenario(self) -> Scenario:
        """The resolved scenario as a dict, with every default filled in. `gq.run` of it gives the same record."""
        return self.record["scenario"]

    @property
    def queues(self) -> dict[str, Queue]:
        """The measurements of each direction of the bottleneck, by ``"down"`` and ``"up"``."""
        return self.record["queues"]

    @property
    def queue(self) -> Queue:
        """The queue of the loaded direction; the one of ``"down"`` if both are loaded."""
        return self.queues[stored.loaded([self._group])[0]]

    @property
    def flows(self) -> list[Flow]:
        """The flows that carry data, in the scenario's order: goodput in Mbit/s, RTT in ms, losses."""
        return self.record["flows"]

    @property
    def apps(self) -> list[App]:
        """The applications that measure something themselves: pings, transfers, requests, streams, calls, pages."""
        return self.record["apps"]

    @property
    def metrics(self) -> dict[str, float | None]:
        """Every metric of comparisons and sweeps, by name. The name includes the unit; a missing number is None."""
        return metrics.numbers(self.record)

    @property
    def df(self) -> "pd.DataFrame":
        """A DataFrame with one row per flow. A distribution has one column per statistic, such as ``rtt_p95_ms``.

        Raises `gq.UserError` if pandas is missing, as `series` does.
        """
        return frames.frame([frames.flat(flow) for flow in self.flows])

    @property
    def series(self) -> "pd.DataFrame":
        """A DataFrame with one row per interval (index ``time_s``: its end in seconds) and one column per series.

        Columns have the names that `array` takes. The columns of one flow end in the series' name, such as
        ``flows.bulk/0.cwnd_packets``. Raises `gq.UserError` if the scenario records no series
        (``series__interval="100ms"``).
        """
        found = {name: self.array(name) for name in courses.available([self._group])}
        times = self.time_s
        each = {name: values for name, values in columns.series_of(self.record["series"]) if name.startswith("flows.")}
        whole = {name: _array(values) for name, values in each.items()}
        return frames.frame({"time_s": times, **found, **whole}, "time_s")

    @property
    def time_s(self) -> "np.ndarray[tuple[int], np.dtype[np.float64]]":
        """The ends of the intervals of the series, in seconds since the start of the run, shape ``(intervals,)``.

        Raises `gq.UserError` as `series` does.
        """
        if not (found := self.record.get("series")) or not found["time_s"]:
            raise UserError("series", 'the run has none; accepted: a scenario with series__interval="100ms"')
        return _array(found["time_s"])

    def array(self, name: str) -> "np.ndarray[tuple[int], np.dtype[np.float64]]":
        """Return one series as numbers, shape ``(intervals,)`` like `time_s`. A missing number is NaN.

        ``name`` is a name of ``goodqueue plot time``: ``delay_ms``, ``backlog_packets``, ``drop_probability``,
        ``goodput_mbps``, ``cwnd_packets``, ``ping_rtt_ms``; ``up_delay_ms`` and so on for the direction up; with
        ``series__law=True`` also a variable of the law, such as ``count``. Raises `gq.UserError` for an unknown name.
        """
        times = self.time_s
        found = courses.series(self.record, name)
        if found is None:
            there = ", ".join(courses.available([self._group]))
            raise UserError("series", f"found {quoted(name)}; accepted of this run: {there}")
        assert len(found[1]) == len(times)
        return _array(found[1])

    def delay_percentiles_ms(self, direction: str = "down") -> "np.ndarray[tuple[int], np.dtype[np.float64]]":
        """Return the 0th to the 100th percentile of the queueing delay in ms, shape ``(101,)``.

        ``direction`` is ``"down"`` or ``"up"``. For a queue that forwarded nothing the shape is ``(0,)``.
        """
        if direction not in metrics.DIRECTIONS:
            raise UserError("direction", f"found {quoted(direction)}; accepted: {', '.join(metrics.DIRECTIONS)}")
        return _array(self.queues[direction]["delay_percentiles_ms"] or [])

    @asking.in_words_of_python
    def plot(
        self,
        kind: str = "cdf",
        metric: str | Sequence[str] | None = None,
        title: str = "",
        *,
        width: str | None = None,
        font: str | None = None,
        style: str | None = None,
    ) -> "Figure":
        """Return a figure of ``goodqueue plot``: ``kind`` cdf, box, bar, time, ellipse or jain.

        ``metric`` chooses the metric if the kind can draw several. ``time`` takes several metrics, one row each, and
        needs series. Raises `gq.UserError` if the run has no such number.

        ``width`` (``"3.5in"``, ``"9cm"``, ``"slide"``), ``font`` (``"Times New Roman 9pt"``) and ``style`` are as in
        ``goodqueue plot``. A figure also follows a matplotlibrc, and what a notebook sets in ``matplotlib.rcParams``.
        """
        with showing.looking(width, font, style):
            return showing.drawn(kind, [self.record], showing.metrics(metric), title)

    @asking.in_words_of_python
    def save(self, path: str | os.PathLike[str], force: bool = False) -> None:
        """Write the record to the file ``path``: the bytes of ``goodqueue run --json``, which other commands read.

        Raises `gq.UserError` if the file cannot be written, or if it exists and ``force`` is not set.
        """
        name = os.fspath(path)
        output.check_file(name, force)
        written = output.write_file(name, force, f"{self.text}\n".encode())
        if written != name:
            raise output.appeared(name, written)

    @property
    def _group(self) -> Group:
        return Group(self.name, [self.record])

    def _parts(self) -> Sequence[Part]:
        return [describe.run(self.name, self.record), *undone.of_run(self.record), *run_tables(self.record)]


def _array(values: Sequence[float | None]) -> "np.ndarray[tuple[int], np.dtype[np.float64]]":
    import numpy as np

    return np.array(values, dtype=np.float64)


def _ran(answer: Answer, _: Question) -> Run:
    return Run(answer.text, answer.title)


run = asking.function(
    question.Run, _ran, "Run", "A `Run`. Its record has the same bytes as that of ``goodqueue run --json``."
)
