"""The subjects under test: qdisc lines or congestion controls, as the user named them."""

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from goodqueue import scenario as scenarios
from goodqueue.errors import UserError
from goodqueue.show import notes
from goodqueue.suites.model import Suite
from goodqueue.traffic import BULK


@dataclass(frozen=True, slots=True)
class Subject:
    """A qdisc line or a congestion control."""

    name: str
    """The name that the user gave. It is also the name in the sheet."""
    takes_buffer: bool = True
    """Whether a scenario's buffer sets its limit. False for a line with a limit of its own, or without any limit."""


MISSING = {
    "qdisc": ("qdisc", "codel, or ./my_aqm.py:MyAqm"),
    "cc": ("congestion control", "bbr3, or 'cubic hystart++' (see `goodqueue list cc`)"),
}
"""The name of the subject, and an example, by what a suite tests."""


def read(suite: Suite, named: Sequence[str]) -> list[Subject]:
    """Return the subjects under test. If none is ``named``, they are the suite's default.

    Raises UserError for a name that no run accepts, or if nothing is named and there is no default.
    """
    names = list(dict.fromkeys(" ".join(name.split()) for name in named)) or list(suite.default)
    if not names:
        missing, example = MISSING[suite.tests]
        raise UserError(f"suite {suite.key}", f"no {missing}; accepted: one or several, such as {example}")
    found = [_qdisc(name) if suite.tests == "qdisc" else _cc(suite, name) for name in names]
    if suite.tests == "qdisc":
        notes.tell({}, {}, names)
    return found


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
    made = {"duration": "1s", "bottleneck": bottleneck, "path": {"rtt": "100ms"}, "traffic": [{"kind": BULK}]}
    return str(scenarios.resolve(made, "", {"bottleneck.qdisc": "QDISC"})["bottleneck"]["qdisc"])


def of_class(line: str) -> dict[str, str]:
    """Return the parameters of a ``line`` that names a class in Python, with their values."""
    words = whole(line).split()[1:]
    return dict(zip(words[::2], words[1::2], strict=True))


def _qdisc(line: str) -> Subject:
    whole(line)
    return Subject(line, takes_buffer(line))


def _cc(suite: Suite, name: str) -> Subject:
    first = suite.trials[0]
    tested = with_cc(first.experiment.scenario, first.sets, name)
    scenarios.resolve(tested, "", dict.fromkeys(first.sets, "CC"))
    return Subject(name)


def with_cc(scenario: Mapping[str, Any], sets: Mapping[str, str], cc: str) -> dict[str, Any]:
    """Return a copy of ``scenario`` in which ``sets`` has set the congestion control ``cc``."""
    tested = copy.deepcopy(dict(scenario))
    for key, template in sets.items():
        scenarios.apply_set(tested, f"{key}={template.replace('{}', cc)}")
    return tested
