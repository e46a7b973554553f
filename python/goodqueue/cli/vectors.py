"""``goodqueue vectors``: extracts the connections of a capture, to be replayed."""

from typing import Annotated

import typer

from goodqueue.errors import warn


def vectors(
    capture: Annotated[str, typer.Argument(metavar="CAPTURE", help="A pcap or pcapng file of Ethernet frames.")],
    out: Annotated[str, typer.Option(metavar="FILE.tmix", help="The file of connection vectors.")],
    force: Annotated[bool, typer.Option("--force", help="Replace the file.")] = False,
) -> None:
    """Write a capture's TCP connections as TMIX vectors.

    \b
    Examples:
      tcpdump -i eth0 -s 128 -w office.pcap tcp
      goodqueue vectors office.pcap --out office.tmix
      goodqueue compare pfifo fq_codel --rate 20mbit --rtt 40ms --traffic tmix:office.tmix

    A connection vector says what the two ends sent and how long they waited. It does not contain the effects of TCP and
    of the path. A capture of the headers is enough. Connections that began before the capture are left out.
    """
    import json
    from pathlib import Path

    from goodqueue import _goodqueue
    from goodqueue.errors import UserError
    from goodqueue.files import output, tmix
    from goodqueue.show import terminal

    output.check_file(out, force)
    try:
        found = json.loads(_goodqueue.connection_vectors(capture))
    except ValueError as error:
        raise UserError(str(error)) from None
    if not (connections := found["vectors"]):
        raise UserError(capture, "found no TCP connection from its SYN on that carried data; accepted: one or more")
    written = output.write_file(out, force, tmix.text(connections).encode())
    concurrent = sum(one["concurrent"] for one in connections)
    said = f"{len(connections)} connections, {concurrent} of them concurrent"
    terminal.say(f"Written: {Path(written)}, {said}.")
    for count, why in ((found["partial"], "had begun before the capture"), (found["silent"], "carried no data")):
        if count:
            warn(f"{capture}: left out: {count} connections that {why}")
    if written != out:
        raise output.appeared(out, written)
