"""Reads LibreQoS's ``network.json``: sites, and what their children share."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from goodqueue.errors import UserError, quoted
from goodqueue.files import inputs

MOST_BYTES = 64 * inputs.MIB
ACCEPTED = "a file as LibreQoS's network.json"
BANDWIDTHS = {"down": "downloadBandwidthMbps", "up": "uploadBandwidthMbps"}
MOST_MBPS = 1_000_000.0

OTHER_NAMES = ("name", "active_attachment_name")
"""The keys of a site with further names, by which a circuit may call its parent."""


@dataclass(slots=True)
class Sites:
    """The sites of a ``network.json``."""

    tables: list[dict[str, Any]] = field(default_factory=list)
    """The tables of nodes, each after the one above it."""
    nodes: dict[str, str] = field(default_factory=dict)
    """The node of each name. A virtual site has no class: its node is the one above it, and the link's name is ""."""
    by_id: dict[str, str] = field(default_factory=dict)
    """The node of the site with each ``id``."""
    also: dict[str, str] = field(default_factory=dict)
    """The node of each further name. A name itself comes first."""
    where: dict[str, str] = field(default_factory=dict)
    """The place of each name in the file."""


def read(file: Path, link: Mapping[str, Any]) -> Sites:
    """Return the sites in ``file``, which are below the bottleneck ``link`` of a scenario. Raises UserError."""
    text = inputs.read_text(file, MOST_BYTES, ACCEPTED, pipes=False)
    try:
        tree = inputs.from_json(text)
    except ValueError as error:
        raise UserError(str(file), f"not JSON: {error}; accepted: {ACCEPTED}") from None
    up = link.get("up")
    rates = {"down": link.get("rate"), "up": (up.get("rate") if isinstance(up, dict) else None) or link.get("rate")}
    sites = Sites()
    _add(file, "", tree, "", rates, sites)
    sites.nodes = sites.also | sites.nodes
    return sites


def _add(file: Path, where: str, tree: Any, parent: str, rates: Mapping[str, Any], sites: Sites) -> None:
    """Add the sites of ``tree``, which stands at ``where`` below the node ``parent`` of these ``rates``."""
    if not isinstance(tree, dict):
        raise UserError(str(file), f"{where or 'the file'}: found {quoted(tree)}; accepted: an object of nodes by name")
    for name, site in tree.items():
        where_site = f"{where}.{name}" if where else name
        if not name:
            raise UserError(str(file), f'{where or "the file"}: found a node called ""; accepted: a name')
        if not isinstance(site, dict):
            raise UserError(
                str(file),
                f"{where_site}: found {quoted(site)}; accepted: an object with {' and '.join(BANDWIDTHS.values())}",
            )
        if (other := sites.where.setdefault(name, where_site)) != where_site:
            raise UserError(
                str(file), f"{where_site}: found {quoted(name)} twice (also at {other}); accepted: each name once"
            )
        above, rates_here = parent, rates
        if not _is_virtual(site):
            rates_here = {
                direction: _rate(file, f"{where_site}.{key}", site.get(key), rates[direction])
                for direction, key in BANDWIDTHS.items()
            }
            sites.tables.append({"name": name, **({"parent": parent} if parent else {}), **rates_here})
            above = name
        sites.nodes[name] = above
        if site.get("id") is not None:
            sites.by_id.setdefault(str(site["id"]).strip(), above)
        for key in OTHER_NAMES:
            if isinstance(site.get(key), str):
                sites.also.setdefault(site[key].strip(), above)
        _add(file, f"{where_site}.children", site.get("children") or {}, above, rates_here, sites)


def _is_virtual(site: Mapping[str, Any]) -> bool:
    """Return whether a site has no class of its own: it is ``virtual``, or of that ``type`` (an older spelling)."""
    kind = site.get("type")
    return bool(site.get("virtual")) or (isinstance(kind, str) and kind.lower() == "virtual")


def _rate(file: Path, where: str, value: Any, of_parent: Any) -> Any:
    """Return the rate of a site as a scenario has it. Without one, LibreQoS takes that of the site above."""
    if value is None or (inputs.is_finite(value) and value <= 0):
        return of_parent
    if not (inputs.is_finite(value) and value <= MOST_MBPS):
        raise UserError(str(file), f"{where}: found {quoted(value)}; accepted: Mbit/s, as 1000")
    return f"{round(value * 1e6)}bit"
