"""What Linux made of a tree beside what goodqueue makes of it."""

from dataclasses import dataclass

from goodqueue import _goodqueue
from goodqueue.validation.trees.job import Job, packets_of
from goodqueue.validation.trees.machine import Answer, Sent

EXACT, DIFFERS, BOTH, LINUX, HERE = "exact", "differs", "refused by both", "refused by Linux", "refused here"

_REFUSALS = ("Command failed", "not complete", "is unknown")
"""Signs that `tc` or Linux has refused a command."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """How a tree ended."""

    kind: str
    """One of the words above."""
    events: int = 0
    """Packets that left alike."""
    text: str = ""
    """The first difference, or the refusal."""

    @property
    def is_fault(self) -> bool:
        """Whether the two did different things."""
        return self.kind in (DIFFERS, LINUX, HERE)


def compare(job: Job, answer: Answer, release: str) -> Verdict:
    """Return what differs first."""
    refused = any(sign in answer.said for sign in _REFUSALS)
    commands = "\n".join(f"tc {command}" for command in job.commands)
    draws = job.draws >> 64, job.draws & 0xFFFF_FFFF_FFFF_FFFF
    try:
        sent, dropped, left = _goodqueue.play_tree(commands, release, packets_of(job, answer.moved), job.end_ns, draws)
    except ValueError as error:
        return Verdict(BOTH if refused else HERE, text=str(error))
    if refused:
        return Verdict(LINUX, text=" ".join(answer.said.split()))
    for place, (ours, theirs) in enumerate(zip(sent, answer.sent, strict=False)):
        if ours != theirs:
            return Verdict(DIFFERS, place, f"Linux {_said(theirs)}, here {_said(ours)}")
    alike = min(len(sent), len(answer.sent))
    if len(sent) != len(answer.sent):
        longer = "here" if len(sent) > alike else "Linux"
        more = (sent if len(sent) > alike else answer.sent)[alike]
        return Verdict(
            DIFFERS, alike, f"{longer} alone {_said(more)}{_fate(more, dropped) if longer == 'Linux' else ''}"
        )
    if left != answer.left:
        return Verdict(DIFFERS, alike, f"at the end {answer.left} packets wait in Linux, {left} here")
    return Verdict(EXACT, alike)


def _said(sent: Sent) -> str:
    at, number, segment, length, tos = sent
    part = f" part {segment}" if segment else ""
    return f"sends packet {number}{part} at {at} ns ({length} bytes, codepoints {tos:#04x})"


def _fate(sent: Sent, dropped: list[Sent]) -> str:
    for at, number, segment, _, _ in dropped:
        if (number, segment) == (sent[1], sent[2]):
            return f", dropped here at {at} ns"
    return ""
