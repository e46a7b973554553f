"""Makes the plan of a fit: of a measurement, or of a scenario with numbers. It refuses before any run."""

from dataclasses import replace

from goodqueue import scenario as scenarios
from goodqueue.ask import shared
from goodqueue.errors import Option, UserError, bounded, quoted
from goodqueue.files import inputs
from goodqueue.measures import numbers
from goodqueue.measures.frames import carried
from goodqueue.record import Scenario
from goodqueue.scenario import asked
from goodqueue.search import ranges
from goodqueue.search.fit import observed, work
from goodqueue.search.fit.question import Fit
from goodqueue.search.fit.work import Observed, Plan
from goodqueue.search.ranges import Choice, Range
from goodqueue.traffic import BULK

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


def of(question: Fit) -> Plan:
    """Return the plan of a scenario (a dict, or a file in TOML), or of a measurement. Raises UserError."""
    if isinstance(question.source, dict) or question.source.endswith(".toml"):
        return _of_scenario(question)
    return _of_measurement(question.source, question)


def _of_scenario(question: Fit) -> Plan:
    """Return the plan for a scenario with measured numbers. Raises UserError."""
    base, _ = asked.base(question.source, {}, question.keys)
    if question.qdisc:
        raise UserError(Option("qdisc"), "found for a scenario; accepted: --vary bottleneck.qdisc=LINE,LINE")
    observations = [_observed(text) for text in question.observed]
    if not observations:
        raise UserError(Option("observed"), "missing; accepted: METRIC=VALUE, or METRIC=VALUE+-ERROR, once or more")
    metrics = numbers.find([number.name for number in observations], Option("observed"))
    varied, choices = ranges.read_all(question.vary)
    if not varied and not choices:
        raise UserError(Option("vary"), f"missing; accepted: {ranges.ACCEPTED}, or KEY=WORD,WORD")
    plan = Plan(
        shared.name_of(question.source),
        base,
        varied,
        choices,
        observations,
        lambda record: {metric.key: metric.pick(record) for metric in metrics},
        question.evaluations,
        question.draw_seed,
    )
    work.check(plan)
    numbers.check(metrics, [scenario for _, ends, _ in work.ends(plan) for scenario in ends], Option("observed"))
    return plan


def _observed(text: str) -> Observed:
    option = Option("observed", text)
    name, equals, rest = (part.strip() for part in text.partition("="))
    value, sign, error = (part.strip() for part in rest.replace("±", "+-").partition("+-"))
    try:
        number = inputs.number(value)
        deviation = inputs.number(error) if sign else max(ERROR * abs(number), 1e-6)
    except ValueError:
        raise UserError(option, f"found {quoted(rest)}; accepted: METRIC=VALUE, or METRIC=VALUE+-ERROR") from None
    if not equals or not deviation > 0:
        raise UserError(option, f"found {quoted(text)}; accepted: METRIC=VALUE+-ERROR, with an error above 0")
    numbers.find([name], option)
    return Observed(name, number, deviation)


def _of_measurement(file: str, question: Fit) -> Plan:
    """Return the plan for a measurement: its link and its discipline are unknown. Raises UserError."""
    from goodqueue.flent import modelling, programs
    from goodqueue.record.reading import source_of

    if question.observed:
        raise UserError(Option("observed"), "found for a measurement; accepted: with a scenario")
    (record, *others) = programs.records(file, None, 1)
    if others:
        raise UserError(file, f"found {1 + len(others)} tests; accepted: a file of one")
    source = source_of(record)
    assert source is not None
    bulk = [flow for flow in record["flows"] if flow["kind"] == BULK]
    if not bulk:
        raise UserError(file, "found no TCP flow; accepted: a test with TCP flows, best with pings beside them")
    begin, end = observed.window(record, *source["measured_s"])
    observed_numbers = observed.numbers(record, begin, end)
    if "goodput_down_mbps" not in observed_numbers and "goodput_up_mbps" not in observed_numbers:
        least = f"longer than {observed.SETTLING_S:g} s, in which the flows begin"
        raise UserError(file, f"found no interval to compare; accepted: a test with intervals, {least}")
    assert "series" in record  # or it had no numbers
    interval = record["series"]["interval_s"] or 0.0
    base: Scenario = {
        "duration": f"{end + 1:.6g}s",
        "warmup": f"{begin:.6g}s",
        "bottleneck": {},
        "path": {"rtt": "50ms"},
        "series": {
            "interval": f"{1000 * interval:.6g}ms",
            "tcp": any(name.startswith("tcp_") for name in observed_numbers),
        },
        "traffic": modelling.traffic(record, source["test"], begin, end),
    }
    varied = [*_rates(observed_numbers), *_rtt(observed_numbers), ranges.between(work.BUFFER, *BUFFER_BDP, "")]
    choices = [Choice("bottleneck.qdisc", question.qdisc or LINES)]
    own_ranges, own_choices = ranges.read_all(question.vary)
    replaced = {own_range.key for own_range in own_ranges} | {own_choice.key for own_choice in own_choices}
    varied = [*(setting for setting in varied if setting.key not in replaced), *own_ranges]
    choices = [*(setting for setting in choices if setting.key not in replaced), *own_choices]
    scenarios.apply(base, question.keys)
    plan = Plan(
        file,
        base,
        varied,
        choices,
        observed.observations(observed_numbers),
        lambda record: observed.numbers(record, begin, end),
        question.evaluations,
        question.draw_seed,
        is_modem=True,
        notes=[
            f"Flows had the congestion control {bounded(cc, 40)}, which the simulator does not know: "
            "in the runs they have its default, cubic."
            for cc in dict.fromkeys(flow["cc"] for flow in bulk)
            if cc is not None and not modelling.is_known(cc)
        ],
    )
    refused = work.refusals(plan)
    are_usual = not question.qdisc and not own_choices
    left = tuple(line for line in LINES if (line,) not in refused)
    if are_usual and left:  # a link may be too slow for one of the usual lines
        return replace(plan, choices=[Choice("bottleneck.qdisc", left)])
    for error in refused.values():
        raise error
    return plan


def _rates(observed_numbers: observed.Numbers) -> list[Range]:
    rates = []
    goodput = {direction: observed_numbers.get(f"goodput_{direction}_mbps", 0.0) for direction in ("down", "up")}
    for direction, other, key in (("down", "up", "bottleneck.rate"), ("up", "down", "bottleneck.up.rate")):
        rate = carried(goodput[direction], goodput[other])
        if goodput[direction] > 0:
            low, high = (float(f"{share * rate:.3g}") for share in RATES)
        else:  # only ACKs were seen, which any faster rate carries
            low, high = (float(f"{share * goodput[other]:.3g}") for share in (0.1, 1.0))
        rates.append(ranges.between(key, low, high, "mbit"))
    return rates


def _rtt(observed_numbers: observed.Numbers) -> list[Range]:
    base = observed_numbers.get("ping_min_ms")
    if base is None:
        return [ranges.between("path.rtt", 2, 300, "ms")]
    low, high = (float(f"{share * base:.3g}") for share in RTTS)
    return [ranges.between("path.rtt", low, high, "ms")]
