"""The simulator in WebAssembly: its records are those of the native simulator, byte for byte."""

import json
import shutil
import subprocess
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

import goodqueue as gq
from goodqueue import _goodqueue, running
from goodqueue.engines.loads import from_file
from goodqueue.record import Scenario
from goodqueue.scenario import to_json
from goodqueue.speed.bench import CASES, PACKMIME, WEB

ROOT = Path(__file__).parents[2]
EXAMPLES = sorted(file for file in (ROOT / "examples").glob("*.toml") if file.stem != "isp")
LESSONS = sorted((ROOT / "web" / "lessons").glob("*.toml"))

WITH_FILES = {"lte"}
"""Examples that name a file beside them, which a browser does not have."""

ONLY_COMPLETE = {
    "cable-upstream",
    "isp",
    "lld",
    "receive-side",
    "rpm",
    "starlink",
    "street",
    "7-evening-at-an-isp-0",
    "subscribers",
    "video",
    "web-users",
    "case-v",
    "cc-c4",
    "cc-ledbat++",
    "qdisc-cake_mq",
    "qdisc-netem",
    "qdisc-stab",
    "qdisc-docsis_lld",
    "tmix",
}
"""What only the complete module has: the first one leaves it out, for its size."""

NOT_ON_THE_PAGE = {"cc-bbr2"}
"""What neither module has: docs/guides/browser.md says so."""

LINES = {
    "docsis_lld": "docsis_lld",
    "netem": "netem delay 2ms limit 100",
    "stab": "stab overhead 38 linklayer ethernet fq_codel",
}
"""Lines of disciplines that do not run without words, or beside the usual traffic, or that are none."""

WITHOUT = {*LINES, "hfsc", "drr", "ets", "mq"}
"""Disciplines that have lines of their own, and those that stand in trees alone."""

pytestmark = pytest.mark.needs("page")


def short(qdisc: str, cc: str) -> Scenario:
    """Return a scenario for each discipline, or each congestion control."""
    bulk = {"kind": "bulk", "count": 3, "cc": cc, "start_spread": "1s"}
    return {
        "duration": "6s",
        "bottleneck": {"rate": "10mbit", "qdisc": qdisc},
        "path": {"rtt": "40ms"},
        "traffic": [bulk, {"kind": "voip"}, {"kind": "page", "page": "google"}],
        "series": {"interval": "100ms", "law": True, "tcp": True},
    }


def lessons() -> Iterator[tuple[str, Scenario]]:
    """Yield each lesson under each of its lines."""
    for file in LESSONS:
        lesson = tomllib.loads(file.read_text(encoding="utf-8"))
        for place, line in enumerate(dict.fromkeys(lesson["lines"])):
            scenario = lesson["scenario"]
            yield f"{file.stem}-{place}", scenario | {"bottleneck": scenario["bottleneck"] | {"qdisc": line}}


def scenarios() -> dict[str, Scenario]:
    """Return the scenarios that run in both, by name, besides the examples. One example takes long, and is shorter."""
    of_bench = {f"case-{case.name}": case.scenario(quick=True) for case in (*CASES, WEB, PACKMIME)}
    of_qdiscs = {
        f"qdisc-{one['name']}": short(one["name"], "cubic") for one in gq.qdiscs() if one["name"] not in WITHOUT
    }
    of_ccs = {
        f"cc-{one['name']}": short("fq_codel", one["name"]) for one in json.loads(_goodqueue.congestion_controls())
    }
    of_lines = {f"qdisc-{name}": short(line, "cubic") for name, line in LINES.items()}
    tmix = short("fq_codel", "cubic")
    tmix["traffic"] = [{"kind": "tmix", "vectors": [{"start_us": 0, "sends": [[">", 300, 0], ["<", 90000, 0]]}]}]
    isp = from_file(ROOT / "examples" / "isp.toml") | {"duration": "4s", "warmup": "1s"}
    return of_bench | of_qdiscs | of_ccs | of_lines | {"tmix": tmix, "isp": isp} | dict(lessons())


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder in which the first module has left its records and its refusals."""
    folder = tmp_path_factory.mktemp("records")
    for example in EXAMPLES:
        shutil.copy(example, folder)
    for name, scenario in scenarios().items():
        (folder / f"{name}.json").write_text(to_json(scenario), encoding="utf-8")
    _run("goodqueue_web_bg", folder)
    return folder


def _run(module: str, folder: Path) -> None:
    subprocess.run(["node", ROOT / "web" / "tests" / "records.mjs", module, folder], check=True)


def _check(folder: Path, native: dict[str, Scenario]) -> None:
    """Check that the records in ``folder`` are those of the ``native`` simulator."""
    for name, text in zip(native, running.many(list(native.values())), strict=True):
        assert (folder / f"{name}.record").read_text(encoding="utf-8") == text, f"{name}: another record"


def _refused(folder: Path) -> set[str]:
    return {file.stem for file in folder.glob("*.refusal")}


def test_each_scenario_has_the_same_record(written: Path) -> None:
    """Otherwise the page would show something that nobody can repeat on the command line.

    Covers every discipline and congestion control, the cases of the benchmark, and the lessons.
    """
    refused = _refused(written)
    shown = {name: scenario for name, scenario in scenarios().items() if name not in refused}
    assert len(shown) > 50
    _check(written, shown)


def test_each_example_that_needs_no_file_has_the_same_record(written: Path) -> None:
    """Starting from the file's TOML, which is read by a library other than Python's."""
    shown = {example.stem: from_file(example) for example in EXAMPLES if example.stem not in _refused(written)}
    assert len(shown) > 20
    _check(written, shown)


def test_the_first_module_leaves_out_what_it_says(written: Path) -> None:
    assert _refused(written) == WITH_FILES | ONLY_COMPLETE | NOT_ON_THE_PAGE


@pytest.mark.long
def test_the_complete_module_runs_what_the_first_one_refuses(written: Path) -> None:
    complete = written / "complete"
    complete.mkdir()
    for refusal in written.glob("*.refusal"):
        for file in written.glob(f"{refusal.stem}.[jt]*"):
            shutil.copy(file, complete)
    _run("complete", complete)
    assert _refused(complete) == WITH_FILES | NOT_ON_THE_PAGE, "the complete module leaves something else out"
    examples = {example.stem: example for example in EXAMPLES}
    _check(
        complete,
        {name: from_file(examples[name]) if name in examples else scenarios()[name] for name in sorted(ONLY_COMPLETE)},
    )


def test_a_refusal_is_the_cores_own(written: Path) -> None:
    refusal = json.loads((written / "lte.refusal").read_text(encoding="utf-8"))
    assert refusal["key"] == "bottleneck.trace"
    assert "found no file" in refusal["message"]
