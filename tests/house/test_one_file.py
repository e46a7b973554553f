"""A kind of traffic, or of hop, is one file and one word in a list. This test counts all other files that name one."""

import re
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from conftest import ROOT, Result
from goodqueue import hops, running
from goodqueue.engines.kernel import path as kernel
from goodqueue.engines.live import planning as live
from goodqueue.errors import UserError
from goodqueue.record import dotted, layout
from goodqueue.scenario import resolve
from goodqueue.scenario.toml import to_toml
from goodqueue.show import describe
from goodqueue.traffic import kinds

OWN = {"traffic": "crates/hosts/src/traffic", "hops": "crates/netsim/src/path"}
"""The folders of the kinds' files."""

ALLOWED: dict[str, set[str]] = {
    "bulk": {
        "python/goodqueue/runs/question.py",  # an example in the help
        "python/goodqueue/traffic.py",  # `BULK`, the kind that competes for the link
        "crates/qdisc/src/sched/cake/diffserv.rs",  # cake's own name of a tin
        "python/goodqueue/search/worlds.py",  # the traffic of candidates
    },
    "transfer": {
        "python/goodqueue/validation/show.py",  # a heading
        "python/goodqueue/search/worlds.py",
        "python/goodqueue/suites/stacks.py",  # what a connection of QUIC can send in place of TCP
        "python/goodqueue/validation/packets/drawing.py",  # the traffic of drawn runs
    },
    "rr": {"python/goodqueue/validation/packets/drawing.py"},
    "stream": {"python/goodqueue/suites/stacks.py"},
    "cbr": {
        "python/goodqueue/measures/numbers/shares.py",  # `CONSTANT`, the kind whose rate does not answer drops
        "python/goodqueue/speed/bench_wifi.py",  # cells of other simulators
        "python/goodqueue/neighbours",
        "python/goodqueue/search/worlds.py",
    },
    "ping": {
        "python/goodqueue/flent",
        "python/goodqueue/neighbours",
        "python/goodqueue/calibrate/programs/ping.py",  # the program
        "python/goodqueue/speed/bench_runs.py",  # a run whose speed is measured
    },
    "voip": {"python/goodqueue/flent", "python/goodqueue/neighbours"},
    "page": {
        "python/goodqueue/flent",
        "python/goodqueue/files/har.py",  # the key with the same name as the kind
    },
    "packmime": {"python/goodqueue/speed/bench.py"},  # a case of other simulators
    "web_users": {
        "python/goodqueue/speed/bench.py",  # a standard case
        "python/goodqueue/speed/bench_runs.py",
    },
    "tmix": set(),
    "media": set(),
    "video": {  # a class of 802.11 and a tin of cake have the same name
        "crates/netsim/src/wifi/standard.rs",
        "crates/qdisc/src/sched/cake/diffserv.rs",
    },
    "rpm": {"python/goodqueue/calibrate/programs/mach.py"},  # the test of the program mach
    "quic": {"python/goodqueue/suites/stacks.py"},
    "rrul": {"python/goodqueue/flent", "python/goodqueue/speed/bench_runs.py"},
    "rrul_be": {"python/goodqueue/flent", "python/goodqueue/calibrate/programs/flent.py"},
    "tcp_nup": {"python/goodqueue/flent"},
    "tcp_ndown": {"python/goodqueue/flent"},
}
"""The files and folders that name a kind, besides its own file. Other programs' files have names for some kinds."""

ALLOWED_HOPS: dict[str, set[str]] = {
    "link": {  # the verb, and what else has the name of the kind
        "python/goodqueue/validation/packets/drawing.py",  # the hops of drawn runs
        "python/goodqueue/cli",
        "python/goodqueue/__init__.py",  # `gq.link`
        "python/goodqueue/linking",
        "python/goodqueue/engines/live",
        "python/goodqueue/calibrate/starting.py",
        "python/goodqueue/advice",
        "python/goodqueue/engines/kernel/lab/plan.py",  # a field of the laboratory's hop
        "python/goodqueue/search/worlds.py",  # the links and wires of candidates
        "crates/qdisc/src/tree/plan/head.rs",  # a verb of tc
    },
    "wire": {"python/goodqueue/search/worlds.py", "python/goodqueue/validation/packets/drawing.py"},
    "police": {"crates/qdisc/src/tree/filter.rs"},  # tc's word for an action of a filter
}
"""The same for kinds of hops."""


def sources(own: str) -> Iterator[tuple[str, str]]:
    """Yield path and text of each of our files outside ``own``, without the tests at its end."""
    for file in sorted([*(ROOT / "python" / "goodqueue").rglob("*.py"), *(ROOT / "crates").glob("*/src/**/*.rs")]):
        name = str(file.relative_to(ROOT))
        if "/library/" not in name and not name.startswith(own):
            yield name, file.read_text(encoding="utf-8").partition("\n#[cfg(test)]")[0]


@pytest.mark.parametrize(
    ("room", "listed", "known"), [("traffic", ALLOWED, kinds()), ("hops", ALLOWED_HOPS, hops.kinds())]
)
def test_nobody_else_names_a_kind(room: str, listed: dict[str, set[str]], known: dict[str, object]) -> None:
    assert listed.keys() == known.keys(), "a kind is missing in the list above"
    files = list(sources(OWN[room]))
    for kind, allowed in listed.items():
        word = re.compile(rf"""["']{kind}["']""")
        found = {name for name, text in files if word.search(text)}
        strangers = {name for name in found if not any(name == one or name.startswith(f"{one}/") for one in allowed)}
        assert strangers == set(), f"{kind} is named in {sorted(strangers)}: look it up in goodqueue.{room}"
        unused = {one for one in allowed if not any(name == one or name.startswith(f"{one}/") for name in found)}
        assert unused == set(), f"{sorted(unused)} need not be allowed for {kind} any more"


@pytest.mark.parametrize("kind", [kind.name for kind in kinds().values() if kind.fields and not kind.package])
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
    record = running.one(scenario)
    (app,) = record["apps"]
    assert list(app) == ["name", "kind", "never_started", "unfinished", *(part.key for part in made.fields)]
    assert {part.key for part in made.fields} <= layout.parts()["App"].fields.keys()
    assert all(dotted.check_path(f"apps.0.{measure.path}") is None for measure in made.measures)
    assert made.times in app
    (here / "k.toml").write_text(to_toml(scenario), encoding="utf-8")
    out = goodqueue("run", "k.toml", "--all").out
    assert made.plural.capitalize() in out
    for part in made.fields:
        if part.column and part.column.heading:
            assert part.column.heading.split()[0] in out, part


@pytest.mark.parametrize("kind", hops.kinds())
def test_a_page_says_what_a_hop_is(kind: str, goodqueue: Callable[..., Result], here: Path) -> None:
    """Its name in the title of a table of its kind, its value in the sentence, and its keys in the list."""
    made = hops.kinds()[kind]
    needed = {key["name"]: tomllib.loads(f"x = {key['example']}")["x"] for key in made.keys if key["required"]}
    # A link needs a rate and a discipline, but either may be said by another key.
    needed = {"rate": "8mbit", "qdisc": "codel", **needed} if made.has_queue else needed
    scenario = {
        "duration": "4s",
        "warmup": "1s",
        "bottleneck": {"rate": "10mbit", "qdisc": "codel"},
        "path": {"rtt": "20ms"},
        "hop": [{"name": "edge", "kind": kind, **needed}],
        "traffic": [{"kind": "bulk"}],
    }
    (here / "k.toml").write_text(to_toml(scenario), encoding="utf-8")
    assert f"Hops: {made.plural}" in goodqueue("run", "k.toml").out
    said = describe.path(running.one(scenario)["scenario"])
    assert "then edge (" in said
    assert made.has_queue or f"({made.noun}" in said
    shown = goodqueue("list", "hops", kind).out
    assert all(key["name"] in shown for key in made.keys)


def test_a_policer_runs_where_the_core_does_and_not_where_linux_would_have_to() -> None:
    scenario = {
        "duration": "4s",
        "bottleneck": {"rate": "10mbit", "qdisc": "codel"},
        "path": {"rtt": "20ms"},
        "hop": [{"name": "edge", "kind": "police", "rate": "8mbit", "burst": "15kB"}],
        "traffic": [{"kind": "bulk"}],
    }
    resolved = resolve(scenario)
    (hop,) = live.plan(resolved).hops
    assert (hop.name, hop.delay_s) == ("edge", 0), "nothing waits in a policer"
    with pytest.raises(UserError, match="accepted by the kernel engine: link, wire"):
        kernel.path(resolved)
