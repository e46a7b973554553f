"""What this machine can do for the engine, what is missing, and what installs it."""

import os
import threading
from dataclasses import asdict, dataclass, replace
from typing import Any

from goodqueue.engines.kernel import host, image, packages, vm
from goodqueue.engines.kernel.lab.bulk import KIND
from goodqueue.engines.kernel.lab.plan import Flow, Plan, Shaper, Way
from goodqueue.errors import UserError

QDISCS = (
    "pfifo", "bfifo", "pfifo_head_drop", "codel", "fq_codel", "pie", "fq_pie", "red limit 400000 avpkt 1000",
    "sfq", "choke limit 1000 avpkt 1000 bandwidth 10mbit", "cake", "dualpi2",
)  # fmt: skip
"""Tried on this host, by the words that the kernel's ``tc`` needs at least."""

_RATE_BPS = 10_000_000


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at."""

    name: str
    found: str
    good: bool


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """What the engine can do here."""

    where: str | None
    """Where it runs a scenario of usual rates: ``vm``, ``host``, or None: nowhere."""
    findings: list[Finding]
    remedy: str | None
    """What to do first, if anything is missing."""

    def as_json(self) -> dict[str, Any]:
        """Return it for programs."""
        return asdict(self)


def examine() -> Diagnosis:
    """Look at this machine. Takes some seconds: the host's queue disciplines are tried, in namespaces that vanish."""
    qemu, built = _qemu(), _image()
    here, lacking = _host()
    findings = [qemu, built, here, lacking]
    where = "vm" if qemu.good else "host" if here.good else None
    return Diagnosis(where, findings, _remedy(qemu.good, built.good))


def _remedy(qemu: bool, built: bool) -> str | None:
    if not qemu:
        if packages.missing_program() is not None:
            return f"install {vm.QEMU}, and build the image on a Debian system (goodqueue kernel image)"
        return ("" if os.geteuid() == 0 else "sudo ") + vm.INSTALL
    return None if built else "goodqueue kernel image"


def _qemu() -> Finding:
    if (why := vm.why_not()) is not None:
        return Finding("virtual machine", why, False)
    said = vm.said()
    return Finding("virtual machine", f"QEMU emulator {said}" if said else f"{vm.QEMU} does not start", bool(said))


def _image() -> Finding:
    try:
        found = image.find()
    except UserError as error:
        return Finding("its image", str(error), False)
    if found is None:
        return Finding("its image", "none yet: the first run builds it, or goodqueue kernel image", False)
    return Finding("its image", f"{found.key}: Linux {found.kernel}, pyroute2 {found.pyroute2}", True)


def _host() -> tuple[Finding, Finding]:
    """Return whether networks can be built here, and what a scenario may find missing."""
    release = f"Linux {os.uname().release}"
    if (why := _why_not(_plan("pfifo"))) is not None:
        return Finding("this host", why, False), Finding("its qdiscs", "not tried", False)
    tried = {words.split()[0]: _why_not(_plan(words)) for words in QDISCS}
    lacking = [name for name, why in tried.items() if why is not None]
    found = f"lacks {', '.join(lacking)}" if lacking else f"all of {', '.join(tried)}"
    return Finding("this host", f"{release}: can build networks", True), Finding("its qdiscs", found, not lacking)


def _why_not(plan: Plan) -> str | None:
    try:
        return host.why_not(plan, threading.Event())
    except UserError as error:
        return str(error)


def _plan(words: str) -> Plan:
    """Return a plan that has Linux make a qdisc of ``words``."""
    up = Shaper(_RATE_BPS, "htb", [["parent", "1:1", "handle", "10:", "pfifo"]])
    down = replace(up, tc=[["parent", "1:1", "handle", "10:", *words.split()]])
    flow = Flow("bulk/0", KIND, "down", 0.0, 1.0, 0.0, False, "cubic", 0, False, None, None, 10_000)
    return Plan(1.0, 0.0, 1, down, up, [Way(0.0)], [flow], None)
