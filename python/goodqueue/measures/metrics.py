"""Declares the numbers of a record that each table and each store has. `numbers` has the others, too.

The queues and the flows have a direction, ``down`` or ``up``. A metric of the down queue has a plain key
(``delay_p95_ms``); the same metric of the up queue has the key with ``up_`` before it (``up_delay_p95_ms``).
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from goodqueue import traffic
from goodqueue._goodqueue import jain
from goodqueue.measures import applications, calls
from goodqueue.measures.needs import Need, application, bulk_flows, data, packets
from goodqueue.record import Record
from goodqueue.record.dotted import walk
from goodqueue.record.reading import statistic, times_of

DIRECTIONS = ("down", "up")
"""The directions, in the order in which they are shown."""

BUSY_PERCENT = 80.0
"""A link that is used more than this is loaded."""

STANDING_MS = 5.0
"""A queue in which 5 % of the packets wait longer than this is loaded: CoDel's target (RFC 8289, section 4.4)."""

Values = Mapping[str, Sequence[float | None]]
"""Key of a metric to its number for each seed."""


def of_direction(key: str, direction: str) -> str:
    """Return the key for direction ``direction`` of the metric whose key for ``down`` is ``key``."""
    return key if direction == "down" else f"up_{key}"


def split(key: str) -> tuple[str, str]:
    """Return the direction of ``key``, and the key of the same metric for ``down``."""
    return ("up", key.removeprefix("up_")) if key.startswith("up_") else ("down", key)


SILENT = ("", "", "")
"""The sentence of a metric that no sentence describes."""


@dataclass(frozen=True, slots=True)
class Metric:
    """One number of a record."""

    key: str
    """Its name in JSON and in the store, with the unit."""
    label: str
    """Its name for a person, without the unit and the direction."""
    unit: str
    better: str
    """``low`` or ``high``: the better values. Empty if neither is better in itself."""
    pick: Callable[[Record], float | None]
    heading: str = ""
    """The first line of its column heading in narrow tables. Empty: the label."""
    detail: str = ""
    """The second line of its column heading, before the unit: ``p95``."""
    decimals: int | None = None
    """The number of decimals shown. None: the size of the numbers decides."""
    direction: str = ""
    """``down`` or ``up`` for a metric of a queue or of its flows, otherwise empty."""
    app: str = ""
    """The kind of application that measures it, otherwise empty."""
    is_main: bool = False
    """Whether tables show its differences by default."""
    is_drawn: bool = False
    """Whether the figure of all metrics shows it although it is not main."""
    is_delay: bool = False
    """Whether it is a statistic of the queueing delay, which shares its heading with the others."""
    hides: float | None = None
    """It is shown only if some run has another value than this one, which says nothing."""
    stands_in: str = ""
    """The key of the metric without which it is shown unasked. Empty: it needs no such reason."""
    note: str = ""
    """Its meaning, printed below a table that shows it."""
    scale: tuple[float, float] | None = None
    """Its least and its greatest possible value, if it has bounds."""
    sentence: tuple[str, str, str] = SILENT
    """What a sentence says about the best discipline, about the worst, and at the end. ``{}`` is the number."""
    needs: tuple[Need, ...] = ()
    """What a scenario must have so that a run of it shows the number."""

    @property
    def is_felt(self) -> bool:
        """Whether a person notices it: the time of a ping or a page, the quality of a call."""
        return bool(self.app)


def directions_of(metrics: Iterable[Metric]) -> set[str]:
    """Return the directions of ``metrics``."""
    return {metric.direction for metric in metrics if metric.direction}


def label(metric: Metric, directions: Iterable[str]) -> str:
    """Return the name of ``metric`` in a table or figure of ``directions``. It includes its own if needed."""
    return (
        f"{metric.label} {metric.direction}"
        if metric.direction and said(metric.direction, directions)
        else metric.label
    )


def said(direction: str, directions: Iterable[str]) -> str:
    """Return the suffix that names ``direction`` in a text on ``directions``. Empty if only down is concerned."""
    return "" if {direction, *directions} == {"down"} else f", {direction}"


def delay(direction: str, key: str) -> Callable[[Record], float | None]:
    """Return the function that picks a statistic of the queueing delay."""

    def pick(record: Record) -> float | None:
        return statistic(record["queues"][direction]["delay_ms"], key)

    return pick


def queue_number(direction: str, key: str) -> Callable[[Record], float | None]:
    """Return the function that picks the number ``key`` of a queue."""

    def pick(record: Record) -> float | None:
        return walk(record, f"queues.{direction}.{key}")

    return pick


def goodput(direction: str) -> Callable[[Record], float | None]:
    """Return the function that picks the goodput of all flows of ``direction``."""

    def pick(record: Record) -> float | None:
        flows = [flow["goodput_mbps"] for flow in record["flows"] if flow["direction"] == direction]
        return sum(flows) if flows else None

    return pick


def _jain(direction: str) -> Callable[[Record], float | None]:
    """Return the function that picks Jain's index of the bulk flows in one direction, which compete for the link.

    The record has the index for the direction of its first bulk flow. For the other direction the function computes it.
    As in the record, flows that were not there in the measured time do not count: they sent nothing, and waited for
    nothing. A flow whose SYN is lost each time has timeouts.
    """

    def pick(record: Record) -> float | None:
        bulk = [flow for flow in record["flows"] if flow["kind"] == traffic.BULK]
        if bulk and bulk[0]["direction"] == direction:
            return record["fairness"]["jain_goodput"]
        return jain(
            [
                flow["goodput_mbps"]
                for flow in bulk
                if flow["direction"] == direction and (flow.get("bytes_sent") != 0 or flow.get("timeouts"))
            ]
        )

    return pick


def mean(values: Iterable[float | None]) -> float | None:
    """Return the mean of the values that are known, or None if none is."""
    numbers = [value for value in values if value is not None]
    return sum(numbers) / len(numbers) if numbers else None


def times(kind: str, name: str) -> Callable[[Record], float | None]:
    """Return the function that picks the time ``name`` of applications of ``kind``, or the mean of several."""

    def pick(record: Record) -> float | None:
        return mean(times_of(app).get(name) for app in record["apps"] if app["kind"] == kind)

    return pick


def _of_queue(direction: str) -> tuple[Metric, ...]:
    """Return the metrics of one direction: its queue and its flows."""
    up = " up" if direction == "up" else ""

    def of(key: str) -> str:
        return of_direction(key, direction)

    return (
        *(
            Metric(
                of(f"delay_{name}_ms"),
                f"delay {name}",
                "ms",
                "low",
                delay(direction, name),
                heading="delay",
                detail=name,
                direction=direction,
                is_main=name in ("mean", "p95"),
                is_delay=True,
                note="delay: in the queue",
                needs=(packets(direction),),
                sentence=(f"95 % of the packets{up} queue for at most {{}}", "{}", "") if name == "p95" else SILENT,
            )
            for name in ("mean", "p50", "p95", "p99")
        ),
        Metric(
            of("utilisation_percent"),
            "utilisation",
            "%",
            "high",
            queue_number(direction, "utilisation_percent"),
            heading="used",
            direction=direction,
            is_main=True,
            sentence=(f"The link{up} is used to {{}}", "to {}", ""),
        ),
        Metric(
            of("goodput_mbps"),
            "goodput",
            "Mbit/s",
            "high",
            goodput(direction),
            decimals=2,
            direction=direction,
            is_main=True,
            needs=(data(direction),),
        ),
        Metric(
            of("drop_percent"),
            "drops",
            "%",
            "",
            queue_number(direction, "drop_percent"),
            decimals=2,
            direction=direction,
            is_drawn=True,
        ),
        Metric(
            of("mark_percent"),
            "marks",
            "%",
            "",
            queue_number(direction, "mark_percent"),
            decimals=2,
            direction=direction,
            hides=0.0,
        ),
        Metric(
            of("jain_goodput"),
            "Jain",
            "",
            "high",
            _jain(direction),
            decimals=3,
            direction=direction,
            hides=1.0,  # a single flow has this index, too
            note="Jain: bulk flows, 1 is equal",
            needs=(bulk_flows(2, direction=direction),),
        ),
    )


def _of_kind(kind: traffic.Kind) -> Iterator[Metric]:
    """Yield the metrics that applications of ``kind`` measure."""
    for measure in kind.measures:
        note = f"{measure.unit if measure.sum == 'total' else measure.label}: {measure.note}" if measure.note else ""
        if kind.is_of_times(measure):
            note = f"{measure.heading}: {kind.times_are}"
        metric = Metric(
            measure.key,
            measure.label,
            measure.unit,
            measure.better,
            applications.number(kind.name, measure),
            heading=measure.heading,
            detail=measure.detail,
            decimals=measure.decimals,
            app=kind.name,
            is_main=measure.is_main,
            hides=0.0 if measure.hides_zero else None,
            note=note,
            scale=measure.scale,
            sentence=measure.sentence,
            needs=(application(kind.name),),
        )
        yield from _scores(metric) if (kind.name, measure.path) == (calls.KIND, calls.FIELD) else (metric,)


def _scores(by_mean: Metric) -> Iterator[Metric]:
    """Yield the score of calls that a person is shown, and that of the record, which papers have."""

    def pick(record: Record) -> float | None:
        return mean(calls.mos(app) for app in record["apps"] if app["kind"] == calls.KIND)

    yield replace(by_mean, key="call_mos", pick=pick, note=calls.NOTE)
    yield replace(
        by_mean,
        label="MOS of mean delay",
        heading="MOS of",
        detail="mean delay",
        is_main=False,
        stands_in="call_mos",
        note=calls.NOTE_OF_MEAN,
        sentence=SILENT,
    )


METRICS = (
    *_of_queue("down"),
    *_of_queue("up"),
    *(metric for kind in traffic.probes_first() for metric in _of_kind(kind)),
)
"""All metrics. Goodput is the sum of the flows in one direction. Jain's index covers the direction's bulk flows.

Applications' times are means over the applications of a kind.
"""


def numbers(record: Record, chosen: Iterable[Metric] = ()) -> dict[str, float | None]:
    """Return the numbers of ``record`` by key, for all `METRICS` and for the others in ``chosen``."""
    every = {metric.key: metric for metric in (*METRICS, *chosen)}
    return {key: metric.pick(record) for key, metric in every.items()}


LOADS = tuple(
    of_direction(key, direction) for direction in DIRECTIONS for key in ("utilisation_percent", "delay_p95_ms")
)
"""The metrics that tell whether a direction is loaded."""


def loaded(measured: Iterable[Values]) -> tuple[str, ...]:
    """Return the directions that are loaded with at least one of the disciplines that were ``measured``.

    A direction is loaded if its link is used more than `BUSY_PERCENT`, or if 5 % of its packets queue longer than
    `STANDING_MS`. If neither direction is loaded, it returns the one whose packets queue longer; if they are equal, the
    one whose link is used more. Tables, figures and sentences are about the directions returned.
    """
    greatest: dict[str, float] = {}
    for run_values in measured:
        for key in LOADS:
            value = mean(run_values.get(key, ())) or 0.0
            greatest[key] = max(greatest.get(key, value), value)

    def most(direction: str, key: str) -> float:
        return greatest.get(of_direction(key, direction), 0.0)

    busy = tuple(
        direction
        for direction in DIRECTIONS
        if most(direction, "utilisation_percent") > BUSY_PERCENT or most(direction, "delay_p95_ms") > STANDING_MS
    )
    if busy:
        return busy
    return (
        max(
            DIRECTIONS, key=lambda direction: (most(direction, "delay_p95_ms"), most(direction, "utilisation_percent"))
        ),
    )


def are_asked(chosen: Sequence[Metric]) -> bool:
    """Return whether somebody chose the metrics, that is, whether they differ from the list of all metrics."""
    return [metric.key for metric in chosen] != [metric.key for metric in METRICS]


def shown(chosen: Sequence[Metric], measured: Iterable[Values], directions: Sequence[str]) -> list[Metric]:
    """Return the metrics of ``chosen`` that a person is shown: all of them if somebody asked for them.

    Otherwise the metrics that have a number in some run, and belong to no direction or to one of ``directions``, the
    loaded ones. One whose every value is that of `Metric.hides` is not shown, and one that `Metric.stands_in` for
    another only if that has no number.
    """
    if are_asked(chosen):
        return list(chosen)
    hidden = {metric.key: metric.hides for metric in chosen}
    known: set[str] = set()
    told: set[str] = set()
    for run_values in measured:
        for key in run_values.keys() - (known & told):
            numbers = [value for value in run_values[key] if value is not None]
            if numbers:
                known.add(key)
            if any(value != hidden.get(key) for value in numbers):
                told.add(key)
    return [
        metric
        for metric in chosen
        if metric.direction in ("", *directions) and metric.stands_in not in known and metric.key in told
    ]
