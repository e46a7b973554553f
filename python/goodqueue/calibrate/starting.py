"""``python -m goodqueue.calibrate.starting PARENT WORDS...``: becomes ``goodqueue link WORDS...``, with precedence.

PARENT is the PID of the starter, with which the link dies. Packets leave late on a busy machine. So, where the system
permits it, the link's path has precedence over the programs that measure, and these over all others (sched(7)). The
processes that only start them have none, since their start would hold up other links.
"""

import os
import sys
from contextlib import suppress

PRIORITY = 1
"""The real-time priority of the programs. That of the path is the next one."""


def main() -> None:
    """Become the link."""
    from goodqueue.engines.kernel.lab.libc import die_with_parent  # Linux alone has these
    from goodqueue.engines.live import outside

    parent, words = int(sys.argv[1]), sys.argv[2:]
    die_with_parent()
    if os.getppid() != parent:
        return
    environment = os.environ | {outside.PRIORITY: str(PRIORITY + 1)}
    os.execve(sys.executable, [sys.executable, "-P", "-m", "goodqueue", "link", *words], environment)  # noqa: S606


def take_precedence() -> None:
    """Give this process the programs' priority, if the system permits it."""
    with suppress(PermissionError):
        os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(PRIORITY))


if __name__ == "__main__":
    main()
