"""Output is about the loaded queue, and first about what a person feels."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from conftest import Result
from goodqueue.comparison import tables as comparison_tables
from goodqueue.comparison.comparing import Comparison, compare
from goodqueue.measures import measured, metrics, numbers, stats
from goodqueue.record import Record, Scenario
from goodqueue.show.table import number, plus_minus

Command = Callable[..., Result]

UPLOAD = ["compare", "pfifo", "fq_codel", "--rate", "50mbit", "--up-rate", "5mbit", "--duration", "12s"]
UPLOAD += ["--warmup", "4s", "--seeds", "2", "--traffic", "bulk:2:up,voip:up,page:google,ping"]


def upload(more: str = "") -> Scenario:
    kinds: list[dict[str, Any]] = [{"kind": "bulk", "count": 2, "direction": "up", "start_spread": "500ms"}]
    kinds += [{"kind": "bulk", "count": 2, "direction": "down"}] if more else []
    return {
        "duration": "6s",
        "warmup": "1s",
        "bottleneck": {"rate": "10mbit", "up": {"rate": "2mbit"}},
        "path": {"rtt": "20ms"},
        "traffic": [*kinds, {"kind": "ping"}],
    }


@pytest.fixture(scope="module")
def loaded_up() -> Comparison:
    return compare(upload(), ["pfifo", "fq_codel"], [1, 2])


def test_a_direction_is_loaded_where_its_link_is_busy_or_its_queue_stands() -> None:
    idle = {"utilisation_percent": [10.0], "delay_p95_ms": [0.1], "up_utilisation_percent": [9.0]}
    assert metrics.loaded([idle]) == ("down",), "the one whose packets queue longest, where neither is loaded"
    assert metrics.loaded([idle | {"up_delay_p95_ms": [0.2]}]) == ("up",)
    assert metrics.loaded([idle | {"up_delay_p95_ms": [5.1]}]) == ("up",), "CoDel's target is 5 ms"
    assert metrics.loaded([idle | {"utilisation_percent": [80.1]}, idle | {"up_delay_p95_ms": [6.0]}]) == ("down", "up")
    assert metrics.loaded([]) == ("down",)


def test_a_loaded_upload_is_what_the_tables_show(goodqueue: Command) -> None:
    out = " ".join(goodqueue(*UPLOAD, "--all").out.split())
    assert "Queueing delay, up, all seeds" in out
    assert "Queueing delay, down" not in out, "nothing queues there"
    assert "delay up ms" in out
    assert "Difference from pfifo" in out
    assert "delay p95 up" in out
    felt, queue = out.index("95 % of the pings return within"), out.index("95 % of the packets up queue for at most")
    assert felt < out.index("A call is rated MOS") < out.index("A page loads in") < queue
    assert "with pfifo, 9" not in out[queue:]


def test_both_directions_are_in_the_json(goodqueue: Command) -> None:
    found = json.loads(goodqueue(*UPLOAD, "--json").out)
    assert found["loaded"] == ["up"]
    fifo, fair = found["qdiscs"]
    assert fifo["metrics"]["up_delay_p95_ms"]["mean"] > 10 * fair["metrics"]["up_delay_p95_ms"]["mean"]
    assert fifo["metrics"]["delay_p95_ms"]["mean"] < 5
    assert len(fifo["up_delay_percentiles_ms"]) == len(fifo["delay_percentiles_ms"]) == 101
    assert fifo["up_delay_percentiles_ms"][95] > 100 > fifo["delay_percentiles_ms"][95]
    assert fair["difference_from_first"]["up_delay_p95_ms"]["mean"] < -100


def test_each_loaded_direction_has_a_table(loaded_up: Comparison) -> None:
    (single,) = comparison_tables.tables(loaded_up)
    assert single.columns[1].heading == "delay up ms\nmean ± CI"
    both = compare(upload("down too"), ["pfifo", "codel"], [1, 2])
    assert both.loaded() == ("down", "up")
    down, up, felt = comparison_tables.tables(both)
    assert (down.title, up.title, felt.title) == (
        "Down: means over the seeds",
        "Up: means over the seeds",
        "Applications: means over the seeds",
    )
    assert [column.heading for column in felt.columns] == ["qdisc", "ping\np95 ms"]
    (differences,) = comparison_tables.difference_tables(both)
    headings = [column.heading for column in differences.columns]
    assert "delay p95 down\nms" in headings
    assert "delay p95 up\nms" in headings, "a name without its direction would be taken for the other one"


def test_compare_shows_the_metrics_that_were_asked_for(goodqueue: Command) -> None:
    asked = ["--metric", "voip_mos", "--metric", "queues.up.drops_by_reason.overlimit"]
    result = goodqueue(*UPLOAD, *asked)
    assert "MOS" in result.out
    assert "queues.up.drops_by_reason.overlimit" in result.out
    assert "ping" not in result.out.split("Means over")[1], "nothing else was asked for"
    found = json.loads(goodqueue(*UPLOAD, *asked, "--json").out)
    assert "queues.up.drops_by_reason.overlimit" in found["qdiscs"][0]["metrics"]
    assert goodqueue(*UPLOAD, "--metric", "delya").status == 2


def test_columns_of_pages_say_of_how_many_loads(goodqueue: Command) -> None:
    arguments = [*UPLOAD[:-1], "bulk:2:up,page:google"]
    fifo, fair = json.loads(goodqueue(*arguments, "--json").out)["qdiscs"]
    assert fair["metrics"]["page_loads"]["mean"] > 2 * fifo["metrics"]["page_loads"]["mean"]
    means = goodqueue(*arguments).out.split("Queueing delay")[0].splitlines()
    assert any("pages" in line for line in means), "the mean and the p95 of a single load are the same number"
    assert any(f"{fair['metrics']['page_loads']['mean']:.1f}" in line for line in means if line.startswith("fq_codel"))


def test_what_the_seeds_do_not_tell_apart_is_said_so(loaded_up: Comparison) -> None:
    (told,) = [sentence for sentence in comparison_tables.findings(loaded_up) if "do not tell" in sentence]
    assert "utilisation up" in told
    assert "delay" not in told, "delays of two hundred and of ten ms are told apart"


# --- seeds that are one run -----------------------------------------------------------------------------------------


def test_equal_seeds_are_one_run() -> None:
    equal: dict[str, list[float | None]] = {"a": [1.0, 1.0, 1.0], "b": [None, None, None]}
    assert measured.is_nil(equal)
    assert not measured.is_nil(equal | {"c": [1.0, 1.0, 2.0]})
    assert not measured.is_nil({"a": [1.0]}), "a single seed says nothing about its spread"
    assert measured.is_nil({"a": [1.0, 1.0]}), "two seeds do"
    assert not measured.is_nil({"a": [1.0, 2.0]})
    assert measured.of([{"a": 1.0, "b": None}]) == {"a": [1.0], "b": [None]}
    one = measured.estimate(equal, "a", True)
    assert one is not None
    assert (one.n, one.half_width) == (1, None)
    apart = measured.difference(equal, {"a": [868.2] * 3}, "a", True)
    assert apart is not None
    assert plus_minus(apart, 1, *stats.starred([apart])).strip() == "-867.2", "neither an interval nor a star"


def test_every_verb_says_that_equal_seeds_are_one(here: Any, goodqueue: Command) -> None:
    (here / "fixed.toml").write_text(
        'duration = "4s"\nwarmup = "1s"\n[bottleneck]\nrate = "10mbit"\nqdisc = "codel"\n[path]\nrtt = "20ms"\n'
        '[[traffic]]\nkind = "bulk"\n',
        encoding="utf-8",
    )
    sweep = ["sweep", "fixed.toml", "--set", "bottleneck.qdisc=pfifo,codel", "--seeds", "3"]
    for command in (["compare", "pfifo", "codel", "--scenario", "fixed.toml", "--seeds", "3"], sweep):
        out = goodqueue(*command).out
        assert "the scenario draws nothing at random, so n is really 1" in " ".join(out.split()), command
        table = out.split("Means over")[1].split("Every seed")[0]
        assert "±" not in "".join(line for line in table.splitlines() if line.startswith(("pfifo", "codel"))), command
        assert "*" not in "".join(line for line in table.splitlines() if line.startswith(("pfifo", "codel"))), command
    cells = json.loads(goodqueue(*sweep, "--json").out)["cells"]
    assert all(cell["seeds_are_equal"] and cell["metrics"]["delay_mean_ms"]["n"] == 1 for cell in cells)
    asked = json.loads(goodqueue("sweep", "ok.toml", "--seeds", "2", "--metric", "mark_percent", "--json").out)
    assert asked["cells"][0]["metrics"]["mark_percent"]["values"] == [0.0, 0.0]
    assert asked["cells"][0]["seeds_are_equal"] is False, "the seeds differ, if not in what was asked for"


def test_no_number_is_minus_zero() -> None:
    assert [number(value, 3) for value in (-0.0004, -0.0, 0.0004, -0.0006)] == ["0.000", "0.000", "0.000", "-0.001"]
    tiny = measured.difference({"a": [0.0, 0.0, 1e-6]}, {"a": [1e-4, 1.0001e-4, 1e-4]}, "a", False)
    assert tiny is not None
    assert plus_minus(tiny, 3, star=True).strip() == "0.000 ± 0.000", "what is zero as shown has no star"


def test_jain_of_the_other_direction_is_of_its_own_flows(record: Record) -> None:
    (up,) = numbers.find(["up_jain_goodput"])
    assert up.pick(record) is None, "no bulk flow goes up"


def test_a_report_draws_each_loaded_direction_and_what_a_person_feels(loaded_up: Comparison) -> None:
    from goodqueue.comparison import figures

    up = {picture.name: picture.title for picture in figures.of(loaded_up)}
    assert up["delay-cdf"] == "How long packets queue, up"
    assert up["felt"] == "What a person feels"
    found = list(figures.of(compare({**upload("down too"), "series": {"interval": "200ms"}}, ["pfifo"], [1, 2])))
    both = {picture.name: picture.title for picture in found}
    assert both["delay-cdf"] == "How long packets queue, down"
    assert both["delay-cdf-up"] == "How long packets queue, up"
    assert both["flow-goodput"] == "Who gets how much, down"
    assert both["flow-goodput-up"] == "Who gets how much, up"
    courses = {picture.name: picture.draw() for picture in found if "over-time" in picture.name}
    axes = {name: figure._supylabel.get_text() for name, figure in courses.items()}  # type: ignore[attr-defined]
    assert axes == {
        "delay-over-time": "queueing delay, down (ms)",
        "delay-over-time-up": "queueing delay, up (ms)",
    }, "beside the other direction, an axis that names none would be of both"
