"""The engine ``kernel``: a scenario on Linux's own queue disciplines and Linux's own TCP.

planning → Plan → lab (in a machine, or on this host) → raw results → measure → record
"""

import json
import threading
from dataclasses import replace
from pathlib import Path
from typing import Literal

from goodqueue.capture import Trace
from goodqueue.engines.kernel import draws as equal_draws
from goodqueue.engines.kernel import folders, host, image, module, planning, process, process_build, vm
from goodqueue.engines.kernel.lab.plan import Plan
from goodqueue.errors import UserError
from goodqueue.record import Scenario
from goodqueue.running import Progress

Where = Literal["host", "vm", "process"]

_building = threading.Lock()


def run(
    scenario: Scenario,
    progress: Progress,
    stop: threading.Event,
    trace: Trace | None = None,
    release: str | None = None,
    machine: str | None = None,
    *,
    draws: bool = False,
) -> str:
    """Run the resolved ``scenario`` and return its record as JSON.

    ``release`` is one of `releases.RELEASES`. Without one the kernel is that of this machine's own packages.
    ``machine`` is one of `machines.MACHINES`. Without one it is Linux as a process if that is built here, otherwise
    qemu, or this host if qemu cannot.

    With ``trace`` the laboratory's own captures are kept. They lack what Linux leaves to the network card: some
    checksums.

    With ``draws`` Linux's disciplines and BBR draw the simulator's random numbers, and the links are as exact as the
    simulator's. Only a process can do that.

    Raises UserError if Linux lacks something that the scenario needs, or if the run fails. Raises StoppedError once
    ``stop`` is set.
    """
    from goodqueue.engines.kernel import measure

    plan = planning.plan(scenario, release)
    if draws:
        phases = equal_draws.phases(scenario["seed"], [flow.name for flow in plan.flows])
        plan = replace(planning.exact(plan), draws=equal_draws.states(plan), phases=phases)
    where = place(plan, stop, release, machine)
    with folders.private() as folder:
        if where == "process":
            system = _image(release)
            process.run(system, process_build.program(system), plan, folder, progress, stop)
        elif where == "vm":
            vm.run(_with_modules(_image(release), plan), plan, folder, progress, stop)
        else:
            host.run(plan, folder, progress, stop)
        record = measure.record(scenario, plan, folder / "results", where)
        record["engine"] = "-".join(filter(None, [record["engine"], release, machine]))
        if trace is not None:
            keep(trace, folder / "results", measure.results(folder / "results")["start_ns"])
        return json.dumps(record, ensure_ascii=False)


def keep(trace: Trace, folder: Path, start_ns: int) -> None:
    """Write the captures in ``folder`` as one file, with the times of a simulated run's trace.

    ``start_ns`` is when the run began. Raises UserError.
    """
    from goodqueue import _goodqueue

    captures = str(folder / "r-wan.pcap"), str(folder / "r-cli.pcap")
    try:
        _goodqueue.merge_captures(trace.path, list(trace.points), *captures, start_ns)
    except _goodqueue.TraceError as error:
        raise trace.refusal(error) from None


def place(plan: Plan, stop: threading.Event, release: str | None = None, machine: str | None = None) -> Where:
    """Return where ``plan`` is to run. Raises UserError with the reasons if it can run nowhere.

    Virtual time is preferred: it makes runs repeatable, and the host's load does not disturb them. A process has it
    with the same bytes each time, and at less cost than a virtual machine. A ``release`` of Linux, or a ``machine``
    that is asked for, is not on this host.
    """
    if process_build.is_taken(release, machine):
        return "process"
    if machine == "process":
        raise UserError("machine process", process_build.why_not(release) or "")
    no_vm = vm.why_not(plan, release)
    if no_vm is None:
        return "vm"
    if release is not None or machine is not None:
        raise UserError(f"kernel {release}" if release else f"machine {machine}", no_vm)
    if (no_host := host.why_not(plan, stop)) is None:
        return "host"
    raise UserError("kernel engine", f"no virtual machine: {no_vm}", f"not on this host: {no_host}")


def _image(release: str | None) -> image.Image:
    """Return the image for the runs of this process. Threads that find no image wait until one of them has built it."""
    with _building:
        key = image.wanted(release)
        if (built := image.get(key) or image.build(release=release)).key != key:
            raise UserError("kernel image", f"found {built.key}; accepted: {key}, or the same command once more")
        return built


def _with_modules(system: image.Image, plan: Plan) -> image.Image:
    """Return ``system`` once the modules that ``plan`` needs beside it are built."""
    with _building:
        for name in module.wanted(plan):
            module.build(system, name)
    return system
