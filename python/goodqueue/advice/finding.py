"""The finding, in sentences that a person can show to others: what changes for them, and what that costs."""

import math
from collections.abc import Iterator
from dataclasses import replace

from goodqueue.advice import candidates, typed
from goodqueue.advice.choosing import ADDED_KEY, DOWN_KEY, FELT_BY_KEY, PAGE_KEY, PING_KEY, UP_KEY
from goodqueue.advice.question import Advise
from goodqueue.advice.reading import SEEDS
from goodqueue.advice.result import Advice, Change, Tried
from goodqueue.measures.scores import letter
from goodqueue.measures.stats import Estimate
from goodqueue.show.answer import Findings, Part
from goodqueue.show.table import decimals, number, plus_minus

COSTS = 0.05
"""The share of downloads or uploads from which on a loss is named: the usual margin of a shaper (`MARGIN`)."""

WHILE = "While downloads and uploads fill the link"


def of(advice: Advice) -> Findings:
    """Return the finding: what changes and what it costs, or that the seeds do not show it."""
    return Findings([_uncertain(advice)] if advice.is_doubtful else list(_sentences(advice)))


def again(advice: Advice, asked: Advise) -> Iterator[Part]:
    """Yield the command with more seeds that ``asked`` becomes."""
    n = len(advice.question.seeds)
    yield "Ask again with more seeds:" if n == 1 else "Four times as many seeds halve the intervals:"
    command = replace(asked, seeds=SEEDS if n == 1 else 4 * n).command()
    yield typed.block([command])


def _sentences(advice: Advice) -> Iterator[str]:
    now, then = advice.tried[0], advice.choice
    if now.is_choice:
        (ping,) = (change for change in advice.changes if change.metric == PING_KEY)
        yield "Type nothing: no line is so much better than what is there now that somebody would feel it."
        yield f"{WHILE}, {_says(ping, ping.now)} as it is. {letter.SAYS} {letter.letters(now.means[ADDED_KEY])}."
        return
    gains = [f"{_says(change, change.then)} in place of {_value(change, change.now)}" for change in _best(advice)]
    letters = [letter.letters(tried.means[ADDED_KEY]) for tried in (then, now)]
    yield f"{WHILE}, {', and '.join(gains)}. {letter.SAYS} {' in place of '.join(dict.fromkeys(letters))}."
    yield cost(advice)


def _best(advice: Advice) -> list[Change]:
    """Return up to two changes for the better: those that people know first."""
    order = [PING_KEY, PAGE_KEY, *FELT_BY_KEY]
    better = [change for change in advice.changes if change.is_told_apart is not False and _is_better(change)]
    return sorted(better or advice.changes, key=lambda change: order.index(change.metric))[: 2 if better else 1]


def _is_better(change: Change) -> bool:
    return (change.difference.mean > 0) == (FELT_BY_KEY[change.metric].number.better == "high")


def cost(advice: Advice) -> str:
    """Return what the lines take from downloads and uploads."""
    names = {DOWN_KEY: "downloads", UP_KEY: "uploads"}
    losses = [
        _loss(change, names[change.metric])
        for change in advice.changes
        if change.metric in names and change.then.mean < (1 - COSTS) * change.now.mean
    ]
    return f"What it costs: {' and '.join(losses) or f'less than {100 * COSTS:.0f} % of downloads and of uploads'}."


def _loss(change: Change, name: str) -> str:
    then, now = change.then.mean, change.now.mean
    digits = decimals([then, now])
    unsure = ", which these seeds do not tell from none" if change.is_told_apart is False else ""
    rates = f"{number(then, digits)} {change.unit} in place of {number(now, digits)}"
    return f"{100 * (1 - then / now):.0f} % of {name} ({rates}{unsure})"


def _says(change: Change, value: Estimate) -> str:
    return FELT_BY_KEY[change.metric].says.format(_value(change, value))


def _value(change: Change, value: Estimate) -> str:
    """Return a value in words, with as many digits as people say."""
    mean = value.mean
    if change.unit == "ms":
        return f"{mean / 1000:.1f} s" if mean >= 1000 else f"{mean:.{0 if mean >= 10 else 1}f} ms"
    return f"{mean:.3g} {change.unit}".rstrip()


def _uncertain(advice: Advice) -> str:
    """Return that the seeds do not show whether a line helps, and what the best line had."""
    n, best = len(advice.question.seeds), advice.supposed
    seeds = f"{n} seeds do not" if n > 1 else "one seed cannot"
    pings = [plus_minus(tried.means[PING_KEY], 0) for tried in (best, advice.tried[0])]
    had = FELT_BY_KEY[PING_KEY].says.format(f"{pings[0]} ms in place of {pings[1]} ms")
    unknown = f"{seeds} show whether a line is better for all uses together"
    return f"Too uncertain to say what to type: {unknown}. With {lines(advice, best)} {had}."


def lines(advice: Advice, tried: Tried, beside: Tried | None = None) -> str:
    """Return what is typed for a candidate, in words, without a line that the candidate ``beside`` has, too."""
    if advice.question.link.key == "wifi":
        return f"`{tried.down}`"
    if tried is advice.tried[0]:
        return "nothing typed"
    ways = [("up", tried.up, beside and beside.up), ("down", tried.down, beside and beside.down)]
    words = " and ".join(f"`{line}` {way}" for way, line, other in ways if line != other) or "these lines"
    outside = [candidate.label for candidate in candidates.of(advice.question) if candidate.outside]
    return f"{words} with rates that cake-autorate sets" if tried.label in outside else words


def most(advice: Advice) -> Change | None:
    """Return the delay that changes most, as a ratio."""
    delays = [change for change in advice.changes if change.unit == "ms" and min(change.now.mean, change.then.mean) > 0]
    return max(delays, key=lambda change: abs(math.log(change.then.mean / change.now.mean)), default=None)
