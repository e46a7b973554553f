"""The answer of ``validate same-packets``: the first packet that differs, what is around it, the senders' states."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from goodqueue import engines
from goodqueue.record import Scenario
from goodqueue.running import Progress
from goodqueue.show.answer import Answer, Findings, Part, Picture
from goodqueue.show.table import Column, Table, short
from goodqueue.validation.packets import differing, runs
from goodqueue.validation.packets.differing import Difference
from goodqueue.validation.packets.reading import FLAGS, Packet
from goodqueue.validation.packets.runs import Pair, States

if TYPE_CHECKING:
    from matplotlib.figure import Figure

BEFORE, AFTER = 6, 4
"""The packets around a difference that are shown."""

_ECN = ("", "ECT(1)", "ECT(0)", "CE")


def of(
    name: str, scenario: Scenario, release: str | None, on: Sequence[str], progress: Progress, folder: Path | None
) -> Answer:
    """Run ``scenario``, which is not resolved, on the simulator and on Linux, and return the answer.

    ``folder`` keeps Linux's run, if there is one. Raises UserError and OSError.
    """
    both = runs.pair(runs.resolved(scenario, release), on, lambda share: progress(0.8 * share), folder)
    difference = both.comparison.difference
    states = runs.states(scenario, release, on, difference.time_ns) if difference else None
    progress(1.0)
    return Answer(
        f"The same packets: {name}",
        list(_parts(both, states)),
        partial(as_json, both, states),
        both,
        status=int(not both.comparison.are_equal),
    )


def _parts(both: Pair, states: States | None) -> Iterator[Part]:
    yield Findings([_sentence(both), *_windows(both)])
    difference = both.comparison.difference
    if difference is None:
        return
    yield _packets(both, difference)
    if states is not None:
        yield from _states(both, states)
    yield Picture(
        "packets",
        "What the hosts sent around the difference: the sequence numbers of data, and those that ACKs have.",
        partial(_figure, both, difference),
    )


def _sentence(both: Pair) -> str:
    comparison = both.comparison
    names = f"The simulator and {label(both.engines[1])}"
    if comparison.difference is None:
        return f"{names} have the same {comparison.packets[0]} packets, to the end."
    difference = comparison.difference
    return (
        f"{names} have the same first {comparison.agreeing} packets. They differ at {difference.time_ns / 1e9:.6f} s, "
        f"in packet {difference.place + 1} of {difference.point}: {difference.what}."
    )


def _windows(both: Pair) -> Iterator[str]:
    """Yield a sentence if a window differs before the packets do: it may be the cause."""
    window, difference = differing.first_window(*both.seen), both.comparison.difference
    if window is None:
        return
    point, place = window
    packets = [seen[point].packet(place) for seen in both.seen]
    if difference is None or packets[0].time_ns < difference.time_ns:
        values = " and ".join(str(packet.window) for packet in packets)
        at = f"{packets[0].time_ns / 1e9:.6f} s"
        yield f"The offered window differs from packet {place + 1} of {point} on, at {at}: {values}."


def label(engine: str) -> str:
    """Return the name of ``engine`` in sentences and tables."""
    if engine == "sim":
        return "simulator"
    release = engines.release(engine)
    return f"Linux {release}" if release else "Linux"


def around(both: Pair, difference: Difference) -> Iterator[tuple[int, str, str, Packet | None]]:
    """Yield the packets around the difference at its point: number, engine, what differs, and the packet if any."""
    sides = [seen[difference.point] for seen in both.seen]
    for place in range(max(0, difference.place - BEFORE), difference.place + AFTER):
        for engine, seen in zip(both.engines, sides, strict=True):
            yield place + 1, engine, difference.point, seen.packet(place) if place < len(seen) else None


def _packets(both: Pair, difference: Difference) -> Table:
    headings = ("packet", "engine", "at s", "flow", "seq", "bytes", "flags", "ACK", "SACK", "ECN", "window")
    rows = []
    for number, engine, _, packet in around(both, difference):
        name = "sim" if engine == "sim" else "Linux"
        rows.append([str(number), name, *(_cells(packet) if packet else ["–"] * (len(headings) - 2))])
    columns = [Column(heading, heading not in {"engine", "flags", "SACK", "ECN"}) for heading in headings]
    note = "Sequence numbers count from each direction's SYN. The window is the header's field, and is not compared."
    return Table(f"Packets at {difference.point}", columns, rows, [note], names=2)


def _cells(packet: Packet) -> list[str]:
    return [
        f"{packet.time_ns / 1e9:.9f}",
        str(packet.flow),
        str(packet.seq),
        str(packet.length),
        flags(packet.flags),
        str(packet.ack),
        " ".join(f"{start}-{end}" for start, end in packet.sack),
        _ECN[packet.ecn],
        str(packet.window),
    ]


def flags(bits: int) -> str:
    """Return TCP's flags as letters."""
    return "".join(letter for place, letter in enumerate(FLAGS) if bits >> place & 1)


def _states(both: Pair, states: States) -> Iterator[Table]:
    for flow, sides in states.flows.items():
        names = sides[0].keys()
        rows = [[name, *(short(side[name]) for side in sides)] for name in names]
        columns = [Column("sender", False), *(Column(label(engine)) for engine in both.engines)]
        yield Table(f"{flow} at {states.time_s:g} s, before the difference", columns, rows)


def _figure(both: Pair, difference: Difference) -> "Figure":
    from goodqueue.validation.packets import figure

    return figure.draw([label(engine) for engine in both.engines], both.seen, difference)


def as_json(both: Pair, states: States | None) -> Mapping[str, Any]:
    """Return the comparison as ``--json`` prints it."""
    comparison = both.comparison
    difference = comparison.difference
    return {
        "engines": list(both.engines),
        "kernel": both.records[1].get("kernel"),
        "equal": comparison.are_equal,
        "agreeing_packets": comparison.agreeing,
        "packets": list(comparison.packets),
        "difference": difference and asdict(difference),
        "around": [
            {"packet": number, "engine": engine, "point": point, **(packet._asdict() if packet else {})}
            for number, engine, point, packet in (around(both, difference) if difference else ())
        ],
        "states": states and {"time_s": states.time_s, "flows": {k: list(v) for k, v in states.flows.items()}},
    }
