"""Explains why a transfer shows no time: transfers that began in the warm-up are in no statistics."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from goodqueue import traffic
from goodqueue.record import Flow, Record
from goodqueue.record.reading import source_of
from goodqueue.scenario import seconds

FIRST_TIMEOUT_S = 3.0
"""More than TCP waits before its first retransmission: 1 s for a SYN (RFC 6298, 2.1), else its measured timeout."""


def notes(record: Record, kind: str = "") -> list[str]:
    """Return one sentence per reason why some transfers or pages have no count. Empty if all have a count.

    Only flows of ``kind`` are considered, or all flows if ``kind`` is empty.

    A record counts transfers that began within the measured time. If there are none although the flow started before,
    then its first transfer began in the warm-up. It also ended there if it was the only one, its sender is silent
    from then on, and nothing is undone. A record without that count must be long: a sender that still waits for an ACK
    retransmits before its timer has doubled the time that has passed (RFC 6298, 5.5), which is within the measured time
    if that is longer than the warm-up. (A user whose SYN is lost each time looks the same.)
    """
    resolved = record["scenario"]
    left_out = resolved.get("warmup", "0s")
    warmup_s = seconds(left_out)
    is_long = seconds(resolved["duration"]) - warmup_s > warmup_s + FIRST_TIMEOUT_S
    ended: list[str] = []
    begun: list[str] = []
    apps = {app["name"]: app for app in record["apps"]}
    for outline, flow in _uncounted(record, warmup_s, kind):
        app = apps[flow["name"]]
        is_known = "never_started" in app and "unfinished" in app
        is_done = is_known and not app["never_started"] + app["unfinished"]
        is_over = outline.get("repeat") == 1 and _is_silent(flow) and (is_done if is_known else is_long)
        (ended if is_over else begun).append(flow["name"])
    reasons = (("ended", ended, "--set warmup=0s or repeat"), ("began", begun, "--set warmup=0s"))
    return [
        f"{_listed(names)}: {did} in the warm-up (first {left_out}), which is left out; {instead}"
        for did, names, instead in reasons
        if names
    ]


def _uncounted(record: Record, warmup_s: float, kind: str) -> Iterator[tuple[Mapping[str, Any], Flow]]:
    """Yield each flow that started in the warm-up and began no transfer after it, with its outline."""
    from goodqueue import _goodqueue
    from goodqueue.scenario import to_json

    if source_of(record):
        return  # the scenario describes a measurement by another program, and the simulator did not plan its flows
    counting = {
        counted.name for counted in traffic.kinds().values() if counted.counts_completed and kind in ("", counted.name)
    }
    names = {app["name"] for app in record["apps"] if app["kind"] in counting and app.get("count") == 0}
    flows = [flow for flow in record["flows"] if flow["name"] in names and flow["start_s"] < warmup_s]
    if not flows:
        return
    try:
        listed_outlines = json.loads(_goodqueue.flows(to_json(record["scenario"])))
    except _goodqueue.ScenarioError:
        return  # somebody has edited the record
    outlines = {outline["name"]: outline for outline in listed_outlines}
    yield from ((outlines[flow["name"]], flow) for flow in flows if flow["name"] in outlines)


def _is_silent(flow: Flow) -> bool:
    """Return whether the sender sent and received nothing within the measured time. False if that is not known."""
    counts = (flow.get("bytes_sent"), flow.get("retransmitted"), flow.get("timeouts"), flow["goodput_mbps"])
    return all(count == 0 for count in counts)


def _listed(names: list[str]) -> str:
    """Return the first three of ``names``, and the number of the others."""
    more = [f"{len(names) - 3} more"] if len(names) > 3 else []
    return " and ".join([", ".join(names[:3]), *more])
