"""``gq.compare``: several disciplines on the same traffic, seed by seed."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from goodqueue import pages
from goodqueue.api import asking, frames, showing
from goodqueue.comparison import answer as answers
from goodqueue.comparison import comparing
from goodqueue.comparison import tables as tabled
from goodqueue.comparison.comparing import Entry
from goodqueue.comparison.question import Compare
from goodqueue.errors import UserError, quoted
from goodqueue.files import output
from goodqueue.measures.stats import Estimate
from goodqueue.show.answer import Answer, Part
from goodqueue.show.table import Table

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    from matplotlib.figure import Figure


@dataclass(frozen=True, repr=False)
class Comparison(showing.Shown):
    """Several disciplines side by side, on common seeds.

    >>> import goodqueue as gq
    >>> both = gq.compare("pfifo", "codel", duration="10s", seeds=2)
    >>> both.values("delay_p95_ms").shape  # qdiscs, seeds
    (2, 2)
    >>> both.difference("codel", "delay_p95_ms").mean < 0
    True
    """

    result: comparing.Comparison
    """The result from which the tables and figures are made."""
    command: str
    """The command that repeats this comparison. For a scenario in a dict it names the file that `report` writes."""

    @property
    def qdiscs(self) -> list[str]:
        """The lines of the disciplines, as they were given. With several engines, each line names its engine."""
        return [_name(self.result, entry) for entry in self.result.entries]

    @property
    def seeds(self) -> list[int]:
        """The seeds, common to all disciplines."""
        return self.result.seeds

    @property
    def df(self) -> "pd.DataFrame":
        """A DataFrame with one row per run: ``qdisc``, ``engine``, ``seed``, and one column per metric, with its unit.

        Metrics without a number in any run are left out. Raises `gq.UserError` if pandas is missing, as `estimates`
        and `differences` do.
        """
        keys = self._measured()
        rows = [
            {"qdisc": entry.qdisc, "engine": entry.engine, "seed": seed, **{key: entry.values[key][at] for key in keys}}
            for entry in self.result.entries
            for at, seed in enumerate(self.seeds)
        ]
        return frames.frame(rows)

    @property
    def estimates(self) -> "pd.DataFrame":
        """A DataFrame with one row per qdisc and metric: ``mean``, ``half_width`` of its 95 % interval, ``n`` seeds.

        ``half_width`` has the unit of the mean, which is in the metric's name. For a single seed it is NaN.
        """
        return frames.frame(self._rows({id(entry): entry.estimates for entry in self.result.entries}))

    @property
    def differences(self) -> "pd.DataFrame":
        """The differences from the first qdisc on the same engine, paired by seed, with the columns of `estimates`.

        They differ from another one if ``against`` names it. ``excludes_zero`` says whether the interval excludes 0,
        that is, whether the difference is significant at 5 %. ``p`` is the p value of that test, and ``d_z`` the effect
        size: the mean difference over the standard deviation of the differences (Cohen's d_z; Lakens 2013).
        """
        others = [entry for entry in self.result.entries if entry.qdisc != self.result.reference]
        return frames.frame(self._rows({id(entry): entry.differences for entry in others}, paired=True))

    @property
    def findings(self) -> list[str]:
        """The main findings, in sentences: the best and the worst qdisc by what a person feels."""
        return tabled.not_done(self.result).around(tabled.findings(self.result))

    def values(self, metric: str) -> "np.ndarray[tuple[int, int], np.dtype[np.float64]]":
        """Return the numbers of one metric, shape ``(qdiscs, seeds)``. A missing number is NaN.

        Raises `gq.UserError` for an unknown metric.
        """
        import numpy as np

        self._check(metric)
        return np.array([entry.values[metric] for entry in self.result.entries], dtype=np.float64)

    def estimate(self, qdisc: str, metric: str) -> Estimate | None:
        """Return the mean of ``metric`` over the seeds, with the half-width of its 95 % interval and the n of seeds.

        Returns None if no seed has a number. Raises `gq.UserError` for an unknown qdisc or metric.
        """
        self._check(metric)
        return self._entry(qdisc).estimates[metric]

    def difference(self, qdisc: str, metric: str) -> Estimate | None:
        """Return the mean difference from the first qdisc, or from ``against``, paired by seed.

        Its ``p`` is the p value of Student's t test, and its ``effect`` the effect size. Otherwise as `estimate`.
        """
        self._check(metric)
        return self._entry(qdisc).differences[metric]

    @asking.in_words_of_python
    def plot(
        self,
        kind: str = "estimates",
        metric: str | None = None,
        title: str = "",
        *,
        width: str | None = None,
        font: str | None = None,
        style: str | None = None,
    ) -> "Figure":
        """Return a figure.

        ``kind`` is a figure of the report, for the loaded direction (``felt``, ``delay-cdf``, ``delay-over-time``,
        ``delay-goodput``, ``flow-goodput``, ``estimates``), or a figure of ``goodqueue plot`` (``ellipse``, ``cdf``,
        ``box``, ``bar``, ``time``, ``jain``). Only the latter take ``metric`` and ``title``. Figures over time need
        ``series__interval="100ms"``. Raises `gq.UserError` if the runs do not have the numbers to draw.

        ``width`` (``"3.5in"``, ``"9cm"``, ``"slide"``), ``font`` (``"Times New Roman 9pt"``) and ``style`` are as in
        ``goodqueue plot``. A figure also follows a matplotlibrc, and what a notebook sets in ``matplotlib.rcParams``.
        """
        from goodqueue.comparison import figures
        from goodqueue.plot import KINDS

        if kind not in figures.KINDS:
            if kind not in KINDS:
                raise UserError("plot", f"found {quoted(kind)}; accepted: {', '.join((*figures.KINDS, *KINDS))}")
            records = [record for entry in self.result.entries for record in entry.records]
            with showing.looking(width, font, style):
                return showing.drawn(kind, records, showing.metrics(metric), title)
        if metric is not None or title:
            raise UserError("plot", f"found a metric or a title with {kind}; accepted: with {', '.join(KINDS)}")
        with showing.looking(width, font, style):
            found = next(figures.of(self.result, [kind]), None)
            if found is None:
                raise UserError("plot", f"no run has what {kind} draws; accepted: {', '.join(self._figures())}")
            return found.draw()

    @asking.in_words_of_python
    def report(self, path: str | os.PathLike[str], force: bool = False) -> None:
        """Write ``report.html``, its figures, the records and ``results.json`` into the folder ``path``.

        Raises `gq.UserError` if the folder cannot be written, or if it is not empty and ``force`` is not set.
        """
        name = os.fspath(path)
        output.check(name, force)
        found = answers.of(self.result)
        written, failed = output.write(
            name, force, lambda folder: pages.write(folder, found, Compare.verb, self.command, lambda _: None)
        )
        if failed:
            raise failed
        if written != name:
            raise output.appeared(name, written, force=force)

    def _figures(self) -> list[str]:
        from goodqueue.comparison import figures

        return [picture.name for picture in figures.of(self.result)]

    def _check(self, metric: str) -> None:
        known = self.result.entries[0].values
        if metric not in known:
            raise UserError("metric", f"found {quoted(metric)}; accepted: {', '.join(known)}")

    def _entry(self, qdisc: str) -> Entry:
        line = " ".join(qdisc.split())
        for entry in self.result.entries:
            if line in (_name(self.result, entry), entry.qdisc):
                return entry
        raise UserError("qdisc", f"found {quoted(qdisc)}; accepted: {', '.join(self.qdiscs)}")

    def _measured(self) -> list[str]:
        """Return the metrics that have a number in at least one run."""
        entries = self.result.entries
        return [
            key for key in entries[0].values if any(value is not None for one in entries for value in one.values[key])
        ]

    def _rows(
        self, found: Mapping[int, Mapping[str, Estimate | None]], paired: bool = False
    ) -> list[dict[str, object]]:
        keys = self._measured()
        return [
            {
                "qdisc": entry.qdisc,
                "engine": entry.engine,
                "metric": key,
                "mean": one.mean,
                "half_width": one.half_width,
                "n": one.n,
                **({"excludes_zero": one.excludes_zero, "p": one.p, "d_z": one.effect} if paired else {}),
            }
            for entry in self.result.entries
            if id(entry) in found
            for key in keys
            if (one := found[id(entry)][key])
        ]

    def _parts(self) -> Sequence[Part]:
        return list(answers.parts(self.result))

    def _tables(self) -> Sequence[Table]:
        return answers.of(self.result).tables()


def _name(result: comparing.Comparison, entry: Entry) -> str:
    return f"{entry.qdisc} ({entry.engine})" if len(result.engines) > 1 else entry.qdisc


def _compared(answer: Answer, question: Compare) -> Comparison:
    asked = replace(question, scenario="scenario.toml") if isinstance(question.scenario, dict) else question
    return Comparison(answer.result, asked.command())


compare = asking.function(Compare, _compared, "Comparison", "A `Comparison`.")
