"""What a scenario's path is made of: its links, at the bottleneck and beside it, and their files of rates."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from goodqueue.errors import UserError
from goodqueue.files import inputs
from goodqueue.record import Scenario

MOST_BYTES = 64 * inputs.MIB
"""Of a file of rates, as the core has it."""

AIR_BPS = 100_000_000
"""What an end of a Wi-Fi cell is taken to send at most, where work is shared out: it has no rate of its own."""


def links(scenario: Scenario) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the key and the table of each link, with its discipline: the bottleneck's two directions, then the hops.

    The scenario may be one that was not checked yet: what is no table is passed over.
    """
    bottleneck, hops = scenario.get("bottleneck"), scenario.get("hop")
    up = bottleneck.get("up") if isinstance(bottleneck, dict) else None
    tables = [("bottleneck", bottleneck), ("bottleneck.up", up)]
    tables += [(f"hop[{place}]", table) for place, table in enumerate(hops if isinstance(hops, list) else [])]
    for key, table in tables:
        if isinstance(table, dict) and table.get("kind", "link") == "link":
            yield key, table


def rebase(scenario: Scenario, folder: Path) -> None:
    """Let the names of files of rates in ``scenario``, which are relative to ``folder``, start from here."""
    for _, table in links(scenario):
        if isinstance(table.get("trace"), str):
            table["trace"] = os.path.normpath(folder / table["trace"])


def traces(scenario: Scenario) -> list[str]:
    """Return the files of rates that a resolved ``scenario`` names, each once and in order."""
    return sorted({table["trace"] for _, table in links(scenario) if "trace" in table})


def read(file: str) -> bytes:
    """Return what a file of rates holds. Raises UserError."""
    return inputs.read(Path(file), MOST_BYTES, "a trace of rates")


def rate_bps(link: dict[str, Any]) -> int:
    """Return the rate of a resolved link in bit/s; of one that follows a file, its mean. Raises UserError."""
    from goodqueue import _goodqueue

    if "trace" not in link:
        return _goodqueue.rate_bps(link["rate"])
    try:
        return _goodqueue.mean_rate_bps(read(link["trace"]))
    except ValueError as error:
        raise UserError(link["trace"], str(error)) from None


def busiest_bps(link: dict[str, Any]) -> int:
    """Return `rate_bps` of a resolved link, for shares of work: of an end of a Wi-Fi cell `AIR_BPS`."""
    return rate_bps(link) if "rate" in link or "trace" in link else AIR_BPS
