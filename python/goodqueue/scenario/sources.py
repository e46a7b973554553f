"""Sources of traffic in a list, as ``--traffic`` takes it: ``bulk:4,bulk:up,cbr:1mbit,ping``."""

from pathlib import Path
from typing import Any

from goodqueue.errors import Option, UserError, quoted
from goodqueue.files import traffic_files
from goodqueue.options import DECLARED, quantity
from goodqueue.scenario import load
from goodqueue.traffic import BULK, kinds

TRAFFIC, FLOWS = Option("traffic"), Option("flows")

HOSTS = ("host=", "server=")
"""How details begin that name hosts."""


def listed(
    text: str,
    flows: int | None = None,
    cc: str | None = None,
    ecn: bool | None = None,
    usual: int = DECLARED["flows"].default,
) -> list[dict[str, Any]]:
    """Return the traffic tables of a list of sources, with what the other options say about its TCP flows.

    ``flows`` applies to the bulk flows, ``cc`` and ``ecn`` (None: the congestion control's own) to Flent's tests too.
    These flows start at random within the first second, so that each seed is another experiment. The default number of
    bulk flows is ``usual``. Raises UserError.
    """
    sources = [_source(item.strip()) for item in text.split(",")]
    bulk = [source for source in sources if source["kind"] == BULK]
    load = [source for source in sources if source in bulk or kinds()[source["kind"]].is_made_of_flows]
    tcp = "bulk flows or Flent's tests"
    limited = ((FLOWS, flows, bulk, "bulk flows"), (Option("cc"), cc, load, tcp), (Option("ecn"), ecn, load, tcp))
    for option, value, takers, accepted in limited:
        if value is not None and not takers:
            lacking: list[str | Option] = ["there are no bulk flows in ", TRAFFIC, f" {text}; accepted: "]
            raise UserError(option, [*lacking, option, f" with {accepted}"])
    if flows is not None and any("count" in source for source in bulk):
        raise UserError(FLOWS, [TRAFFIC, f" {text} gives a number of flows too; accepted: one of them"])
    for source in bulk:
        source["count"] = source.pop("count", usual if flows is None else flows)
    for source in load:
        source |= {"cc": cc or DECLARED["cc"].default, "start_spread": "1s"}
        if ecn:  # otherwise the congestion control decides
            source["ecn"] = True
    return sources


def mix(text: str) -> list[dict[str, Any]]:
    """Return the traffic tables of a list of sources, or those of a scenario file. Raises UserError."""
    if not text.endswith(".toml"):
        return listed(text)
    tables = load(text).get("traffic")
    if not isinstance(tables, list) or not tables:
        raise UserError(text, "traffic: found none; accepted: a file with [[traffic]]")
    return tables


def _source(item: str) -> dict[str, Any]:
    """Return one traffic table for ``KIND[:DETAIL]…``: a count, a direction, a rate, a size, a codec, a page, a host.

    Transfers follow one another, requests have 200 bytes, and applications start at random within the first second.
    """
    name, *details = item.split(":")
    kind = kinds().get(name)
    if kind is None:
        raise UserError(TRAFFIC, f"found {quoted(name)}; accepted: {', '.join(kinds())}")
    source: dict[str, Any] = {"kind": name}
    of = kind.option
    for detail in details:
        key: str
        value: Any
        if detail in ("down", "up"):
            key, value = "direction", detail
        elif detail.startswith(HOSTS):
            key, _, value = detail.partition("=")
        elif detail.isascii() and detail.isdecimal() and len(detail) < 10:
            key, value = of.detail if of.example.isdecimal() else "count", int(detail)
        elif of.detail and detail:
            key, value = of.detail, quantity(TRAFFIC, detail) if of.example else detail
        else:
            accepted = (
                "a list such as bulk,ping or bulk:4:host=bob,bulk:1:up,cbr:1mbit,transfer:100kB,voip:up,page:google"
            )
            raise UserError(TRAFFIC, f"found {quoted(item)}; accepted: {accepted}")
        if key in source:
            raise UserError(TRAFFIC, f"found {quoted(item)}, a second {key}; accepted: one")
        source[key] = value
    if of.example and of.detail not in source:
        what = "size" if of.example.endswith("B") else of.detail
        accepted = f"{name}:{what.upper()}, as {name}:{of.example}"
        raise UserError(TRAFFIC, f"found {quoted(item)}, a source without {what}; accepted: {accepted}")
    traffic_files.expand([source], Path())
    return source | of.sets
