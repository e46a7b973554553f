"""The layout of what goodqueue reads of its own files besides records: scenarios, and the results of verbs."""

from functools import cache
from types import NoneType
from typing import Any, NotRequired, TypedDict, get_args, get_origin, get_type_hints, is_typeddict

from goodqueue.record import layout

Numbers = list[float | None]


class _Direction(TypedDict):
    qdisc: NotRequired[str | None]
    rate: NotRequired[str | None]


class _Station(TypedDict):
    name: str
    count: NotRequired[int]
    rate: NotRequired[Any]
    snr: NotRequired[float | None]


class _Wifi(TypedDict):
    standard: str
    station: list[_Station]


class _Bottleneck(TypedDict):
    qdisc: str
    rate: NotRequired[str]
    trace: NotRequired[str]
    wifi: NotRequired[_Wifi]
    up: NotRequired[_Direction]


class _Hop(TypedDict):
    name: str
    kind: str
    qdisc: NotRequired[str]
    rate: NotRequired[str]
    trace: NotRequired[str]


class _Change(TypedDict):
    at: str
    rate: NotRequired[str | None]


class _Path(TypedDict):
    rtt: str


class _Traffic(TypedDict):
    kind: str
    count: NotRequired[int | None]


class Scenario(TypedDict):
    """The keys of a resolved scenario that goodqueue reads. The core wrote the scenario and checks the others."""

    duration: str
    warmup: NotRequired[str]
    bottleneck: _Bottleneck
    path: _Path
    traffic: list[_Traffic]
    hop: NotRequired[list[_Hop]]
    change: NotRequired[list[_Change]]


class _Axis(TypedDict):
    key: str
    values: list[str]


class _Goal(TypedDict):
    percent: float
    metric: str
    max_seeds: int


class _Values(TypedDict):
    values: Numbers


class _SweepCell(TypedDict):
    at: dict[str, str]
    qdisc: str | None
    error: str | None
    reached: bool | None
    runs: list[str]
    metrics: dict[str, _Values]
    delay_percentiles_ms: Numbers | None


class _Sweep(TypedDict):
    name: str
    scenario: dict[str, Any]
    engine: str
    version: str
    build: str | None
    axes: list[_Axis]
    metrics: list[str]
    first_seed: int
    seeds: int
    until_ci: _Goal | None
    cells: list[_SweepCell]


class _Value(TypedDict):
    scenario: str
    algorithm: str
    metric: str
    at: dict[str, Any]
    measured: float | None
    ci: Numbers | None
    n: int
    verdict: str


class _Claim(TypedDict):
    statement: str
    verdict: str
    why: str | None


class _Trivial(TypedDict):
    n: int
    verdicts: dict[str, int]
    here: dict[str, int]


class _Counts(TypedDict):
    values: dict[str, int]
    claims: dict[str, int]
    trivial: NotRequired[_Trivial]


class _Study(TypedDict):
    study: str
    engine: str
    version: str
    quick: bool
    runs: int
    values: list[_Value]
    claims: list[_Claim]
    summary: _Counts


class _Window(TypedDict):
    time_s: list[float]
    packets: Numbers


class _Side(TypedDict):
    values: dict[str, Numbers]
    flows_mbps: list[list[float]]
    cwnd: NotRequired[list[_Window]]
    completions_ms: NotRequired[dict[str, Numbers]]


class _ValidationCell(TypedDict):
    qdisc: str
    change: str
    line: str
    sim: _Side
    kernel: _Side
    again: NotRequired[_Side]


class _Draw(TypedDict):
    cells: int
    seed: int


class _Kernel(TypedDict):
    release: str
    tc: str
    where: str


class _Validation(TypedDict):
    date: str
    version: str
    build: str
    kernel: _Kernel
    quick: bool
    seeds: list[int]
    drawn: NotRequired[_Draw | None]
    cells: list[_ValidationCell]


RESULTS = {"goodqueue sweep": "_Sweep", "goodqueue study": "_Study", "goodqueue validate": "_Validation"}
"""The type of a ``results.json``, by its ``made_by``."""

_PLAIN = {int: "count", float: "number", str: "text", bool: "flag", Any: "anything"}


@cache
def parts() -> dict[str, layout.Part]:
    """Return the parts of records, and of what else goodqueue reads, by name."""
    own = [table for table in globals().values() if isinstance(table, type) and is_typeddict(table)]
    return layout.parts() | {table.__name__: _part(table) for table in own}


def _part(table: Any) -> layout.Part:
    hints = get_type_hints(table).items()
    fields = {key: layout.Field(key, _type(hint), key in table.__required_keys__) for key, hint in hints}
    return layout.Part(table.__name__, "", tuple(fields.values()), {}, fields)


def _type(hint: Any) -> layout.Type:
    """Return a type of Python as the layout of a record writes it."""
    inner = get_args(hint)
    if is_typeddict(hint):
        return {"part": hint.__name__}
    if NoneType in inner:
        return {"nullable": _type(inner[0])}
    if get_origin(hint) is list:
        return {"list": _type(inner[0])}
    return {"table": _type(inner[1])} if get_origin(hint) is dict else _PLAIN[hint]
