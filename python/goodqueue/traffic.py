"""The kinds of traffic, as the core declares them: a kind is one file in ``crates/netsim/src/traffic``.

What is known of a kind stands there; here it is read, once, and looked up. Nothing here names one, except `BULK`.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

BULK = "bulk"
"""The kind that competes for the link: of its flows are shares of goodput and what ``--flows`` counts."""


@dataclass(frozen=True, slots=True)
class Column:
    """How a field stands in the table of one run."""

    heading: str
    detail: str
    """The second line; of times, which of them are shown: ``mean p50 p95``."""
    decimals: int


@dataclass(frozen=True, slots=True)
class Field:
    """Something in the kind's part of the record."""

    key: str
    type: str
    """``times`` (a distribution), ``percentiles``, ``number`` or ``count``."""
    help: str
    column: Column | None


@dataclass(frozen=True, slots=True)
class Measure:
    """A number of a run: what the flows of the kind measured together."""

    key: str
    path: str
    """Where it stands in the kind's part of the record: ``mos``, ``rtt_ms.p95``."""
    sum: str
    """``mean`` and ``total`` of the flows, or ``share_of_time``: the mean, in percent of the measured time."""
    label: str
    unit: str
    better: str
    heading: str
    detail: str
    decimals: int | None
    is_main: bool
    note: str
    scale: tuple[float, float] | None
    sentence: tuple[str, str, str]

    @property
    def is_plain(self) -> bool:
        """Whether its note is on the number of a single flow, too."""
        return self.sum == "mean" and bool(self.note)


@dataclass(frozen=True, slots=True)
class Option:
    """What ``--traffic KIND:DETAIL`` means."""

    detail: str
    """The key that a detail sets which is neither a number nor a direction; empty: there is no such detail."""
    example: str
    """An example of the detail where the kind cannot do without; empty: it can."""
    sets: dict[str, str]
    """Keys that it sets beside it."""


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of traffic."""

    name: str
    summary: str
    is_tcp: bool
    is_probe: bool
    """Whether it only measures: its flows carry no data, and are no flows of the record."""
    is_made_of_flows: bool
    """Whether it stands for flows of other kinds, as Flent's tests do."""
    keys: tuple[Mapping[str, Any], ...]
    """Its keys beside those of all kinds, as `_goodqueue.traffic_kinds` has them."""
    plural: str
    """What several of its flows are called; empty where it measures nothing."""
    fields: tuple[Field, ...]
    measures: tuple[Measure, ...]
    times: str
    """The field of the times that it is judged by; empty: it has none."""
    times_are: str
    series: str
    """The list among a record's time series that it adds to; empty: none."""
    option: Option

    @property
    def counts_completed(self) -> bool:
        """Whether it measures how many of its objects were completed, the first of which begins as the flow does."""
        return any(measure.path == "completed" for measure in self.measures)

    def is_of_times(self, measure: Measure) -> bool:
        """Whether ``measure`` is one of the times that the kind is judged by."""
        return bool(self.times) and measure.path.startswith(f"{self.times}.")


@cache
def kinds() -> dict[str, Kind]:
    """Return every kind by its name, in the core's order."""
    from goodqueue import _goodqueue

    return {one["name"]: _kind(one) for one in json.loads(_goodqueue.traffic_kinds())}


def probes_first() -> list[Kind]:
    """Return every kind, those first that only measure."""
    return sorted(kinds().values(), key=lambda kind: not kind.is_probe)


@cache
def probe() -> Kind:
    """Return the kind whose flows only measure, by which a run's latency is told."""
    return next(kind for kind in kinds().values() if kind.is_probe)


def _kind(found: dict[str, Any]) -> Kind:
    fields = (one | {"column": Column(**one["column"]) if one["column"] else None} for one in found["fields"])
    scaled = ((one, one["scale"]) for one in found["measures"])
    measures = (
        one | {"scale": (scale[0], scale[1]) if scale else None, "sentence": tuple(one["sentence"])}
        for one, scale in scaled
    )
    option = found["option"]
    return Kind(
        **found
        | {
            "keys": tuple(found["keys"]),
            "fields": tuple(Field(**one) for one in fields),
            "measures": tuple(Measure(**one) for one in measures),
            "option": Option(option["detail"], option["example"], dict(option["sets"])),
        }
    )
