"""Reads what ``goodqueue fit`` is asked for: a measurement, or a scenario with numbers. It refuses before any run."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from goodqueue import scenario as scenarios
from goodqueue.errors import Option, UserError, quoted
from goodqueue.measures import numbers
from goodqueue.measures.frames import carried
from goodqueue.record import Scenario
from goodqueue.search import fitting, observed, ranges
from goodqueue.search.fitting import Observed, Plan
from goodqueue.search.ranges import Choice, Range

LINES = ("pfifo", "pfifo_head_drop", "codel", "pie", "fq_codel", "cake")
"""The disciplines that a link may have, unless others are asked for: those that modems and home routers have."""

BUFFER_BDP = (0.1, 40.0)
"""The range of the buffer, in multiples of rate times base RTT."""

RATES = (0.97, 1.7)
"""The range of a rate, in multiples of the goodput with TCP's headers and the ACKs of the other direction.

Some disciplines leave a third of a link unused.
"""

RTTS = (0.85, 1.01)
"""The range of the base RTT, in multiples of the shortest ping."""

ERROR = 0.05
"""The error of a number, as a share of it, if the user does not say it."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What the user says beside the file."""

    vary: Sequence[str]
    observed: Sequence[str]
    sets: Sequence[str]
    lines: Sequence[str]


def of_scenario(name: str, base: Scenario, asked: Asked, evaluations: int, seed: int) -> Plan:
    """Return the plan for a scenario with measured numbers. Raises UserError."""
    scenarios.apply(base, asked.sets)
    if asked.lines:
        raise UserError(Option("qdisc"), "found for a scenario; accepted: --vary bottleneck.qdisc=LINE,LINE")
    found = [_observed(text) for text in asked.observed]
    if not found:
        raise UserError(Option("observed"), "missing; accepted: METRIC=VALUE, or METRIC=VALUE+-ERROR, once or more")
    metrics = numbers.find([one.name for one in found], Option("observed"))
    varied, choices = ranges.read_all(asked.vary)
    if not varied and not choices:
        raise UserError(Option("vary"), f"missing; accepted: {ranges.ACCEPTED}, or KEY=WORD,WORD")
    made = Plan(
        name,
        base,
        varied,
        choices,
        found,
        lambda record: {metric.key: metric.pick(record) for metric in metrics},
        evaluations,
        seed,
    )
    fitting.check(made)
    numbers.check(metrics, [one for _, ends, _ in fitting.ends(made) for one in ends], Option("observed"))
    return made


def _observed(text: str) -> Observed:
    place = Option("observed", text)
    name, equals, rest = (part.strip() for part in text.partition("="))
    value, sign, error = (part.strip() for part in rest.replace("±", "+-").partition("+-"))
    try:
        number = float(value)
        deviation = float(error) if sign else max(ERROR * abs(number), 1e-6)
    except ValueError:
        raise UserError(place, f"found {quoted(rest)}; accepted: METRIC=VALUE, or METRIC=VALUE+-ERROR") from None
    if not equals or not deviation > 0:
        raise UserError(place, f"found {quoted(text)}; accepted: METRIC=VALUE+-ERROR, with an error above 0")
    numbers.find([name], place)
    return Observed(name, number, deviation)


def of_measurement(file: str, asked: Asked, evaluations: int, seed: int) -> Plan:
    """Return the plan for a measurement: its link and its discipline are unknown. Raises UserError."""
    from goodqueue.flent import modelling, programs
    from goodqueue.record.reading import source_of

    if asked.observed:
        raise UserError(Option("observed"), "found for a measurement; accepted: with a scenario")
    (record, *others) = programs.records(file, None, 1)
    if others:
        raise UserError(file, f"found {1 + len(others)} tests; accepted: a file of one")
    source = source_of(record)
    assert source is not None
    begin, end = observed.window(record, *source["measured_s"])
    measured = observed.numbers(record, begin, end)
    if "goodput_down_mbps" not in measured and "goodput_up_mbps" not in measured:
        raise UserError(file, "found no TCP flow; accepted: a test with TCP flows, best with pings beside them")
    assert "series" in record  # or it had no numbers
    interval = record["series"]["interval_s"] or 0.0
    base: Scenario = {
        "duration": f"{end + 1:.6g}s",
        "warmup": f"{begin:.6g}s",
        "bottleneck": {},
        "path": {"rtt": "50ms"},
        "series": {"interval": f"{1000 * interval:.6g}ms", "tcp": any(name.startswith("tcp_") for name in measured)},
        "traffic": modelling.traffic(record, source["test"], begin, end),
    }
    varied = [*_rates(measured), *_rtt(measured), ranges.between(fitting.BUFFER, *BUFFER_BDP, "")]
    choices = [Choice("bottleneck.qdisc", tuple(asked.lines) or LINES)]
    own, own_choices = ranges.read_all(asked.vary)
    replaced = {one.key for one in own} | {one.key for one in own_choices}
    varied = [one for one in varied if one.key not in replaced] + own
    choices = [one for one in choices if one.key not in replaced] + own_choices
    scenarios.apply(base, asked.sets)
    made = Plan(
        file,
        base,
        varied,
        choices,
        observed.observations(measured),
        lambda record: observed.numbers(record, begin, end),
        evaluations,
        seed,
        is_modem=True,
    )
    refused = fitting.refusals(made)
    are_usual = not asked.lines and not own_choices
    left = tuple(line for line in LINES if (line,) not in refused)
    if are_usual and left:  # a link may be too slow for one of the usual lines
        return replace(made, choices=[Choice("bottleneck.qdisc", left)])
    for error in refused.values():
        raise error
    return made


def _rates(measured: observed.Numbers) -> list[Range]:
    found = []
    goodput = {way: measured.get(f"goodput_{way}_mbps", 0.0) for way in ("down", "up")}
    for way, other, key in (("down", "up", "bottleneck.rate"), ("up", "down", "bottleneck.up.rate")):
        rate = carried(goodput[way], goodput[other])
        if goodput[way] > 0:
            low, high = (float(f"{share * rate:.3g}") for share in RATES)
        else:  # only ACKs were seen, which any faster rate carries
            low, high = (float(f"{share * goodput[other]:.3g}") for share in (0.1, 1.0))
        found.append(ranges.between(key, low, high, "mbit"))
    return found


def _rtt(measured: observed.Numbers) -> list[Range]:
    base = measured.get("ping_min_ms")
    if base is None:
        return [ranges.between("path.rtt", 2, 300, "ms")]
    low, high = (float(f"{share * base:.3g}") for share in RTTS)
    return [ranges.between("path.rtt", low, high, "ms")]
