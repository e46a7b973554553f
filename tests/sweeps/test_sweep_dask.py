"""A sweep on a real Dask cluster on this machine: the same bytes as on its own cores, even if a worker is lost."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from conftest import Result, spawn
from goodqueue import extras
from goodqueue.engines import identity
from goodqueue.errors import UserError
from goodqueue.executors import cluster, fleet
from goodqueue.scenario import resolve

pytestmark = [pytest.mark.needs("dask"), pytest.mark.long]

GRID = ["sweep", "ok.toml", "--set", "bottleneck.qdisc=codel,pie", "--set", "path.rtt=10ms,40ms", "--seeds", "3"]

LONG = [*GRID, "--set", "duration=60s", "--set", "bottleneck.rate=50mbit"]


class Cluster:
    """A scheduler and its workers, one process each."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.processes: list[subprocess.Popen[bytes]] = []
        about = folder / "scheduler.json"
        self.scheduler = self.start("scheduler", "--host", "127.0.0.1", "--port", "0", "--scheduler-file", str(about))
        while not about.exists() or not about.read_text(encoding="utf-8").endswith("}"):
            assert self.scheduler.poll() is None, (folder / "0.log").read_text(encoding="utf-8")
            time.sleep(0.05)
        self.address = json.loads(about.read_text(encoding="utf-8"))["address"]

    def start(self, *arguments: str, path: str = "") -> "subprocess.Popen[bytes]":
        command = [sys.executable, "-m", "dask", *arguments, "--no-dashboard"]
        env = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, (path, os.environ.get("PYTHONPATH"))))}
        with (self.folder / f"{len(self.processes)}.log").open("wb") as log:
            self.processes.append(subprocess.Popen(command, stdout=log, stderr=log, env=env))
        return self.processes[-1]

    def worker(self, path: str = "") -> "subprocess.Popen[bytes]":
        """Start a worker whose Python looks for packages in ``path`` first."""
        command = ("worker", self.address, "--nthreads", "1", "--no-nanny", "--host", "127.0.0.1")
        return self.start(*command, path=path)

    def wait_for(self, workers: int) -> None:
        """Wait until this many workers have connected to the scheduler."""
        from distributed import Client

        with Client(self.address) as client:
            client.wait_for_workers(workers, timeout=60)

    @property
    def name(self) -> str:
        return self.address.replace("tcp://", "dask://")


@contextmanager
def running(folder: Path) -> Iterator[Cluster]:
    folder.mkdir()
    found = Cluster(folder)
    try:
        yield found
    finally:
        for process in reversed(found.processes):
            process.kill()
            process.wait()


def same(left: Path, right: Path) -> bool:
    ours, theirs = (
        {file.relative_to(folder): file.read_bytes() for file in folder.rglob("*") if file.is_file()}
        for folder in (left, right)
    )
    return ours == theirs


def when_runs_are_stored(folder: Path, count: int, act: Callable[[], Any]) -> Thread:
    """Do ``act`` as soon as ``count`` runs are in the store."""

    def wait() -> None:
        while len(list(folder.glob("runs/*/*.parquet"))) < count:
            time.sleep(0.01)
        act()

    thread = Thread(target=wait, daemon=True)
    thread.start()
    return thread


def test_two_workers_give_the_bytes_of_one_machine(here: Path) -> None:
    local = spawn(*GRID, "--json", "--store", "local")
    with running(here / "cluster") as dask:
        for _ in range(2):
            dask.worker()
        found = spawn(*GRID, "--json", "--store", "remote", "--executor", dask.name)
        again = spawn(*GRID, "--json", "--store", "remote", "--executor", dask.name)
        logs = [(here / "cluster" / f"{number}.log").read_text(encoding="utf-8") for number in (1, 2)]
    assert (found.returncode, found.stderr) == (0, "goodqueue: 12 runs in remote, 12 of them new\n"), logs
    assert found.stdout == local.stdout
    assert same(here / "local", here / "remote")
    assert again.stderr == "goodqueue: 12 runs in remote, 0 of them new\n"


def test_a_lost_worker_s_runs_are_done_by_the_other(here: Path) -> None:
    with running(here / "cluster") as dask:
        first = dask.worker()
        dask.worker()
        killer = when_runs_are_stored(here / "remote", 2, lambda: os.kill(first.pid, signal.SIGKILL))
        found = spawn(*LONG, "--json", "--store", "remote", "--executor", dask.name)
        killer.join()
        assert first.wait() == -signal.SIGKILL
    assert (found.returncode, found.stderr) == (0, "goodqueue: 12 runs in remote, 12 of them new\n")
    assert found.stdout == spawn(*LONG, "--json", "--store", "local").stdout
    assert same(here / "local", here / "remote")


def test_a_lost_scheduler_is_said_in_a_line_and_nothing_is_lost(here: Path) -> None:
    with running(here / "cluster") as dask:
        dask.worker()
        killer = when_runs_are_stored(here / "st", 2, dask.scheduler.kill)
        found = spawn(*LONG, "--json", "--store", "st", "--executor", dask.name)
        killer.join()
    assert (found.returncode, found.stdout) == (2, "")
    gone = "the scheduler went away; with --out the same command goes on where it was"
    assert found.stderr == f"goodqueue: --executor {dask.name}: {gone}\n"
    kept = len(list((here / "st").glob("runs/*/*.parquet")))
    assert 2 <= kept < 12
    on = spawn(*LONG, "--json", "--store", "st")
    assert on.stderr == f"goodqueue: 12 runs in st, {12 - kept} of them new\n"


def test_nobody_there_is_said_in_a_line(here: Path, goodqueue: Callable[..., Result]) -> None:
    found = goodqueue(*GRID, "--executor", "dask://127.0.0.1:1", "--store", "st")
    assert (found.status, found.out) == (2, "")
    expected = "--executor dask://127.0.0.1:1: no scheduler answers; accepted: HOST:PORT of a running `dask scheduler`"
    assert found.err == f"goodqueue: {expected}\n"
    assert not (here / "st").exists()


def test_a_scheduler_without_workers_is_said_too(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fleet, "PATIENCE_S", 1.0)
    with running(here / "cluster") as dask:
        host, _, port = dask.address.removeprefix("tcp://").partition(":")
        with pytest.raises(UserError, match="the scheduler has no workers"):
            cluster.connect(host, int(port), dask.name)


NONE = "import sys\nsys.modules['goodqueue'] = None\n"
"""Content of sitecustomize.py for a Python without goodqueue."""

OTHER = """
import functools
from goodqueue.engines import identity
identity.build = lambda: "another"
"""
"""Content of sitecustomize.py for a Python with another build of goodqueue."""


def package(folder: Path, content: str) -> str:
    folder.mkdir()
    (folder / "sitecustomize.py").write_text(content, encoding="utf-8")
    return str(folder)


@pytest.mark.parametrize(
    ("content", "why"), [(NONE, "has no goodqueue"), (OTHER, "build another, and not goodqueue")], ids=["none", "other"]
)
def test_a_worker_that_cannot_compute_ours_gets_no_runs(here: Path, content: str, why: str) -> None:
    with running(here / "cluster") as dask:
        path = package(here / "path", content)
        dask.worker(path)
        alone = spawn(*GRID, "--json", "--store", "st", "--executor", dask.name)
        dask.worker()
        dask.worker(path)
        dask.wait_for(3)
        both = spawn(*GRID, "--json", "--store", "st", "--executor", dask.name)
    assert (alone.returncode, alone.stdout) == (2, "")
    warned, refused, none = alone.stderr.split("\n")
    assert why in warned
    assert warned.endswith("; it gets no runs")
    assert refused.startswith(f"goodqueue: --executor {dask.name}: none of its workers (1) can be used: tcp://")
    assert why in refused
    assert none == ""
    assert both.returncode == 0, both.stderr
    assert both.stdout == spawn(*GRID, "--json", "--store", "local").stdout
    assert both.stderr.count("; it gets no runs\n") == both.stderr.count("\n") - 1
    assert both.stderr.endswith("goodqueue: 12 runs in st, 12 of them new\n")


def test_when_all_workers_die_a_line_says_so_and_nothing_is_lost(here: Path) -> None:
    with running(here / "cluster") as dask:
        worker = dask.worker()
        killer = when_runs_are_stored(here / "st", 2, worker.kill)
        found = spawn(*LONG, "--json", "--store", "st", "--executor", dask.name)
        killer.join()
        kept = len(list((here / "st").glob("runs/*/*.parquet")))
        dask.worker()
        on = spawn(*LONG, "--json", "--store", "st", "--executor", dask.name)
    assert (found.returncode, found.stdout) == (2, "")
    gone = "its workers are gone; with --out the same command goes on where it was"
    assert found.stderr == f"goodqueue: --executor {dask.name}: {gone}\n"
    assert 2 <= kept < 12
    assert on.stderr == f"goodqueue: 12 runs in st, {12 - kept} of them new\n"


def test_a_worker_that_comes_in_the_place_of_the_last_takes_over(here: Path) -> None:
    with running(here / "cluster") as dask:
        worker = dask.worker()

        def replace() -> None:
            worker.kill()
            dask.worker()

        killer = when_runs_are_stored(here / "st", 2, replace)
        found = spawn(*LONG, "--json", "--store", "st", "--executor", dask.name)
        killer.join()
    assert (found.returncode, found.stderr) == (0, "goodqueue: 12 runs in st, 12 of them new\n")


@contextmanager
def answering(with_what: bytes | None) -> Iterator[int]:
    """Run a server that answers a line with bytes, or never. Yields its port."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            kept = []
            with suppress(OSError):
                while True:
                    kept.append(server.accept()[0])
                    if with_what is not None:
                        kept[-1].sendall(with_what)
                        kept[-1].close()

        Thread(target=serve, daemon=True).start()
        yield server.getsockname()[1]


@pytest.mark.parametrize(
    "answer",
    [None, b"", b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n", b"\xff" * 64, b"\0" * 64],
    ids=["never", "closes", "web", "ones", "zeros"],
)
def test_a_server_that_is_no_scheduler_is_said_in_a_line(here: Path, answer: bytes | None) -> None:
    with answering(answer) as port:
        found = spawn(*GRID, "--executor", f"dask://127.0.0.1:{port}", "--store", "st")
    expected = f"--executor dask://127.0.0.1:{port}: no scheduler answers; accepted: HOST:PORT of a running"
    assert (found.returncode, found.stdout) == (2, "")
    assert found.stderr == f"goodqueue: {expected} `dask scheduler`\n"
    assert not (here / "st").exists()


@pytest.mark.parametrize("where", ["no answer", "no worker", "running"])
def test_ctrl_c_is_answered_on_a_cluster_too(here: Path, where: str) -> None:
    with answering(None) as port, running(here / "cluster") as dask:
        if where == "running":
            dask.worker()
        name = f"dask://127.0.0.1:{port}" if where == "no answer" else dask.name
        command = [sys.executable, "-m", "goodqueue", *LONG, "--store", "st", "--executor", name]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        if where == "running":
            when_runs_are_stored(here / "st", 1, lambda: process.send_signal(signal.SIGINT)).join()
        else:
            time.sleep(3.0)
            process.send_signal(signal.SIGINT)
        out, err = process.communicate()
    continues = "; the same command continues it from st" if where == "running" else ""
    assert (process.returncode, out, err) == (130, "", f"goodqueue: interrupted{continues}\n")


def test_a_worker_of_another_build_refuses(monkeypatch: pytest.MonkeyPatch, scenario: dict[str, Any]) -> None:
    ours = identity.of("sim", resolve(scenario))
    assert json.loads(cluster.work("sim", ours.scenario, ours.made_by))["seed"] == 1
    monkeypatch.setattr(identity, "build", lambda: "another")
    with pytest.raises(UserError, match=r"the worker has goodqueue .*, build another"):
        cluster.work("sim", ours.scenario, ours.made_by)


def test_without_the_package_a_line_says_what_installs_it(
    here: Path, goodqueue: Callable[..., Result], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(extras, "has", lambda package: package != "distributed")
    found = goodqueue(*GRID, "--executor", "dask://127.0.0.1:1")
    assert found.status == 2
    assert found.err.endswith("needs distributed; accepted: pip install distributed\n")
