"""`import goodqueue as gq`: what the command line does, as objects."""

import ast
import doctest
import importlib
import inspect
import itertools
import json
import pydoc
import re
import subprocess
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import goodqueue as gq
from conftest import ROOT, TOML, Result
from goodqueue.cli import command_line
from goodqueue.record import Scenario

PACKAGE = Path(gq.__file__).parent

LINK = {"rate": "10mbit", "rtt": "20ms", "duration": "4s", "warmup": "1s"}


@pytest.fixture(scope="module")
def one() -> gq.Run:
    return gq.run(qdisc="codel", series__interval="100ms", **LINK)


@pytest.fixture(scope="module")
def both() -> gq.Comparison:
    return gq.compare("pfifo", "codel", seeds=2, **LINK)


@pytest.fixture(scope="module")
def grid() -> gq.Sweep:
    axes = {"bottleneck.qdisc": ["pfifo", "codel target 15ms"], "traffic.0.count": [1, 2, 3]}
    return gq.sweep(grid=axes, seeds=2, progress=False, **LINK)


@pytest.mark.parametrize(
    "name", ["goodqueue", *(f"goodqueue.api.{name}" for name in ("run", "comparison", "sweep", "advice", "lists"))]
)
def test_the_examples_in_the_documentation_are_true(name: str) -> None:
    outcome = doctest.testmod(importlib.import_module(name))
    assert outcome.attempted > 3
    assert outcome.failed == 0


def test_all_that_is_named_is_there_and_documented() -> None:
    for name in gq.__all__:
        found = getattr(gq, name)
        assert callable(found), name
        assert inspect.getdoc(found), name
        if inspect.isclass(found):
            for member, value in vars(found).items():
                if not member.startswith("_") and (callable(value) or isinstance(value, property)):
                    assert inspect.getdoc(value), f"{name}.{member}"
    with pytest.raises(AttributeError, match="goodqueue"):
        gq.nothing  # noqa: B018


def test_type_checkers_import_each_name_from_the_module_that_has_it() -> None:
    tree = ast.parse((PACKAGE / "__init__.py").read_text(encoding="utf-8"))
    (block,) = (node for node in tree.body if isinstance(node, ast.If))
    imports = [node for node in block.body if isinstance(node, ast.ImportFrom)]
    assert {alias.name: node.module for node in imports for alias in node.names} == gq._FROM
    assert sorted(gq._FROM) == gq.__all__


def test_no_module_has_the_name_of_a_function() -> None:
    """Importing a module binds its name in the package, so the module would replace the function."""
    assert not gq._FROM.keys() & {path.stem for path in PACKAGE.iterdir()}
    assert inspect.isfunction(gq.run)
    assert list(inspect.signature(gq.run).parameters) == [
        "scenario",
        "engine",
        "kernel",
        "machine",
        "threads",
        "progress",
        "sets",
    ]
    help_text = pydoc.render_doc(gq.run, renderer=pydoc.plaintext)
    assert "run(scenario: " in help_text, "the arguments"
    assert "seed: " in help_text, "and what they are"


@pytest.mark.parametrize("order", list(itertools.permutations(["module", "function"])))
def test_modules_and_functions_are_imported_in_any_order(order: tuple[str, ...]) -> None:
    lines = {
        "module": "import goodqueue.running, goodqueue.comparison, goodqueue.sweeps, goodqueue.advice",
        "function": "from goodqueue import run, compare, sweep, advise",
    }
    code = [
        *(lines[one] for one in order),
        "import goodqueue as gq",
        "assert (gq.run, gq.compare, gq.sweep, gq.advise) == (run, compare, sweep, advise)",
        "assert gq.running.many",
        f"print(gq.run(qdisc='codel', **{LINK!r}).record['engine'])",
    ]
    done = subprocess.run([sys.executable, "-c", "\n".join(code)], capture_output=True, text=True, check=True)
    assert done.stdout == "sim\n"


def test_the_command_line_starts_without_the_api() -> None:
    code = (
        "import sys; import goodqueue.cli; "
        "print(sorted({'numpy', 'pandas', 'matplotlib', 'goodqueue.api', 'goodqueue.scenario'} & sys.modules.keys()))"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


def test_defaults_are_those_of_the_command_line() -> None:
    for verb in ("compare", "sweep", "advise", "attack", "tune"):
        theirs = {param.name: param.default for param in command_line().commands[verb].params}
        ours = inspect.signature(getattr(gq, verb)).parameters
        for name in ours.keys() & theirs.keys():
            if ours[name].kind is not inspect.Parameter.VAR_POSITIONAL and ours[name].default is not inspect._empty:
                assert (ours[name].default or None) == (theirs[name] or None), f"{verb}: {name}"


# --- a run -----------------------------------------------------------------------------------------------------------


def test_a_run_is_that_of_the_command_line_to_the_byte(goodqueue: Callable[..., Result], tmp_path: Path) -> None:
    file = tmp_path / "link.toml"
    file.write_text(TOML, encoding="utf-8")
    theirs = goodqueue(
        "run", str(file), "--seed", "7", "--set", "path.rtt=30ms", "--set", "traffic.0.count=3", "--json"
    )
    ours = gq.run(file, seed=7, path__rtt="30ms", traffic__0__count=3)
    ours.save(tmp_path / "record.json")
    assert (tmp_path / "record.json").read_bytes() == theirs.out.encode()
    assert ours.record["seed"] == 7
    assert gq.run(ours.scenario).text == ours.text, "what was resolved gives the same run again"
    shown = goodqueue("run", str(file), "--seed", "7", "--set", "path.rtt=30ms", "--set", "traffic.0.count=3").out
    lines = ours.table().splitlines()
    assert lines == shown.splitlines()[: len(lines)], "the picture, which follows, is the terminal's"
    with pytest.raises(gq.UserError, match=r"record\.json: exists already"):
        ours.save(tmp_path / "record.json")


def test_a_dict_stays_as_it_was(scenario: Scenario) -> None:
    before = json.dumps(scenario)
    found = gq.run(scenario, bottleneck__qdisc="pie", seed=3)
    assert json.dumps(scenario) == before
    assert found.queue["qdisc"].startswith("pie")


def test_the_arrays_of_a_run_have_shapes_and_units(one: gq.Run) -> None:
    assert one.time_s.shape == one.array("delay_ms").shape == one.array("cwnd_packets").shape == (40,)
    assert one.time_s[0] == pytest.approx(0.1)
    assert one.time_s[-1] == pytest.approx(4)
    percentiles = one.delay_percentiles_ms("down")
    assert percentiles.shape == (101,)
    assert np.all(np.diff(percentiles) >= 0)
    assert percentiles[95] == pytest.approx(one.queue["delay_ms"]["p95"], rel=0.05)  # type: ignore[index]
    assert one.metrics["delay_p95_ms"] == one.queues["down"]["delay_ms"]["p95"]  # type: ignore[index]
    assert one.delay_percentiles_ms("up").shape == (101,)


def test_the_queue_of_a_run_is_the_loaded_one() -> None:
    found = gq.run(qdisc="codel", traffic="bulk:2:up", **LINK)
    assert found.queue is found.queues["up"]
    assert found.queue["utilisation_percent"] > 80  # type: ignore[operator]


def test_the_frames_of_a_run_have_a_row_per_flow_and_per_interval(one: gq.Run) -> None:
    assert list(one.df["name"]) == [flow["name"] for flow in one.flows]
    assert list(one.df["goodput_mbps"]) == [flow["goodput_mbps"] for flow in one.flows]
    assert list(one.df["rtt_p50_ms"]) == [flow["rtt_ms"]["p50"] for flow in one.flows]  # type: ignore[index]
    assert one.series.index.name == "time_s"
    assert {"delay_ms", "up_delay_ms", "goodput_mbps", "flows.bulk/0.cwnd_packets"} <= set(one.series.columns)
    assert list(one.series["delay_ms"].dropna()) == [v for v in one.array("delay_ms") if not np.isnan(v)]


def test_a_run_shows_itself(one: gq.Run) -> None:
    assert repr(one) == one.table()
    assert "Queues" in one.table()
    assert "± " not in one.table()
    page = one._repr_html_()
    assert page.count("<table>") == 3
    assert "codel" in page
    assert "\x1b" not in one.table()


@pytest.mark.parametrize("kind", ["cdf", "box", "bar", "time", "ellipse", "jain"])
def test_a_run_draws(one: gq.Run, kind: str) -> None:
    assert one.plot(kind).axes


# --- a comparison ----------------------------------------------------------------------------------------------------


def test_a_comparison_is_that_of_the_command_line(both: gq.Comparison, goodqueue: Callable[..., Result]) -> None:
    options = [word for name, value in LINK.items() for word in (f"--{name}", value)]
    theirs = json.loads(goodqueue("compare", "pfifo", "codel", "--seeds", "2", *options, "--json").out)
    for at, entry in enumerate(theirs["qdiscs"]):
        for key, found in entry["metrics"].items():
            ours = both.estimate(entry["qdisc"], key)
            assert (None if ours is None else ours.mean) == found["mean"], key
            np.testing.assert_array_equal(both.values(key)[at], np.array(found["values"], dtype=float))
        if at:
            difference = entry["difference_from_first"]["delay_p95_ms"]
            assert both.difference("codel", "delay_p95_ms").mean == difference["mean"]  # type: ignore[union-attr]
    text = goodqueue("compare", "pfifo", "codel", "--seeds", "2", *options).out
    assert all(line in text for line in both.table().splitlines())
    assert all(sentence in " ".join(text.split()) for sentence in both.findings)
    assert both.findings


def test_the_frames_of_a_comparison_are_tidy(both: gq.Comparison) -> None:
    assert both.df.shape[0] == 4
    assert list(both.df["qdisc"]) == ["pfifo", "pfifo", "codel", "codel"]
    assert list(both.df["seed"]) == [1, 2, 1, 2]
    assert {"delay_p95_ms", "goodput_mbps", "ping_rtt_p95_ms"} <= set(both.df.columns)
    assert "voip_mos" not in both.df.columns, "nothing measured it"
    row = both.estimates.query("qdisc == 'codel' and metric == 'delay_p95_ms'").iloc[0]
    assert row["mean"] == pytest.approx(both.df.query("qdisc == 'codel'")["delay_p95_ms"].mean())
    assert row["n"] == 2
    assert set(both.differences["qdisc"]) == {"codel"}


@pytest.mark.long
def test_a_comparison_draws_and_reports(both: gq.Comparison, tmp_path: Path) -> None:
    for kind in ("estimates", "delay-cdf", "delay-goodput", "cdf", "box"):
        assert both.plot(kind).axes, kind
    with pytest.raises(gq.UserError, match=r"delay-over-time draws; accepted: .*delay-cdf"):
        both.plot("delay-over-time")
    both.report(tmp_path / "report")
    assert {"report.html", "results.json", "records.jsonl"} <= {file.name for file in (tmp_path / "report").iterdir()}
    said = json.loads((tmp_path / "report" / "results.json").read_text(encoding="utf-8"))["command"]
    assert said == "goodqueue compare pfifo codel --rate 10mbit --rtt 20ms --duration 4s --warmup 1s --seeds 2"
    with pytest.raises(gq.UserError, match="holds results of goodqueue compare"):
        both.report(tmp_path / "report")


# --- a sweep ---------------------------------------------------------------------------------------------------------


def test_a_sweep_has_a_row_per_run_and_an_axis_per_key(grid: gq.Sweep) -> None:
    assert grid.axes == {"bottleneck.qdisc": ["pfifo", "codel target 15ms"], "traffic.0.count": ["1", "2", "3"]}
    assert grid.values("delay_p95_ms").shape == (2, 3, 2)
    assert grid.df.shape[0] == 12
    row = grid.df.query("`bottleneck.qdisc` == 'codel target 15ms' and `traffic.0.count` == 3 and seed == 2")
    assert list(row["delay_p95_ms"]) == [grid.values("delay_p95_ms")[1, 2, 1]]
    at = {"bottleneck.qdisc": "pfifo", "traffic.0.count": 2}
    assert grid.estimate(at, "goodput_mbps").mean == pytest.approx(grid.values("goodput_mbps")[0, 1].mean())  # type: ignore[union-attr]
    assert grid.plot("goodput_mbps").axes
    assert "Means over the seeds" in repr(grid)
    assert grid.failures == []


def test_a_difference_of_a_sweep_takes_any_baseline(grid: gq.Sweep) -> None:
    at = {"bottleneck.qdisc": "codel target 15ms", "traffic.0.count": 3}
    values = grid.values("goodput_mbps")
    from_first = grid.difference(at, "goodput_mbps")
    assert from_first is not None
    assert from_first.mean == pytest.approx((values[1, 2] - values[0, 2]).mean()), "the first qdisc, same traffic"
    from_one = grid.difference(at, "goodput_mbps", against="traffic.0.count=1")
    assert from_one is not None
    assert from_one.mean == pytest.approx((values[1, 2] - values[1, 0]).mean())
    assert grid.difference(at, "goodput_mbps", against="count=3") is None, "the baseline itself"
    with pytest.raises(gq.UserError, match=r'^against: found "9"; accepted: 1, 2, 3$'):
        grid.difference(at, "goodput_mbps", against="traffic.0.count=9")
    assert "Difference from" in grid.latex()


def test_a_sweep_with_a_store_does_nothing_twice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wanted: dict[str, Any] = {"grid": {"path.rtt": ["10ms", "30ms"]}, "seeds": 1, "store": tmp_path / "store"}
    first = gq.sweep(**wanted, qdisc="codel", rate="10mbit", duration="3s", warmup="1s")
    monkeypatch.setattr("goodqueue.running.simulate", lambda *_: pytest.fail("it is stored"))
    again = gq.sweep(**wanted, qdisc="codel", rate="10mbit", duration="3s", warmup="1s", workers=1)
    assert again.df.equals(first.df)
    assert set(first.df["key"]) == {file.stem for file in (tmp_path / "store" / "runs").glob("*/*.parquet")}


def test_cells_that_are_refused_are_named_and_the_others_go_on() -> None:
    found = gq.sweep(grid={"path.rtt": ["10ms", "much"]}, qdisc="codel", seeds=1, **LINK)
    assert len(found.failures) == 1
    assert found.failures[0].startswith("path.rtt=much: ")
    assert np.isnan(found.values("delay_p95_ms")).tolist() == [[False], [True]]
    assert found.failures[0].split(":")[0] in found.table()


# --- refusals --------------------------------------------------------------------------------------------------------


class Mute:
    def __str__(self) -> str:
        raise RuntimeError


REFUSED = {
    "a unit": (lambda: gq.run(qdisc="codel", rate="10"), r"^rate: "),
    "an option": (lambda: gq.run(qdisc="codel", up_rate="1furlong"), r"^up_rate: .*1furlong"),
    "a key": (lambda: gq.run(qdisc="codel", path__rtx="1ms"), r"^path\.rtx"),
    "a value": (lambda: gq.run(qdisc="codel", path__rtt={"a": 1}), r"^path\.rtt: found .*accepted: a time"),
    "not finite": (lambda: gq.run(qdisc="codel", path__rtt=float("nan")), r"^path\.rtt: .*finite"),
    "a source": (lambda: gq.run(5), r"^scenario: found 5"),
    "no file": (lambda: gq.run("no.toml"), r"^no\.toml: not found"),
    "a seed": (lambda: gq.run(qdisc="codel", seed=-1), r"^seed: found -1"),
    "an engine": (lambda: gq.run(qdisc="codel", engine="ns3"), r"^engine: found .*sim, kernel"),
    "no qdisc": (gq.compare, r"^compare: missing QDISC"),
    "a qdisc": (lambda: gq.compare("codle"), r"codle"),
    "seeds": (lambda: gq.compare("codel", seeds=0), r"^seeds: found 0"),
    "a metric": (lambda: gq.compare("codel", metric="speed"), r"^metric: found .speed"),
    "a text for a list": (lambda: gq.sweep(grid={"path.rtt": "10ms"}), r"^grid path\.rtt: found .*a list"),
    "a comma": (lambda: gq.sweep(grid={"path.rtt": ["1ms,2ms"]}), r"^grid path\.rtt: .*comma"),
    "a qdisc without a name": (lambda: gq.compare(Mute()), r'^compare: found ""; accepted: lines'),
    "an engine that is no text": (lambda: gq.compare("codel", engine=Path("sim")), r"^engine: found .*text"),  # type: ignore[arg-type]
    "a metric that is no text": (lambda: gq.compare("codel", metric=[1]), r"^metric: found \[1\]"),  # type: ignore[list-item]
    "a grid without values": (lambda: gq.sweep(grid=["path.rtt"]), r"^path\.rtt: found no KEY=VALUE"),  # type: ignore[arg-type]
    "a store that is no path": (lambda: gq.sweep(grid={"path.rtt": ["1s"]}, store=5, qdisc="codel"), "^store: found 5"),  # type: ignore[arg-type]
    "a store by its earlier name": (
        lambda: gq.sweep(out="st"),
        '^out: found "st"; accepted: store, as it is called now$',
    ),
    "a search's store by its earlier name": (
        lambda: gq.tune("codel", out="st"),  # type: ignore[call-arg]
        '^out: found "st"; accepted: store, as',
    ),
    "a search's seed by its earlier name": (
        lambda: gq.attack("codel", "delay", seed=1),  # type: ignore[call-arg]
        "^seed: found 1; accepted: draw_seed, as",
    ),
    "an array for a flag": (lambda: gq.run(qdisc="codel", ecn=np.array([1, 2])), r"^ecn: found .*True or False"),
    "a suite that is no path": (lambda: gq.suite({}), r"^name: found \{\}"),  # type: ignore[arg-type]
    "a subject that is no text": (lambda: gq.suite("rfc7928", max), r"^tested: found "),  # type: ignore[arg-type]
    "a section that is no text": (lambda: gq.suite("rfc7928", "codel", only=[8]), r"^only: found \[8\]"),  # type: ignore[list-item]
    "a use that is no text": (lambda: gq.advise("9mbit", "9mbit", use=[1]), r"^use: found \[1\]"),  # type: ignore[list-item]
    "a rate that is no text": (lambda: gq.advise(9, "9mbit"), r"^down: found 9"),  # type: ignore[arg-type]
    "a link that is no text": (lambda: gq.advise("9mbit", "9mbit", link=1), r"^link: found 1"),  # type: ignore[arg-type]
    "files that are no paths": (lambda: gq.advise("9mbit", "9mbit", flent=5), r"^flent: found 5"),  # type: ignore[arg-type]
    "a trace that is no path": (lambda: gq.advise("9mbit", "9mbit", trace=5), r"^trace: found 5"),  # type: ignore[arg-type]
    "traffic twice": (lambda: gq.run({"bottleneck": {}}, flows=2), r"^flows: the scenario says"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_refusal_is_one_line_in_words_of_python(case: str) -> None:
    call, pattern = REFUSED[case]
    with pytest.raises(gq.UserError, match=pattern) as caught:
        call()
    assert "\n" not in str(caught.value)
    assert "--" not in str(caught.value)


def test_a_refusal_repeats_what_was_written() -> None:
    with pytest.raises(gq.UserError, match=r'^traffic: found "ping:--up-rate"; accepted: a list'):
        gq.run(traffic="bulk,ping:--up-rate")


def test_help_lists_the_options_with_their_defaults() -> None:
    said = inspect.getdoc(gq.compare) or ""
    assert "Options of a scenario:" in said
    assert "    rate: Bottleneck rate. [10mbit]" in said
    assert "    up_rate: Rate of the way up. [as rate]" in said
    assert "Options of a scenario:" not in (inspect.getdoc(gq.suite) or "")


def test_results_refuse_what_they_do_not_have(one: gq.Run, both: gq.Comparison, grid: gq.Sweep) -> None:
    for call, pattern in (
        (lambda: one.array("speed"), r"^series: found .speed.*accepted of this run: delay_ms"),
        (lambda: one.plot("pie"), r"^plot: found .pie.*ellipse"),
        (lambda: one.delay_percentiles_ms("left"), r"^direction: found .left"),
        (lambda: gq.run(qdisc="codel", **LINK).time_s, r"^series: the run has none"),
        (lambda: both.values("speed"), r"^metric: found .speed"),
        (lambda: both.estimate("pie", "delay_p95_ms"), r"^qdisc: found .pie.*pfifo, codel"),
        (lambda: grid.estimate({"path.rtt": "1ms"}, "delay_p95_ms"), r"^at: found"),
    ):
        with pytest.raises(gq.UserError, match=pattern):
            call()


def test_without_pandas_the_rest_works(one: gq.Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(gq.UserError, match=r"^DataFrames: needs pandas; accepted: pip install"):
        one.df  # noqa: B018
    assert one.array("delay_ms").shape == (40,)
    assert one.table()


# --- the notebook ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("page", ["README.md", "docs", "examples"])
def test_every_name_of_the_package_in_a_text_exists(page: str) -> None:
    """The notebook's last sentence named a function that had been renamed: no cell calls it."""
    place = ROOT / page
    files = [place] if place.is_file() else [one for kind in ("*.md", "*.ipynb") for one in place.rglob(kind)]
    named = {name for one in files for name in re.findall(r"\bgq\.([A-Za-z_]+)", one.read_text(encoding="utf-8"))}
    assert named or page == "README.md"
    assert [name for name in sorted(named) if not hasattr(gq, name)] == []


@pytest.mark.long
def test_the_notebook_runs_and_is_kept_without_outputs(monkeypatch: pytest.MonkeyPatch) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of what jupyter imports
        import nbformat
        from nbclient import NotebookClient

        notebook = nbformat.read(ROOT / "examples" / "notebook.ipynb", as_version=4)
        code = [cell for cell in notebook.cells if cell.cell_type == "code"]
        assert code
        assert all(not cell.outputs and cell.execution_count is None for cell in code)
        monkeypatch.setenv("PYTHONPATH", str(ROOT / "python"))
        monkeypatch.setenv("PYDEVD_DISABLE_FILE_VALIDATION", "1")
        NotebookClient(
            notebook, timeout=600, kernel_name="python3", resources={"metadata": {"path": ROOT / "examples"}}
        ).execute()
    shown = [output for cell in code for output in cell.outputs]
    assert sum("image/png" in output.get("data", {}) for output in shown) >= 3, "figures show themselves"
    assert any("<table" in output.get("data", {}).get("text/html", "") for output in shown)
