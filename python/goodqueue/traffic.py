"""The kinds of traffic, as the core declares them. A kind is one file in ``crates/hosts/src/traffic``.

All properties of a kind are declared there. This module reads them once, and names no kind except `BULK`.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

BULK = "bulk"
"""The kind that competes for the link: shares of goodput are of its flows, and ``--flows`` is their number."""


class Column(NamedTuple):
    """The column of a field in the table of one run."""

    heading: str
    detail: str
    """The second line of the heading. For times, the statistics to show: ``mean p50 p95``."""
    decimals: int


@dataclass(frozen=True, slots=True)
class Field:
    """A field of the kind's part of the record."""

    key: str
    type: str
    """``times`` (a distribution), ``percentiles``, ``number`` or ``count``."""
    help: str
    column: Column | None


@dataclass(frozen=True, slots=True)
class Measure:
    """A number of a run that the flows of the kind measure together."""

    key: str
    path: str
    """Its path in the kind's part of the record: ``mos``, ``rtt_ms.p95``."""
    sum: str
    """``mean`` or ``total`` over the flows, or ``share_of_time``: the total, in percent of it and of ``played_ms``."""
    label: str
    unit: str
    better: str
    heading: str
    detail: str
    decimals: int | None
    is_main: bool
    hides_zero: bool
    note: str
    scale: tuple[float, float] | None
    sentence: tuple[str, str, str]

    @property
    def is_plain(self) -> bool:
        """Whether its note also applies to the number of a single flow."""
        return self.sum == "mean" and bool(self.note)


class Option(NamedTuple):
    """The meaning of ``--traffic KIND:DETAIL``."""

    detail: str
    """The key that a detail sets if it is neither a number nor a direction. Empty: there is no such detail."""
    example: str
    """An example of the detail, if the kind requires one. Empty: it does not."""
    sets: dict[str, str]
    """Keys that it sets in addition."""


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of traffic."""

    name: str
    summary: str
    is_tcp: bool
    is_probe: bool
    """Whether it only measures: its flows carry no data, and are not among the record's flows."""
    in_parallel: bool
    """Whether a flow may have several connections at a time, as a web page has."""
    asks: bool
    """Whether the receiver of the data asks for them on a connection, so that both hosts send."""
    is_made_of_flows: bool
    """Whether it consists of flows of other kinds, as Flent's tests do."""
    package: str
    """The package that has its endpoints. Empty: goodqueue has them."""
    keys: tuple[Mapping[str, Any], ...]
    """Its keys in addition to those of all kinds, in the format of `_goodqueue.traffic_kinds`."""
    plural: str
    """The plural name of its flows. Empty if it measures nothing."""
    things: str
    """What ``never_started`` and ``unfinished`` of its applications count, in the plural."""
    is_one_per_flow: bool
    """Whether each flow is one of these things."""
    ended: str
    """The field with the number of these things that ended. Empty: they have no end, so none is unfinished."""
    fields: tuple[Field, ...]
    measures: tuple[Measure, ...]
    times: str
    """The field with the times by which it is judged. Empty: it has none."""
    times_are: str
    series: str
    """The list among a record's time series to which it adds. Empty: none."""
    option: Option

    @property
    def counts_completed(self) -> bool:
        """Whether it counts completed objects, the first of which begins when the flow does."""
        return any(measure.path == "completed" for measure in self.measures)

    def is_of_times(self, measure: Measure) -> bool:
        """Return whether ``measure`` is one of the times by which the kind is judged."""
        return bool(self.times) and measure.path.startswith(f"{self.times}.")


@cache
def kinds() -> dict[str, Kind]:
    """Return every kind by its name, in the core's order."""
    from goodqueue import _goodqueue

    return {kind["name"]: _kind(kind) for kind in json.loads(_goodqueue.traffic_kinds())}


def probes_first() -> list[Kind]:
    """Return every kind. Kinds that only measure come first."""
    return sorted(kinds().values(), key=lambda kind: not kind.is_probe)


@cache
def probe() -> Kind:
    """Return the kind whose flows only measure. A run's latency is theirs."""
    return next(kind for kind in kinds().values() if kind.is_probe)


def _kind(data: dict[str, Any]) -> Kind:
    fields = (field | {"column": Column(**field["column"]) if field["column"] else None} for field in data["fields"])
    scaled = ((measure, measure["scale"]) for measure in data["measures"])
    measures = (
        measure | {"scale": (scale[0], scale[1]) if scale else None, "sentence": tuple(measure["sentence"])}
        for measure, scale in scaled
    )
    option = data["option"]
    return Kind(
        **data
        | {
            "keys": tuple(data["keys"]),
            "fields": tuple(Field(**field) for field in fields),
            "measures": tuple(Measure(**measure) for measure in measures),
            "option": Option(option["detail"], option["example"], dict(option["sets"])),
        }
    )
