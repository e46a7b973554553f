"""The releases of Linux that an image can have, and the suites of Debian that have their packages.

``--kernel`` names them. An engine ``kernel-7.3`` is the engine ``kernel`` with that release.
"""

import re
from typing import NamedTuple

from goodqueue.errors import Option, Place, UserError, quoted


class Suites(NamedTuple):
    """Where Debian has a release: the suite of its kernel, and the suite with a ``tc`` that knows the kernel."""

    kernel: str
    programs: str


RELEASES = {
    "6.1": Suites("bookworm", "bookworm"),
    "6.12": Suites("trixie", "trixie"),
    "7.3": Suites("trixie-backports", "sid"),  # trixie's iproute2 has no dualpi2 and no cake_mq
}


def of(uname: str) -> str:
    """Return the release of a kernel, ``6.1`` for ``6.1.0-56-amd64``."""
    match = re.match(r"\d+\.\d+", uname)
    return match[0] if match else uname


def parse(text: str, where: Place, several: bool = True) -> tuple[str, ...]:
    """Return the releases in ``text``: one, or a list such as ``6.1,7.3``. Raises UserError with ``where``."""
    chosen = tuple(text.split(",")) if several else (text,)
    for name in chosen:
        if name not in RELEASES:
            accepted = ", ".join(RELEASES) + (", or several, as 6.1,7.3" if several else "")
            raise UserError(where, f"found {quoted(name)}; accepted: {accepted}")
    if len(set(chosen)) < len(chosen):
        raise UserError(where, f"found {quoted(text)}, the same twice; accepted: each once")
    return chosen


def check_one(kernel: str | None) -> None:
    """Refuse a ``--kernel`` that is not one release, before anything looks for its image. Raises UserError."""
    if kernel is not None:
        parse(kernel, Option("kernel"), several=False)
