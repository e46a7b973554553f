"""The simulator in WebAssembly: its records are those of the native simulator, byte for byte."""

import json
import shutil
import subprocess
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

import goodqueue as gq
from goodqueue import _goodqueue, run
from goodqueue.record import Scenario
from goodqueue.scenario import from_file, to_json
from goodqueue.speed.bench import CASES, PACKMIME, WEB

ROOT = Path(__file__).parents[2]
EXAMPLES = sorted((ROOT / "examples").glob("*.toml"))
LESSONS = sorted((ROOT / "web" / "lessons").glob("*.toml"))

WITH_FILES = {"lte"}
"""Examples that name a file beside them, which a browser does not have."""

WITHOUT_FEATURE = {"cable-upstream", "isp", "lld", "receive-side", "rpm", "starlink", "street", "subscribers", "video"}
"""Examples whose links or traffic the page's module leaves out, for its size."""

WITHOUT = {"netem", "docsis_lld", "hfsc", "drr", "ets", "mq"}
"""Disciplines that the page's module leaves out, for its size, and those that stand in trees alone."""

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
        for place, line in enumerate(lesson["lines"]):
            scenario = lesson["scenario"]
            yield f"{file.stem}-{place}", scenario | {"bottleneck": scenario["bottleneck"] | {"qdisc": line}}


LEFT_OUT = {"qdisc-cake_mq", "cc-c4"}
"""What the page does not have."""


def scenarios() -> dict[str, Scenario]:
    """Return the scenarios that run in both, by name, besides the examples."""
    of_bench = {f"case-{case.name}": case.scenario(quick=True) for case in (*CASES, WEB, PACKMIME)}
    of_qdiscs = {
        f"qdisc-{one['name']}": short(one["name"], "cubic") for one in gq.qdiscs() if one["name"] not in WITHOUT
    }
    of_ccs = {
        f"cc-{one['name']}": short("fq_codel", one["name"]) for one in json.loads(_goodqueue.congestion_controls())
    }
    return of_bench | of_qdiscs | of_ccs | dict(lessons())


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder in which WebAssembly has left its records and its refusals."""
    folder = tmp_path_factory.mktemp("records")
    for example in EXAMPLES:
        shutil.copy(example, folder)
    for name, scenario in scenarios().items():
        (folder / f"{name}.json").write_text(to_json(scenario), encoding="utf-8")
    subprocess.run(["node", ROOT / "web" / "tests" / "records.mjs", folder], check=True)
    return folder


def test_each_scenario_has_the_same_record(written: Path) -> None:
    """Otherwise the page would show something that nobody can repeat on the command line.

    Covers every discipline and congestion control, the cases of the benchmark, and the lessons.
    """
    names = list(scenarios())
    assert len(names) > 50
    native = run.many(list(scenarios().values()))
    refused = {file.stem for file in written.glob("qdisc-*.refusal")}
    refused |= {file.stem for file in written.glob("cc-*.refusal")}
    assert refused == LEFT_OUT, "the page leaves them out, for its size"
    for name, text in zip(names, native, strict=True):
        if name in refused:
            continue
        assert (written / f"{name}.record").read_text(encoding="utf-8") == text, f"{name}: another record"


def test_each_example_that_needs_no_file_has_the_same_record(written: Path) -> None:
    """Starting from the file's TOML, which is read by a library other than Python's."""
    refused = {file.stem for file in written.glob("*.refusal")}
    assert refused - LEFT_OUT == WITH_FILES | WITHOUT_FEATURE, (
        "the page has no access networks, no cards, no trees, no responsiveness tests and no videos"
    )
    shown = [example for example in EXAMPLES if example.stem not in refused]
    assert len(shown) > 20
    native = run.many([from_file(example) for example in shown])
    for example, text in zip(shown, native, strict=True):
        assert (written / f"{example.stem}.record").read_text(encoding="utf-8") == text, (
            f"{example.name}: another record"
        )


def test_a_refusal_is_the_cores_own(written: Path) -> None:
    refusal = json.loads((written / "lte.refusal").read_text(encoding="utf-8"))
    assert refusal["key"] == "bottleneck.trace"
    assert "found no file" in refusal["message"]
