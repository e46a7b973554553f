"""Published facts: the values and claims of a paper, in the schema of ``published.toml``.

Only the fields that judging needs are read and checked here. Descriptive fields of the schema (``where``, ``note``, the
systems) are not checked. A claim's terms refer to values by scenario, algorithm, metric and point.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from pathlib import Path
from typing import Any

from goodqueue.errors import quoted
from goodqueue.studies.keys import Table, load_toml, unknown

At = Mapping[str, float | str | bool]
"""A point of a sweep: values by parameter."""

KINDS = ("less_than", "greater_than", "within", "ratio_between", "ordering", "monotone", "approximately_equal")
QUANTIFIERS = ("all", "some", "most")
PRINTED = re.compile(r"(figure|table) ?(\d+)(?:\(?([a-z])\b\)?)?", re.IGNORECASE)
"""How a paper numbers its figures and tables: ``Figure 2(a)``, ``Table 1b``; in a file's name ``figure2a``."""
SETTING = "parameter"
"""The metric of values that are settings of the experiment, not results."""


@dataclass(frozen=True, slots=True)
class Value:
    """A printed number (``low == high``), a printed range, or a text (both None)."""

    id: str
    scenario: str
    algorithm: str
    metric: str
    at: At
    unit: str
    low: float | None
    high: float | None
    text: str = ""
    band: float | None = None
    """Of a measured cell: how far from its mean a number is inside its spread (`goodqueue.studies.cells`)."""
    half_digit: float = 0.0
    """Half of the last printed digit of a percentage, since it stands for all numbers that round to it. Otherwise 0."""

    @property
    def number(self) -> float | None:
        """The number, if the value is one."""
        return self.low if self.low == self.high else None


@dataclass(frozen=True, slots=True)
class Term:
    """One side of a comparison: a constant, a swept parameter's value, or values looked up.

    None means "not said": the part is inherited from the claim's first term.
    """

    constant: float | None = None
    param: str | None = None
    scenario: str | None = None
    algorithms: tuple[str, ...] | None = None
    metrics: tuple[str, ...] | None = None
    at: At = field(default_factory=dict)

    @property
    def is_lookup(self) -> bool:
        """Whether the term refers to values."""
        return self.constant is None and self.param is None


@dataclass(frozen=True, slots=True)
class Claim:
    """A statement of the paper that numbers can decide."""

    id: str
    scenarios: tuple[str, ...]
    """The claim must hold in each of them."""
    statement: str
    kind: str
    left: Term | None = None
    right: Term | None = None
    items: tuple[Term, ...] = ()
    points: tuple[At, ...] = ({},)
    quantifier: str = "all"
    factor: float = 1.0
    or_equal: bool = False
    low: float = 0.0
    high: float = 0.0
    direction: str = ""
    tolerance: float = 0.0
    relative: bool = False
    """Whether the tolerance is a share of the right term."""
    agrees: bool = True
    """False if the paper's own table contradicts the claim. Such a claim is kept but not tested."""
    note: str = ""
    needs: tuple[str, ...] = ()
    """Features beyond plain TCP over a wired link."""


@dataclass(frozen=True, slots=True)
class PublishedScenario:
    """An experiment of the paper."""

    id: str
    title: str
    where: str
    sweep: Mapping[str, tuple[float | str | bool, ...]]
    """The values that the paper swept, by parameter."""

    @property
    def name(self) -> str:
        """The paper's name for it, such as ``Figure 2(a)``; otherwise the section, or the id without the key."""
        printed = PRINTED.search(self.where)
        return printed[0] if printed else self.where or self.id.rpartition("/")[2]


@dataclass(frozen=True, slots=True)
class Published:
    """The published facts of one paper."""

    file: Path
    key: str
    title: str
    authors: tuple[str, ...]
    year: int
    venue: str
    scenarios: Mapping[str, PublishedScenario]
    values: tuple[Value, ...]
    claims: tuple[Claim, ...]


def order(name: str) -> tuple[int, int, str]:
    """Return the sort key of ``name``: figures by number, then tables, then all others."""
    printed = PRINTED.match(name)
    return (int(printed[1].lower() == "table"), int(printed[2]), printed[3] or "") if printed else (2, 0, "")


def load(path: Path) -> Published:
    """Read the published facts at ``path``. Raises UserError with the file and the key."""
    top = Table(load_toml(path, "the paper's values and claims in TOML"), path)
    paper = top.table("paper")
    scenarios = {scenario.id: scenario for scenario in map(_scenario, top.tables("scenario"))}
    values = _rounded_alike([_value(table, scenarios) for table in top.tables("value")])
    claims = tuple(read_claim(table, scenarios) for table in top.tables("claim"))
    top.raw("system")
    top.finish()
    authors = paper.texts("authors", ())
    if not all(author.strip() for author in authors):
        paper.refuse("authors", f"found {quoted(list(authors))}; accepted: names, none of them empty")
    seen: set[str] = set()
    for id_ in [*scenarios, *(value.id for value in values), *(claim.id for claim in claims)]:
        if id_ in seen:
            top.refuse("", f"the id {quoted(id_)} is used twice; accepted: ids that differ")
        seen.add(id_)
    return Published(
        file=path,
        key=paper.text("key"),
        title=paper.text("title"),
        authors=authors,
        year=int(paper.number("year", 0)),
        venue=paper.text("venue", ""),
        scenarios=scenarios,
        values=values,
        claims=claims,
    )


def _scenario(table: Table) -> PublishedScenario:
    sweep = {}
    for entry in table.tables("sweep"):
        values = entry.raw("values")
        if not isinstance(values, list):
            entry.refuse("values", f"found {quoted(values)}; accepted: a list")
        sweep[entry.text("param")] = tuple(values)
    return PublishedScenario(table.text("id"), table.text("title", ""), table.text("where", ""), sweep)


def _value(table: Table, scenarios: Mapping[str, PublishedScenario]) -> Value:
    low: float | None
    high: float | None
    if "value" in table:
        low = high = table.number("value")
    elif "text" in table:
        low = high = None
    elif "low" in table or "high" in table:
        low = table.number("low", float("-inf")) if "low" in table else float("-inf")
        high = table.number("high", float("inf")) if "high" in table else float("inf")
    else:
        table.refuse("value", "missing; accepted: one of value, text, or low and high")
    unit = table.text("unit")
    return Value(
        id=table.text("id"),
        scenario=_known_scenario(table, table.text("scenario"), scenarios),
        algorithm=table.text("algorithm"),
        metric=table.text("metric"),
        at=table.mapping("at"),
        unit=unit,
        low=low,
        high=high,
        text=table.text("text", ""),
        half_digit=_half_digit(table.raw("value")) if "value" in table and unit == "percent" else 0.0,
    )


def _half_digit(number: Any) -> float:
    """Return half of the last digit of ``number`` as it is written: 0.5 for 10, 0.05 for 10.0."""
    _, _, exponent = Decimal(repr(number)).as_tuple()
    return 0.5 * 10.0 ** min(0, int(exponent))


def _rounded_alike(published: Sequence[Value]) -> tuple[Value, ...]:
    """Return ``published`` with each row's finest digit. Example: 0.42, 0.04 and 0.1 have two decimals (0.1 was 0.10).

    A row has the printed values of one metric at one point.
    """
    rows: dict[str, list[float]] = {}
    for value in published:
        if value.half_digit:
            rows.setdefault(_row(value), []).append(value.half_digit)
    return tuple(
        replace(value, half_digit=min(rows[_row(value)])) if value.half_digit else value for value in published
    )


def _row(value: Value) -> str:
    return f"{value.scenario} {value.metric} {sorted(value.at.items())}"


def _known_scenario(table: Table, id_: str, scenarios: Iterable[str]) -> str:
    if id_ not in scenarios:
        table.refuse("scenario", unknown(id_, scenarios))
    return id_


def read_claim(table: Table, scenarios: Iterable[str], id_: str | None = None, where: str | None = None) -> Claim:
    """Return the claim that ``table`` states about some of ``scenarios``.

    ``id_`` and ``where`` are its id and scenario if the table has none.
    """
    kind = table.choice("kind", KINDS)
    items = tuple(_term(item, scenarios) for item in table.tables("items"))
    left, right = (_term(table.table(side), scenarios) if side in table else None for side in ("left", "right"))
    if kind == "ordering" and not items:
        table.refuse("items", "missing; accepted: a list of terms")
    if kind != "ordering" and left is None:
        table.refuse("left", "missing; accepted: a term")
    if kind not in ("ordering", "within", "monotone") and right is None:
        table.refuse("right", "missing; accepted: a term")
    over = table.table("over")
    return Claim(
        id=table.text("id", id_),
        scenarios=tuple(
            _known_scenario(table, id_, scenarios)
            for id_ in table.texts("scenario", None if where is None else (where,), lone=True)
        ),
        statement=table.text("statement"),
        kind=kind,
        left=left,
        right=right,
        items=items,
        points=_points(over),
        quantifier=table.choice("quantifier", QUANTIFIERS, "all"),
        factor=table.number("factor", 1.0),
        or_equal=table.flag("or_equal", False),
        low=table.number("low", None if kind in ("within", "ratio_between") else 0.0),
        high=table.number("high", None if kind in ("within", "ratio_between") else 0.0),
        direction=table.choice("direction", ("increasing", "decreasing")) if kind == "monotone" else "",
        tolerance=table.number("tolerance", None if kind == "approximately_equal" else 0.0),
        relative=table.choice("tolerance_kind", ("absolute", "relative"), "absolute") == "relative",
        agrees=table.flag("agrees", True),
        note=table.text("note", ""),
        needs=table.texts("needs", ()),
    )


def _points(over: Table) -> tuple[At, ...]:
    if "points" in over:
        return tuple(point.content for point in over.tables("points"))
    values = over.raw("values") or []
    if not isinstance(values, list):
        over.refuse("values", f"found {quoted(values)}; accepted: a list")
    return tuple({over.text("param"): value} for value in values) or ({},)


def _term(table: Table, scenarios: Iterable[str]) -> Term:
    if "value" in table:
        return Term(constant=table.number("value"))
    if "param" in table:
        return Term(param=table.text("param"))
    return Term(
        scenario=_known_scenario(table, table.text("scenario"), scenarios) if "scenario" in table else None,
        algorithms=table.texts("algorithm", lone=True) if "algorithm" in table else None,
        metrics=table.texts("metric", lone=True) if "metric" in table else None,
        at=table.mapping("at"),
    )
