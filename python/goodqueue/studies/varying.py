"""The delay of the queue down after the rate of its link falls. It needs `[series] interval`. Times are in seconds."""

from statistics import fmean

from goodqueue.record import Record
from goodqueue.scenario import paths, seconds
from goodqueue.studies.computing import Options


def delays(record: Record, from_s: float, to_s: float) -> list[tuple[float, float]]:
    """Return the end of each interval in a period and its mean delay, without intervals in which no packet left."""
    series = record["series"]
    every = zip(series["time_s"], series["queues"]["down"]["delay_ms"], strict=True)
    return [(time, delay) for time, delay in every if delay is not None and from_s < time <= to_s]


def falls(record: Record) -> list[tuple[float, float]]:
    """Return for each fall of the link's rate down its time, and the time of the next change."""
    changes = [one for one in record["scenario"].get("change", []) if "rate" in one and one["direction"] == "down"]
    rates = [paths.rate_bps(record["scenario"]["bottleneck"]), *(paths.rate_bps(one) for one in changes)]
    times = [*(seconds(one["at"]) for one in changes), seconds(record["scenario"]["duration"])]
    return [(times[at], times[at + 1]) for at in range(len(changes)) if rates[at + 1] < rates[at]]


def recovery_time_s(record: Record, options: Options) -> float | None:
    """Return the time from a fall of the rate to the first whole second with a mean delay below ``below_ms``.

    If no second has that before the rate changes again, it is the time until that change. Returns the mean over falls.
    """
    found = []
    for begin, end in falls(record):
        every = delays(record, begin, end)
        whole = range(int(end - begin))
        spans = ([delay for time, delay in every if second < time - begin <= second + 1] for second in whole)
        settled = (
            second + 1.0 for second, span in enumerate(spans) if span and fmean(span) < float(options["below_ms"])
        )
        found.append(next(settled, end - begin))
    return fmean(found) if found else None
