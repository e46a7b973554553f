"""The scenarios on which a line is tuned, and others on which the result is judged."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from goodqueue import _goodqueue, traffic
from goodqueue import scenario as scenarios
from goodqueue.errors import Option, UserError
from goodqueue.measures.numbers.shares import CONSTANT
from goodqueue.record import Scenario
from goodqueue.search.worlds import SERIES


@dataclass(frozen=True, slots=True)
class Case:
    """A scenario with a name."""

    name: str
    scenario: Scenario


DURATION, WARMUP, SPREAD = "20s", "5s", "1s"


def on_link(rate: str, rtt: str, has_series: bool = False) -> tuple[list[Case], list[Case]]:
    """Return the cases of a link for tuning, and those that are held out: other loads, RTTs and a change of the rate.

    They have time series for numbers that need them. Raises UserError.
    """
    bps, ns = _read(_goodqueue.rate_bps, Option("rate", rate)), _read(_goodqueue.time_ns, Option("rtt", rtt))

    def case(name: str, flows: int, rtts: float, cbr: float = 0.0, change: float = 0.0) -> Case:
        tables: list[dict[str, Any]] = [{"kind": traffic.BULK, "count": flows, "start_spread": SPREAD}]
        if cbr:
            tables.append({"kind": CONSTANT, "rate": f"{round(cbr * bps)}bit", "start": "8s"})
        scenario: Scenario = {
            "duration": DURATION,
            "warmup": WARMUP,
            "bottleneck": {"rate": f"{bps}bit"},
            "path": {"rtt": f"{rtts * ns / 1e3:.0f}us"},
            "traffic": tables,
        }
        if change:
            scenario["change"] = [{"at": "12s", "rate": f"{round(change * bps)}bit"}]
        if has_series:
            scenario["series"] = {"interval": SERIES}
        return Case(name, scenario)

    training = [
        case("1 flow", 1, 1.0),
        case("4 flows, half the RTT", 4, 0.5),
        case("16 flows, twice the RTT", 16, 2.0),
        case("4 flows, a third is constant", 4, 1.0, cbr=0.33),
    ]
    held_out = [
        case("2 flows, 0.7 of the RTT", 2, 0.7),
        case("3 flows, 1.5 times the RTT", 3, 1.5),
        case("8 flows", 8, 1.0),
        case("32 flows, 1.5 times the RTT", 32, 1.5),
        case("2 flows, a fifth is constant", 2, 1.0, cbr=0.2),
        case("6 flows, the rate halves", 6, 0.8, change=0.5),
    ]
    return training, held_out


def _read(read: Callable[[str], int], where: Option) -> int:
    try:
        return read(where.value)
    except ValueError as error:
        raise UserError(where, str(error)) from None


def of_files(files: Sequence[str]) -> list[Case]:
    """Return one case per scenario file. Raises UserError."""
    return [Case(Path(file).stem, scenarios.load(file)) for file in files]
