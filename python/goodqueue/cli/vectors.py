"""``goodqueue vectors``: extracts the connections of a capture, to be replayed."""

from collections.abc import Iterator
from typing import Annotated, Any

import typer

from goodqueue.cli.options import Force
from goodqueue.errors import UserError, warn

ACCEPTED = "a pcap or pcapng file, plain or compressed by gzip or zstd"

SHOWN = 6
"""The most reasons for frames that were not understood in one line."""


def vectors(
    capture: Annotated[
        str, typer.Argument(metavar="CAPTURE", help="A pcap or pcapng file, plain or compressed by gzip or zstd.")
    ],
    out: Annotated[str, typer.Option(metavar="FILE.tmix", help="The file of connection vectors.")],
    force: Force = False,
) -> None:
    """Write a capture's TCP connections as TMIX vectors.

    \b
    Examples:
      tcpdump -i eth0 -s 128 -w office.pcap tcp
      goodqueue vectors office.pcap --out office.tmix
      goodqueue compare pfifo fq_codel --rate 20mbit --rtt 40ms --traffic tmix:office.tmix

    A connection vector says what the two ends sent and how long they waited. It does not contain the effects of TCP and
    of the path. A capture of the headers is enough. Connections that began before the capture are left out. Standard
    error says how many frames were not understood, and why.
    """
    import json
    from pathlib import Path

    from goodqueue import _goodqueue, interrupts
    from goodqueue.files import inputs, output, tmix
    from goodqueue.show import terminal

    output.check_file(out, force)
    try:
        with inputs.noted() as read, inputs.opened(Path(capture), ACCEPTED) as file:
            output.spare(out, read)
            connections, others = _goodqueue.connection_vectors(capture, file)
    except ValueError as error:
        interrupts.check()  # Ctrl-C ends the reading with an error
        raise UserError(str(error)) from None
    found: dict[str, Any] = json.loads(others)
    if not connections:
        partial = f" and {found['partial']} connections that had begun before" if found["partial"] else ""
        what = f"found no TCP connection from its SYN on that carried data in {_frames(found)}{partial}"
        raise UserError(capture, f"{what}; accepted: one or more")
    written = output.write_file(out, force, tmix.text(map(json.loads, connections)).encode())
    concurrent = sum('"concurrent":true' in one for one in connections)
    terminal.say(f"Written: {Path(written)}, {len(connections)} connections, {concurrent} of them concurrent.")
    for note in _notes(found):
        warn(f"{capture}: {note}")
    if written != out:
        raise output.appeared(out, written)


def _notes(found: dict[str, Any]) -> Iterator[str]:
    """Yield what a capture did not have, or had beside the connections."""
    if found["cut"]:
        yield "the file ends within a frame, which is left out"
    if found["tcp"] < found["frames"]:
        yield _frames(found)
    if found["untimed"]:
        yield f"without a time: {found['untimed']} frames; each has the time of the frame before it"
    for count, why in ((found["partial"], "had begun before the capture"), (found["silent"], "carried no data")):
        if count:
            yield f"left out: {count} connections that {why}"
    if found["one_sided"]:
        yield f"only one direction was captured of {found['one_sided']} connections: the other end's data are missing"


def _frames(found: dict[str, Any]) -> str:
    """Return how many frames held what, with the reasons why some were not understood, the most frequent first."""
    said = f"{found['frames']} frames: {found['tcp']} with TCP, {found['other']} of other protocols"
    reasons = sorted(found["not_understood"].items(), key=lambda item: -item[1])
    said += f", {sum(count for _, count in reasons)} not understood"
    shown = [f"{count} {reason}" for reason, count in reasons[:SHOWN]]
    if rest := reasons[SHOWN:]:
        shown.append(f"{sum(count for _, count in rest)} for {len(rest)} other reasons")
    return f"{said} ({', '.join(shown)})" if shown else said
