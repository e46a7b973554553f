"""Which workers of a cluster get runs. The cluster is a stand-in, so that its workers may be slow."""

import time
from collections.abc import Callable, Sequence
from threading import Event
from typing import Any

import pytest

from goodqueue.engines import identity
from goodqueue.errors import UserError
from goodqueue.executors import fleet
from goodqueue.scenario import resolve


class Cluster:
    """A cluster of two workers, of which the second answers when it may."""

    def __init__(self) -> None:
        self.may_answer = Event()

    def nthreads(self) -> dict[str, int]:
        return {"quick": 1, "slow": 2}

    def run(
        self, ask: Callable[..., object], *arguments: Any, workers: Sequence[str], on_error: str
    ) -> dict[str, object]:
        assert on_error == "return"
        (address,) = workers
        if address == "slow":
            self.may_answer.wait()
        return {address: ask(*arguments)}


def looked(found: fleet.Fleet, until: Callable[[], object]) -> None:
    while not until():
        found.look()
        time.sleep(0.01)


def test_a_worker_that_is_slow_delays_no_other_and_comes_later(scenario: dict[str, Any]) -> None:
    """Its first answer needs an import, which took more than three seconds on a busy machine."""
    cluster, said = Cluster(), list[str]()
    found = fleet.Fleet(cluster, "--executor x", "sim", [identity.of("sim", resolve(scenario))], said.append)
    looked(found, lambda: found.usable)
    assert found.usable == {"quick": 1}
    cluster.may_answer.set()
    looked(found, lambda: len(found.usable) == 2)
    assert said == []


def test_a_worker_that_never_answers_gets_no_runs(scenario: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fleet, "ANSWER_S", 0.05)
    monkeypatch.setattr(Cluster, "nthreads", lambda _: {"slow": 2})
    cluster, said = Cluster(), list[str]()
    found = fleet.Fleet(cluster, "--executor x", "sim", [identity.of("sim", resolve(scenario))], said.append)
    with pytest.raises(UserError, match=r"none of its workers \(1\) can be used: slow has no answer"):
        looked(found, lambda: found.usable)
    cluster.may_answer.set()
    assert said == ["--executor x: the worker slow has no answer; it gets no runs"]
