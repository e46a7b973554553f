"""Draws a set of scenarios at random from the ranges of ``drawn.toml``. Nobody looks at the set before it is run.

Cell k of a draw does not depend on the number of cells, so a longer set contains the shorter one.
"""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

from goodqueue import scenario as scenarios
from goodqueue.files import inputs
from goodqueue.record import Scenario
from goodqueue.studies.keys import Table, load_toml
from goodqueue.traffic import BULK
from goodqueue.validation.cells import Cell, Draw, Set, pick

FILE = Path(__file__).parent / "drawn.toml"

_PLACE = re.compile(r"\{([^{}]*)\}")


@dataclass(frozen=True, slots=True)
class Ranges:
    """The ranges and lists from which scenarios are drawn."""

    rate_mbit: tuple[float, float]
    rtt_ms: tuple[float, float]
    flows: tuple[float, float]
    cc: Sequence[str]
    two_ccs: float
    ecn: float
    loaded_both: float
    """The shares of the cells with two congestion controls, with ECN, and with load in both directions."""
    lines: Sequence[str]
    fixed: Scenario
    """The keys that all cells have in common."""
    start_spread: str


def load(draw: Draw, only: Sequence[str] = (), seeds: int | None = None, file: Path = FILE) -> Set:
    """Draw the cells of ``draw``, and return those that ``only`` names, as `cells.load` does.

    Raises UserError with the file and the key if the file is wrong.
    """
    table = Table(load_toml(file, "ranges of scenarios to be drawn"), file)
    count, ranges = table.count("seeds"), _ranges(table)
    drawn = []
    for index in range(draw.cells):
        line, change, scenario = _cell(ranges, draw.seed, index)
        drawn.append(Cell(line.split()[0], change, scenarios.resolve(scenario, f"{file}: cell {index + 1}")))
    return Set(pick(drawn, only), tuple(range(1, (seeds or count) + 1)), quick=False, drawn=draw)


def _ranges(table: Table) -> Ranges:
    ranges = Ranges(
        rate_mbit=_range(table, "rate_mbit"),
        rtt_ms=_range(table, "rtt_ms"),
        flows=_range(table, "flows"),
        cc=_list(table, "cc"),
        two_ccs=_share(table, "two_ccs"),
        ecn=_share(table, "ecn"),
        loaded_both=_share(table, "loaded_both"),
        lines=_list(table, "lines"),
        fixed={"duration": table.text("duration"), "warmup": table.text("warmup")},
        start_spread=table.text("start_spread"),
    )
    table.finish()
    for line in ranges.lines:
        for amount in _PLACE.findall(line):
            if re.fullmatch(r"[1-9]\d*(ms|%)", amount) is None:
                table.refuse("lines", f"found {{{amount}}}; accepted: a time, as {{20ms}}, or a share, as {{90%}}")
    return ranges


def _range(table: Table, key: str) -> tuple[float, float]:
    """Return the least and the greatest value of a range, both above 0."""
    ends = table.raw(key)
    numbers = isinstance(ends, list) and all(map(inputs.is_finite, ends))
    if not numbers or len(ends) != 2 or not 0 < ends[0] <= ends[1]:
        table.refuse(key, f"found {ends}; accepted: two numbers above 0, the least and the most")
    return float(ends[0]), float(ends[1])


def _share(table: Table, key: str) -> float:
    if (share := table.number(key, least=0.0)) > 1:
        table.refuse(key, f"found {share:g}; accepted: a share, from 0 to 1")
    return share


def _list(table: Table, key: str) -> tuple[str, ...]:
    if not (texts := table.texts(key)):
        table.refuse(key, "found an empty list; accepted: one text at least")
    return texts


def _cell(ranges: Ranges, seed: int, index: int) -> tuple[str, str, Scenario]:
    """Return the line, the name and the scenario of cell ``index``.

    It uses only `Random.random`, since Python guarantees the numbers of that method across versions.
    """
    draws = Random(f"cell/{seed}/{index}")
    rate = _rounded(_even_log(draws, ranges.rate_mbit))
    rtt = _rounded(_even_log(draws, ranges.rtt_ms))
    least, most = ranges.flows
    flows = math.floor(least + draws.random() * (most - least + 1))
    first = _drawn_name(draws, ranges.cc)
    second = _drawn_name(draws, [cc for cc in ranges.cc if cc != first] or [first])
    two, ecn, both = (draws.random() < share for share in (ranges.two_ccs, ranges.ecn, ranges.loaded_both))
    of_second = 1 + math.floor(draws.random() * (flows - 1)) if two and flows > 1 else 0
    counts = {cc: n for cc, n in ((first, flows - of_second), (second, of_second)) if n}
    kbit = round(1000 * rate)
    line = _PLACE.sub(lambda match: _filled(match[1], kbit), _dealt(ranges.lines, seed, index))
    traffic: list[dict[str, Any]] = [
        {"kind": BULK, "count": n, "cc": cc, "ecn": ecn, "direction": direction, "start_spread": ranges.start_spread}
        for direction in ("down", *(["up"] if both else []))
        for cc, n in counts.items()
    ]
    scenario = {
        **ranges.fixed,
        "bottleneck": {"rate": f"{kbit}kbit", "qdisc": line},
        "path": {"rtt": f"{rtt:g}ms"},
        "traffic": traffic,
    }
    words = [f"{rate:g}mbit", f"{rtt:g}ms", "+".join(f"{n}x{cc}" for cc, n in counts.items())]
    return line, ",".join([*words, *(["ecn"] if ecn else []), *(["both"] if both else [])]), scenario


def _dealt(lines: Sequence[str], seed: int, index: int) -> str:
    """Return the line of a cell. Each line comes once per round, and each round has its own order."""
    turn, index_in_round = divmod(index, len(lines))
    draws = Random(f"lines/{seed}/{turn}")
    return sorted((draws.random(), line) for line in lines)[index_in_round][1]


def _filled(amount: str, kbit: int) -> str:
    """Return the value of ``{20ms}`` or ``{90%}`` on a link of ``kbit``."""
    if amount.endswith("%"):
        return f"{kbit * int(amount[:-1]) // 100}kbit"
    return str(kbit * int(amount[:-2]) // 8)  # kbit/s x ms is bits


def _even_log(draws: Random, ends: tuple[float, float]) -> float:
    least, most = map(math.log, ends)
    return math.exp(least + draws.random() * (most - least))


def _drawn_name(draws: Random, names: Sequence[str]) -> str:
    return names[math.floor(draws.random() * len(names))]


def _rounded(value: float) -> float:
    """Return ``value`` with two significant digits, as people write scenarios."""
    return float(f"{value:.2g}")
