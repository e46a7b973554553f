"""Reports what prevents a link on this machine, and how to change that."""

import os
import re
import shlex
import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from goodqueue.engines.live import devices, outward

OLDEST = (5, 6)
"""The oldest Linux that is supported. It is later than 5.3, which introduced pidfd_open(2)."""

PROFILE = """\
abi <abi/4.0>,
include <tunables/global>
profile goodqueue {program} flags=(unconfined) {{
  userns,
}}
"""
"""Lets a program have user namespaces on systems where AppArmor restricts them."""

_CLONE = "kernel/unprivileged_userns_clone"
_APPARMOR = "kernel/apparmor_restrict_unprivileged_userns"
_MOST = "user/max_user_namespaces"


@dataclass(frozen=True, slots=True)
class Finding:
    """One result of the examination."""

    name: str
    found: str
    good: bool
    remedy: str | None = None
    """What to do about it, if anything."""
    stops: bool = False
    """Whether it makes a link impossible."""


def attempt() -> str | None:
    """Build a link's networks in a child process, which ends at once. Return why that failed, or None."""
    read_end, tell = os.pipe()
    child = os.fork()
    if not child:
        try:
            os.write(tell, _attempt().encode())
        finally:
            os._exit(0)
    os.close(tell)
    with os.fdopen(read_end, encoding="utf-8") as answer:
        text = answer.read()
    os.waitpid(child, 0)
    return None if text == "fine" else text or "the trial was killed"


def _attempt() -> str:
    from pyroute2.netlink.exceptions import NetlinkError

    from goodqueue.engines.kernel.lab.libc import call
    from goodqueue.engines.live import ends, namespaces, privileges

    try:
        privileges.become_builder()
        call("unshare", privileges.NEW_PROCESSES | privileges.NEW_MOUNTS)
        namespaces.leave()
        namespaces.build(1, ends.of_link(1, ()), nested=False, group=os.getegid())
    except (OSError, NetlinkError) as error:
        return namespaces.said(error)
    return "fine"


def _read(path: Path) -> str | None:
    try:
        return path.read_text(encoding="ascii")
    except OSError:
        return None


def _opens() -> bool:
    if (tun := devices.open_tun()) is None:
        return False
    os.close(tun)
    return True


@dataclass(frozen=True, slots=True)
class Machine:
    """The access to this machine, which tests can replace."""

    release: str = field(default_factory=lambda: os.uname().release)
    root: bool = field(default_factory=lambda: os.geteuid() == 0)
    program: str = field(default_factory=lambda: os.path.realpath(sys.executable))
    """The program that needs the namespaces."""
    switch: Callable[[str], str | None] = lambda name: _read(Path("/proc/sys", name))
    """Returns the text of a file below /proc/sys, or None if it cannot be read."""
    exists: Callable[[Path], bool] = Path.exists
    opens: Callable[[], bool] = _opens
    """Whether a TUN device can be opened."""
    find: Callable[[str], str | None] = outward.find
    build: Callable[[], str | None] = attempt
    """Builds a link's networks for a moment, and returns why that failed, or None."""


def examine(machine: Machine | None = None) -> list[Finding]:
    """Return the findings about this machine."""
    return list(_findings(machine or Machine()))


def as_json(findings: list[Finding]) -> dict[str, Any]:
    """Return the findings as a dictionary for programs."""
    return {"runs": runs(findings), "findings": [asdict(finding) for finding in findings]}


def runs(findings: list[Finding]) -> bool:
    """Return whether a link is possible."""
    return not any(finding.stops for finding in findings)


def _findings(machine: Machine) -> Iterator[Finding]:
    number = tuple(int(part) for part in re.findall(r"\d+", machine.release)[:2])
    old = number < OLDEST
    needs = f"Linux {OLDEST[0]}.{OLDEST[1]} or newer"
    yield Finding("kernel", f"Linux {machine.release}", not old, needs if old else None, old)
    why = machine.build()
    if why is None:
        how = "as root, no user namespace is needed" if machine.root else "an ordinary user may make them"
        yield Finding("namespaces", how, True)
    else:
        yield from _forbidden(machine, why)
    yield _tun(machine)
    yield _world(machine)


def _forbidden(machine: Machine, why: str) -> Iterator[Finding]:
    """Yield a finding for each switch that forbids namespaces."""
    findings = []
    if (machine.switch(_MOST) or "").strip() == "0":
        findings.append(_switched(_MOST, "0", "15000"))
    if (machine.switch(_CLONE) or "").strip() == "0":
        findings.append(_switched(_CLONE, "0", "1"))
    if (machine.switch(_APPARMOR) or "").strip() == "1":
        file = "/etc/apparmor.d/goodqueue"
        text = PROFILE.format(program=machine.program)
        remedy = f"sudo tee {file} <<'END'\n{text}END\nsudo apparmor_parser -r {file}"
        switch = f"{_APPARMOR.replace('/', '.')} = 1"
        findings.append(Finding("AppArmor", f"{switch} and no profile for {machine.program}", False, remedy, True))
    if not findings:
        remedy = "outside of a container, or in one that may make user namespaces; or as root"
        findings.append(Finding("namespaces", why, False, remedy, True))
    yield from findings


def _switched(name: str, value: str, remedy_value: str) -> Finding:
    dotted = name.replace("/", ".")
    line = shlex.quote(f"{dotted} = {remedy_value}")
    remedy = f"echo {line} | sudo tee /etc/sysctl.d/60-goodqueue.conf && sudo sysctl --system"
    return Finding("user namespaces", f"{dotted} = {value}", False, remedy, True)


def _tun(machine: Machine) -> Finding:
    name = str(devices.TUN)
    if not machine.exists(devices.TUN):
        return Finding(name, "missing: veth devices are used, which are slower", False, "sudo modprobe tun")
    if not machine.opens():
        state = "does not open: veth devices are used, which are slower"
        rule = shlex.quote('KERNEL=="tun", MODE="0666"')
        remedy = f"sudo chmod 666 {name}; for good: echo {rule} | sudo tee /etc/udev/rules.d/60-tun.rules"
        return Finding(name, state, False, remedy)
    return Finding(name, "opens", True)


def _world(machine: Machine) -> Finding:
    programs = [name for name in outward.PROGRAMS if machine.find(name)]
    if not programs:
        state = f"neither {' nor '.join(outward.PROGRAMS)}: two commands meet, but the world outside is not reached"
        return Finding("way out", state, False, f"sudo {outward.INSTALL}")
    if not machine.opens():
        return Finding("way out", f"{programs[0]}, which needs {devices.TUN}", False)
    return Finding("way out", programs[0], True)
