"""Prints the answer on one screen, and the evidence for it."""

from collections.abc import Iterator

from goodqueue.advice import commands
from goodqueue.advice.candidates import FAIR
from goodqueue.advice.choosing import ADDED_KEY, FELT, SINGLE_KEY, TENTH
from goodqueue.advice.gain import NOTICED, Gain
from goodqueue.advice.reading import USES, Question
from goodqueue.advice.result import Advice, Change, Check, Tried
from goodqueue.measures import steady
from goodqueue.measures.scores import letter
from goodqueue.measures.stats import Estimate
from goodqueue.show import ratios
from goodqueue.show.table import Column, Table, decimals, number, plus_minus, span


def headline(question: Question) -> str:
    """Return the question in one line."""
    up = "" if question.link.key == "wifi" else f", {_mbps(question.up_bps)} up"
    uses = "" if set(question.uses) == set(USES) else f"; for {' and '.join(question.uses)}"
    link = f"{question.link.title}, {_mbps(question.down_bps)} down{up}, base RTT {1e3 * question.rtt_s:g} ms"
    return f"{link}{uses}"


def warning(advice: Advice) -> list[str]:
    """Return the first sentence of an answer that the seeds do not support, or none."""
    if not advice.is_doubtful:
        return []
    points = advice.supposed.points
    if points.half_width is None:
        return ["Too uncertain: one seed cannot show whether these lines help. Give --seeds 5 or more."]
    more = 4 * len(advice.question.seeds)
    sentence = f"Too uncertain: {plus_minus(points)} points better than now may be none at all."
    which = "" if advice.supposed.is_choice else f" ({advice.supposed.label})"
    return [f"{sentence}{which} Give --seeds {more} to halve the interval."]


def _mbps(bps: int) -> str:
    return f"{bps / 1e6:.4g} Mbit/s"


def measured(question: Question) -> list[str]:
    """Return Flent's measurements in a sentence."""
    if (flent := question.found) is None:
        return []
    queue = f"{1e3 * flent.buffer_s:.0f} ms of queue each way" if flent.buffer_s else "no queue to speak of"
    pings = f"pings took {span(1e3 * flent.rtt_s)} at best, and {span(flent.ping_p95_ms)} (p95) under load"
    files = flent.files[0] if len(flent.files) == 1 else f"{len(flent.files)} files"
    return [f"From Flent ({files}): {pings}, which is {queue}."]


def lines(advice: Advice) -> list[str]:
    """Return the lines to type: tc's commands, and OpenWrt's settings."""
    typed = advice.commands
    if advice.question.link.key == "wifi":
        (line,) = typed["down"]
        text = ["Type this line on the access point:", f"  {line}"]
        if advice.down == "mac80211":
            text.append("It leaves all to the driver's own queues; `iw phy | grep TXQ` says whether it has any.")
        return [*text, f"Undo: {advice.undo}"]
    if not typed["down"]:
        return ["Type nothing: no line is so much better than what is there now that somebody would feel it."]
    both = len(typed["down"]) == 1
    text = [f"Type {'these two lines' if both else 'these lines'}; {_interface(advice.question)}:"]
    text += [f"  {line}" for line in (*typed["up"], *typed["down"])]
    text += ["Once, before the " + ("second" if both else "lines on ifb0") + ", for what comes in:"]
    text += [f"  {line}" for line in typed["prepare"]]
    if advice.program:
        words = [f"{name}={value}" for name, value in advice.program.items()]
        text += ["Then let cake-autorate set the rates. In its config.primary.sh:"]
        text += ["  " + "; ".join(some) for some in (words[:5], words[5:])]
    if advice.sqm:
        text += ["Or on OpenWrt, in /etc/config/sqm:", *_options(advice.sqm)]
    return [*text, f"Packages: {commands.PACKAGES}.", f"LuCI: {commands.LUCI}.", f"Undo: {advice.undo}"]


def _interface(question: Question) -> str:
    name = question.wan.name
    if not question.wan.header:
        return f"{name} is the router's PPPoE interface"
    return f"{name} is the router's port that faces the modem"


def _options(sqm: dict[str, str]) -> Iterator[str]:
    """Yield the options for `uci`, in a loop that can be pasted."""
    words = [f"{name}='{value}'" if " " in value else f"{name}={value}" for name, value in sqm.items()]
    rows: list[str] = ["  for option in"]
    for word in words:
        if len(rows[-1]) + len(word) > 94:
            rows[-1] += " \\"
            rows.append("   ")
        rows[-1] += f" {word}"
    yield from rows
    yield '  do uci set "sqm.@queue[0].$option"; done; uci commit sqm; /etc/init.d/sqm restart'


def changes(advice: Advice) -> Table:
    """Return the table of what the lines change."""
    while_loaded = Column("While downloads and uploads fill the link", False)
    if advice.tried[0].is_choice:
        rows = [[change.what, _value(change.now, change)] for change in advice.changes]
        return Table("What is there now", [while_loaded, Column("now" + _plus_minus(advice))], rows)
    interval = _plus_minus(advice)
    columns = [while_loaded, *(Column(heading + interval) for heading in ("now", "then", "change"))]
    rows = [
        [change.what, _value(change.now, change), _value(change.then, change), _change(change)]
        for change in advice.changes
    ]
    return Table("What that changes", columns, rows)


def _plus_minus(advice: Advice) -> str:
    return " ± CI" if len(advice.question.seeds) > 1 else ""


def _value(estimate: Estimate, change: Change) -> str:
    size = 1000.0 if change.unit == "ms" and change.now.mean >= 10_000 else 1.0
    unit = "s" if size > 1 else change.unit
    scaled = Estimate(estimate.mean / size, estimate.half_width and estimate.half_width / size, estimate.n)
    digits = (
        2 if not change.unit else 0 if change.unit == "ms" and estimate.mean / size >= 100 else decimals([scaled.mean])
    )
    return f"{plus_minus(scaled, digits)} {unit}".rstrip()


def _change(change: Change) -> str:
    """Return the change with its interval, or that the seeds do not tell the two apart."""
    if change.is_told_apart is False:
        return "not told apart"
    if not change.unit:
        return f"{'+' if change.difference.mean > 0 else ''}{plus_minus(change.difference, 2)}"
    return ratios.change(change.ratio)


def sentences(advice: Advice) -> Iterator[str]:
    """Yield what stands below the table: a score, how sure the answer is, what would change it, what is assumed."""
    yield letters(advice)
    yield from sure(advice)
    yield measured_part(advice)
    yield from tuned(advice)
    yield from doubts(advice)
    yield assumed(advice)


def measured_part(advice: Advice) -> str:
    """Return which part of the runs was measured, and whether their start still shows in it."""
    times, shows_s = advice.length.times, advice.length.settled_s
    if not advice.length.is_settled:
        return f"Measured in the first {times.whole_s:g} s: not yet stationary ({steady.METHOD})."
    part = f"seconds {times.warmup_s:g} to {times.whole_s:g} of each run"
    return f"Measured: {part}; the start shows for {shows_s:g} s ({steady.METHOD})."


def letters(advice: Advice) -> str:
    """Return in a sentence what a bufferbloat test would say."""
    now, then = (tried.means[ADDED_KEY] for tried in (advice.tried[0], advice.choice))
    sentence = f"{letter.SAYS} {letter.letters(now)} now"
    if advice.tried[0].is_choice:
        return f"{sentence}: the load adds {_added(now)}."
    return f"{sentence} and {letter.letters(then)} then: the load adds {_added(now)} and {_added(then)}."


def _added(estimate: Estimate) -> str:
    return f"{plus_minus(estimate, 0 if estimate.mean >= 100 else decimals([estimate.mean]))} ms"


def sure(advice: Advice) -> Iterator[str]:
    """Yield sentences on the certainty of the answer, and on the worth of cake's words for fairness between users."""
    n = len(advice.question.seeds)
    choice = advice.choice
    seeds = f"{n} seeds, the same for all" if n > 1 else "one seed, so nobody knows"
    gain = "" if advice.tried[0].is_choice else f" {plus_minus(choice.points)} points better than now, where"
    yield f"How sure: {seeds}.{gain or ' Here'} a point is a tenth of one of these numbers. {_next(advice)}"
    if FAIR[0] in choice.down:
        plain, fair = (tried.means[SINGLE_KEY].mean for tried in (advice.tried[1], choice))
        yield f"Without nat, dual-srchost and dual-dsthost the only download gets {plain:.3g} Mbit/s, not {fair:.3g}."


def _next(advice: Advice) -> str:
    if (best := advice.longer) is not None:
        return f"{best.label} has {plus_minus(best.gain.points)} more, {_why_not(best.gain)}."
    after = advice.next
    if after is None:
        return ""
    caution = (
        "" if after.behind.half_width is None or after.behind.excludes_zero else ": these seeds do not tell them apart"
    )
    return f"Next is {after.label}, {plus_minus(after.behind)} points behind{caution}."


def _why_not(gain: Gain) -> str:
    """Return why a candidate with more points than the choice is not the choice."""
    if not gain.is_told_apart:
        return "which these seeds do not tell from none: the simpler line is taken"
    return f"but at most {plus_minus(gain.most)} in one use ({gain.use}): nobody feels less than {NOTICED:g}"


def tuned(advice: Advice) -> Iterator[str]:
    """Yield what tuning the line found, if it was asked for."""
    from goodqueue.search.tune.answer import sentence

    if isinstance(advice.tuning, str):
        yield f"Not tuned: {advice.tuning}."
    elif advice.tuning is not None:
        best = advice.tuning.best
        gains = [abs(gain.mean) / TENTH for gain in best.gains if gain is not None] if best else []
        unfelt = f" Nobody feels less than {NOTICED:g} points: keep the line." if gains and max(gains) < NOTICED else ""
        yield f"Tuned: {sentence(advice.tuning)}{unfelt}"


def doubts(advice: Advice) -> Iterator[str]:
    """Yield one paragraph per doubt that was tested, with a star if another line would be better."""
    yield "What would change it, measured" + (" (*: type something else then):" if _any_changes(advice) else ":")
    for doubt in advice.doubts:
        yield f"  {'*' if doubt.changes_answer else '-'} {doubt.what}: {doubt.then}"


def _any_changes(advice: Advice) -> bool:
    return any(doubt.changes_answer for doubt in advice.doubts)


def assumed(advice: Advice) -> str:
    """Return the assumptions in a paragraph."""
    return "Assumed: " + "; ".join(f"{what} ({source})" for what, source in advice.assumed) + "."


def address(advice: Advice) -> list[str]:
    """Return where to see the answer packet by packet, or nothing if the page cannot run it."""
    if not advice.address:
        return []
    return ["See both, packet by packet: start `goodqueue serve --no-browser`, and open", advice.address]


def checks(advice: Advice) -> list[Table]:
    """Return the numbers of Linux's own qdiscs in the same runs."""
    if not advice.checks:
        return []
    columns = [Column("", False), Column("lines", False), Column("promised"), Column("Linux"), Column("off")]
    return [
        Table(
            "On Linux's own qdiscs and TCP: one seed, half as long", columns, [_check(check) for check in advice.checks]
        )
    ]


def _check(check: Check) -> list[str]:
    digits = decimals([check.measured])
    numbers = [f"{number(value, digits)} {check.unit}" for value in (check.promised, check.measured)]
    return [check.what, check.lines, *numbers, f"{check.percent:+.1f} %"]


def why(advice: Advice) -> list[Table]:
    """Return the evidence: all candidates on the stated link, and on the links of the doubts."""
    rule = (
        "Points: one for each tenth of a delay or of goodput, and for 0.1 of MOS, above what is there now.",
        f"A longer line is taken if it has {NOTICED:g} points more in one use, and the seeds tell the two apart;",
        "otherwise the simplest line is taken, and of equally simple ones the one with the most goodput.",
    )
    tables = [_all("Everything that was tried, the simplest first", advice.tried, [" ".join(rule)])]
    tables += [_all(doubt.what, doubt.tried, []) for doubt in advice.doubts]
    return tables


def _all(title: str, tried: list[Tried], notes: list[str]) -> Table:
    felt = [felt_metric for felt_metric in FELT if felt_metric.key in tried[0].means]
    columns = [Column("", False), *(Column(metric.column) for metric in felt), Column("points")]
    rows = []
    for row in tried:
        cells = [plus_minus(row.means[key.key], 2 if key.unit != "ms" else 1) for key in felt]
        rows.append([("> " if row.is_choice else "") + row.label, *cells, plus_minus(row.points)])
    return Table(title, columns, rows, notes)
