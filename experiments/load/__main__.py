"""Measures a large sweep whose processes are killed: what is lost, what is run twice, and the CPU time of each step.

``.venv/bin/python -m experiments.load [CELLS [SEEDS [MISSING [SECONDS]]]]`` makes a store of CELLS × SEEDS runs
(`makers`), of which MISSING are not there yet. A sweep of all of them on this machine is killed every SECONDS until one
ends. Then the same runs are removed, and are run on a Dask cluster of four workers on this machine. One of the workers
is killed every SECONDS, and another takes its place. It writes experiments/load/results.json and the table below the
mark of docs/results/attacks.md.
"""

import contextlib
import json
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
from typing import Any

from experiments import kept
from experiments.load import makers
from goodqueue.engines import identity
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
Files = dict[Path, tuple[int, int]]
"""What tells whether a file of a store is another one."""


def cpu_s(who: int = resource.RUSAGE_CHILDREN) -> float:
    """Return the CPU seconds so far."""
    used = resource.getrusage(who)
    return used.ru_utime + used.ru_stime


def files(store: Store) -> Files:
    """Return the files of a store's runs."""
    return {path: (path.stat().st_ino, path.stat().st_mtime_ns) for path in store.folder.glob("runs/*/*.parquet")}


def check_kept(before: Files, after: Files) -> None:
    """Raise AssertionError if a run was lost, or written again."""
    assert before.items() <= after.items(), "a stored run was lost or written again"


class Command:
    """The commands of goodqueue about one store."""

    def __init__(self, folder: Path, words: Sequence[str]) -> None:
        """``words`` are those of the sweep."""
        self._folder, self._words = folder, words

    def sweep(self, *more: str) -> "subprocess.Popen[str]":
        """Begin the sweep."""
        return self.start(*self._words, *more)

    def start(self, *words: str) -> "subprocess.Popen[str]":
        """Begin a command."""
        line = [sys.executable, "-m", "goodqueue", *words]
        return subprocess.Popen(
            line, cwd=self._folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, start_new_session=True
        )


def new_runs(process: "subprocess.Popen[str]") -> int:
    """Return how many runs a sweep that ends by itself has made. Raises AssertionError if it fails."""
    _, said = process.communicate()
    assert process.returncode == 0, said
    found = re.search(r"(\d+) of them new", said)
    assert found is not None, said
    return int(found[1])


def killed_until_done(command: Command, store: Store, every_s: float) -> tuple[int, int]:
    """Kill the sweep every ``every_s``, until one ends. Return how many were killed, and the runs of the last."""
    kills = 0
    while True:
        before, process = files(store), command.sweep()
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(every_s * (1 + kills))  # each has longer than the one before, so that one ends
            check_kept(before, files(store))
            return kills, new_runs(process)
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        check_kept(before, files(store))
        kills += 1


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
    result: dict[str, Any] = {"cells": cells, "seeds": seeds, "missing": missing, "every_s": every_s, "cpu_s": {}}
    ended = [cpu_s(), cpu_s(resource.RUSAGE_SELF)]

    def step(name: str) -> None:
        now = [cpu_s(), cpu_s(resource.RUSAGE_SELF)]
        result["cpu_s"][name] = round(sum(now) - sum(ended), 1)
        ended[:] = now
        print(f"{name}: {result['cpu_s'][name]} CPU s", flush=True)

    (folder / "x.toml").write_text(makers.SCENARIO, encoding="utf-8")
    planned = plan.of(Sweep(scenario=str(folder / "x.toml"), grid=(axes := makers.grid(cells))))
    step("plan")
    scenarios = [cell.scenario for cell in planned.cells if cell.scenario is not None]
    numbers = range(makers.FIRST_SEED, makers.FIRST_SEED + seeds)
    runs = [identity.of("sim", {**scenario, "seed": seed}) for scenario in scenarios for seed in numbers]
    store, left_out = create(folder / "st", "--store"), runs[:: len(runs) // missing][:missing]
    keys = {run.key for run in left_out}
    makers.Copies(runs[0]).write(store, [run for run in runs if run.key not in keys])
    step("make")
    sets = [word for axis in axes for word in ("--set", axis)]
    numbered = ["--seed", str(makers.FIRST_SEED), "--seeds", str(seeds)]
    command = Command(folder, ["sweep", "x.toml", *sets, *numbered, "--store", "st", "--json"])
    result["killed"], result["new_in_last"] = killed_until_done(command, store, every_s)
    step("first")
    assert new_runs(command.sweep()) == 0, "a run was run twice"
    step("resume")
    report = command.start("report", "st", "--out", "report")
    assert report.wait() == 0, report.communicate()[1]
    step("report")
    for run in left_out:
        store.path(run.key).unlink()
    before = files(store)
    with cluster(folder, every_s) as (address, killed):
        result["new_on_dask"] = new_runs(command.sweep("--executor", address))
        step("dask")
        result["workers_killed"] = len(killed)
    check_kept(before, files(store))
    assert result["new_on_dask"] == missing, "a run was run twice, or not at all"
    assert {path.stem for path in files(store)} == {run.key for run in runs}, "the store has other runs"
    return result


def write(result: dict[str, Any]) -> None:
    """Write the table below the mark."""
    lines = ["| step | CPU, s |", "|---|---|"]
    lines += [f"| {said} | {result['cpu_s'][name]:g} |" for name, said in STEPS.items()]
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
