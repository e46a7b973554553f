"""Reads LibreQoS's ``ShapedDevices.csv`` and ``network.json`` into tables of a scenario.

``[isp] devices = "ShapedDevices.csv" network = "network.json"`` becomes ``[[node]]`` and ``[[subscriber]]``, which the
core knows. Source: LibreQoS 1.4 to 2.2 and its example files, whose rules `devices` and `network` name.
"""

from pathlib import Path
from typing import Any

KEY = "isp"
DEVICES, NETWORK, TRAFFIC = "devices", "network", "traffic"


def rebase(scenario: dict[str, Any], folder: Path) -> None:
    """Make the names of the files, which are relative to ``folder``, relative to this process."""
    table = scenario.get(KEY)
    if isinstance(table, dict):
        for key in (DEVICES, NETWORK):
            if isinstance(table.get(key), str):
                table[key] = str(folder / table[key])


def expanded(scenario: dict[str, Any], says_more: bool = False) -> dict[str, Any]:
    """Return ``scenario`` with the tables of its files in place of ``[isp]``.

    What LibreQoS only warns of is a line on standard error if it ``says_more``. A malformed table is left for the core
    to refuse. Raises UserError with the file, the row, the column, what was found and what is accepted.
    """
    table = scenario.get(KEY)
    if (
        not isinstance(table, dict)
        or not isinstance(table.get(DEVICES), str)
        or set(table) - {DEVICES, NETWORK, TRAFFIC}
    ):
        return scenario
    from goodqueue.files.libreqos import devices, network  # few scenarios need them

    bottleneck = scenario.get("bottleneck")
    link = bottleneck if isinstance(bottleneck, dict) else {}
    sites = None
    if isinstance(table.get(NETWORK), str):
        sites = network.read(Path(table[NETWORK]), link)
    circuits = devices.read(Path(table[DEVICES]), sites, link, says_more)
    traffic = {TRAFFIC: table[TRAFFIC]} if TRAFFIC in table else {}
    tables = {key: value for key, value in scenario.items() if key != KEY}
    if sites is not None and sites.tables:
        tables["node"] = [*scenario.get("node", []), *sites.tables]
    tables["subscriber"] = [*scenario.get("subscriber", []), *(circuit | traffic for circuit in circuits)]
    return tables


def expand(scenario: dict[str, Any]) -> None:
    """Put the tables of its files in place of ``[isp]`` into ``scenario``. Raises UserError."""
    tables = expanded(scenario)
    if tables is not scenario:
        scenario.clear()
        scenario.update(tables)
