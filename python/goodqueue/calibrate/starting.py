"""``python -m goodqueue.calibrate.starting PARENT WORDS...``: becomes ``goodqueue link WORDS...``, with precedence.

PARENT is the PID of the starter, with which the link dies. Where the system permits it, the link and its programs have
precedence over other programs (sched(7), SCHED_RR), as packets leave late on a busy machine otherwise.
"""

import os
import sys
from contextlib import suppress

PRIORITY = 1


def main() -> None:
    """Become the link."""
    from goodqueue.engines.kernel.lab.libc import die_with_parent  # Linux alone has it

    parent, words = int(sys.argv[1]), sys.argv[2:]
    die_with_parent()
    if os.getppid() != parent:
        return
    with suppress(PermissionError):
        os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(PRIORITY))
    os.execv(sys.executable, [sys.executable, "-P", "-m", "goodqueue", "link", *words])  # noqa: S606


if __name__ == "__main__":
    main()
