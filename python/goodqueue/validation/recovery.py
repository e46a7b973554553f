"""The time in which a single flow recovers from a burst of other packets, which made it lose many packets at once."""

from itertools import dropwhile
from statistics import fmean

from goodqueue.record import Record
from goodqueue.scenario import seconds
from goodqueue.traffic import BULK


def recovery_s(record: Record) -> float | None:
    """Return the time from the start of a burst until the congestion window of a single flow is back at its old value.

    The old value is its mean from the warm-up to the burst. The window must have been below it. Returns None if there
    is no burst, or if the window does not come back.
    """
    traffic = record["scenario"]["traffic"]
    bursts = [seconds(source["start"]) for source in traffic if source["kind"] == "cbr"]
    flows = [flow["name"] for flow in record["flows"] if flow["kind"] == BULK]
    if len(bursts) != 1 or len(flows) != 1 or "series" not in record:
        return None
    burst, warmup = bursts[0], seconds(record["scenario"]["warmup"])
    samples = zip(*cwnd(record, flows[0]), strict=True)
    known = [(time, window) for time, window in samples if window is not None]
    before = [window for time, window in known if warmup <= time <= burst]
    if not before:
        return None
    usual = fmean(before)
    after = dropwhile(lambda sample: sample[1] >= usual, (sample for sample in known if sample[0] > burst))
    return next((time - burst for time, window in after if window >= usual), None)


def cwnd(record: Record, flow: str) -> tuple[list[float], list[float | None]]:
    """Return times (s) and the congestion window (packets) of ``flow``, as the record's series has them."""
    series = record["series"]
    return series["time_s"], next(found["cwnd_packets"] for found in series["flows"] if found["name"] == flow)
