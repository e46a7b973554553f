"""`load`: how many web users offer it. The populations here are small, so that the search takes seconds."""

import json
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import goodqueue as gq
from conftest import Result
from goodqueue import running
from goodqueue import scenario as reading
from goodqueue.engines import loads
from goodqueue.errors import UserError
from goodqueue.linking import path
from goodqueue.scenario.toml import to_toml
from goodqueue.studies import libraries, loading, planning, selection
from goodqueue.sweeps import grid

LOADS = ("80%", "20%", "50%", "20%")
"""The first takes longest to count, and one comes twice."""


def scenario(**own: Any) -> dict[str, Any]:
    source = {
        "kind": "web_users",
        "think": "exponential(1s)",
        "objects": 2,
        "document": "10kB",
        "object": "10kB",
        "protocol": "http/2",
        "load": "80%",
        **own,
    }
    return {
        "duration": "40s",
        "warmup": "10s",
        "path": {"rtt": "40ms"},
        "bottleneck": {"rate": "10mbit", "qdisc": "codel"},
        "traffic": [{key: value for key, value in source.items() if value is not None}],
    }


def settled(**own: Any) -> dict[str, Any]:
    base = scenario(**own)
    loads.settle(base)
    source: dict[str, Any] = base["traffic"][0]
    return source


def test_the_users_offer_the_load_where_nobody_waits(capsys: pytest.CaptureFixture[str]) -> None:
    source = settled()
    assert "load" not in source
    probe = scenario(load=None, users=source["users"])
    probe["bottleneck"] = {"rate": "80mbit", "qdisc": "pfifo limit 100000"}
    offered = running.one({**probe, "seed": 1})["queues"]["down"]["throughput_mbps"]
    assert offered == pytest.approx(8.0, rel=0.01)
    assert f"{source['users']} users, who offer" in capsys.readouterr().err


def test_disciplines_and_rates_have_the_same_users() -> None:
    users = settled()["users"]
    for change in ({"qdisc": "pie"}, {"up": {"rate": "5mbit"}}):
        other = scenario()
        other["bottleneck"] |= change
        loads.settle(other)
        assert other["traffic"][0]["users"] == users
    assert settled(ecn=True)["users"] == users
    faster = scenario(load="8mbit")
    faster["bottleneck"]["rate"] = "100mbit"
    loads.settle(faster)
    assert faster["traffic"][0]["users"] == users


def test_a_load_that_no_number_of_users_offers_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loads, "MOST_USERS", 30)
    with pytest.raises(UserError, match=r'traffic.0.load: found "300%", which no number of users offers: 30 offer'):
        settled(load="300%")


def test_what_is_no_load_is_the_cores_to_refuse() -> None:
    for own in ({"load": "98%", "users": 3}, {"load": 98}):
        base = scenario(**own)
        loads.settle(base)
        assert base == scenario(**own)
    for load in ("a lot", "0%", "-5%", "nan%", "1000gbit"):
        with pytest.raises(UserError, match=rf'traffic.0.load: found "{load}"; accepted: a share of the bottleneck'):
            settled(load=load)


@pytest.fixture
def nothing_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loads, "_counted", {})


class Counting:
    """Stands for the count of a load: ``users`` by its rate in Mbit/s. Each count waits until ``at_once`` run."""

    def __init__(self, users: dict[float, int], at_once: int = 1) -> None:
        self.users = users
        self.under_way = self.most = 0
        self.begun: list[float] = []
        self.lock = threading.Lock()
        self.together = threading.Barrier(at_once)

    def __call__(self, asked: dict[str, Any], progress: Any, stop: threading.Event) -> str:
        rate = asked["load"]
        with self.lock:
            self.begun.append(rate / 1e6)
            self.under_way += 1
            self.most = max(self.most, self.under_way)
        self.together.wait(30)
        with self.lock:
            self.under_way -= 1
        users = self.users[rate / 1e6]
        return json.dumps([users, rate if users else rate / 2])


def test_loads_counted_at_once_have_the_numbers_and_lines_of_one_after_the_other(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def numbers() -> list[int]:
        each = [scenario(load=load) for load in LOADS]
        for one in each:
            loads.settle(one)
        return [one["traffic"][0]["users"] for one in each]

    monkeypatch.setattr(loads, "_counted", {})
    alone, said, found = numbers(), capsys.readouterr().err, loads._counted
    assert said.count("counting") == 3, said
    search, others = loads._search, threading.Semaphore(0)

    def last(asked: dict[str, Any], progress: Any, stop: threading.Event) -> str:
        best = search(asked, progress, stop)
        if asked["load"] == 8e6:
            assert others.acquire(timeout=60), "the others were not counted at the same time"
            assert others.acquire(timeout=60)
        else:
            others.release()
        return best

    monkeypatch.setattr(loads, "_search", last)
    monkeypatch.setattr(loads, "_counted", {})
    loads.count((one for load in LOADS for one in loads.probes(scenario(load=load))), workers=3)
    assert capsys.readouterr().err == said
    assert loads._counted == found
    assert numbers() == alone
    assert capsys.readouterr().err == "", "nothing is counted twice"


VERBS = (
    "run web.toml",
    "compare pfifo codel --scenario web.toml --seeds=1",
    "sweep web.toml --set=path.rtt=40ms,50ms --seeds=1",
    "sensitivity web.toml --vary=path.rtt=4ms..9ms --vary=bottleneck.rate=8mbit..9mbit --method=morris --samples=2",
    "fit web.toml --vary=path.rtt=40ms..50ms --observed=goodput_mbps=8+-1 --evaluations=4",
    "tune codel --on=web.toml --evaluations=2 --seeds=1",
)


@pytest.fixture
def web(here: Path) -> Path:
    file = here / "web.toml"
    file.write_text(to_toml(scenario(load="8mbit") | {"duration": "4s", "warmup": "1s"}), encoding="utf-8")
    return file


@pytest.mark.usefixtures("nothing_found", "web")
@pytest.mark.parametrize("words", VERBS, ids=lambda words: words.partition(" ")[0])
def test_every_verb_of_a_scenario_counts_before_it_resolves(
    words: str, monkeypatch: pytest.MonkeyPatch, goodqueue: Callable[..., Result]
) -> None:
    monkeypatch.setattr(loads, "_search", Counting({8: 40}))
    done = goodqueue(*words.split(), "--json")
    assert done.status == 0, done.err
    assert '"users": 40' in done.out or "40 users, who offer" in done.err
    assert done.err.startswith('goodqueue: traffic.0.load = "8mbit": counting')


@pytest.mark.usefixtures("nothing_found")
def test_python_and_imports_count_too(web: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loads, "_search", Counting({8: 40}))
    asked = gq.run(web).scenario["traffic"][0]
    assert asked["users"] == 40
    assert loads.from_file(web)["traffic"][0] == asked


@pytest.mark.usefixtures("nothing_found")
def test_a_link_counts_within_the_time_of_its_file(web: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A link has no end, and users who are counted until there would be counted for days."""
    counting, times = Counting({8: 40, 2: 10}), []

    def timed(asked: dict[str, Any], progress: Any, stop: threading.Event) -> str:
        times.append(asked["duration"])
        return counting(asked, progress, stop)

    monkeypatch.setattr(loads, "_search", timed)
    resolved = path.read(str(web), {}, [])
    assert resolved["traffic"][0]["users"] == 40
    assert (resolved["duration"], resolved["warmup"]) == (f"{path.LONGEST_S}s", "0s")
    resolved = path.read(str(web), {}, ["traffic.0.load=2mbit", "duration=5s"])
    assert (resolved["traffic"][0]["users"], resolved["duration"]) == (10, "5s")
    assert times == ["4s", "5s"]


def test_a_scenario_is_resolved_without_a_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(running, "each", lambda *_, **__: pytest.fail("a run"))
    said = (
        r"^web.toml: traffic\[0\].load: found 80%; accepted: users here; the command line finds how many offer a load$"
    )
    with pytest.raises(UserError, match=said):
        reading.resolve(scenario(), "web.toml")


@pytest.mark.usefixtures("nothing_found")
def test_the_first_load_that_no_number_of_users_offers_ends_the_count(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(loads, "_search", Counting({8: 40, 2: 0, 5: 0}, at_once=3))
    with pytest.raises(UserError, match=r'^a.toml: traffic.0.load: found "20%", which no number of users offers: 0'):
        loads.count((one for load in LOADS for one in loads.probes(scenario(load=load), "a.toml")), 3)
    assert [line.partition(" = ")[2] for line in capsys.readouterr().err.splitlines()] == [
        '"80%": counting the users that it takes',
        '"80%": 40 users, who offer 100.0 % of 8 Mbit/s',
        '"20%": counting the users that it takes',
    ]


@pytest.mark.usefixtures("nothing_found")
def test_a_sweep_counts_at_once_and_refuses_only_the_cells_that_it_must(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    counting = Counting({8: 40, 2: 10, 5: 0, 1: 5}, at_once=2)
    monkeypatch.setattr(loads, "_search", counting)
    along = [grid.Axis("traffic.0.load", ("80%", "a lot", "20%", "10%", "50%"))]
    cells = grid.cells(scenario(), along, "", "sim", workers=2)
    assert counting.most == 2
    users = [cell.scenario and cell.scenario["traffic"][0]["users"] for cell in cells]
    assert users == [40, None, 10, 5, None]
    assert "accepted: a share" in str(cells[1].error)
    assert "no number of users" in str(cells[4].error)
    said = capsys.readouterr().err
    assert [part.split('"')[1] for part in said.splitlines()] == ["80%", "80%", "20%", "20%", "10%", "10%", "50%"]


LE_2003 = {80: 3000, 90: 3400, 98: 3700, 105: 4000}
"""Numbers of users that stand for those of the study's loads, by Mbit/s."""


def le2003() -> tuple[Any, selection.Selection]:
    found = loading.load(libraries.STUDIES.find("le2003"))
    return found, selection.select(found, [])


@pytest.mark.usefixtures("nothing_found")
@pytest.mark.parametrize("workers", [1, 2])
def test_a_study_counts_its_loads_on_its_threads(
    workers: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    counting = Counting({float(rate): users for rate, users in LE_2003.items()}, at_once=workers)
    monkeypatch.setattr(loads, "_search", counting)
    plan = planning.plan(*le2003(), workers=workers)
    assert counting.most == workers
    assert sorted(counting.begun) == sorted(LE_2003), "each once"
    rates = [rate for rate in LE_2003 for _ in range(2)]
    lines = capsys.readouterr().err.splitlines()
    assert [line.split('"')[1] for line in lines] == [f"{rate}mbit" for rate in rates]
    found = {one["users"] for run in plan.scenarios.values() for one in run["traffic"] if one["kind"] == "web_users"}
    assert found == set(LE_2003.values())


@pytest.mark.usefixtures("nothing_found")
def test_a_study_that_the_engine_refuses_counts_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(UserError, match="--engine kernel"):
        planning.plan(*le2003(), engine="kernel")
    assert capsys.readouterr().err == ""
