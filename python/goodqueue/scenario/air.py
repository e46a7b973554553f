"""Wi-Fi: the cell that ``--wifi`` and ``--stations`` describe, and a cell in words."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from goodqueue.errors import Option, UserError, quoted

STANDARDS = ("802.11b", "802.11g", "802.11a", "802.11n")
WORDS = {"20": ("width", 20), "40": ("width", 40), "sgi": ("short_guard", True), "rts": ("rts", True)}
"""The words that may follow a standard, with the key and value that each word sets."""

STATION = re.compile(r"(?P<name>[^:*,@]+):(?P<rate>[^:*,@]+)(@(?P<snr>-?[0-9.]+)(dB)?)?(\*(?P<count>[0-9]{1,4}))?")


def cell(standard: str, stations: str | None) -> dict[str, Any]:
    """Return ``[bottleneck.wifi]`` for ``802.11n:40:sgi`` and ``fast:mcs15*2,slow:mcs0``. Raises UserError.

    A station is NAME:RATE, optionally followed by ``@`` and its signal-to-noise ratio in dB, and by ``*`` and the
    number of such stations. Without ``stations`` the cell has one station, and Minstrel controls its rate.
    """
    name, *words = standard.split(":")
    accepted = f"{', '.join(STANDARDS)}, and after it any of :40 (MHz), :sgi (short guard interval) and :rts"
    if name not in STANDARDS or any(word not in WORDS for word in words):
        raise UserError(Option("wifi"), f"found {quoted(standard)}; accepted: {accepted}")
    cell_table: dict[str, Any] = {"standard": name, **dict(WORDS[word] for word in words)}
    cell_table["station"] = (
        [_station(text.strip()) for text in stations.split(",")] if stations else [{"name": "station"}]
    )
    return cell_table


def _station(text: str) -> dict[str, Any]:
    match = STATION.fullmatch(text)
    if match is None:
        accepted = "NAME:RATE, as fast:mcs15*2,slow:mcs0 or near:minstrel@40,far:minstrel@12"
        raise UserError(Option("stations"), f"found {quoted(text)}; accepted: {accepted}")
    station: dict[str, Any] = {"name": match["name"], "rate": match["rate"]}
    try:
        station |= {"snr": float(match["snr"])} if match["snr"] else {}
    except ValueError:
        problem = f"found {quoted(match['snr'])} in {quoted(text)}"
        raise UserError(Option("stations"), f"{problem}; accepted: a signal-to-noise ratio in dB") from None
    return station | ({"count": int(match["count"])} if match["count"] else {})


def for_each(traffic: Iterable[dict[str, Any]], stations: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return ``traffic`` once per station of ``stations``. Each flow is named after its station, by a unique name."""
    sources = []
    kinds: Counter[str] = Counter()
    for source in traffic:
        kind = source["kind"]
        kinds[kind] += 1
        called = kind if kinds[kind] == 1 else f"{kind} {kinds[kind]}"
        for station in stations:
            count = source.get("count", 1) * station.get("count", 1)
            name = f"{station['name']} {called}"
            sources.append(source | {"name": name, "count": count, "station": station["name"]})
    return sources


def described(spec: Mapping[str, Any]) -> str:
    """Return a short description of a cell: ``802.11n Wi-Fi (2 × fast at mcs15, slow at mcs0)``."""
    words = [_described(station) for station in spec["station"]]
    wide = " 40 MHz" if spec.get("width") == 40 else ""
    return f"{spec['standard']}{wide} Wi-Fi ({', '.join(words)})"


def _described(station: Mapping[str, Any]) -> str:
    rate = station.get("rate", "minstrel")
    rate = rate if isinstance(rate, str) else " then ".join(word for _, word in rate)
    noise = f", {station['snr']:g} dB" if station.get("snr") is not None else ""
    return (
        f"{station['count']} × {station['name']} at {rate}{noise}"
        if station.get("count", 1) > 1
        else (f"{station['name']} at {rate}{noise}")
    )
