"""The path of a link, as a scenario: from a file, from options, or from both."""

from collections.abc import Mapping, Sequence
from typing import Any

from goodqueue import _goodqueue
from goodqueue import scenario as reading
from goodqueue.engines import loads
from goodqueue.record import Scenario
from goodqueue.scenario import asked, discipline
from goodqueue.show import describe, notes
from goodqueue.traffic import BULK

LONGEST_S = 1_000_000
"""The maximum duration of a run, which normally ends when CMD does: the longest that a scenario accepts."""

MOST_INTERVALS = 1_000_000
"""The maximum number of intervals of its time series."""

QDISC = "pfifo"
"""The default discipline: a bottleneck without an AQM."""


def read(file: str | None, options: Mapping[str, Any], sets: Sequence[str]) -> Scenario:
    """Return the resolved scenario of a link. Without ``file`` its only traffic is the real traffic.

    The file's duration and warm-up do not apply. The link lasts as long as CMD, and all of that time is measured.
    Raises UserError.
    """
    scenario, origins = asked.base(file, options)
    if file is None:
        scenario["traffic"] = []
        scenario["bottleneck"].setdefault("qdisc", QDISC)
    changed = reading.apply(scenario, sets)
    origins |= changed
    loads.settle(scenario, file or "", origins)  # within the file's own time, since a link has no end
    lasting = {"duration": _longest(scenario), "warmup": "0s"}
    scenario |= {key: value for key, value in lasting.items() if key not in changed}
    alone = not scenario.get("traffic")
    # A scenario needs traffic, so resolving gets some. The core's open scenario, which the gateway makes, needs none.
    resolved = reading.resolve(scenario | {"traffic": [{"kind": BULK}]} if alone else scenario, file or "", origins)
    if alone:
        resolved["traffic"] = []
    notes.warn(scenario, origins, has_real_packets=True)
    return resolved


def _longest(scenario: Scenario) -> str:
    series = scenario.get("series")
    interval = series.get("interval") if isinstance(series, dict) else None
    if interval is None:
        return f"{LONGEST_S}s"
    try:
        return f"{min(LONGEST_S * 10**9, MOST_INTERVALS * _goodqueue.time_ns(interval))}ns"
    except (ValueError, TypeError):  # the core reports what is wrong with it
        return f"{LONGEST_S}s"


def in_words(scenario: Scenario) -> str:
    """Return a description of the path in one line."""
    down = scenario["bottleneck"]
    lines = list(dict.fromkeys([discipline.name_of(down["qdisc"]), discipline.name_of(down["up"]["qdisc"])]))
    words = f"{describe.path(scenario)}, {' down, '.join(lines)}{' up' if lines[1:] else ''}"
    traffic = describe.traffic(scenario)
    return f"{words}; simulated beside CMD: {traffic}" if traffic else words
