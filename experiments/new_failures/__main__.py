"""Repeats three failures that ``goodqueue attack`` found: ``.venv/bin/python -m experiments.new_failures``.

Runs each scenario of its folder with 20 seeds and several disciplines. Writes the tables of
docs/results/new-failures.md.
"""

import copy
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from experiments import kept
from goodqueue import running
from goodqueue import scenario as scenarios
from goodqueue.measures import metrics
from goodqueue.measures.stats import estimate
from goodqueue.show.table import plus_minus

PAGE = kept.PAGES / "new-failures.md"
HERE = Path(__file__).parent
SEEDS = range(1, 21)
BELOW, ABOVE = 50.0, 80.0
"""The bounds of the property: a utilisation below, in percent, where the other discipline's is above."""


@dataclass(frozen=True)
class Failure:
    """A find: its scenario, what the subject is compared with, and what else is shown."""

    name: str
    beside: str
    shown: tuple[str, ...]
    """Further disciplines."""
    key: str
    values: tuple[str, ...]
    """The values of ``key`` for the second table."""


FAILURES = (
    Failure("cobalt", "fq_codel", ("cobalt", "codel", "cake rtt 1s", "cake bandwidth 9500kbit", "pfifo"),
            "bottleneck.bursts", ("1ms", "5ms", "10ms", "15ms", "20ms", "40ms", "100ms")),
    Failure("dualpi2", "pie", ("codel", "fq_codel", "dualpi2 target 30ms", "dualpi2 target 60ms", "pfifo"),
            "path.rtt", ("20ms", "30ms", "45ms", "50ms", "60ms", "60.7ms", "65ms", "70ms", "90.7ms")),
    Failure("pie", "codel", ("fq_codel", "fq_pie", "pie target 100ms", "pie target 200ms", "pfifo"),
            "bottleneck.bursts", ("20ms", "50ms", "100ms", "150ms", "200ms", "250ms", "400ms")),
)  # fmt: skip


def measured(scenario: dict[str, Any], line: str, key: str = "", value: str = "") -> list[dict[str, float]]:
    """Return the numbers of ``line`` in ``scenario``, by seed. ``key`` is set to ``value``."""
    made = copy.deepcopy(scenario)
    made["bottleneck"]["qdisc"] = line
    if key:
        scenarios.apply_set(made, f"{key}={value}")
    texts = running.many([{**made, "seed": seed} for seed in SEEDS])
    every = [metrics.numbers(json.loads(text)) for text in texts]
    return [{name: number for name, number in one.items() if number is not None} for one in every]


def shown(found: list[dict[str, float]], key: str) -> str:
    """Return the mean of a number with its 95 % confidence interval."""
    known = estimate([one[key] for one in found])
    assert known is not None, "there are seeds"
    return plus_minus(known)


def main() -> None:
    """Run everything, and write the tables."""
    lines: list[str] = []
    for failure in FAILURES:
        file = HERE / f"{failure.name}.toml"
        scenario = scenarios.load(str(file))
        subject = scenario["bottleneck"]["qdisc"]
        each = {line: measured(scenario, line) for line in (subject, failure.beside, *failure.shown)}
        pairs = zip(each[subject], each[failure.beside], strict=True)
        both = [(own["utilisation_percent"], other["utilisation_percent"]) for own, other in pairs]
        holds = sum(own < BELOW and other > ABOVE for own, other in both)
        holding = [
            f"`{subject}` uses less than {BELOW:g} % of the link, and `{failure.beside}` more than {ABOVE:g} %, with",
            f"{holds} of {len(both)} seeds. Each number is the mean of {len(both)} seeds with its 95 % interval.",
        ]
        title = f"### {failure.name}: [{failure.name}.toml](../../experiments/new_failures/{failure.name}.toml)"
        lines += [title, "", *holding, "", "| line | used % | dropped % | delay, mean ms |", "|---|---|---|---|"]
        keys = ("utilisation_percent", "drop_percent", "delay_mean_ms")
        lines += [f"| `{line}` | {' | '.join(shown(found, key) for key in keys)} |" for line, found in each.items()]
        lines += ["", f"| `{failure.key}` | used by `{subject}` % | by `{failure.beside}` % |", "|---|---|---|"]
        for value in failure.values:
            two = [measured(scenario, line, failure.key, value) for line in (subject, failure.beside)]
            lines.append(f"| {value} | {' | '.join(shown(one, 'utilisation_percent') for one in two)} |")
        lines.append("")
    kept.below(PAGE, HERE, lines[:-1])


if __name__ == "__main__":
    main()
