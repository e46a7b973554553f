"""The sentences and the table of an answer: the link, what changes on it, how sure that is, what would change it."""

from collections.abc import Iterator
from dataclasses import replace

from goodqueue.advice import doubts as testing
from goodqueue.advice import finding
from goodqueue.advice.candidates import FAIR
from goodqueue.advice.choosing import ADDED_KEY, FELT_BY_KEY, OF_USE, PING_KEY, SINGLE_KEY, TENTH
from goodqueue.advice.gain import NOTICED
from goodqueue.advice.reading import USES, Question
from goodqueue.advice.result import Advice, Change, Tried
from goodqueue.measures import steady
from goodqueue.measures.stats import Estimate
from goodqueue.show import ratios
from goodqueue.show.answer import Section
from goodqueue.show.table import Column, Table, decimals, plus_minus, span


def link(question: Question) -> str:
    """Return the question in one line."""
    up = "" if question.link.key == "wifi" else f", {_mbps(question.up_bps)} up"
    uses = "" if set(question.uses) == set(USES) else f"; for {' and '.join(question.uses)}"
    words = f"{question.link.title}, {_mbps(question.down_bps)} down{up}, base RTT {1e3 * question.rtt_s:g} ms"
    return f"{words}{uses}"


def _mbps(bps: int) -> str:
    return f"{bps / 1e6:.4g} Mbit/s"


def measured(question: Question) -> Iterator[str]:
    """Yield Flent's measurements in a sentence, if there are any."""
    if (flent := question.found) is None:
        return
    queue = f"{1e3 * flent.buffer_s:.0f} ms of queue each way" if flent.buffer_s else "no queue to speak of"
    pings = f"pings took {span(1e3 * flent.rtt_s)} at best, and {span(flent.ping_p95_ms)} (p95) under load"
    files = flent.files[0] if len(flent.files) == 1 else f"{len(flent.files)} files"
    yield f"From Flent ({files}): {pings}, which is {queue}."


def changes(advice: Advice) -> Table:
    """Return the table of what the lines change. It fits 80 columns."""
    interval = " ± CI" if len(advice.question.seeds) > 1 else ""
    names = ["now"] if advice.tried[0].is_choice else ["now", "then", "change"]
    columns = [Column("", False), *(Column(name + interval) for name in names)]
    rows = []
    for change in advice.changes:
        size, unit = (1000, "s") if change.unit == "ms" and change.now.mean >= 10_000 else (1, change.unit)
        values = [_value(change, value, size) for value in (change.now, change.then)]
        name = f"{change.what} ({unit})" if unit else change.what
        rows.append([name, *values, _change(change)][: len(columns)])
    heading = "What is there now" if advice.tried[0].is_choice else "What that changes"
    return Table(f"{heading}, while downloads and uploads fill the link", columns, rows, list(_notes(advice)))


def _notes(advice: Advice) -> Iterator[str]:
    """Yield what the words of the table mean."""
    if (n := len(advice.question.seeds)) > 1:
        yield f"± CI: the 95 % confidence interval over {n} seeds."
    if any(change.metric == SINGLE_KEY for change in advice.changes):
        yield "A lone download is the only one of its user. Another user has three."


def _value(change: Change, estimate: Estimate, size: int) -> str:
    scaled = Estimate(estimate.mean / size, estimate.half_width and estimate.half_width / size, estimate.n)
    if not change.unit:
        return plus_minus(scaled, 2)
    return plus_minus(scaled, 0 if change.unit == "ms" and scaled.mean >= 100 else decimals([scaled.mean]))


def _change(change: Change) -> str:
    """Return the change with its interval, or that the seeds do not tell the two apart."""
    if change.is_told_apart is False:
        return "not told apart"
    if not change.unit:
        return f"{'+' if change.difference.mean > 0 else ''}{plus_minus(change.difference, 2)}"
    return ratios.change(change.ratio)


def senders(advice: Advice) -> Iterator[str]:
    """Yield what another congestion control gets of the link, if that was measured."""
    yield from (doubt.then for doubt in advice.doubts if doubt.what == testing.SENDERS)


def sure(advice: Advice) -> Section:
    """Return how certain the answer is, which line is next, and what cake's words for fairness are worth."""
    return Section("How sure", [*_sure(advice), measured_part(advice), *_tuned(advice)])


def measured_part(advice: Advice) -> str:
    """Return which part of the runs was measured, and whether their start still shows in it."""
    times, shows_s = advice.length.times, advice.length.settled_s
    if not advice.length.is_settled:
        return f"Measured in the first {times.whole_s:g} s: not yet stationary ({steady.METHOD})."
    part = f"seconds {times.warmup_s:g} to {times.whole_s:g} of each run"
    return f"Measured: {part}; the start shows for {shows_s:g} s ({steady.METHOD})."


def _sure(advice: Advice) -> Iterator[str]:
    n = len(advice.question.seeds)
    now, choice = advice.tried[0], advice.choice
    seeds = f"{n} seeds, the same for all lines" if n > 1 else "One seed, so nobody knows"
    yield f"{seeds}.{'' if now.is_choice else _felt_most(advice)} {_next(advice)}".rstrip()
    added = [_ms(tried.means[ADDED_KEY]) for tried in (now, choice)]
    then = "" if now.is_choice else f", {added[1]} then"
    yield f"The letter is for the time that the load adds to a ping each way: {added[0]} now{then}."
    if FAIR[0] in choice.down:
        plain, fair = (tried.means[SINGLE_KEY].mean for tried in (advice.tried[1], choice))
        yield f"Without nat, dual-srchost and dual-dsthost the lone download gets {plain:.3g} Mbit/s, not {fair:.3g}."


def _felt_most(advice: Advice) -> str:
    """Return the change of the delay that changes most, with its interval."""
    if (change := finding.most(advice)) is None:
        return ""
    size = replace(change.difference, mean=abs(change.difference.mean))
    what = f"{change.what[0].lower()}{change.what[1:]}"
    falls = f"{'falls' if change.difference.mean < 0 else 'rises'} by {_ms(size)}"
    return f' What changes most, "{what}", {falls} (95 % confidence interval).'


def _ms(estimate: Estimate) -> str:
    return f"{plus_minus(estimate, 0 if estimate.mean >= 100 else decimals([estimate.mean]))} ms"


def _next(advice: Advice) -> str:
    """Return what the best of the other lines has, and why it is not the answer."""
    other = advice.longer or advice.next
    if other is None:
        return ""
    name = finding.lines(advice, other, advice.choice)
    if advice.longer is None:
        is_same = other.behind.half_width is not None and not other.behind.excludes_zero
        caution = ", and these seeds do not tell the two apart" if is_same else ""
        return f"Next is {name}: {_has(other, advice.choice, PING_KEY)}{caution}."
    better = f"{name}: {_has(other, advice.choice, OF_USE[other.gain.use])}"
    if not other.gain.is_told_apart:
        return f"Perhaps better is {better}. These seeds do not tell the two apart, so the simpler line is taken."
    return f"A little better is {better}. In no use is that a fifth, which somebody would feel."


def _has(tried: Tried, other: Tried, key: str) -> str:
    """Return what a candidate has of a number, in place of what another one has."""
    felt = FELT_BY_KEY[key]
    values = [candidate.means[key].mean for candidate in (tried, other)]
    words = [span(value) if felt.unit == "ms" else f"{value:.3g} {felt.unit}" for value in values]
    return felt.says.format(" in place of ".join(dict.fromkeys(words)))


def _tuned(advice: Advice) -> Iterator[str]:
    """Yield what tuning the line found, if it was asked for."""
    from goodqueue.search.tune.answer import sentence

    if isinstance(advice.tuning, str):
        yield f"Not tuned: {advice.tuning}."
    elif advice.tuning is not None:
        best = advice.tuning.best
        gains = [abs(gain.mean) / TENTH for gain in best.gains if gain is not None] if best else []
        unfelt = " Nobody feels less than a fifth: keep the line." if gains and max(gains) < NOTICED else ""
        yield f"Tuned: {sentence(advice.tuning)}{unfelt}"


def doubts(advice: Advice) -> Section:
    """Return one paragraph per doubt that was tested, with a star if another line would be better, and the rest."""
    tested = [doubt for doubt in advice.doubts if doubt.what != testing.SENDERS]
    star = " (*: type something else then)" if any(doubt.changes_answer for doubt in tested) else ""
    said = [f"  {'*' if doubt.changes_answer else '-'} {doubt.what}: {doubt.then}" for doubt in tested]
    return Section(f"What would change it, measured{star}", [*said, _assumed(advice)])


def _assumed(advice: Advice) -> str:
    return "Assumed: " + "; ".join(f"{what} ({source})" for what, source in advice.assumed) + "."
