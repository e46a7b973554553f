"""What a search attacks: a discipline's line or a congestion control, and how it is put into a scenario."""

import copy
from collections.abc import Mapping
from dataclasses import dataclass

from goodqueue import scenario as scenarios
from goodqueue.errors import Option, Place, UserError, quoted
from goodqueue.record import Scenario
from goodqueue.scenario import discipline
from goodqueue.traffic import BULK


@dataclass(frozen=True, slots=True)
class Subject:
    """What is attacked."""

    line: str
    is_cc: bool


def read(text: str, where: Place) -> Subject:
    """Return what ``text`` names: a discipline's line, or else a congestion control. Raises UserError."""
    line = " ".join(text.split())
    try:
        resolved(line, "bottleneck.qdisc")
    except UserError as not_qdisc:
        try:
            resolved(line, "traffic.0.cc")
        except UserError as not_cc:
            if discipline.is_python(line):  # a class without the methods of one may be the other
                raise UserError(where, str(not_cc if "has no method" in str(not_qdisc) else not_qdisc)) from None
            accepted = "a discipline's line (`goodqueue list qdiscs`) or a congestion control (`goodqueue list cc`)"
            if len(line.split()) > 1:  # its first word may be right, so the discipline's own refusal says more
                raise UserError(where, str(not_qdisc)) from None
            raise UserError(where, f"found {quoted(line)}; accepted: {accepted}") from None
        return Subject(line, is_cc=True)
    return Subject(line, is_cc=False)


def resolved(line: str, key: str) -> Scenario:
    """Return a scenario that has ``line`` at ``key``. Raises UserError."""
    scenario: Scenario = {
        "duration": "1s",
        "bottleneck": {"rate": "10mbit", "qdisc": "pfifo"},
        "path": {"rtt": "100ms"},
        "traffic": [{"kind": BULK}],
    }
    scenarios.put(scenario, key, line, "")
    return scenarios.resolve(scenario)


def instead(scenario: Mapping[str, object], subject: Subject, other: str) -> Scenario:
    """Return ``scenario`` with ``other`` in place of ``subject``, or with the ``KEY=VALUE`` that ``other`` is.

    A congestion control is replaced wherever traffic has it. Raises UserError.
    """
    changed: Scenario = copy.deepcopy(dict(scenario))
    if "=" in other and "." in other.partition("=")[0]:
        scenarios.apply_set(changed, other)
        return changed
    if not subject.is_cc:
        changed["bottleneck"]["qdisc"] = other
        return changed
    for table in changed["traffic"]:
        if table.get("cc") == subject.line:
            table["cc"] = other
    return changed


def check_other(subject: Subject, other: str, where: Option) -> None:
    """Refuse an ``other`` that no scenario accepts. Raises UserError."""
    if "=" in other and "." in other.partition("=")[0]:
        return
    try:
        resolved(other, "traffic.0.cc" if subject.is_cc else "bottleneck.qdisc")
    except UserError as error:
        raise UserError(where, f"{quoted(other)}: {error}") from None
