"""A comparison's metrics side by side: all names differ, and every axis is its metric's."""

from dataclasses import replace
from typing import Any

from drawn import boxes, check_layout
from goodqueue.comparison import drawing as figures
from goodqueue.comparison.comparing import Comparison
from goodqueue.measures import numbers
from goodqueue.measures.metrics import Metric
from goodqueue.measures.stats import Estimate
from goodqueue.plot import panels

LONG = "fq_codel target 15ms interval 200ms quantum 300 memory_limit 32000000 limit {} flows 1024 drop_batch 64 noecn"


def test_names_of_rows_are_never_the_same() -> None:
    labels = [
        LONG.format(1000),
        LONG.format(2000),
        "./a/very/long/path/to/the/file.py:Discipline limit 1 target 2 k 3",
        "codel",
    ]
    labels += ["x" * 100 + "1", "x" * 100 + "2", "x" * 100 + "3"]
    names = panels.row_names(labels)
    assert len(set(names)) == len(labels)
    assert "1000" in names[0]
    assert "2000" in names[1]
    assert max(len(line) for name in names for line in name.split("\n")) <= panels.NAME + len(" #3")
    assert max(name.count("\n") for name in names) < panels.LINES


def test_estimates_of_any_metrics_in_rows_of_four(comparison: Comparison) -> None:
    entries = [
        replace(entry, label=label)
        for entry, label in zip(comparison.entries, (LONG.format(1), LONG.format(2), "codel"), strict=True)
    ]
    renamed = replace(comparison, entries=entries)
    shown = renamed.shown()
    for count in (1, 3, 4, 7):
        figure = figures.estimates(renamed, shown[:count], "Title")
        _, _, places = boxes(figure)
        assert [ax.get_title(loc="left").replace("\n", " ") for ax in places] == [
            metric.label for metric in shown[:count]
        ]
        assert max(ax.get_subplotspec().colspan.stop for ax in places) <= 4  # type: ignore[union-attr]
        check_layout(figure)


def test_quality_of_calls_has_the_axis_that_it_has(comparison: Comparison) -> None:
    (mos, page) = numbers.find(["call_mos", "page_load_p95_ms"])
    called = replace(comparison, entries=[felt(entry, at, (mos, page)) for at, entry in enumerate(comparison.entries)])
    figure = figures.estimates(called, [mos, page])
    first, second = figure.axes
    assert first.get_xlim() == (1.0, 4.5)
    assert first.get_title(loc="left") == "MOS"
    assert (second.get_title(loc="left"), second.get_xlabel(), second.get_xscale()) == ("page p95", "ms", "log")
    check_layout(figure)


def felt(entry: Any, at: int, chosen: tuple[Metric, Metric]) -> Any:
    numbers = {"call_mos": 1.2 + 1.5 * at, "page_load_p95_ms": 300.0 * 5**at}
    values = {**entry.values, **{metric.key: [numbers[metric.key]] * 3 for metric in chosen}}
    estimates = {**entry.estimates, **{key: Estimate(number, 0.1, 3) for key, number in numbers.items()}}
    return replace(entry, values=values, estimates=estimates)
