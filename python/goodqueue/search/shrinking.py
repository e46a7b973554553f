"""Shrinks what a search found to the fewest facts that still show it, and these to simple values.

The steps are those of delta debugging (Zeller and Hildebrandt, IEEE TSE 2002) on the facts of a scenario. A fact that
is set to its simplest value may make others vanish, as those of a second kind of traffic, so every step is a scenario.
"""

from collections.abc import Callable, Sequence

from goodqueue.search.facts import Chosen, Fact, Facts, Number, Value

Holds = Callable[[Sequence[Facts]], list[bool]]
"""Returns for each set of facts whether what was found still shows. All are judged at the same time."""

Asked = Callable[[Chosen], object]
"""Builds a scenario, so that `Chosen` notes the facts that it asks for."""

HALVINGS = 5
"""How often a number is moved half the way to its simplest value."""

ROUNDS = 4
"""The most passes over all facts. Each later pass begins with what the pass before left."""

ROUND_VALUES = (1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 8.0, 10.0)
"""The values, times a power of ten, that are rounder than others."""


def shrink(facts: Facts, build: Asked, holds: Holds) -> dict[str, Value]:
    """Return fewer and simpler facts that still hold."""
    now = _relevant(facts, build)
    for _ in range(ROUNDS):
        before = dict(now)
        now = _leave_out(now, build, holds)
        now = _simplify(now, build, holds)
        if now == before:
            break
    return now


def differing(facts: Facts, build: Asked) -> dict[str, Value]:
    """Return the facts that have another value than the simplest one."""
    asked_facts = _asked_facts(facts, build)
    return {name: value for name, value in facts.items() if name in asked_facts and value != asked_facts[name].simplest}


def _asked_facts(facts: Facts, build: Asked) -> dict[str, Fact]:
    chosen = Chosen(facts)
    build(chosen)
    return chosen.asked


def _relevant(facts: Facts, build: Asked) -> dict[str, Value]:
    """Return only the facts that the scenario asks for."""
    chosen = Chosen(facts)
    build(chosen)
    return dict(chosen.facts)


def _leave_out(facts: dict[str, Value], build: Asked, holds: Holds) -> dict[str, Value]:
    """Set as many facts as possible to their simplest values: first many at a time, then single ones."""
    names = list(differing(facts, build))
    size = max(1, len(names) // 2)
    while names:
        groups = [names[at : at + size] for at in range(0, len(names), size)]
        tries = [_simplest(facts, group, build) for group in groups]
        shorter = next((facts_tried for facts_tried, good in zip(tries, holds(tries), strict=True) if good), None)
        if shorter is not None:
            facts = shorter
            names = [name for name in names if name in differing(facts, build)]
            size = max(1, min(size, len(names)))
        elif size == 1:
            break
        else:
            size = max(1, size // 2)
    return facts


def _simplest(facts: Facts, names: Sequence[str], build: Asked) -> dict[str, Value]:
    return _relevant({name: value for name, value in facts.items() if name not in names}, build)


def _simplify(facts: dict[str, Value], build: Asked, holds: Holds) -> dict[str, Value]:
    """Move each number towards its simplest value, then to a round one."""
    for name in list(differing(facts, build)):
        fact, value = _asked_facts(facts, build).get(name), facts.get(name)
        if not isinstance(fact, Number) or not isinstance(value, int | float):
            continue
        near, far = float(value), fact.simplest  # `near` holds, `far` does not
        for _ in range(HALVINGS):
            middle = fact.rounded(fact.between(near, far) if min(near, far) > 0 or not fact.is_log else far)
            if middle in (near, far):
                break
            if holds([{**facts, name: middle}])[0]:
                near = middle
            else:
                far = middle
        tries = [_relevant({**facts, name: value_tried}, build) for value_tried in [*_rounder(fact, near), near]]
        good = holds(tries)
        facts = next((facts_tried for facts_tried, is_good in zip(tries, good, strict=True) if is_good), facts)
    return facts


def _rounder(fact: Number, value: float) -> list[float]:
    """Return the nearest round values of ``fact`` on both sides of ``value``, the nearer one first."""
    every = {
        fact.rounded(factor * 10.0**power)
        for power in range(-3, 4)
        for factor in ROUND_VALUES
        if fact.low <= factor * 10.0**power <= fact.high
    }
    below = max((candidate for candidate in every if candidate <= value), default=None)
    above = min((candidate for candidate in every if candidate >= value), default=None)
    neighbours = [neighbour for neighbour in (below, above) if neighbour is not None and neighbour != value]
    return sorted(neighbours, key=lambda neighbour: abs(neighbour - value))
