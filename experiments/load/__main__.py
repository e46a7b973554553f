"""Measures a large sweep whose processes are killed: what is lost, what is run twice, and what each step takes.

``.venv/bin/python -m experiments.load [CELLS [SEEDS [MISSING [SECONDS]]]]`` makes a store of CELLS × SEEDS runs
(`makers`), of which MISSING are not there yet. A sweep of all of them on this machine is killed after SECONDS, the next
one after twice as many, and so on until one ends. Then the same runs are removed, and are run on a Dask cluster of four
workers on this machine. One of the workers is killed every SECONDS, and another takes its place. It writes
experiments/load/results.json and the table below the mark of docs/results/attacks.md.
"""

import contextlib
import itertools
import json
import math
import os
import re
import resource
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from threading import Event, Thread
from typing import Any, NamedTuple

from experiments import kept
from experiments.load import makers
from goodqueue.engines import identity
from goodqueue.engines.identity import Run
from goodqueue.store import Store, create
from goodqueue.sweeps import plan
from goodqueue.sweeps.question import Sweep

PAGE = kept.PAGES / "attacks.md"
HERE = Path(__file__).parent
WORKERS = 4
STEPS = {
    "make": "make the store of copies",
    "plan": "plan the sweep",
    "first": "the sweep on this machine, killed and begun again",
    "resume": "the sweep again, with nothing to run",
    "report": "`report` of the store",
    "dask": "the sweep on Dask, its workers not counted",
}
Files = dict[bytes, int]
"""What tells whether the file of a run is another one, by the run's key."""


class Cost(NamedTuple):
    """What a command took."""

    cpu_s: float = 0.0
    peak_mib: float = 0.0

    def and_then(self, other: "Cost") -> "Cost":
        """Return what both took, one after the other."""
        return Cost(self.cpu_s + other.cpu_s, max(self.peak_mib, other.peak_mib))


def files(store: Store) -> Files:
    """Return the files of a store's runs."""
    found: Files = {}
    for folder in (store.folder / "runs").iterdir():
        with os.scandir(folder) as entries:
            for entry in entries:
                if entry.name.endswith(".parquet"):
                    state = entry.stat()
                    found[bytes.fromhex(entry.name[:32])] = state.st_ino << 64 | state.st_mtime_ns
    return found


def check_kept(before: Files, after: Files) -> None:
    """Raise AssertionError if a run was lost, or written again."""
    assert before.items() <= after.items(), "a stored run was lost or written again"


class Command:
    """A command of goodqueue that runs."""

    def __init__(self, folder: Path, *words: str) -> None:
        """Begin the command in ``folder``."""
        self._said = folder / "said.txt"
        with self._said.open("w") as said:
            line = [sys.executable, "-m", "goodqueue", *words]
            self._process = subprocess.Popen(
                line, cwd=folder, stdout=subprocess.DEVNULL, stderr=said, start_new_session=True
            )
        self.cost = Cost()

    def ends(self, within_s: float = math.inf) -> bool:
        """Wait for its end. Return whether it came."""
        end = time.monotonic() + within_s
        while self._process.returncode is None and time.monotonic() < end:
            pid, status, used = os.wait4(self._process.pid, os.WNOHANG)
            if pid:
                self._process.returncode = os.waitstatus_to_exitcode(status)
                self.cost = Cost(used.ru_utime + used.ru_stime, used.ru_maxrss / 1024)
            else:
                time.sleep(0.1)
        return self._process.returncode is not None

    def kill(self) -> None:
        """Kill it with all its threads."""
        os.killpg(self._process.pid, signal.SIGKILL)
        self.ends()

    def new_runs(self) -> int:
        """Return how many runs a sweep has made. Raises AssertionError if it failed."""
        self.check()
        found = re.search(r"(\d+) of them new", self._said.read_text())
        assert found is not None, self._said.read_text()
        return int(found[1])

    def check(self) -> None:
        """Raise AssertionError unless it ends well."""
        assert self.ends(), "it ends"
        assert self._process.returncode == 0, self._said.read_text()


def killed_until_done(folder: Path, words: Sequence[str], store: Store, every_s: float) -> tuple[int, int, Cost]:
    """Kill the sweep after ``every_s``, then after twice that, until one ends.

    Return how many were killed, the runs of the last, the cost.
    """
    kills, cost = 0, Cost()
    while True:
        before, command = files(store), Command(folder, *words)
        is_done = command.ends(every_s * 2**kills)  # each has longer than the one before, so that one ends
        if not is_done:
            command.kill()
        cost = cost.and_then(command.cost)
        check_kept(before, files(store))
        if is_done:
            return kills, command.new_runs(), cost
        kills += 1


def wait_for_workers(address: str) -> None:
    """Wait until all workers are there: each imports Dask first, which is slow on a busy machine."""
    from distributed import Client

    with Client(address, timeout=60) as client:
        client.wait_for_workers(WORKERS, timeout=300)


@contextlib.contextmanager
def cluster(folder: Path, every_s: float) -> Iterator[tuple[str, list[int]]]:
    """Yield the address of a cluster, one of whose workers is killed every ``every_s``, and a list of the killed."""
    about, ended = folder / "scheduler.json", Event()
    started: list[subprocess.Popen[bytes]] = []
    killed: list[int] = []

    def start(*words: str) -> None:
        with (folder / "dask.log").open("ab") as log:
            line = [sys.executable, "-m", "dask", *words, "--no-dashboard"]
            started.append(subprocess.Popen(line, stdout=log, stderr=log))

    def worker() -> None:
        start("worker", "--scheduler-file", str(about), "--nthreads", "1", "--no-nanny", "--host", "127.0.0.1")

    def kill() -> None:
        while not ended.wait(every_s):
            oldest = started[1 + len(killed)]
            oldest.kill()
            killed.append(oldest.pid)
            worker()

    start("scheduler", "--host", "127.0.0.1", "--port", "0", "--scheduler-file", str(about))
    killer = Thread(target=kill)
    try:
        while not about.exists() or not about.read_text(encoding="utf-8").endswith("}"):
            time.sleep(0.1)
        for _ in range(WORKERS):
            worker()
        address = json.loads(about.read_text(encoding="utf-8"))["address"]
        wait_for_workers(address)
        killer.start()
        yield address.replace("tcp://", "dask://"), killed
    finally:
        ended.set()
        if killer.is_alive():
            killer.join()
        for process in started:
            process.kill()
            process.wait()


def measure(folder: Path, cells: int, seeds: int, missing: int, every_s: float) -> dict[str, Any]:
    """Carry out all steps in ``folder``. Raises AssertionError if anything is lost or run twice."""
    result: dict[str, Any] = {"cells": cells, "seeds": seeds, "missing": missing, "every_s": every_s, "steps": {}}
    began = [time.monotonic(), time.process_time()]

    def step(name: str, cost: Cost | None = None) -> None:
        wall_s, own_s = time.monotonic() - began[0], time.process_time() - began[1]
        peak_mib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        cpu_s, peak_mib = cost or (own_s, peak_mib)
        result["steps"][name] = {"cpu_s": round(cpu_s, 1), "peak_mib": round(peak_mib), "wall_s": round(wall_s, 1)}
        print(name, result["steps"][name], flush=True)
        began[:] = time.monotonic(), time.process_time()

    (folder / "x.toml").write_text(makers.SCENARIO, encoding="utf-8")
    planned = plan.of(Sweep(scenario=str(folder / "x.toml"), grid=(axes := makers.grid(cells))))
    step("plan")
    scenarios = [cell.scenario for cell in planned.cells if cell.scenario is not None]
    numbers = range(makers.FIRST_SEED, makers.FIRST_SEED + seeds)

    def runs() -> Iterator[Run]:
        return (run for scenario in scenarios for run in identity.of_seeds("sim", scenario, numbers))

    every = len(scenarios) * seeds // missing
    store = create(folder / "st", "--store")
    left_out = {run.key for run in itertools.islice(runs(), 0, every * missing, every)}
    makers.Copies(next(runs())).write(store, (run for run in runs() if run.key not in left_out))
    step("make")
    sets = [word for axis in axes for word in ("--set", axis)]
    numbered = ["--seed", str(makers.FIRST_SEED), "--seeds", str(seeds)]
    words = ["sweep", "x.toml", *sets, *numbered, "--store", "st", "--json"]
    result["killed"], result["new_in_last"], cost = killed_until_done(folder, words, store, every_s)
    step("first", cost)
    again = Command(folder, *words)
    assert again.new_runs() == 0, "a run was run twice"
    step("resume", again.cost)
    report = Command(folder, "report", "st", "--out", "report")
    report.check()
    step("report", report.cost)
    for key in left_out:
        store.path(key).unlink()
    before = files(store)
    with cluster(folder, every_s) as (address, killed):
        on_dask = Command(folder, *words, "--executor", address)
        result["new_on_dask"] = on_dask.new_runs()
        step("dask", on_dask.cost)
        result["workers_killed"] = len(killed)
    after = files(store)
    check_kept(before, after)
    assert result["new_on_dask"] == missing, "a run was run twice, or not at all"
    assert len(after) == len(scenarios) * seeds, "the store has other runs"
    assert all(bytes.fromhex(run.key) in after for run in runs()), "the store has other runs"
    return result


def write(result: dict[str, Any]) -> None:
    """Write the table below the mark."""
    lines = ["| step | CPU, s | memory, MiB | wall, s |", "|---|---|---|---|"]
    steps = [(said, result["steps"][name]) for name, said in STEPS.items()]
    lines += [f"| {said} | {took['cpu_s']:g} | {took['peak_mib']} | {took['wall_s']:g} |" for said, took in steps]
    kept.below(PAGE, HERE, lines)


def main(cells: str = "10000", seeds: str = "10", missing: str = "1000", every_s: str = "60") -> None:
    """Measure, and write the results and the table."""
    with tempfile.TemporaryDirectory() as name:
        result = measure(Path(name), int(cells), int(seeds), int(missing), float(every_s))
    kept.keep(HERE, result)
    write(result)
    print(json.dumps(result, indent=1))


if __name__ == "__main__":
    os.environ["PYTHONPATH"] = os.pathsep.join(path for path in sys.path if path)
    main(*sys.argv[1:])
