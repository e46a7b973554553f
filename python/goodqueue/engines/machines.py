"""The machines in which the kernel engine runs Linux. ``--machine`` names them.

Both have virtual time, need no root, and start from the same first file system. An engine ``kernel-6.1-process`` is
the engine ``kernel`` with that release in that machine.
"""

from goodqueue.errors import Place, UserError, quoted

MACHINES = {
    "process": "Linux as an ordinary process, built here from Debian's source",
    "qemu": "Debian's own kernel in an emulated computer",
}


def parse(text: str, where: Place) -> str:
    """Return the machine that ``text`` names. Raises UserError with ``where``."""
    if text not in MACHINES:
        raise UserError(where, f"found {quoted(text)}; accepted: {', '.join(MACHINES)}")
    return text
