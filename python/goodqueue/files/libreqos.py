"""Reads LibreQoS's ``ShapedDevices.csv`` and ``network.json`` into tables of a scenario.

``[isp] devices = "ShapedDevices.csv" network = "network.json"`` becomes ``[[node]]`` and ``[[subscriber]]``, which the
core knows. Rows with the same Circuit ID are one subscriber. Sites whose children share a rate are nodes; a ``virtual``
site gives its children to the site above it. Source: LibreQoS 2.2, and its example files.
"""

import io
from collections.abc import Iterator, Mapping
from ipaddress import AddressValueError, IPv4Interface, NetmaskValueError
from pathlib import Path
from typing import Any

from goodqueue.errors import UserError, quoted
from goodqueue.files import inputs

KEY = "isp"
DEVICES, NETWORK, TRAFFIC = "devices", "network", "traffic"

MOST_BYTES = 64 * inputs.MIB
ACCEPTED = "a file as LibreQoS's ShapedDevices.csv"
ACCEPTED_NETWORK = "a file as LibreQoS's network.json"

COLUMNS = (
    "Circuit ID", "Circuit Name", "Device ID", "Device Name", "Parent Node", "Parent Node ID", "Anchor Node ID", "MAC",
    "IPv4", "IPv6", "Download Min Mbps", "Upload Min Mbps", "Download Max Mbps", "Upload Max Mbps", "Comment", "sqm",
)  # fmt: skip
"""The columns of a file, in their order. The last one may be missing."""

NEWER = ("Parent Node ID", "Anchor Node ID")
"""The columns that older files do not have. LibreQoS's example has their headings, and rows without them."""

RATES = {"down": "Download Max Mbps", "up": "Upload Max Mbps"}
LEAST = {"down": "Download Min Mbps", "up": "Upload Min Mbps"}
BANDWIDTHS = {"down": "downloadBandwidthMbps", "up": "uploadBandwidthMbps"}

LINES = {"cake": "cake diffserv4", "fq_codel": "fq_codel", "none": "pfifo"}
"""The line for each word of the column ``sqm``. LibreQoS puts ``diffserv4`` behind its ``cake``."""

MOST_MBPS = 1_000_000.0


def expand(scenario: dict[str, Any], folder: Path, pipes: bool = True) -> None:
    """Replace ``[isp]`` of ``scenario`` by the tables of its files, in place. Names are relative to ``folder``.

    A malformed table is left for the core to refuse. Raises UserError with the file, the row, the column, what was
    found and what is accepted.
    """
    table = scenario.get(KEY)
    if (
        not isinstance(table, dict)
        or not isinstance(table.get(DEVICES), str)
        or set(table) - {DEVICES, NETWORK, TRAFFIC}
    ):
        return
    tables: list[dict[str, Any]] = []
    names: set[str] | None = None
    if isinstance(table.get(NETWORK), str):
        tables, names = nodes(folder / table[NETWORK], pipes)
    traffic = {TRAFFIC: table[TRAFFIC]} if TRAFFIC in table else {}
    added = [subscriber | traffic for subscriber in subscribers(folder / table[DEVICES], names, pipes)]
    del scenario[KEY]
    if tables:
        scenario["node"] = [*scenario.get("node", []), *tables]
    scenario["subscriber"] = [*scenario.get("subscriber", []), *added]


def nodes(file: Path, pipes: bool = True) -> tuple[list[dict[str, Any]], set[str]]:
    """Return the nodes of a ``network.json``, each after the one above it, and the names of virtual ones, too."""
    text = inputs.read_text(file, MOST_BYTES, ACCEPTED_NETWORK, pipes)
    try:
        tree = inputs.from_json(text)
    except ValueError as error:
        raise UserError(str(file), f"not JSON: {error}; accepted: {ACCEPTED_NETWORK}") from None
    tables: list[dict[str, Any]] = []
    where_named: dict[str, str] = {}
    _add(file, "", tree, "", tables, where_named)
    return tables, {*where_named}


def _add(
    file: Path, where: str, tree: Any, parent: str, tables: list[dict[str, Any]], where_named: dict[str, str]
) -> None:
    """Add the nodes of ``tree``, which stands at ``where`` below ``parent``, to ``tables`` and to ``where_named``."""
    if not isinstance(tree, dict):
        raise UserError(str(file), f"{where or 'the file'}: found {quoted(tree)}; accepted: an object of nodes by name")
    for name, node in tree.items():
        where_node = f"{where}.{name}" if where else name
        if not isinstance(node, dict):
            raise UserError(
                str(file),
                f"{where_node}: found {quoted(node)}; accepted: an object with {' and '.join(BANDWIDTHS.values())}",
            )
        if name in where_named:
            raise UserError(
                str(file),
                f"{where_node}: found {quoted(name)} twice (also at {where_named[name]}); accepted: each name once",
            )
        where_named[name] = where_node
        above = parent
        if node.get("virtual") is not True:
            rates = {
                direction: _node_rate(file, f"{where_node}.{key}", node.get(key))
                for direction, key in BANDWIDTHS.items()
            }
            tables.append({"name": name, **({"parent": parent} if parent else {}), **rates})
            above = name
        _add(file, f"{where_node}.children", node.get("children", {}), above, tables, where_named)


def _node_rate(file: Path, where: str, value: Any) -> str:
    if not (inputs.is_finite(value) and 0 < value <= MOST_MBPS):
        shown = "none" if value is None else quoted(value)
        raise UserError(str(file), f"{where}: found {shown}; accepted: Mbit/s, as 1000")
    return _rate(value)


def subscribers(file: Path, names: set[str] | None, pipes: bool = True) -> list[dict[str, Any]]:
    """Return the circuits of a ``ShapedDevices.csv``. ``names`` are those of the nodes; None: there is no network."""
    circuits: dict[str, dict[str, Any]] = {}
    owners: dict[str, int] = {}
    for row, cells in rows(file, pipes):
        circuit = _circuit(file, row, cells, names)
        for address in circuit.get("addresses", []):
            if (other := owners.setdefault(address, row)) != row:
                raise _refusal(file, row, "IPv4", f"{address}, which row {other} has", "addresses of its own")
        name = circuit["name"]
        if (earlier := circuits.get(name)) is None:
            circuits[name] = circuit
        else:  # another device of the circuit: one queue for all of them
            earlier["addresses"] = [*earlier.get("addresses", []), *circuit.get("addresses", [])]
            if not earlier["addresses"]:
                del earlier["addresses"]
    if not circuits:
        raise UserError(str(file), f"found no row below the headings; accepted: {ACCEPTED}")
    return list(circuits.values())


def rows(file: Path, pipes: bool = True) -> Iterator[tuple[int, Mapping[str, str]]]:
    """Yield the number of each row's line, and its cells by the name of their column."""
    import csv

    text = inputs.read_text(file, MOST_BYTES, ACCEPTED, pipes).removeprefix("\ufeff")
    reader = csv.reader(io.StringIO(text), strict=True)
    headings: list[str] = []
    try:
        for cells in reader:
            if not any(cell.strip() for cell in cells) or cells[0].lstrip().startswith("#"):
                continue
            if not headings:
                headings = _headings(file, reader.line_num, cells)
                continue
            names = headings
            older = [name for name in headings if name not in NEWER]
            if len(cells) > len(names) or (len(cells) < len(names) and len(cells) != len(older)):
                counts = dict.fromkeys((len(names), len(older)))
                accepted = " or ".join(str(count) for count in counts)
                raise UserError(
                    f"{file}:{reader.line_num}",
                    f"found {len(cells)} columns; accepted: {accepted}, as the headings say",
                )
            if len(cells) < len(names):
                names = older
            yield reader.line_num, {name: cell.strip() for name, cell in zip(names, cells, strict=True)}
    except csv.Error as error:
        raise UserError(f"{file}:{reader.line_num}", f"not CSV: {error}; accepted: {ACCEPTED}") from None
    if not headings:
        raise UserError(str(file), f"found no headings; accepted: {ACCEPTED}")


def _headings(file: Path, row: int, cells: list[str]) -> list[str]:
    by_heading = {name.lower(): name for name in COLUMNS}
    names = [by_heading.get(cell.strip().lower(), cell.strip()) for cell in cells]
    needed = ["Circuit ID", *RATES.values()]
    if missing := [name for name in needed if name not in names]:
        first_headings = ", ".join(cell.strip() for cell in cells[:4])
        raise UserError(
            f"{file}:{row}",
            f"found the headings {quoted(first_headings)} …, without {missing[0]}; accepted: {ACCEPTED}",
        )
    return names


def _circuit(file: Path, row: int, cells: Mapping[str, str], names: set[str] | None) -> dict[str, Any]:
    """Return the subscriber of one row."""
    if not (name := cells["Circuit ID"]):
        raise _refusal(file, row, "Circuit ID", "none", "a number or a name")
    rates = {direction: _mbps(file, row, column, cells[column]) for direction, column in RATES.items()}
    circuit: dict[str, Any] = {"name": name, "plan": f"{rates['down']:g}/{rates['up']:g} Mbit/s"}
    circuit |= {direction: _rate(rate) for direction, rate in rates.items()}
    for direction, column in LEAST.items():
        if cells.get(column):
            least = _mbps(file, row, column, cells[column])
            if least > rates[direction]:
                raise _refusal(
                    file, row, column, cells[column], f"at most the {RATES[direction]}, {rates[direction]:g}"
                )
            circuit[f"{direction}_min"] = _rate(least)
    parent = cells.get("Parent Node", "")
    if parent and parent.lower() != "none" and names:
        if parent not in names:
            raise _refusal(file, row, "Parent Node", quoted(parent), "a node of network.json, or none")
        circuit["parent"] = parent
    if addresses := [
        _address(file, row, address.strip()) for address in cells.get("IPv4", "").split(",") if address.strip()
    ]:
        circuit["addresses"] = addresses
    if word := cells.get("sqm", "").lower():
        if word not in LINES:
            raise _refusal(file, row, "sqm", quoted(word), f"{', '.join(LINES)}, the same both ways")
        circuit["qdisc"] = LINES[word]
    return circuit


def _mbps(file: Path, row: int, column: str, cell: str) -> float:
    try:
        value = float(cell)
    except ValueError:
        value = 0.0
    if not (inputs.is_finite(value) and 0.001 <= value <= MOST_MBPS):
        raise _refusal(file, row, column, quoted(cell), "Mbit/s, as 100 or 2.5")
    return value


def _rate(mbps: float) -> str:
    return f"{round(mbps * 1e6)}bit"


def _address(file: Path, row: int, text: str) -> str:
    try:
        interface = IPv4Interface(text)
    except (AddressValueError, NetmaskValueError, ValueError):
        raise _refusal(
            file, row, "IPv4", quoted(text), "IPv4 addresses or networks, with commas between them"
        ) from None
    return str(interface) if interface.network.prefixlen < 32 else str(interface.ip)


def _refusal(file: Path, row: int, column: str, what: str, accepted: str) -> UserError:
    return UserError(f"{file}:{row}", f"{column}: found {what}; accepted: {accepted}")
