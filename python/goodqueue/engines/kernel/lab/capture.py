"""tcpdump on both sides of the bottleneck: the arrival and the departure of each packet."""

import re
import signal
import subprocess
from pathlib import Path

from .errors import LabError

_SNAPLEN = 100  # all headers, and a datagram's number
BUFFER_KIB = 32768
"""The memory in which packets wait for tcpdump, where that may be late."""
LAG_S = 1.1
"""How long tcpdump may lag behind. The kernel passes packets to tcpdump in blocks, an unfilled block after a second.
Stopping tcpdump loses the packets of an unfilled block."""


class Capture:
    """One tcpdump process, in the network namespace that this process is in when it starts it."""

    def __init__(self, device: str, path: Path, buffer_kib: int = BUFFER_KIB) -> None:
        """Start tcpdump, and return once it captures."""
        command = ["tcpdump", "-i", device, "-n", "-p", "-Z", "root", "-s", str(_SNAPLEN), "-B", str(buffer_kib)]
        command += ["--time-stamp-precision=nano", "-w", str(path), "ip"]
        try:
            self._process = subprocess.Popen(
                command,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                text=True,
            )
        except FileNotFoundError:
            raise LabError("tcpdump: not found; accepted: the program of package tcpdump on PATH") from None
        assert self._process.stderr is not None
        text = ""
        for line in self._process.stderr:
            text = line.strip()
            if "listening on" in text:
                return
        raise LabError(f"tcpdump on {device}: {text}")

    def stop(self) -> int:
        """End tcpdump, and return how many packets the kernel dropped before tcpdump read them."""
        self._process.send_signal(signal.SIGINT)
        _, text = self._process.communicate()
        match = re.search(r"(\d+) packets? dropped by kernel", text)
        if match is None:
            raise LabError(f"tcpdump: {text.strip() or 'ended early'}")
        return int(match[1])
