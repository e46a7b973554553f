"""The path of a scenario: its links, at the bottleneck and elsewhere, and their files of rates."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from goodqueue.errors import UserError, quoted
from goodqueue.files import inputs
from goodqueue.hops import has_queue
from goodqueue.record import Scenario

MOST_BYTES = 64 * inputs.MIB
"""The largest size of a file of rates, the same as in the core."""

AIR_BPS = 100_000_000
"""The assumed rate of an end of a Wi-Fi cell, which has no rate of its own. No result depends on it."""


def links(scenario: Scenario) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the key and the table of each link that has a discipline: the bottleneck's two directions, then the hops.

    The scenario need not have been checked yet: entries that are no tables are skipped.
    """
    bottleneck, hops = scenario.get("bottleneck"), scenario.get("hop")
    up = bottleneck.get("up") if isinstance(bottleneck, dict) else None
    tables = [("bottleneck", bottleneck), ("bottleneck.up", up)]
    tables += [(f"hop[{index}]", table) for index, table in enumerate(hops if isinstance(hops, list) else [])]
    for key, table in tables:
        if isinstance(table, dict) and ("kind" not in table or has_queue(table)):
            yield key, table


def rebase(scenario: Scenario, folder: Path) -> None:
    """Make the names of files of rates in ``scenario``, which are relative to ``folder``, relative to this process."""
    for _, table in links(scenario):
        if isinstance(table.get("trace"), str):
            table["trace"] = os.path.normpath(folder / table["trace"])


def traces(scenario: Scenario) -> list[str]:
    """Return the files of rates that a resolved ``scenario`` names, each once, sorted."""
    return sorted({table["trace"] for _, table in links(scenario) if "trace" in table})


def read(file: str) -> bytes:
    """Return the content of a file of rates. Raises UserError."""
    return inputs.read(Path(file), MOST_BYTES, "a trace of rates", pipes=False)  # several readers, one after the other


def latencies(file: str) -> str:
    """Return what a list of periods says of latencies, such as ``latency_ms 20 to 75``. Empty if it says nothing.

    The core reads the rates of such a list alone: the base RTT of a run is ``path.rtt``.
    """
    try:
        text = inputs.decoded(read(file)).lstrip()
        periods = inputs.from_json(text) if text.startswith("[") else []
    except (UserError, ValueError):
        return ""  # the core refuses it, and says why
    said: dict[str, list[float]] = {}
    for period in periods:
        for key, value in period.items() if isinstance(period, dict) else ():
            if "latency" in key.lower() and inputs.is_finite(value):
                said.setdefault(key, []).append(value)
    return ", ".join(
        f"{quoted(key)[1:-1]} {' to '.join(f'{end:g}' for end in dict.fromkeys((min(values), max(values))))}"
        for key, values in list(said.items())[:3]
    )


def rate_bps(link: dict[str, Any]) -> int:
    """Return the rate of a resolved link in bit/s, or the mean rate if the link follows a file. Raises UserError."""
    from goodqueue import _goodqueue

    if "trace" not in link:
        return _goodqueue.rate_bps(link["rate"])
    try:
        return _goodqueue.mean_rate_bps(read(link["trace"]))
    except ValueError as error:
        raise UserError(link["trace"], str(error)) from None


def busiest_bps(link: dict[str, Any]) -> int:
    """Return `rate_bps` of a resolved link, or `AIR_BPS` for an end of a Wi-Fi cell."""
    return rate_bps(link) if "rate" in link or "trace" in link else AIR_BPS
