"""How long a lone flow takes to recover from a burst of other packets, which made it lose many at once."""

from itertools import dropwhile
from statistics import fmean

from goodqueue.record import Record
from goodqueue.scenario import seconds
from goodqueue.traffic import BULK


def recovery_s(record: Record) -> float | None:
    """Return how long after a burst's beginning the congestion window of a lone flow is back at what it was.

    That is its mean from the warm-up to the burst; the window has to have been below. None without a burst, and where
    it does not come back.
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
