"""The engines that can run a scenario: the simulator, Linux's kernel, and the hosts' TCP across goodqueue's own path.

An engine is a function from a scenario to its record's JSON (`running.Engine`). All engines give the same record. This
module finds engines by name, and refuses what an engine cannot run before anything starts. An engine's name is its
kind, and for the kernel perhaps the release of Linux and the machine: ``kernel-7.3``, ``kernel-7.3-process``.
"""

import platform
from collections.abc import Sequence
from typing import TYPE_CHECKING

from goodqueue import endpoints, running
from goodqueue.engines import machines, releases
from goodqueue.errors import Option, Place, UserError, quoted
from goodqueue.record import Scenario
from goodqueue.scenario import resolve

if TYPE_CHECKING:
    from goodqueue.capture import Trace

NAMES = ("sim", "kernel", "live")
"""The simulator is the first, since it runs everything."""


def parse(
    text: str, several: bool = True, linux: str | None = None, machine_name: str | None = None
) -> tuple[str, ...]:
    """Return the engines in ``--engine``, in its order: one, or a list such as ``sim,kernel,live``.

    ``linux`` is what ``--kernel`` says: the releases that stand for ``kernel``. ``machine_name`` is what ``--machine``
    says: the machine of each engine of this kind that names none. Raises UserError.
    """
    names_chosen = tuple(text.split(",")) if several else (text,)
    for name in names_chosen:
        if kind(name) not in NAMES or (name != kind(name) and kind(name) != "kernel"):
            accepted = ", ".join(NAMES) + (", or several, as sim,kernel,live" if several else "")
            raise UserError(Option("engine"), f"found {quoted(name)}; accepted: {accepted}")
        if (wanted_release := release(name)) is not None:
            releases.parse(wanted_release, Option("engine", name), several=False)
        if name != _named(kind(name), release(name), machine(name)):
            raise UserError(Option("engine"), f"found {quoted(name)}; accepted: such as kernel-6.1-process")
    if linux is not None:
        wanted_releases = releases.parse(linux, Option("kernel"), several)
        if "kernel" not in names_chosen:
            raise UserError(Option("kernel"), f"found with --engine {text}; accepted: with --engine kernel")
        each = [
            [f"kernel-{release_name}" for release_name in wanted_releases] if name == "kernel" else [name]
            for name in names_chosen
        ]
        names_chosen = tuple(name for names in each for name in names)
    if machine_name is not None:
        machines.parse(machine_name, Option("machine"))
        if not any(kind(name) == "kernel" for name in names_chosen):
            raise UserError(Option("machine"), f"found with --engine {text}; accepted: with --engine kernel")
        names_chosen = tuple(
            _named("kernel", release(name), machine(name) or machine_name) if kind(name) == "kernel" else name
            for name in names_chosen
        )
    if len(set(names_chosen)) < len(names_chosen):
        raise UserError(Option("engine"), f"found {quoted(text)}, the same twice; accepted: each once")
    for name in names_chosen:
        if name != "sim":
            need_linux(Option("engine", name))
    return names_chosen


def kind(engine: str) -> str:
    """Return the kind of ``engine``, one of `NAMES`."""
    return engine.partition("-")[0]


def release(engine: str) -> str | None:
    """Return the release of Linux that the name of ``engine`` asks for."""
    words = engine.split("-")[1:]
    return words[0] if words and words[0] not in machines.MACHINES else None


def machine(engine: str) -> str | None:
    """Return the machine that the name of ``engine`` asks for, one of `machines.MACHINES`."""
    *_, last = engine.split("-")
    return last if last in machines.MACHINES else None


def _named(*parts: str | None) -> str:
    return "-".join(filter(None, parts))


def need_linux(where: Place) -> None:
    """Raise UserError with ``where`` if this system is not Linux. Other systems have only the simulator."""
    if (system := platform.system()) != "Linux":
        raise UserError(where, f"found {system}; accepted: Linux, since other systems have only the simulator")


def check(engine: str, scenario: Scenario) -> None:
    """Refuse a resolved ``scenario`` that ``engine`` cannot run. Raises UserError that names the key."""
    endpoints.check(engine, scenario)
    if engine != "sim":
        need_linux(f"{engine} engine")
    if kind(engine) == "kernel":
        from goodqueue.engines.kernel import planning

        planning.plan(scenario, release(engine))
    elif engine == "live":
        from goodqueue.engines.live import planning as of_live

        of_live.plan(scenario)


def run_many(
    engine: str,
    scenarios: Sequence[Scenario],
    workers: int | None = None,
    progress: running.Progress | None = None,
    finished: running.Finished | None = None,
) -> list[str]:
    """Run each of ``scenarios`` on ``engine`` and return their records as JSON, in the same order.

    ``finished`` gets each record as soon as it exists. The first refusal or failure (UserError) ends all runs, and so
    does Ctrl-C.
    """
    return running.many(scenarios, workers, progress, find(engine), finished)


def find(name: str) -> running.Engine:
    """Return the engine called ``name``, as `parse` returns it."""
    if kind(name) == "kernel":
        from goodqueue.engines import kernel

        place = release(name), machine(name)
        return lambda scenario, progress, stop: kernel.run(resolve(scenario), progress, stop, None, *place)
    if name == "live":
        from goodqueue.engines.live import engine

        return lambda scenario, progress, stop: engine.run(resolve(scenario), progress, stop)
    return running.simulate


def threaded(name: str, threads: int | None) -> running.Engine:
    """Return the engine called ``name`` for a single run, on ``threads`` threads of the simulator.

    Without ``threads`` a long run tries all idle cores. Raises UserError for another engine with ``threads``.
    """
    if name == "sim":
        return lambda scenario, progress, stop: running.simulate(scenario, progress, stop, threads=threads)
    if threads is not None:
        raise UserError(Option("threads"), f"found with the engine {quoted(name)}; accepted: with sim")
    return find(name)


def logged(name: str, scenario: Scenario, folder: str, force: bool) -> running.Engine:
    """Return the engine called ``name``, made to write the qlogs of QUIC stacks into ``folder``. Raises UserError."""
    endpoints.prepare_qlog(name, scenario, folder, force)
    return lambda scenario, progress, stop: running.with_endpoints(scenario, progress, stop, folder)


def traced(name: str, trace: "Trace") -> running.Engine:
    """Return the engine called ``name``, made to capture its run as ``trace`` describes."""
    if kind(name) == "kernel":
        from goodqueue.engines import kernel

        place = release(name), machine(name)
        return lambda scenario, progress, stop: kernel.run(resolve(scenario), progress, stop, trace, *place)
    if name == "live":
        from goodqueue.engines.live import engine

        return lambda scenario, progress, stop: engine.run(resolve(scenario), progress, stop, trace)
    return lambda scenario, progress, stop: running.simulate(scenario, progress, stop, trace)
