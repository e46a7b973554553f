"""A kind of traffic is one file and one word in a list. This test counts all other files that name a kind."""

import re
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from conftest import ROOT, Result
from goodqueue import run
from goodqueue.record import App, dotted
from goodqueue.scenario.toml import to_toml
from goodqueue.traffic import kinds

OWN = "crates/netsim/src/traffic"
"""The folder of the kinds' files."""

APPS = {"python/goodqueue/engines/kernel/lab/apps.py", "python/goodqueue/engines/kernel/applications.py"}
DATAGRAMS = {"python/goodqueue/engines/kernel/lab/datagrams.py", "python/goodqueue/engines/kernel/applications.py"}
"""The kernel engine implements kinds itself: one file runs each kind, and the other sums up its measurements."""

ALLOWED: dict[str, set[str]] = {
    "bulk": {
        "python/goodqueue/cli/run.py",  # an example in the help
        "python/goodqueue/traffic.py",  # `BULK`, the kind that competes for the link
        "python/goodqueue/engines/kernel/lab/bulk.py",
        "crates/qdisc/src/sched/cake/diffserv.rs",  # cake's own name of a tin
    },
    "transfer": {
        "python/goodqueue/validation/show.py",  # a heading
        *APPS,
    },
    "rr": APPS,
    "stream": APPS,
    "cbr": {
        "python/goodqueue/engines/kernel/lab/datagrams.py",
        "python/goodqueue/validation/recovery.py",  # the validation's bursts
        "python/goodqueue/speed/bench_wifi.py",  # cells of other simulators
        "python/goodqueue/neighbours",
    },
    "ping": {"python/goodqueue/flent", "python/goodqueue/neighbours", *DATAGRAMS},
    "voip": {"python/goodqueue/flent", "python/goodqueue/neighbours", *DATAGRAMS},
    "page": {
        "python/goodqueue/flent",
        "python/goodqueue/files/har.py",  # the key with the same name as the kind
        *APPS,
    },
    "packmime": {"python/goodqueue/speed/bench.py"},  # a case of other simulators
    "web_users": {
        "python/goodqueue/studies/web.py",  # a sample in its part of the series
        "python/goodqueue/speed/bench.py",  # a standard case
        *APPS,
    },
    "tmix": set(),
    "media": set(),
    "rrul": {"python/goodqueue/flent"},
    "rrul_be": {"python/goodqueue/flent"},
    "tcp_nup": {"python/goodqueue/flent"},
    "tcp_ndown": {"python/goodqueue/flent"},
}
"""The files and folders that name a kind, besides its own file. Other programs' files have names for some kinds."""


def sources() -> Iterator[tuple[str, str]]:
    """Yield path and text of each of our files, without the tests at its end and without line comments."""
    for file in sorted([*(ROOT / "python" / "goodqueue").rglob("*.py"), *(ROOT / "crates").glob("*/src/**/*.rs")]):
        name = str(file.relative_to(ROOT))
        if "/library/" not in name and not name.startswith(OWN):
            yield name, file.read_text(encoding="utf-8").partition("\n#[cfg(test)]")[0]


def test_nobody_else_names_a_kind() -> None:
    assert ALLOWED.keys() == kinds().keys(), "a kind is missing in the list above"
    files = list(sources())
    for kind, allowed in ALLOWED.items():
        word = re.compile(rf"""["']{kind}["']""")
        found = {name for name, text in files if word.search(text)}
        strangers = {name for name in found if not any(name == one or name.startswith(f"{one}/") for one in allowed)}
        assert strangers == set(), f"{kind} is named in {sorted(strangers)}: look it up in goodqueue.traffic"
        unused = {one for one in allowed if not any(name == one or name.startswith(f"{one}/") for name in found)}
        assert unused == set(), f"{sorted(unused)} need not be allowed for {kind} any more"


@pytest.mark.parametrize("kind", [kind.name for kind in kinds().values() if kind.fields])
def test_a_record_has_what_a_kind_declares(kind: str, goodqueue: Callable[..., Result], here: Path) -> None:
    """The kind's keys in their order, its metrics, its path in --metric, and its rows in the table of a run."""
    made = kinds()[kind]
    needed = {key["name"]: tomllib.loads(f"x = {key['example']}")["x"] for key in made.keys if key["required"]}
    scenario = {
        "duration": "4s",
        "warmup": "1s",
        "bottleneck": {"rate": "10mbit", "qdisc": "codel"},
        "path": {"rtt": "20ms"},
        "traffic": [{"kind": kind, **needed, **({"page": "google"} if kind == "page" else {})}],
    }
    record = run.one(scenario)
    (app,) = record["apps"]
    assert list(app) == ["name", "kind", *(part.key for part in made.fields)]
    assert {part.key for part in made.fields} <= dotted.fields_of(App).keys()
    assert all(dotted.check_path(f"apps.0.{measure.path}") is None for measure in made.measures)
    assert made.times in app
    (here / "k.toml").write_text(to_toml(scenario), encoding="utf-8")
    out = goodqueue("run", "k.toml").out
    assert made.plural.capitalize() in out
    for part in made.fields:
        if part.column and part.column.heading:
            assert part.column.heading.split()[0] in out, part
