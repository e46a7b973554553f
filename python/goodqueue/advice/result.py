"""The answer: the lines, what they change, how sure that is, and what would change the answer."""

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from goodqueue.advice.gain import Gain
from goodqueue.advice.lengths import Length
from goodqueue.advice.reading import Question
from goodqueue.comparison.comparing import estimate_json, ratio_json
from goodqueue.measures.ratios import Ratio
from goodqueue.measures.stats import Estimate

if TYPE_CHECKING:
    from goodqueue.search.tune.work import Tuning


@dataclass(frozen=True, slots=True)
class Change:
    """One metric, before and after."""

    metric: str
    """Its key, as in `goodqueue.measures.metrics`."""
    what: str
    """Its name for a person."""
    unit: str
    now: Estimate
    then: Estimate
    difference: Estimate
    """The difference ``then`` − ``now``, paired by seed."""
    ratio: Ratio | None
    """The ratio of ``then`` to ``now``. None if it is not known: the interval of ``now`` includes 0."""

    @property
    def is_told_apart(self) -> bool | None:
        """Whether the seeds tell the two apart: the difference's interval excludes zero. None for a single seed."""
        return None if self.difference.half_width is None else self.difference.excludes_zero


@dataclass(frozen=True, slots=True)
class Tried:
    """A candidate with its measurements."""

    label: str
    down: str
    up: str
    means: dict[str, Estimate]
    """The means by metric."""
    points: Estimate
    """By how many points it is better than the present state, paired by seed."""
    behind: Estimate
    """By how many points it is behind the best, paired by seed."""
    gain: Gain
    """What it has more than the choice."""
    is_choice: bool


@dataclass(frozen=True, slots=True)
class Doubt:
    """An assumption that may be wrong, tried."""

    what: str
    """What the other case would be."""
    then: str
    """The measurements in that case, in a sentence."""
    changes_answer: bool
    """Whether another line would be better then."""
    tried: list[Tried]


@dataclass(frozen=True, slots=True)
class Check:
    """One promised number compared with Linux's own qdiscs."""

    what: str
    lines: str
    """``now`` or ``then``."""
    promised: float
    """The simulator's number, for the same scenario and seed."""
    measured: float
    """The kernel engine's number."""
    unit: str

    @property
    def percent(self) -> float:
        """The error of the promise, in percent of the measurement."""
        return 100 * (self.promised - self.measured) / self.measured


@dataclass(frozen=True, slots=True)
class Advice:
    """Which line to type, and why."""

    question: Question
    label: str
    """The candidate that was chosen."""
    down: str
    """The qdisc line for the direction down."""
    up: str
    commands: dict[str, list[str]]
    """The commands to type, by direction. ``prepare`` comes before ``down``."""
    sqm: dict[str, str]
    """The options of OpenWrt's /etc/config/sqm. Empty if SQM has none for this line."""
    program: dict[str, str]
    """The settings of cake-autorate, if that program sets the rates."""
    undo: str
    """The command that takes the typed lines away. Empty if there are none."""
    changes: list[Change]
    tried: list[Tried]
    """All candidates, the simplest first. The first is the present state."""
    address: str
    """The address that opens the experiment in the page of ``goodqueue serve``, or an empty text if none can."""
    doubts: list[Doubt]
    assumed: list[tuple[str, str]]
    """The assumptions that the user did not state, with their sources."""
    length: Length
    """The length of the runs behind ``changes``."""
    checks: list[Check]
    """The comparison with Linux. Empty if it was not asked for."""
    kernel: str
    """Why Linux could not be run, or an empty text."""
    tuning: "Tuning | str | None" = None
    """The best values of the line's parameters, or why none are tuned. None if that was not asked for."""

    @property
    def choice(self) -> Tried:
        """The candidate that was chosen."""
        return next(tried for tried in self.tried if tried.is_choice)

    @property
    def is_doubtful(self) -> bool:
        """Whether the seeds do not show whether a line is better than what is there now."""
        return self.supposed is not self.tried[0] and not self.supposed.points.excludes_zero

    @property
    def supposed(self) -> Tried:
        """The choice. If it is to type nothing, the best line whose gain somebody would feel, if the mean is true."""
        if not self.tried[0].is_choice:
            return self.choice
        felt = [tried for tried in self.tried if tried.gain.is_felt]
        return max(felt, key=lambda tried: tried.points.mean, default=self.choice)

    @property
    def longer(self) -> Tried | None:
        """The candidate with the most points, if it is not the choice because it is not worth it."""
        best = min(self.tried, key=lambda tried: tried.behind.mean)
        return None if best.is_choice else best

    @property
    def next(self) -> Tried | None:
        """The best candidate that was not chosen."""
        others = [tried for tried in self.tried if not tried.is_choice]
        return min(others, key=lambda tried: tried.behind.mean, default=None)


def as_json(advice: Advice, version: str) -> dict[str, Any]:
    """Return ``advice`` as the object that ``advise --json`` prints."""
    question = advice.question
    return {
        "schema": 1,
        "made_by": "goodqueue advise",
        "version": version,
        "link": {
            "kind": question.link.key,
            "down_bps": question.down_bps,
            "up_bps": None if question.link.key == "wifi" else question.up_bps,
            "rtt_ms": question.rtt_s * 1e3,
            "buffer_ms": None if question.link.key == "wifi" else question.buffer_s * 1e3,
            "overhead": question.link.overhead if question.link.framing else None,
            "wan": question.wan.name,
            "flent": asdict(question.found) if question.found else None,
        },
        "uses": list(question.uses),
        "seeds": list(question.seeds),
        "choice": {
            "label": advice.label,
            "down": advice.down,
            "up": advice.up,
            "commands": advice.commands,
            "sqm": advice.sqm,
            "autorate": advice.program,
            "undo": advice.undo,
            "doubtful": advice.is_doubtful,
        },
        "length": {**asdict(advice.length.times), "settled_s": advice.length.settled_s},
        "changes": [
            {
                "metric": change.metric,
                "what": change.what,
                "unit": change.unit,
                "now": estimate_json(change.now),
                "then": estimate_json(change.then),
                "difference": estimate_json(change.difference),
                "ratio": ratio_json(change.ratio),
                "told_apart": change.is_told_apart,
            }
            for change in advice.changes
        ],
        "tried": [_tried_json(tried) for tried in advice.tried],
        "address": advice.address or None,
        "doubts": [
            {
                "what": doubt.what,
                "then": doubt.then,
                "changes_answer": doubt.changes_answer,
                "tried": [_tried_json(tried) for tried in doubt.tried],
            }
            for doubt in advice.doubts
        ],
        "assumed": [{"what": what, "source": source} for what, source in advice.assumed],
        "kernel": {
            "why_not": advice.kernel or None,
            "checks": [{**asdict(check), "off_percent": check.percent} for check in advice.checks],
        },
        "tuned": _tuned_json(advice.tuning),
    }


def _tuned_json(tuning: "Tuning | str | None") -> dict[str, Any] | None:
    from goodqueue.search.tune import answer

    if tuning is None or isinstance(tuning, str):
        return None if tuning is None else {"why_not": tuning}
    return answer.of(tuning).as_json("tune")


def _tried_json(tried: Tried) -> dict[str, Any]:
    return {
        "label": tried.label,
        "down": tried.down,
        "up": tried.up,
        "is_choice": tried.is_choice,
        "metrics": {key: estimate_json(mean) for key, mean in tried.means.items()},
        "points": estimate_json(tried.points),
        "behind": estimate_json(tried.behind),
        "gain": {
            "points": estimate_json(tried.gain.points),
            "use": tried.gain.use,
            "most": estimate_json(tried.gain.most),
            "worth_it": tried.gain.is_worth_it,
        },
    }
