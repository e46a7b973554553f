"""What all machines have: the first file system with the laboratory in it, the memory, and what their end means."""

import hashlib
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from goodqueue import _goodqueue
from goodqueue.engines.kernel import image, watching
from goodqueue.engines.kernel.lab import cards
from goodqueue.engines.kernel.lab.capture import BUFFER_KIB
from goodqueue.engines.kernel.lab.plan import Plan
from goodqueue.errors import UserError

NAME = "kernel engine"
"""Whose errors these are."""

CONSOLE = "console.txt"
"""The file in the folder of images with the console's last lines of the machine that failed last."""

_LAB = Path(__file__).with_name("lab")
LAB = "lab"
"""The folder in which the machine's Python looks for modules."""
_LAB_IN_GUEST = f"{LAB}/goodqueue/engines/kernel/lab"
_CORE_IN_GUEST = f"{LAB}/goodqueue/_goodqueue.abi3.so"

SYSTEM_MB = 512
"""Memory of the kernel, the programs and the socket buffers."""
_SYSTEM_CAPTURES = 8
"""The captures whose buffers are part of this memory."""
_FRAME_BITS = 1514 * 8
_CAPTURED_BYTES = 116
"""Bytes of a packet in one capture: 100 and a header of 16."""


def laboratory() -> dict[str, bytes]:
    """Return the files of the laboratory by their names in a machine."""
    files = {f"{_LAB_IN_GUEST}/{path.name}": path.read_bytes() for path in _LAB.glob("*.py")}
    return files | {_CORE_IN_GUEST: Path(_goodqueue.__file__).read_bytes()}


@contextmanager
def first_files(system: image.Image, added: bytes, folder: Path) -> Iterator[Path]:
    """Yield the machine's first file system in ``folder``: the image's files and those of the archive ``added``."""
    first = folder / "initramfs.cpio"
    with first.open("wb") as file, system.initramfs.open("rb") as cached:
        shutil.copyfileobj(cached, file)
        file.write(added)
    yield first
    first.unlink()


def seed(plan: Plan) -> str:
    """Return what the kernel's random numbers follow from: 256 bits in hexadecimal digits."""
    return hashlib.sha256(str(plan.seed).encode()).hexdigest()


def results(folder: Path) -> Path:
    """Return the new folder in ``folder`` where a machine leaves its results."""
    made = folder / "results"
    made.mkdir()
    return made


def failed(ended: watching.Ended, refusal: str = "") -> UserError:
    """Return the error of a machine that ``ended`` without results. ``refusal`` is what it refused to do."""
    return UserError(NAME, ended.error or refusal or _died(ended), f"the console's last lines: {_kept_console(ended)}")


def memory_mb(plan: Plan) -> int:
    """Return a machine's memory: a power of two, so that few states serve all plans."""
    return max(1024, 1 << (SYSTEM_MB + captures_mb(plan) - 1).bit_length())


def captures_mb(plan: Plan) -> int:
    """Return the memory for the captures in megabytes, for the most packets that the links can carry."""
    seconds = plan.duration_s + plan.drain_s
    full = plan.load_bps * seconds / _FRAME_BITS
    small = sum(2 * seconds / flow.interval_s for flow in plan.flows if flow.interval_s)
    # Each full packet may have its own acknowledgement, and each packet is captured at each interface.
    captures = len(cards.captured(plan))
    buffers = max(0, captures - _SYSTEM_CAPTURES) * BUFFER_KIB // 1024
    return 16 + buffers + round((2 * full + small) * captures * _CAPTURED_BYTES / 1e6)


def _died(ended: watching.Ended) -> str:
    """Return why the machine ended without results, as far as its last lines show."""
    for line in ended.lines:
        for sign in ("Kernel panic", "Out of memory", "No space left", "qemu-system-x86_64: "):
            if sign in line:
                return f"the machine ended: {line}"
    endings = ("reboot: Power down", "the laboratory ended")
    lines = [line for line in ended.lines if line.strip() and not any(words in line for words in endings)]
    return f"the machine ended (status {ended.status}) before the run did" + (f": {lines[-1]}" if lines else "")


def _kept_console(ended: watching.Ended) -> Path:
    path = image.cache() / CONSOLE
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(ended.lines) + "\n", encoding="utf-8")
    return path
