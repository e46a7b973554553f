"""How long runs are, and which part of each is measured."""

from dataclasses import dataclass

from goodqueue.advice.links import FULL_PACKET
from goodqueue.advice.reading import Question

MOST_BITS = 3e9
"""The most bits per short run, if that leaves the run long enough."""

LEAST_S = 80.0
"""The least length of a long run."""

RADIO_S = 60.0
"""The time after which the rates of a radio repeat, or more. All of it is measured."""

MOST_LONG_BITS, MOST_S = 60e9, 320.0
"""The most bits and seconds of a run that is longer because its start shows."""

CUBIC_C, CUBIC_BETA = 0.4, 0.7
"""CUBIC's constants (RFC 9438, 4.1 and 4.6)."""

PERIODS = 6.0
"""The length of a run of the link as it is now, in CUBIC's periods (docs/results/warm-up.md)."""


@dataclass(frozen=True, slots=True)
class Times:
    """The length of a run, in seconds."""

    warmup_s: float
    """What is left out."""
    measured_s: float

    @property
    def doubled(self) -> "Times":
        """Times twice as long."""
        return Times(2 * self.warmup_s, 2 * self.measured_s)

    @property
    def whole_s(self) -> float:
        """The length of the whole run."""
        return _tenths(self.warmup_s + self.measured_s)


@dataclass(frozen=True, slots=True)
class Length:
    """How long the runs of the present state and of the choice are, and whether that is enough."""

    times: Times
    settled_s: float
    """The time after which the runs are stationary."""

    @property
    def is_settled(self) -> bool:
        """Whether what was left out holds the start of the runs."""
        return self.settled_s <= self.times.warmup_s


def short(question: Question) -> Times:
    """Return the times of runs in which no FIFO has to be full: a shaper that shares settles in seconds."""
    rtt = question.rtt_s
    measured_s = 15.0 + 50 * rtt if question.is_wired else 40.0
    measured_s = max(min(measured_s, MOST_BITS / _carried_bps(question)), 5.0 + 25 * rtt)
    warmup = min(5.0, measured_s / 3) + 20 * rtt
    return Times(_tenths(warmup), _tenths(measured_s / 2 if question.quick else measured_s))


def long(question: Question) -> Times:
    """Return the times of the first runs of the link as it is now. The first half is left out.

    The first flow that fills a FIFO gets nearly all of the link. It then takes CUBIC K seconds to fill the FIFO again
    (RFC 9438, 4.2), and the others take `PERIODS` of that, or more, to catch up. A radio's rates repeat after a minute.
    """
    window = question.down_bps * (question.rtt_s + question.buffer_s) / 8 / FULL_PACKET
    period_s = (window * (1 - CUBIC_BETA) / CUBIC_C) ** (1 / 3)
    whole_s = max(PERIODS * period_s, LEAST_S) * (0.5 if question.quick else 1.0)
    if question.link.is_radio:
        whole_s = max(whole_s, 2 * RADIO_S)
    whole_s = max(min(whole_s, MOST_LONG_BITS / _carried_bps(question)), short(question).whole_s)
    return Times(_tenths(whole_s / 2), _tenths(whole_s / 2))


def should_double(question: Question, length: Length) -> bool:
    """Return whether runs of ``length`` are too short, and may be twice as long."""
    whole_s = 2 * length.times.whole_s
    is_allowed = whole_s <= MOST_S and whole_s * _carried_bps(question) <= MOST_LONG_BITS
    return is_allowed and not length.is_settled and not question.quick


def _carried_bps(question: Question) -> int:
    return question.down_bps + question.up_bps


def _tenths(seconds: float) -> float:
    return round(seconds, 1)
