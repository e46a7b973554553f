"""Reads LibreQoS's ``ShapedDevices.csv``: rows are devices, and rows of one Circuit ID are one subscriber."""

import csv
import io
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from ipaddress import AddressValueError, IPv4Interface, NetmaskValueError
from pathlib import Path
from typing import Any

from goodqueue.errors import UserError, quoted, warn
from goodqueue.files import inputs
from goodqueue.files.libreqos import lines
from goodqueue.files.libreqos.network import MOST_MBPS, Sites

MOST_BYTES = 64 * inputs.MIB
ACCEPTED = "a file as LibreQoS's ShapedDevices.csv"

COLUMNS = (
    "Circuit ID", "Circuit Name", "Device ID", "Device Name", "Parent Node", "Parent Node ID", "Anchor Node ID", "MAC",
    "IPv4", "IPv6", "Download Min Mbps", "Upload Min Mbps", "Download Max Mbps", "Upload Max Mbps", "Comment", "sqm",
)  # fmt: skip
"""The columns that LibreQoS knows. Their order is that of the file's headings."""

SHORTER = {name: name.removesuffix(" Mbps") for name in COLUMNS if name.endswith(" Mbps")}
"""The headings of the rates as LibreQoS's integrations write them."""

NEWER = ("Parent Node ID", "Anchor Node ID")
"""The columns that older files do not have. LibreQoS's example has their headings, and rows without them."""

RATES = {"down": "Download Max Mbps", "up": "Upload Max Mbps"}
LEAST = {"down": "Download Min Mbps", "up": "Upload Min Mbps"}
MOST_CLASSES = 65_533
"""The most circuits and nodes together: classes have 16 bits, and the link has one of them."""

MOST_DEVICES = 131_072
"""The most rows: twice as many as there can be circuits. A million of them take a minute to read."""

NO_PARENT = ("", "none")


@dataclass(slots=True)
class Circuit:
    """A circuit, and what its rows have said."""

    table: dict[str, Any]
    """The table of the subscriber, as far as its first row says it."""
    parent: str
    rates: dict[str, float]
    """In Mbit/s, per direction."""
    words: lines.Words
    addresses: dict[str, None] = field(default_factory=dict)
    """Those of all its rows, in their order, each once."""

    def subscriber(self, link: Mapping[str, Any]) -> dict[str, Any]:
        """Return the table of the subscriber, whose queues are below the bottleneck ``link``."""
        addresses = {"addresses": [*self.addresses]} if self.addresses else {}
        return self.table | addresses | lines.of(self.words, self.rates, link)


def read(file: Path, sites: Sites | None, link: Mapping[str, Any], says_more: bool = False) -> list[dict[str, Any]]:
    """Return the subscribers that are the circuits in ``file``, below ``sites`` and the bottleneck ``link``.

    As in LibreQoS, a circuit whose rows name two parents is refused. Of two rates, or two lines, the first row's count,
    with a line on standard error if it ``says_more``. Raises UserError.
    """
    most = MOST_CLASSES - (len(sites.tables) if sites else 0)
    circuits: dict[str, Circuit] = {}
    owners: dict[str, str] = {}
    for number, (row, cells) in enumerate(rows(file)):
        if number == MOST_DEVICES:
            raise UserError(f"{file}:{row}", f"found more than {number} devices; accepted: {number}, one a row")
        circuit = _circuit(file, row, cells, sites)
        name = circuit.table["name"]
        addresses = _addresses(file, row, cells.get("IPv4", ""))
        for address in addresses:
            if (other := owners.setdefault(address, name)) != name:
                raise _refusal(file, row, "IPv4", f"{address}, which circuit {other} has", "addresses of its own")
        first = circuits.setdefault(name, circuit)
        if len(circuits) > most:  # asked here, since a million of them would take 8 GB until the core asks
            raise UserError(
                f"{file}:{row}", f"found more than {most} circuits; accepted: {MOST_CLASSES} with the nodes"
            )
        if first is not circuit:
            _check_twin(file, row, first, circuit, says_more)
        first.addresses.update(dict.fromkeys(addresses))
    if not circuits:
        raise UserError(str(file), f"found no row below the headings; accepted: {ACCEPTED}")
    return [circuit.subscriber(link) for circuit in circuits.values()]


def rows(file: Path) -> Iterator[tuple[int, Mapping[str, str]]]:
    """Yield the number of each row's line, and its cells by column. What a row that ends early lacks is empty."""
    text = inputs.read_text(file, MOST_BYTES, ACCEPTED, pipes=False).removeprefix("\ufeff")
    reader = csv.reader(io.StringIO(text), strict=True)
    headings: list[str] = []
    try:
        for cells in reader:
            if not any(cell.strip() for cell in cells) or cells[0].lstrip().startswith("#"):
                continue
            if not headings:
                headings = _headings(file, reader.line_num, cells)
                continue
            yield reader.line_num, _cells(headings, [cell.strip() for cell in cells])
    except csv.Error as error:
        raise UserError(f"{file}:{reader.line_num}", f"not CSV: {error}; accepted: {ACCEPTED}") from None
    if not headings:
        raise UserError(str(file), f"found no headings; accepted: {ACCEPTED}")


def _cells(headings: list[str], cells: list[str]) -> dict[str, str]:
    """Return the ``cells`` of a row by column. What is beyond the headings is left out, as LibreQoS does."""
    older = [name for name in headings if name not in NEWER]
    by_column = dict.fromkeys(headings, "") | dict(zip(headings, cells, strict=False))
    if len(cells) == len(older) < len(headings) and any(_number(by_column[name]) is None for name in RATES.values()):
        return dict(zip(older, cells, strict=True))
    return by_column


def _headings(file: Path, row: int, cells: list[str]) -> list[str]:
    """Return the columns of the file. Case, spaces and signs of a heading do not count, as in LibreQoS."""
    by_heading = {_plain(heading): name for name in COLUMNS for heading in (name, SHORTER.get(name, name))}
    names = [by_heading.get(_plain(cell), cell.strip()) for cell in cells]
    if missing := [name for name in ("Circuit ID", *RATES.values()) if name not in names]:
        first_headings = ", ".join(cell.strip() for cell in cells[:4])
        raise UserError(
            f"{file}:{row}",
            f"found the headings {quoted(first_headings)} …, without {missing[0]}; accepted: {ACCEPTED}",
        )
    return names


def _plain(heading: str) -> str:
    return "".join(char for char in heading.lower() if char.isascii() and char.isalnum())


def _circuit(file: Path, row: int, cells: Mapping[str, str], sites: Sites | None) -> Circuit:
    """Return the circuit of one row."""
    if not (name := cells["Circuit ID"]):
        raise _refusal(file, row, "Circuit ID", "none", "a number or a name")
    rates = {direction: _mbps(file, row, column, cells[column]) for direction, column in RATES.items()}
    written = {direction: _rate(rate) for direction, rate in rates.items()}
    table: dict[str, Any] = {"name": name, "plan": f"{rates['down']:g}/{rates['up']:g} Mbit/s", **written}
    for direction, column in LEAST.items():
        if cells.get(column):
            least = _mbps(file, row, column, cells[column])
            if least > rates[direction]:
                most = f"at most the {RATES[direction]}, {rates[direction]:g}"
                raise _refusal(file, row, column, cells[column], most)
            table[f"{direction}_min"] = _rate(least)
    parent = cells.get("Parent Node", "")
    if node := _node(file, row, parent, cells.get("Parent Node ID", ""), sites):
        table["parent"] = node
    words = lines.words(cells.get("sqm", ""))
    if words is None:
        accepted = f"{', '.join(lines.KNOWN)}, or one per direction, as cake/fq_codel or /none"
        raise _refusal(file, row, "sqm", quoted(cells["sqm"]), accepted)
    return Circuit(table, parent, rates, words)


def _node(file: Path, row: int, parent: str, identifier: str, sites: Sites | None) -> str:
    """Return the node that a row names, by the site's ``id`` or by a name; "" is the link."""
    if sites is None or not sites.nodes:
        return ""
    if identifier in sites.by_id:
        return sites.by_id[identifier]
    if parent.lower() in NO_PARENT:
        return ""
    if parent not in sites.nodes:
        raise _refusal(file, row, "Parent Node", quoted(parent), "a node of network.json, or none")
    return sites.nodes[parent]


def _check_twin(file: Path, row: int, first: Circuit, other: Circuit, says_more: bool) -> None:
    """Check a further row of a circuit beside its first one."""
    if first.parent.lower() not in NO_PARENT and first.parent != other.parent:
        accepted = f"{quoted(first.parent)}, as the circuit's first row has it"
        raise _refusal(file, row, "Parent Node", quoted(other.parent), accepted)
    if says_more and (first.rates, first.table) != (other.rates, first.table | _rates_of(other.table)):
        warn(f"{file}:{row}: a circuit's device with other rates; the first row's count, as in LibreQoS")
    if any(first.words) and any(other.words) and first.words != other.words:
        if says_more:
            warn(f"{file}:{row}: a circuit's device with another sqm; the first one counts, as in LibreQoS")
    elif any(other.words):
        first.words = other.words


def _rates_of(table: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in table.items() if key in ("down", "up", "down_min", "up_min")}


def _number(cell: str) -> float | None:
    try:
        value = inputs.number(cell)
    except ValueError:
        return None
    return value if inputs.is_finite(value) else None


def _mbps(file: Path, row: int, column: str, cell: str) -> float:
    value = _number(cell)
    if value is None or not 0.001 <= value <= MOST_MBPS:
        raise _refusal(file, row, column, quoted(cell), "Mbit/s, as 100 or 2.5")
    return value


def _rate(mbps: float) -> str:
    return f"{round(mbps * 1e6)}bit"


def _addresses(file: Path, row: int, cell: str) -> list[str]:
    return [_address(file, row, address.strip()) for address in cell.split(",") if address.strip()]


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
