"""Reports what this machine can do for the engine, what is missing, and how to install it."""

import os
import threading
from dataclasses import asdict, dataclass, replace
from typing import Any

from goodqueue.engines import releases
from goodqueue.engines.kernel import host, image, module, packages, planning, process_build, vm
from goodqueue.engines.kernel.lab.plan import Plan
from goodqueue.errors import UserError
from goodqueue.scenario import resolve
from goodqueue.traffic import BULK

QDISCS = (
    "pfifo", "bfifo", "pfifo_head_drop", "codel", "fq_codel", "pie", "fq_pie", "red limit 400000 avpkt 1000",
    "sfq", "choke limit 1000 avpkt 1000 bandwidth 10mbit", "cake", "dualpi2",
)  # fmt: skip
"""Disciplines that are tried on this host, with the minimal words that ``tc`` accepts."""

_SCENARIO: dict[str, Any] = {
    "duration": "1s",
    "bottleneck": {"rate": "10mbit", "qdisc": "pfifo"},
    "path": {"rtt": "0ms"},
    "traffic": [{"kind": BULK}],
}


@dataclass(frozen=True, slots=True)
class Finding:
    """One result of the examination."""

    name: str
    found: str
    good: bool


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """What the engine can do on this machine."""

    where: str | None
    """Where the engine runs a scenario of usual rates: ``process``, ``vm``, ``host``, or None for nowhere."""
    findings: list[Finding]
    remedy: str | None
    """What to do first, if anything is missing."""

    def as_json(self) -> dict[str, Any]:
        """Return the diagnosis as a dictionary for programs."""
        return asdict(self)


def examine() -> Diagnosis:
    """Examine this machine. Takes some seconds, since it tries the host's queue disciplines in temporary namespaces."""
    qemu, built = _qemu(), _image()
    here, lacking = _host()
    findings = [qemu, built, *map(_release, releases.RELEASES), *map(_module, module.NAMES)]
    findings += [*map(_process, releases.RELEASES), here, lacking]
    process = process_build.why_not() is None
    where = "process" if process else "vm" if qemu.good else "host" if here.good else None
    return Diagnosis(where, findings, _remedy(qemu.good, built.good, process))


def _remedy(qemu: bool, built: bool, process: bool) -> str | None:
    if process or (built and process_build.why_no_build() is None):
        return None if process else process_build.how_to_build(None)
    if not qemu:
        if packages.missing_program() is not None:
            return f"install {vm.QEMU}, and build the image on a Debian system (goodqueue kernel image)"
        return ("" if os.geteuid() == 0 else "sudo ") + vm.INSTALL
    return None if built else "goodqueue kernel image"


def _qemu() -> Finding:
    if (why := vm.why_not()) is not None:
        return Finding("virtual machine", why, False)
    qemu_version = vm.said()
    return Finding(
        "virtual machine",
        f"QEMU emulator {qemu_version}" if qemu_version else f"{vm.QEMU} does not start",
        bool(qemu_version),
    )


def _image() -> Finding:
    try:
        image_found = image.find()
    except UserError as error:
        return Finding("its image", str(error), False)
    if image_found is None:
        return Finding("its image", "none yet: the first run builds it, or goodqueue kernel image", False)
    return Finding("its image", f"{image_found.key}: Linux {image_found.kernel}, pyroute2 {image_found.pyroute2}", True)


def _release(name: str) -> Finding:
    """Return whether an image of a release of Linux is there, and what makes one."""
    image_found = image.find(name)
    if image_found is not None:
        return Finding(f"Linux {name}", f"{image_found.key}: Linux {image_found.kernel}", True)
    suites = " and ".join(dict.fromkeys(releases.RELEASES[name]))
    return Finding(
        f"Linux {name}", f"no image; goodqueue kernel image --kernel {name} makes it of Debian's {suites}", False
    )


def _module(name: str) -> Finding:
    """Return whether the module ``name`` is there for the newest release, and what makes it."""
    *_, release = releases.RELEASES
    system, title = image.find(release), f"its {name}"
    if system is not None and module.file(system, name).exists():
        return Finding(title, f"built from the source of Linux {system.kernel}", True)
    makes = f"no module; goodqueue kernel image --kernel {release} --with {name} builds it of Debian's source"
    return Finding(title, module.why_not(system, name) or makes, False)


def _process(name: str) -> Finding:
    """Return whether Linux ``name`` can run as a process, and what is missing or builds it."""
    why = process_build.why_not(name)
    found = (
        process_build.why_no_build(name)
        or f"not built; {process_build.how_to_build(name)} builds it of Debian's source"
    )
    return Finding(f"Linux {name} as a process", found if why else "built from Debian's source", why is None)


def _host() -> tuple[Finding, Finding]:
    """Return whether this host can build networks, and which disciplines it lacks."""
    release = f"Linux {os.uname().release}"
    if (why := _why_not(_plan("pfifo"))) is not None:
        return Finding("this host", why, False), Finding("its qdiscs", "not tried", False)
    tried = {words.split()[0]: _why_not(_plan(words)) for words in QDISCS}
    lacking = [name for name, why in tried.items() if why is not None]
    state = f"lacks {', '.join(lacking)}" if lacking else f"all of {', '.join(tried)}"
    return Finding("this host", f"{release}: can build networks", True), Finding("its qdiscs", state, not lacking)


def _why_not(plan: Plan) -> str | None:
    try:
        return host.why_not(plan, threading.Event())
    except UserError as error:
        return str(error)


def _plan(words: str) -> Plan:
    """Return a plan that makes Linux build a qdisc from ``words``."""
    plan = planning.plan(resolve(_SCENARIO))
    return replace(plan, down=replace(plan.down, tc=[["parent", "1:1", "handle", "10:", *words.split()]]))
