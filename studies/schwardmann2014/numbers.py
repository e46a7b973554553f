"""Step responses: the delay after a flow joins.

As in Schwardmann et al. 2014, section 4.3: τ is "the period until packet delay decreases below the reference
delay for the first time after starting the CBR traffic", delay_max "the maximum delay within that period".
"""

from collections.abc import Sequence
from dataclasses import dataclass

from goodqueue.record import Record
from goodqueue.studies.computing import NUMBER, PACKETS, TEXT, Computation, Option, Options


@dataclass(frozen=True, slots=True)
class Excursion:
    """One period in which the delay is above its target."""

    tau_s: float
    """From the step to the departure of the first packet whose delay is below the target again, in seconds."""
    delay_max_ms: float
    """The largest delay in that time, in ms."""


def excursion(
    time_s: Sequence[float], delay_ms: Sequence[float], start_s: float, target_ms: float, rise_ms: float
) -> Excursion | None:
    """Return the excursion that follows the step at ``start_s``.

    ``time_s`` are the departures of the packets, ascending, and ``delay_ms`` their delays. The excursion counts from
    the first packet after the step whose delay exceeds ``rise_ms``. It ends with the first later packet whose delay is
    below ``target_ms``. Returns None if the delay never exceeds ``rise_ms``, or does not fall again before the end.
    Raises ValueError if the lists differ in length or ``rise_ms`` is less than ``target_ms``.
    """
    if rise_ms < target_ms:
        raise ValueError(f"rise_ms ({rise_ms}) is less than target_ms ({target_ms})")
    risen, largest = False, 0.0
    for time, delay in zip(time_s, delay_ms, strict=True):
        if time < start_s:
            continue
        largest = max(largest, delay)
        risen = risen or delay > rise_ms
        if risen and delay < target_ms:
            return Excursion(time - start_s, largest)
    return None


def _excursion(record: Record, options: Options) -> Excursion | None:
    start = next((flow["start_s"] for flow in record["flows"] if flow["name"] == options["flow"]), None)
    packets = record.get("series", {}).get("packets", {}).get("down")
    if start is None or packets is None:
        return None
    target = float(options["target_ms"])
    rise = float(options["rise_ms"]) or target
    return excursion(packets["time_s"], packets["delay_ms"], start, target, rise)


def tau_ms(record: Record, options: Options) -> float | None:
    """Return tau: from the start of ``flow`` until the delay, once above ``rise_ms``, is below ``target_ms``."""
    found = _excursion(record, options)
    return found.tau_s * 1e3 if found else None


def delay_max_ms(record: Record, options: Options) -> float | None:
    """Return the largest delay within tau."""
    found = _excursion(record, options)
    return found.delay_max_ms if found else None


_STEP = {"flow": TEXT, "target_ms": NUMBER, "rise_ms": Option("number", 0.0)}


NUMBERS = {
    "tau_ms": Computation(
        _STEP, tau_ms, "from the start of `flow` until the delay, once above, is below `target_ms`", needs=PACKETS
    ),
    "delay_max_ms": Computation(_STEP, delay_max_ms, "the largest delay within tau", needs=PACKETS),
}
"""The computations by name, as `compute` takes them."""
