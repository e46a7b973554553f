"""Tests what would change the answer: the rate, the margin, the hidden buffer, Wi-Fi. Each is run and reported."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from goodqueue.advice import candidates
from goodqueue.advice.candidates import Candidate, kbit
from goodqueue.advice.links import air_mbps
from goodqueue.advice.reading import Question
from goodqueue.advice.result import Tried
from goodqueue.advice.scenarios import AIR, Truth
from goodqueue.show.table import span

SLOWER = candidates.ADVERTISED
"""The share of the contract's rate that a link may have, if nobody measured it."""

SHALLOW, DEEP = 0.2, 4.0
"""The present queue may be this many times as large as assumed."""

SAME = "these lines"

PING = "ping_rtt_p95_ms"

SAME_WITHIN = 1.1
"""A ratio of delays, or of rates, of less than a point."""


@dataclass(frozen=True, slots=True)
class Trial:
    """A run that tests a doubt."""

    label: str
    candidate: Candidate
    truth: Truth


@dataclass(frozen=True, slots=True)
class Asked:
    """An assumption that may be wrong, and the runs that test it."""

    what: str
    trials: list[Trial]
    chosen: int
    """The index of the trial with the lines of the answer."""
    say: Callable[[Sequence[Tried]], str]
    asks: bool = True
    """Whether the other trials are lines that the user could type instead. If not, they show what it is worth."""


def of(question: Question, choice: Candidate, after: Candidate) -> list[Asked]:
    """Return the doubts about the ``choice``. ``after`` was the next best candidate."""
    now = candidates.of(question)[0]
    if question.link.key == "wifi":
        return _of_wifi(question, choice)
    senders = [_senders(question, choice, now)] if question.link.key == "starlink" else []
    if choice.kind == "nothing":
        return [*senders, _deeper(question, choice, after), _last_hop(choice)]
    if question.link.is_radio:
        slower = [] if question.trace else [_slower_radio(choice, now)]
        every = candidates.of(question)
        arrivals = next(candidate for candidate in every if "autorate" in candidate.words_down)
        program = next(candidate for candidate in every if candidate.outside)
        tried = [(arrivals, ARRIVALS), (program, PROGRAM)]
        return [
            *slower,
            *senders,
            *(_follows(choice, candidate, *answers) for candidate, answers in tried if candidate != choice),
            _last_hop(choice),
        ]
    port = [_own_port(choice, now)] if question.link.key == "ethernet" else []
    return [
        _slower(question, choice, now),
        _full_rate(choice),
        _shallower(question, choice, now),
        *port,
        *([_grants(choice, now)] if question.link.key == "docsis" else []),
        _last_hop(choice),
    ]


def _ping(tried: Tried) -> str:
    ms = tried.means[PING].mean
    return f"{ms:.0f} ms" if 100 <= ms < 1000 else span(ms)


def _down(tried: Tried) -> str:
    return f"{tried.means['goodput_mbps'].mean:.3g} Mbit/s"


def _slower(question: Question, choice: Candidate, now: Candidate) -> Asked:
    """Return the doubt that the rate is not known: the link carries less than the user said."""
    truth = Truth(rate=SLOWER)
    adapted = choice.at(choice.down * SLOWER, choice.up * SLOWER)
    down, up = (kbit(bps) for bps in adapted.rates_bps(question))

    def say(ranked: Sequence[Tried]) -> str:
        _, same, lower = ranked
        return f"pings take {_ping(same)}. Type {down} and {up} then: {_ping(lower)}."

    what = f"The link carries {100 * (1 - SLOWER):.0f} % less"
    trials = [Trial("now", now, truth), Trial(SAME, choice, truth), Trial("set lower", adapted, truth)]
    return Asked(what, trials, 1, say)


def _full_rate(choice: Candidate) -> Asked:
    """Return the doubt about the margin: without it the hidden buffer is the bottleneck again."""

    def say(ranked: Sequence[Tried]) -> str:
        margin, full = ranked
        more = f"{_down(full).split()[0]}, not {_down(margin)}"
        return f"pings take {_ping(full)}, not {_ping(margin)}; downloads get {more}."

    trials = [Trial(SAME, choice, Truth()), Trial("at the full rate", choice.at(1.0), Truth())]
    return Asked("Shapers at the full rate", trials, 0, say)


def _held(question: Question, times: float) -> str:
    return f"The modem holds {1e3 * question.buffer_s * times:.0f} ms of queue, not {1e3 * question.buffer_s:.0f}"


def _shallower(question: Question, choice: Candidate, now: Candidate) -> Asked:
    """Return the doubt that the queue is shallower: there is less to gain."""
    truth = Truth(buffer=SHALLOW)

    def say(ranked: Sequence[Tried]) -> str:
        before, after = ranked
        return f"pings take {_ping(before)} now, and {_ping(after)} with these lines."

    return Asked(_held(question, SHALLOW), [Trial("now", now, truth), Trial(SAME, choice, truth)], 1, say)


def _deeper(question: Question, choice: Candidate, after: Candidate) -> Asked:
    """Return the doubt that the queue is deeper: then a line may be worth typing after all."""
    truth = Truth(buffer=DEEP)
    words = " and ".join(f"`{line}` {way}" for line, way in zip(after.lines(question), ("down", "up"), strict=True))

    def say(ranked: Sequence[Tried]) -> str:
        before, typed = ranked
        return f"pings take {_ping(before)} as it is, and {_ping(typed)} with {words}."

    return Asked(_held(question, DEEP), [Trial("now", choice, truth), Trial(after.label, after, truth)], 0, say)


def _own_port(choice: Candidate, now: Candidate) -> Asked:
    """Return the doubt that there is no modem: the link is the router's own port, whose discipline is the queue."""
    truth = Truth(own=True)

    def say(ranked: Sequence[Tried]) -> str:
        plain, shaped = ranked
        return (
            f"fq_codel without a shaper has {_ping(plain)} and {_down(plain)}, "
            f"these lines {_ping(shaped)} and {_down(shaped)}."
        )

    trials = [Trial("fq_codel, no shaper", now, truth), Trial(SAME, choice, truth)]
    return Asked("The link is the router's own port, with no modem", trials, 1, say)


def _grants(choice: Candidate, now: Candidate) -> Asked:
    """Return the doubt that the modem asks for grants, as DOCSIS 3.1 does. Linux cannot run that."""
    truth = Truth(grants=True)

    def say(ranked: Sequence[Tried]) -> str:
        before, after = ranked
        return f"pings take {_ping(before)} now, and {_ping(after)} with these lines. The page has no grants."

    trials = [Trial("now", now, truth), Trial(SAME, choice, truth)]
    return Asked("The modem waits for grants (DOCSIS 3.1)", trials, 1, say)


def _last_hop(choice: Candidate) -> Asked:
    """Return the doubt about a slow Wi-Fi behind the line. No line on the router's port reaches its queue."""

    def say(ranked: Sequence[Tried]) -> str:
        fifo, own_queue = ranked
        if fifo.means[PING].mean < SAME_WITHIN * own_queue.means[PING].mean:
            return f"it is not the narrowest, and pings take {_ping(own_queue)}."
        return (
            f"pings take {_ping(fifo)} with a FIFO at the access point, {_ping(own_queue)} with mac80211's own queues."
        )

    trials = [
        Trial("pfifo at the access point", choice, Truth(air="pfifo")),
        Trial("mac80211 at the access point", choice, Truth(air="mac80211")),
    ]
    what = f"The last hop is Wi-Fi, a room away ({air_mbps(*AIR):g} Mbit/s on the air)"
    return Asked(what, trials, 0, say, asks=False)


def _slower_radio(choice: Candidate, now: Candidate) -> Asked:
    """Return the doubt that the radio carries half of the mean rate: a shaper does not follow a radio."""
    truth = Truth(rate=0.5)

    def say(ranked: Sequence[Tried]) -> str:
        before, same, lower = ranked
        return f"pings take {_ping(same)} ({_ping(before)} as it is); set to half as much, {_ping(lower)}."

    adapted = choice.at(choice.down / 2, choice.up / 2)
    trials = [Trial("now", now, truth), Trial(SAME, choice, truth), Trial("set to half", adapted, truth)]
    return Asked("The radio carries half of what you said", trials, 1, say)


SENDERS = "The senders have BBR"


def _senders(question: Question, choice: Candidate, now: Candidate) -> Asked:
    """Return the doubt about CUBIC, where a link loses packets at random (docs/concepts/access-links.md)."""
    lines = [now] if choice == now else [now, choice]

    def say(ranked: Sequence[Tried]) -> str:
        cubic, *bbr = (tried.means["goodput_mbps"].mean for tried in ranked)
        why = ", since CUBIC takes each random loss for a full queue" if cubic < bbr[0] / SAME_WITHIN else ""
        typed = f" now, and {bbr[1]:.3g} with the best lines" if len(bbr) > 1 else ""
        said = f"Of {question.down_bps / 1e6:.4g} Mbit/s downloads of CUBIC get {cubic:.3g} now{why}."
        return f"{said} Downloads of BBR get {bbr[0]:.3g} Mbit/s{typed}."

    trials = [Trial("CUBIC", now, Truth()), *(Trial("BBR", line, Truth(cc="bbr")) for line in lines)]
    return Asked(SENDERS, trials, 0, say, asks=False)


ARRIVALS = "You let cake follow the rate (autorate-ingress)", ": it does not see the base station's queue"
"""A shaper that follows the rate at which packets arrive."""

PROGRAM = "A program sets the rates by the delay of pings (cake-autorate)", ""
"""A program beside the router."""


def _follows(choice: Candidate, follows: Candidate, what: str, why: str) -> Asked:
    """Return the doubt about a shaper whose rate follows the radio's."""

    def say(ranked: Sequence[Tried]) -> str:
        same, auto = ranked
        pings = f"pings take {_ping(auto)}, not {_ping(same)}"
        return f"{pings}, and downloads get {_down(auto)}, not {_down(same)}{why}."

    trials = [Trial(SAME, choice, Truth()), Trial(follows.label, follows, Truth())]
    return Asked(what, trials, 0, say)


def _of_wifi(question: Question, choice: Candidate) -> list[Asked]:
    """Return the doubts about Wi-Fi: a driver without queues of its own, and a far station that takes the air."""
    every = candidates.of(question)

    def old(ranked: Sequence[Tried]) -> str:
        fifo, above = ranked
        return f"pings take {_ping(fifo)} with a FIFO above it, {_ping(above)} with fq_codel: type that then."

    def far(ranked: Sequence[Tried]) -> str:
        each = zip(every, ranked, strict=True)
        return (
            ", ".join(f"{candidate.kind} has {_ping(tried)} and {_down(tried)}" for candidate, tried in each)
            + " for both."
        )

    trials = [Trial(candidate.kind, candidate, Truth(far=True)) for candidate in every]
    questions = [Asked("A far station (MCS 0) downloads as much", trials, every.index(choice), far)]
    if choice.kind == "mac80211":
        old_trials = [Trial(candidate.label, candidate, Truth()) for candidate in every[:2]]
        questions.insert(0, Asked("The driver has no queues of its own", old_trials, 0, old))
    return questions
