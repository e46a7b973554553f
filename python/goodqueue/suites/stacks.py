"""Tests the congestion controls of a QUIC stack with a suite: a connection of the stack takes the place of TCP's flow.

A row whose traffic no stack can send is not run, and says why.
"""

import copy
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from goodqueue import endpoints
from goodqueue.engines import loads
from goodqueue.errors import Option, UserError, quoted
from goodqueue.studies.model import Experiment, Metric
from goodqueue.suites.model import Row, Suite, Trial
from goodqueue.traffic import BULK

KIND = "quic"
KEPT = (
    "count",
    "direction",
    "start",
    "start_spread",
    "stagger",
    "stop",
    "rtt",
    "rtt_step",
    "host",
    "server",
    "port",
    "mark",
    "hops",
)
"""Keys that mean the same for both."""
OWN: Mapping[str, Mapping[str, str]] = {BULK: {}, "transfer": {"size": "size"}, "stream": {"rate": "rate"}}
"""The kinds that a connection can replace, with their own keys and the keys that a connection has for them."""
SEGMENT_BYTES = 1448
"""The payload of TCP's full segment. Metrics divide TCP's bytes by it, to count packets."""


def _controls(suite: Suite, stack: str) -> Sequence[str]:
    """Return the congestion controls of ``stack``. Raises UserError if there is none, or if ``suite`` tests none."""
    where = Option("stack", stack)
    if suite.tests != "cc":
        raise UserError(where, "found beside a suite of queue disciplines; accepted: beside one of congestion controls")
    stacks = endpoints.module({"traffic": [{"kind": KIND}]}, where).STACKS
    if stack not in stacks:
        raise UserError(where, f"found {quoted(stack)}; accepted: {', '.join(stacks)}")
    names: Sequence[str] = stacks[stack][1]
    return names


def default(suite: Suite, stack: str) -> list[str]:
    """Return the congestion controls of ``stack`` that ``suite`` tests if none is named.

    They are those of the family of the suite's own default: quinn's ``bbr`` and noq's ``bbr3`` for ``bbr3``. Raises
    UserError if there is no such family.
    """
    names, families = _controls(suite, stack), {_family(name) for name in suite.default}
    names_of_family = [name for name in names if _family(name) in families]
    if not names_of_family:
        raise UserError(f"suite {suite.key}", f"no congestion control; accepted: one or several of {', '.join(names)}")
    return names_of_family


def _family(cc: str) -> str:
    return cc.rstrip("0123456789")


def fitting(suite: Suite, stack: str) -> Suite:
    """Return ``suite`` without the experiments that a connection of ``stack`` cannot stand in.

    Raises UserError if there is no such stack, or if the suite tests no congestion controls.
    """
    _controls(suite, stack)
    reasons = {trial.experiment.id: _hindrance(trial, stack) for trial in suite.trials}
    rows = tuple(_row(row, [reason for id_ in row.experiments if (reason := reasons[id_])]) for row in suite.rows)
    ids = {id_ for row in rows for id_ in row.experiments}
    return replace(suite, trials=tuple(trial for trial in suite.trials if trial.experiment.id in ids), rows=rows)


def _row(row: Row, reasons: Sequence[str]) -> Row:
    if not reasons:
        return row
    return replace(row, experiments=(), shows=(), checks=(), figures=(), not_run=f"{reasons[0]}.")


def _hindrance(trial: Trial, stack: str) -> str:
    """Return why no connection of ``stack`` can stand in the trial. Empty: one can."""
    from goodqueue import scenario as scenarios

    scenario = copy.deepcopy(dict(trial.experiment.scenario))
    for table in tested(scenario, trial.sets):
        kind = table["kind"]
        if kind not in OWN or "frame" in table:
            return f"a connection of a stack cannot send what `{kind}` sends here"
        if kind == "transfer" and table.get("repeat") != 1:
            return "a connection of a stack makes one transfer, and this row asks for one after the other"
    try:
        replace_tested(scenario, trial.sets, stack)
        scenarios.resolve(loads.uncounted(scenario))
    except UserError as error:
        return f"{stack} refuses it ({error})"
    return ""


def tested(scenario: Mapping[str, Any], sets: Mapping[str, str]) -> Iterator[dict[str, Any]]:
    """Yield the tables of ``[[traffic]]`` whose congestion control ``sets`` sets."""
    for key in sets:
        first, index, last = [*key.split("."), "", ""][:3]
        if first == "traffic" and last == "cc":
            yield scenario["traffic"][int(index)]


def replace_tested(scenario: Mapping[str, Any], sets: Mapping[str, str], stack: str) -> None:
    """Replace the tested TCP flows of ``scenario`` by connections of ``stack``, in place. They keep their names."""
    for table in tested(scenario, sets):
        kind = table["kind"]
        transfer = {"kind": KIND, "stack": stack, "name": table.get("name", kind)}
        transfer |= {key: table[key] for key in KEPT if key in table}
        transfer |= {other: table[key] for key, other in OWN[kind].items() if key in table}
        if "ecn" in table:
            transfer["ecn"] = bool(table["ecn"])
        table.clear()
        table.update(transfer)


def metrics(experiment: Experiment, sets: Mapping[str, str]) -> dict[str, Metric]:
    """Return the metrics of ``experiment`` with their paths into a record with connections in the tested flows' place.

    A connection is an application of the record, so that the places of later ones change. It counts its packets, where
    TCP counts its bytes.
    """
    tables = experiment.scenario["traffic"]
    stands_in = [id(table) for table in tested(experiment.scenario, sets)]
    flows = [table for table in tables for _ in range(table.get("count", 1))]
    before = [index for index, table in enumerate(flows) if table["kind"] != BULK]
    after = [index for index, table in enumerate(flows) if table["kind"] != BULK or id(table) in stands_in]

    def counted_after(metric: Metric) -> Metric:
        part, index, rest = [*metric.record.split(".", 2), "", ""][:3]
        if part == "apps" and int(index) < len(before):
            return replace(metric, record=f"apps.{after.index(before[int(index)])}.{rest}")
        if part == "flows" and rest == "bytes_sent" and id(flows[int(index)]) in stands_in:
            path = f"apps.{after.index(int(index))}.packets_sent"
            return replace(metric, record=path, scale=metric.scale * SEGMENT_BYTES)
        return metric

    return {name: counted_after(metric) for name, metric in experiment.metrics.items()}
