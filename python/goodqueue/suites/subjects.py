"""The subjects under test: qdisc lines or congestion controls, as the user named them."""

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from goodqueue import scenario as scenarios
from goodqueue.engines import loads
from goodqueue.errors import UserError
from goodqueue.show import notes
from goodqueue.suites import stacks
from goodqueue.suites.model import Suite
from goodqueue.traffic import BULK


@dataclass(frozen=True, slots=True)
class Subject:
    """A qdisc line or a congestion control."""

    name: str
    """The name that the user gave. It is also the name in the sheet."""
    takes_buffer: bool = True
    """Whether a scenario's buffer sets its limit. False for a line with a limit of its own, or without any limit."""
    stack: str = ""
    """The QUIC stack whose congestion control it is. Empty: it is TCP's, or a line."""

    @property
    def cc(self) -> str:
        """The congestion control's own name."""
        return self.name.removeprefix(f"{self.stack} ")


MISSING = {
    "qdisc": ("qdisc", "codel, or ./my_aqm.py:MyAqm"),
    "cc": ("congestion control", "bbr3, or 'cubic hystart++' (see `goodqueue list cc`)"),
}
"""The name of the subject, and an example, by what a suite tests."""


def read(suite: Suite, lines: Sequence[str], stack: str = "") -> list[Subject]:
    """Return the subjects under test. Without ``lines`` they are the suite's default.

    With ``stack`` they are congestion controls of that QUIC stack. Raises UserError for a name that no run accepts, or
    if nothing is named and there is no default.
    """
    names = list(dict.fromkeys(" ".join(name.split()) for name in lines))
    if stack:
        names = names or stacks.default(suite, stack)
        return [_cc(suite, Subject(f"{stack} {name}", stack=stack)) for name in names]
    names = names or list(suite.default)
    if not names:
        missing, example = MISSING[suite.tests]
        raise UserError(f"suite {suite.key}", f"no {missing}; accepted: one or several, such as {example}")
    subjects = [_qdisc(name) if suite.tests == "qdisc" else _cc(suite, Subject(name)) for name in names]
    if suite.tests == "qdisc":
        notes.warn({}, {}, names)
    return subjects


def takes_buffer(line: str) -> bool:
    """Return whether a scenario's buffer sets the limit of the qdisc ``line``, which must be a valid line."""
    return accepts(line, buffer={"bdp": 1.0})


def accepts(line: str, **link: Any) -> bool:
    """Return whether the core accepts the qdisc ``line`` on a link of 10 Mbit/s with the keys ``link``."""
    try:
        whole(line, **link)
    except UserError:
        return False
    return True


def whole(line: str, **link: Any) -> str:
    """Return the qdisc ``line`` with every parameter, on a link of 10 Mbit/s. Raises UserError if it is refused."""
    bottleneck = {"rate": "10mbit", "qdisc": line, **link}
    scenario = {"duration": "1s", "bottleneck": bottleneck, "path": {"rtt": "100ms"}, "traffic": [{"kind": BULK}]}
    return str(scenarios.resolve(scenario, "", {"bottleneck.qdisc": "QDISC"})["bottleneck"]["qdisc"])


def of_class(line: str) -> dict[str, str]:
    """Return the parameters of a ``line`` that names a class in Python, with their values."""
    words = whole(line).split()[1:]
    return dict(zip(words[::2], words[1::2], strict=True))


def _qdisc(line: str) -> Subject:
    whole(line)
    return Subject(line, takes_buffer(line))


def _cc(suite: Suite, subject: Subject) -> Subject:
    if suite.trials:
        first = suite.trials[0]
        tested = with_cc(first.experiment.scenario, first.sets, subject)
        scenarios.resolve(loads.uncounted(tested), "", dict.fromkeys(first.sets, "CC"))
    return subject


def with_cc(scenario: Mapping[str, Any], sets: Mapping[str, str], subject: Subject) -> dict[str, Any]:
    """Return a copy of ``scenario`` in which ``sets`` has set the congestion control ``subject``."""
    tested = copy.deepcopy(dict(scenario))
    if subject.stack:
        stacks.replace_tested(tested, sets, subject.stack)
    for key, template in sets.items():
        scenarios.apply_set(tested, f"{key}={template.replace('{}', subject.cc)}")
    return tested
