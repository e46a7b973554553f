"""Runs the laboratory in its own virtual machine: qemu without hardware support, in virtual time.

The guest's clock counts its instructions, one nanosecond each or less, and jumps over idle time. A busy host
therefore does not disturb a run, and runs are repeatable. The host must not reach the guest while the guest works. The
guest reads its input from the firmware, and writes its output after all measurements.
"""

import functools
import hashlib
import json
import re
import shutil
import subprocess
import threading
from collections.abc import Sequence
from pathlib import Path

from goodqueue.engines.kernel import cpio, folders, image, machine, module, packages, watching
from goodqueue.engines.kernel.lab.plan import Plan
from goodqueue.engines.kernel.monitor import Monitor
from goodqueue.running import Progress

QEMU = "qemu-system-x86_64"

FASTEST_BPS = {1: 200_000_000, 5: 1_000_000_000}
"""The maximum rate of both directions together, by the speed of the guest's processor in GHz. At the maximum the
processor is busy for about 80 % of the time: 180 Mbit/s down and 5 up keep 1 GHz busy for 76 %, and 4 GHz for 21 %."""

INSTALL = "apt-get install --no-install-recommends qemu-system-x86"
"""The command that installs qemu on Debian and Ubuntu."""

_ORDER = "opt/goodqueue"
"""The folder of the firmware's files from which guest.py takes its order."""

_BOOTED = "booted-"
"""The beginning of the names of saved states in an image's folder: the hash of what booted, the memory in MB, and
perhaps the processor's speed and the hash of the modules that were loaded besides."""

_CLOCK = "tsc=reliable tsc_early_khz={ghz}000000"
"""What the kernel need not find out: its time stamp counter is the virtual clock. Linux 7.3 would not trust it, and
so would have no timers between two ticks. A measured rate would differ between kernels by some 60 millionths.

The counter counts instructions, and this rate says how many of them are a second of the guest. So it is the speed of
the guest's processor."""


def run(system: image.Image, plan: Plan, folder: Path, progress: Progress, stop: threading.Event) -> None:
    """Do ``plan`` in a machine that has booted, and leave the results in ``folder``/results.

    Raises StoppedError, and UserError if the run fails.
    """
    ordered = folder / "plan.json"
    ordered.write_text(plan.to_json(), encoding="utf-8")
    results = machine.results(folder)
    memory_mb = machine.memory_mb(plan)
    # The guest reads these without the host's help, so that no moment of the host's is a moment of the guest's.
    order = ["-fw_cfg", f"name={_ORDER}/plan.json,file={_quoted(ordered)}"]
    order += ["-fw_cfg", f"name={_ORDER}/seed,string={machine.seed(plan)}"]
    modules = [module.file(system, name) for name in module.wanted(plan)]
    ghz = next(ghz for ghz, most_bps in FASTEST_BPS.items() if plan.load_bps <= most_bps)
    with _booted(system, memory_mb, stop, modules, ghz).open("rb") as state:
        monitor = Monitor()
        command = [
            *_command(system, memory_mb, results, ghz),
            *order,
            *monitor.options,
            "-incoming",
            f"fd:{state.fileno()}",
        ]
        with monitor.doing(monitor.resume):
            inherited = (state.fileno(), monitor.theirs.fileno())
            ended = watching.watch(command, progress, stop, machine.NAME, inherited)
    if "done" not in ended.lines:
        raise machine.failed(ended)


def boot(
    system: image.Image, archive: bytes, out_mb: int, folder: Path, progress: Progress, stop: threading.Event
) -> None:
    """Boot a machine with the files of ``archive``, and leave what it writes to /out in ``folder``/results.

    /out has ``out_mb`` megabytes. Raises StoppedError, and UserError if the machine fails.
    """
    with machine.first_files(system, archive, folder) as first:
        command = [*_command(system, machine.SYSTEM_MB + out_mb, machine.results(folder)), "-initrd", str(first)]
        ended = watching.watch(command, progress, stop, machine.NAME)
    if "done" not in ended.lines:
        raise machine.failed(ended)


def _booted(
    system: image.Image, memory_mb: int, stop: threading.Event, modules: Sequence[Path] = (), ghz: int = 1
) -> Path:
    """Return the state of a machine that has booted and started the laboratory. The first run makes it.

    ``modules`` are loaded, besides those of the image.

    A boot takes five times as much of the host's processor as a short run. The guest pauses itself at one instruction,
    so the state is the same whenever it is made, and a run from it is the run that the boot would have gone on to.
    """
    here = Path(__file__)
    programs = {"init": here.with_name("init.sh"), f"{machine.LAB}/guest.py": here.with_name("guest.py")}
    archive = cpio.files(machine.laboratory() | {name: path.read_bytes() for name, path in programs.items()})
    key = hashlib.sha256(json.dumps([_command(system, 0, Path()), said()]).encode() + archive).hexdigest()[:16]
    more = cpio.files({f"lab/{path.name}": path.read_bytes() for path in modules}) if modules else b""
    suffix = (f"-{ghz}ghz" if ghz > 1 else "") + (f"-{hashlib.sha256(more).hexdigest()[:16]}" if more else "")
    state = system.folder / f"{_BOOTED}{key}-{memory_mb}{suffix}"
    with folders.alone(system.folder, stop):
        if state.exists():
            return state
        for old in system.folder.glob(f"{_BOOTED}*"):
            if not old.name.startswith(f"{_BOOTED}{key}-"):
                old.unlink(missing_ok=True)
        with folders.private(system.folder) as folder, machine.first_files(system, archive + more, folder) as first:
            monitor = Monitor()
            with (folder / "state").open("wb") as file:
                command = [*_command(system, memory_mb, machine.results(folder), ghz), "-initrd", str(first)]
                command += [*monitor.options, "-action", "panic=pause"]
                with monitor.doing(functools.partial(monitor.save, file.fileno())):
                    ended = watching.watch(command, lambda _: None, stop, machine.NAME, [monitor.theirs.fileno()])
            if not monitor.saved:
                raise machine.failed(ended, monitor.refusal)
            (folder / "state").rename(state)
    return state


def why_not(plan: Plan | None = None, release: str | None = None) -> str | None:
    """Return why no machine of ``release`` can run here, or why none can run ``plan``. Returns None if one can."""
    if shutil.which(QEMU) is None:
        return f"found no {QEMU}; accepted: on Debian, as root: {INSTALL}"
    if image.find(release) is None and (lacking := packages.missing_program()) is not None:
        return f"no image, and found no {lacking} to build it; accepted: a Debian system"
    for name in module.wanted(plan) if plan else ():
        if (why := module.why_not(image.find(release), name)) is not None:
            return why
    if plan is not None and (rate := plan.load_bps) > (most := max(FASTEST_BPS.values())):
        any_rate = "any in Linux as a process (goodqueue kernel image --machine process)"
        return f"found {rate / 1e6:g} Mbit/s, both directions together; accepted: up to {most / 1e6:g}, or {any_rate}"
    return None


@functools.cache
def version() -> str:
    """Return qemu's version, such as ``7.2.22``, or ``unknown``."""
    match = re.search(r"version (\S+)", said())
    return match[1] if match else "unknown"


@functools.cache
def said() -> str:
    """Return qemu's text about its version and its vendor, or nothing if qemu does not start."""
    try:
        done = subprocess.run([QEMU, "--version"], check=True, capture_output=True, text=True)
    except (OSError, subprocess.SubprocessError):
        return ""
    return done.stdout.partition("\n")[0].removeprefix("QEMU emulator ")


def _command(system: image.Image, memory_mb: int, results: Path, ghz: int = 1) -> list[str]:
    # The kernel passes words that it does not know to the first process as environment variables.
    clock, captures = _CLOCK.format(ghz=ghz), f"captures={memory_mb - machine.SYSTEM_MB}m"
    line = f"console=ttyS0 quiet nokaslr mitigations=off {clock} panic=-1 reboot=t {captures}"
    command = [QEMU, "-accel", "tcg,thread=single,tb-size=256", "-icount", "shift=0,sleep=off,align=off"]
    # Linux does not set up the PIC here. An interrupt of the PIT that came through the PIC would have vector 0,
    # which is a division by zero. SeaBIOS, the firmware of Debian 13's QEMU, leaves the PIT running; qboot does not.
    # Without arat the guest's timers tick at 4 ms on this machine. The calendar starts at the same moment in all runs.
    command += ["-M", "microvm,acpi=on,rtc=on,pic=off,pit=on", "-cpu", "Nehalem,+arat,-spec-ctrl"]
    command += ["-rtc", "base=2020-01-01T00:00:00,clock=vm", "-m", str(memory_mb)]
    command += ["-nodefaults", "-no-user-config", "-nographic", "-no-reboot", "-serial", "stdio"]
    command += ["-kernel", str(system.vmlinux), "-append", line]
    command += ["-fsdev", f"local,id=results,path={_quoted(results)},security_model=none"]
    command += ["-device", "virtio-9p-device,fsdev=results,mount_tag=results"]
    return [*command, "-device", "pvpanic"]  # guest.py says what for


def _quoted(path: Path) -> str:
    return str(path).replace(",", ",,")  # a comma would begin another option
