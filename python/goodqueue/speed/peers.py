"""Speed of other simulators in standard cases, measured alternately with ours: ns-2, ns-3 and htsim, if there.

Their programs are in the source checkout (``benches/peers``). Each runs in its own process, and the operating system
reports its CPU time. The time of a run of `START_UP_S` simulated seconds is subtracted, since ours is timed without its
start-up. A peer that cannot run is listed with the reason, and is never an error.
"""

import json
import math
import os
import shlex
import shutil
import statistics
import subprocess
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from goodqueue.errors import one_line
from goodqueue.files import temporary

PROGRAMS = Path(__file__).resolve().parents[3] / "benches" / "peers"
RATE_BPS = 100e6
"""The bottleneck's rate in the programs that are not told a rate."""

START_UP_S = 0.001
PATIENCE_S = 600.0
"""Wall-clock time in seconds after which a peer is killed."""


@dataclass(frozen=True, slots=True)
class Run:
    """The counts of one run of a simulator, and the CPU time of the simulation alone."""

    version: str
    qdisc: str
    simulated_s: float
    packets: int | None
    """Packets forwarded at the bottleneck. None if responses are counted."""
    utilisation_percent: float | None
    cpu_s: float
    responses: int | None = None
    """Web responses. None if packets are counted."""
    start_up_s: float | None = None
    """The CPU time before the simulation, which `cpu_s` does not contain."""

    @property
    def speed(self) -> float:
        """Packets or responses per CPU second."""
        return (self.packets or self.responses or 0) / max(self.cpu_s, 1e-9)


@dataclass(frozen=True, slots=True)
class PeerResult:
    """The run of median speed, or a note on why there is none."""

    simulator: str
    note: str | None = None
    version: str | None = None
    qdisc: str | None = None
    simulated_s: float | None = None
    packets: int | None = None
    utilisation_percent: float | None = None
    cpu_s: float | None = None
    packets_per_cpu_s: float | None = None
    goodqueue_times_as_fast: float | None = None
    """The median over the rounds of goodqueue's speed divided by this one's. None for goodqueue itself."""
    responses: int | None = None
    responses_per_cpu_s: float | None = None
    case: str | None = None
    """The standard case, from i to iv. None for web traffic and cells."""
    start_up_s: float | None = None
    """The CPU time before the simulation, which `cpu_s` does not contain. None for cells."""

    @property
    def ran(self) -> bool:
        """Whether it could be measured."""
        return self.note is None


class _UnusableError(Exception):
    """Raised if a peer cannot be measured. The text is the reason."""


@dataclass(frozen=True, slots=True)
class Peer:
    """Another simulator: its program, the simulated time after which its speed is steady, and its command."""

    name: str
    program: str
    simulated_s: float
    command: Callable[[Path, Path], list[str]]
    """Takes the program and an empty folder. Returns the command without the simulated time. Raises _UnusableError."""
    arguments: tuple[str, ...] = ()
    """The program's arguments before the simulated seconds."""
    rate_bps: float = RATE_BPS
    """The bottleneck's rate."""

    def prepare(self, folder: Path) -> list[str]:
        """Return the command without the simulated seconds. Raises _UnusableError."""
        program = PROGRAMS / self.program
        if not program.is_file():
            raise _UnusableError("not compared: its program is in the source checkout only (benches/peers)")
        return [*self.command(program, folder), *self.arguments]


def ns2(program: Path, _folder: Path) -> list[str]:
    """Return the command that runs a program for ns-2. Raises _UnusableError."""
    executable = shutil.which("ns")
    if executable is None:
        raise _UnusableError("not installed (apt-get install ns2)")
    return [executable, str(program)]


def ns3(program: Path, folder: Path, modules_wanted: Sequence[str] = ("point-to-point",)) -> list[str]:
    """Compile a program for ns-3 that has ``modules_wanted`` beside the usual modules. Raises _UnusableError."""
    compiler, config = shutil.which("g++"), shutil.which("pkg-config")
    modules = [f"ns3-{name}" for name in ("applications", "internet", *modules_wanted, "traffic-control", "core")]
    if compiler is None or config is None or _call([config, "--exists", *modules]).returncode:
        raise _UnusableError("not installed (apt-get install libns3-dev g++ pkg-config)")
    version = _call([config, "--modversion", "ns3-core"]).stdout.strip()
    flags = shlex.split(_call([config, *_moved(config), "--cflags", "--libs", *modules]).stdout)
    # Debian's files name libraries of its build machine. libns3-dev does not install them, and no program needs them.
    flags = [flag for flag in flags if not flag.startswith("/") or Path(flag).exists()]
    flags += [f"-Wl,-rpath,{flag[2:]}" for flag in flags if flag.startswith("-L")]  # where it is not the system's
    binary = str(folder / program.stem)
    build = [f'-DPEER_VERSION="{version}"', "-O2", str(program), "-o", binary, "-Wl,--as-needed", *flags]
    complaints = ""
    for standard in ("c++17", "c++20"):  # ns-3's headers need C++20 since 3.43
        compiled = _call([compiler, f"-std={standard}", *build])
        if not compiled.returncode:
            return [binary]
        complaints = complaints or compiled.stderr
    raise _UnusableError("does not compile: " + _reason(complaints))


def htsim(tree: Path, program: Path, folder: Path) -> list[str]:
    """Compile a program for the htsim that is built in ``tree``, a checkout of it. Raises _UnusableError."""
    compiler, git = shutil.which("g++"), shutil.which("git")
    library = tree / "sim" / "libhtsim.a"
    if not library.is_file():
        raise _UnusableError(f"found no {library} (make -C {tree}/sim libhtsim.a)")
    if compiler is None:
        raise _UnusableError("no compiler (apt-get install g++)")
    version = _call([git, "-C", str(tree), "rev-parse", "--short", "HEAD"]).stdout.strip() if git else ""
    binary = str(folder / program.stem)
    build = [f'-DPEER_VERSION="{version}"', "-std=c++17", "-O3", f"-I{tree / 'sim'}", str(program), str(library)]
    compiled = _call([compiler, *build, "-o", binary])
    if compiled.returncode:
        raise _UnusableError("does not compile: " + _reason(compiled.stderr))
    return [binary]


def _moved(config: str) -> list[str]:
    """Return the options of pkg-config for an ns-3 that is not where its files say, as in PyPI's package ``ns3``."""

    def folder(variable: str) -> Path:
        return Path(_call([config, f"--variable={variable}", "ns3-core"]).stdout.strip())

    if folder("libdir").is_dir():
        return []
    libraries = folder("pcfiledir").parent
    return [f"--define-variable=libdir={libraries}", f"--define-variable=includedir={libraries.parent / 'include'}"]


WEB_PEERS = (Peer("ns-2", "ns2-packmime.tcl", 10, ns2),)
"""The peers with PackMime's web traffic."""


def _call(command: list[str]) -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(
            command, check=False, capture_output=True, text=True, errors="replace", stdin=subprocess.DEVNULL
        )
    except OSError as error:
        raise _UnusableError(f"cannot run {command[0]}: {error.strerror}") from None


def _reason(text: str) -> str:
    """Return the most useful line of ``text``, at most 120 characters of it."""
    lines = [line.strip() for line in text.splitlines() if line.strip()] or ["no message"]
    line = one_line(next((line for line in lines if "error" in line.lower()), lines[-1]))
    return line if len(line) <= 120 else line[:117] + "..."


def cpu_of(command: list[str], patience_s: float = PATIENCE_S) -> tuple[float, str]:
    """Run ``command`` and return its CPU seconds (user and system) and its output. Raises _UnusableError."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        try:
            process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out, stderr=err)
        except OSError as error:
            raise _UnusableError(f"cannot run {command[0]}: {error.strerror}") from None
        late = threading.Event()

        def give_up() -> None:
            late.set()
            process.kill()

        timer = threading.Timer(patience_s, give_up)
        timer.start()
        try:
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
        except ChildProcessError:  # it ended while it was being killed
            raise _UnusableError(f"gave up after {patience_s:g} s") from None
        except BaseException:
            process.kill()
            process.wait()
            raise
        finally:
            timer.cancel()
        if late.is_set():
            raise _UnusableError(f"gave up after {patience_s:g} s")
        printed = _text(out)
        if process.returncode:
            raise _UnusableError(f"exit status {process.returncode}: {_reason(_text(err) or printed)}")
        return usage.ru_utime + usage.ru_stime, printed


def _text(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read(1 << 20).decode("utf-8", "replace")


def _reading(printed: str) -> dict[str, Any]:
    """Return the JSON line with the counts from the output of a peer. Raises _UnusableError."""
    for line in printed.splitlines():
        try:
            answer = json.loads(line)
            reading = {
                "version": str(answer["version"]),
                "qdisc": str(answer["qdisc"]),
                "simulated_s": float(answer["simulated_s"]),
            }
            if "responses" in answer:
                return reading | {"responses": int(answer["responses"])}
            return reading | {"packets": int(answer["packets"]), "wire_bytes": float(answer["wire_bytes"])}
        except (ValueError, TypeError, KeyError, OverflowError, RecursionError):
            continue
    raise _UnusableError(f"printed no figures: {_reason(printed)}")


def run_peer(command: list[str], simulated_s: float, rate_bps: float = RATE_BPS) -> Run:
    """Run a peer's ``command`` for ``simulated_s``, and once for its start-up alone. Raises _UnusableError."""
    start_up_s, _ = cpu_of([*command, f"{START_UP_S:g}"])
    cpu_s, printed = cpu_of([*command, f"{simulated_s:g}"])
    reading = _reading(printed)
    if "responses" in reading:
        reading |= {"packets": None, "utilisation_percent": None}
        if reading["responses"] <= 0:
            raise _UnusableError(f"printed that it simulated nothing: {reading['responses']} responses")
    else:
        wire_bytes = reading.pop("wire_bytes")
        carried = 100 * reading["packets"] * wire_bytes * 8 / (rate_bps * (reading["simulated_s"] or math.inf))
        if not 0 < carried < math.inf:
            what = f"{reading['packets']} packets of {wire_bytes:g} bytes"
            raise _UnusableError(f"printed that it simulated nothing: {what}")
        reading["utilisation_percent"] = carried
    if cpu_s <= start_up_s:
        raise _UnusableError(f"took no longer than its start-up, {start_up_s:.3f} CPU s")
    return Run(cpu_s=cpu_s - start_up_s, start_up_s=start_up_s, **reading)


@contextmanager
def _commands(peers: Sequence[Peer]) -> Iterator[dict[str, list[str] | str]]:
    """Yield each peer's command, or why there is none. Compiled programs are removed at the end."""
    with temporary.folder() as folder:
        commands: dict[str, list[str] | str] = {}
        for peer in peers:
            try:
                commands[peer.name] = peer.prepare(folder)
            except _UnusableError as reason:
                commands[peer.name] = str(reason)
        yield commands


def compare(ours: Callable[[], Run], repeats: int, peers: Sequence[Peer]) -> list[PeerResult]:
    """Run goodqueue (``ours``) and each of ``peers`` alternately, ``repeats`` times, and return all results.

    A round has one run of each, so that a slow period of the machine affects all of them.
    """
    runs: dict[str, list[tuple[Run, Run]]] = {peer.name: [] for peer in peers}
    our_runs: list[Run] = []
    with _commands(peers) as commands:
        for _ in range(repeats):
            our_runs.append(ours())
            for peer in peers:
                command = commands[peer.name]
                if isinstance(command, str):
                    continue
                try:
                    runs[peer.name].append((our_runs[-1], run_peer(command, peer.simulated_s, peer.rate_bps)))
                except _UnusableError as reason:
                    commands[peer.name] = str(reason)
        results = [_result("goodqueue", our_runs, None)]
        for peer in peers:
            command = commands[peer.name]
            if isinstance(command, str):
                results.append(PeerResult(peer.name, note=command))
            else:
                pairs = runs[peer.name]
                ratio = statistics.median(our.speed / run.speed for our, run in pairs)
                results.append(_result(peer.name, [run for _, run in pairs], ratio))
    return results


def _result(simulator: str, runs: list[Run], ratio: float | None) -> PeerResult:
    middle = sorted(runs, key=lambda run: run.speed)[len(runs) // 2]
    of_packets = middle.responses is None
    return PeerResult(
        simulator,
        version=middle.version,
        qdisc=middle.qdisc,
        simulated_s=middle.simulated_s,
        packets=middle.packets,
        utilisation_percent=middle.utilisation_percent,
        cpu_s=middle.cpu_s,
        packets_per_cpu_s=middle.speed if of_packets else None,
        goodqueue_times_as_fast=ratio,
        responses=middle.responses,
        responses_per_cpu_s=None if of_packets else middle.speed,
        start_up_s=middle.start_up_s,
    )
