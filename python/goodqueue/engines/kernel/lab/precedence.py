"""Who comes first on a machine's only processor.

After a burst Linux leaves packets and the queues' timers to the thread ksoftirqd, which shares the processor with
programs. The start of a program such as tc would delay the links by two milliseconds.
"""

import os
from pathlib import Path


def prefer_ksoftirqd() -> None:
    """Give ksoftirqd precedence over all programs."""
    for number in filter(str.isdigit, os.listdir("/proc")):  # noqa: PTH208 - in the order of their start
        if Path(f"/proc/{number}/comm").read_text(encoding="ascii").startswith("ksoftirqd/"):
            os.sched_setscheduler(int(number), os.SCHED_FIFO, os.sched_param(2))  # the hosts have 1
            return
