"""Why a transfer shows no time: what began in the warm-up is in no statistics, and a single transfer may end there."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from goodqueue import traffic
from goodqueue.record import Flow, Record
from goodqueue.scenario import seconds

FIRST_TIMEOUT_S = 3.0
"""Above what TCP waits before its first retransmission: 1 s for a SYN (RFC 6298, 2.1), else what it has measured."""


def notes(record: Record, kind: str = "") -> list[str]:
    """Return why some transfers and pages have nothing to count, a sentence for each reason; none where all have.

    These are the flows of ``kind``, or of all kinds.

    A record counts what began within the measured time. Where that is nothing although the flow started before, the
    first began in the warm-up. It ended there, too, if it was the only one and its sender is silent from then on: a
    sender that still waits for an ACK sends again before its timer has doubled the time that has passed (RFC 6298,
    5.5), so within the measured time where that is the longer. (A user whose SYN is lost each time looks the same.)
    """
    resolved = record["scenario"]
    left_out = resolved.get("warmup", "0s")
    warmup_s = seconds(left_out)
    is_long = seconds(resolved["duration"]) - warmup_s > warmup_s + FIRST_TIMEOUT_S
    ended: list[str] = []
    begun: list[str] = []
    for outline, flow in _uncounted(record, warmup_s, kind):
        is_over = is_long and outline.get("repeat") == 1 and _is_silent(flow)
        (ended if is_over else begun).append(flow["name"])
    found = (("ended", ended, "--set warmup=0s or repeat"), ("began", begun, "--set warmup=0s"))
    return [
        f"{_listed(names)}: {did} in the warm-up (first {left_out}), which is left out; {instead}"
        for did, names, instead in found
        if names
    ]


def _uncounted(record: Record, warmup_s: float, kind: str) -> Iterator[tuple[Mapping[str, Any], Flow]]:
    """Yield each flow that started in the warm-up and began nothing after it, with its outline."""
    from goodqueue import _goodqueue
    from goodqueue.scenario import to_json

    if "flent" in record:
        return  # its scenario is what Flent measured, and no plan of ours
    counting = {one.name for one in traffic.kinds().values() if one.counts_completed and kind in ("", one.name)}
    names = {app["name"] for app in record["apps"] if app["kind"] in counting and app.get("count") == 0}
    flows = [flow for flow in record["flows"] if flow["name"] in names and flow["start_s"] < warmup_s]
    if not flows:
        return
    try:
        found = json.loads(_goodqueue.flows(to_json(record["scenario"])))
    except _goodqueue.ScenarioError:
        return  # a record that somebody has changed
    outlines = {outline["name"]: outline for outline in found}
    yield from ((outlines[flow["name"]], flow) for flow in flows if flow["name"] in outlines)


def _is_silent(flow: Flow) -> bool:
    """Whether the sender sent nothing within the measured time and nothing came; False where that is not known."""
    counts = (flow.get("bytes_sent"), flow.get("retransmitted"), flow.get("timeouts"), flow["goodput_mbps"])
    return all(count == 0 for count in counts)


def _listed(names: list[str]) -> str:
    """Return the first three of ``names``, and how many more there are."""
    more = [f"{len(names) - 3} more"] if len(names) > 3 else []
    return " and ".join([", ".join(names[:3]), *more])
