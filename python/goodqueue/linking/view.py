"""Shows a running link on the terminal: a few lines at the bottom, with CMD's output above them.

The last column is what a bufferbloat test would say of the delay of one direction, by the letters of `advise`.
"""

import os
import pty
import sys
import threading
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from goodqueue.engines.live.talk import Message
from goodqueue.errors import UserError
from goodqueue.measures.scores import letter
from goodqueue.show.table import number

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table


LETTER_S = 5.0
"""The letter is of the delays in this time. A letter of one glance would change too fast to be read."""


class View:
    """The display: counters of the last glance, and rates and delays since the glance before."""

    def __init__(self) -> None:
        """Start without a glance."""
        self._before: deque[Message] = deque()
        self._shown: Table | None = None

    def __rich__(self) -> "Table | str":
        """Return the current display."""
        return "" if self._shown is None else self._shown

    def glance(self, now: Message) -> None:
        """Show the state ``now`` (`Gateway.glance`)."""
        from rich.table import Table

        grid = Table(box=None, pad_edge=False, padding=(0, 2), header_style="dim")
        for heading in ("direction", "Mbit/s", "queued", "delay ms", "dropped", "marked", "bufferbloat"):
            grid.add_column(heading, justify="left" if heading == "direction" else "right")
        for direction in now["queues"]:
            earlier = self._before[-1] if self._before else None
            since = self._before[0] if self._before else None
            grid.add_row(*row(direction, earlier, now), in_a_letter(direction, since, now))
        late = now["late_us"]
        lateness = f"late p99 {late['p99'] / 1e3:.2f} ms" if late else "no packet yet"
        grid.caption = f"{now['elapsed_s']:.0f} s, {now['flows']} flows, {lateness}"
        grid.caption_justify = "left"
        self._before.append(now)
        while now["elapsed_s"] - self._before[0]["elapsed_s"] > LETTER_S:
            self._before.popleft()
        self._shown = grid

    @contextmanager
    def shown(self) -> Iterator[int]:
        """Show the display until the end of the context. Yields the descriptor of a terminal for CMD's output.

        Raises UserError if standard error is no terminal.
        """
        if not sys.stderr.isatty():
            accepted = "a terminal there, or --metrics for programs"
            raise UserError("--live", f"found no terminal on standard error; accepted: {accepted}")
        from rich.console import Console
        from rich.live import Live

        console = Console(stderr=True, highlight=False, markup=False, emoji=False)
        ours, theirs = pty.openpty()
        with suppress(OSError):
            os.set_inheritable(theirs, False)
            size = os.get_terminal_size(sys.stderr.fileno())
            _resize(theirs, size.lines, size.columns)
        thread = threading.Thread(target=_pass_on, args=(ours, console), daemon=True)
        with Live(self, console=console, refresh_per_second=5, transient=True):
            thread.start()
            try:
                yield theirs
            finally:
                os.close(theirs)
                thread.join(1.0)
                os.close(ours)


def row(direction: str, before: Message | None, now: Message) -> list[str]:
    """Return the cells of a direction: rate and delay between the two glances, and counters up to ``now``."""
    queue = now["queues"][direction]
    earlier = before["queues"][direction] if before else dict.fromkeys(queue, 0)
    seconds = now["elapsed_s"] - (before["elapsed_s"] if before else 0.0)
    delay = _delay_ms(queue, earlier)
    rate = (queue["forwarded_bytes"] - earlier["forwarded_bytes"]) * 8e-6 / seconds if seconds > 0 else None
    return [
        direction,
        number(rate, 2),
        str(queue["queued"]),
        number(delay),
        str(queue["dropped"]),
        str(queue["marked"]),
    ]


def in_a_letter(direction: str, since: Message | None, now: Message) -> str:
    """Return what a bufferbloat test would say of the mean delay of a direction between the two glances."""
    queue = now["queues"][direction]
    delay = _delay_ms(queue, since["queues"][direction] if since else dict.fromkeys(queue, 0))
    return "–" if delay is None else letter.letter(delay)


def _delay_ms(queue: Message, earlier: Message) -> float | None:
    """Return the mean delay of the packets that left between two states of a queue, or None without one."""
    packets = queue["forwarded"] - earlier["forwarded"]
    return (queue["delay_sum_s"] - earlier["delay_sum_s"]) * 1e3 / packets if packets else None


def _pass_on(terminal: int, console: "Console") -> None:
    """Print the lines that CMD writes. Text without a line end is printed when CMD's output ends."""
    from rich.text import Text

    held = b""
    while True:
        try:
            data = os.read(terminal, 1 << 16)
        except OSError:  # EIO: nobody has the other end open any more
            data = b""
        *lines, held = (held + data).split(b"\n")
        if not data and held:
            lines.append(held)
        for line in lines:
            console.print(Text.from_ansi(line.decode(errors="replace").rstrip("\r")), soft_wrap=True)
        if not data:
            return


def _resize(terminal: int, lines: int, columns: int) -> None:
    import fcntl
    import struct
    import termios

    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))
