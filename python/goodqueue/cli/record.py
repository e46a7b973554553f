"""``goodqueue record``: records decision traces of our disciplines."""

from typing import Annotated

import typer

from goodqueue.cli.options import Force, Json, whole


def record(
    qdisc: Annotated[str, typer.Argument(metavar="QDISC", help='A qdisc\'s tc line, as "codel target 5ms".')],
    out: Annotated[str, typer.Option(metavar="FILE", help="The trace: a new .csv or .csv.gz.")],
    pattern: Annotated[str, typer.Option(metavar="WORD", help="How packets arrive; see above.")] = "steady",
    load: Annotated[str, typer.Option(metavar="X", help="Packets offered, as a multiple of the rate.")] = "1.1",
    rate: Annotated[str, typer.Option(metavar="RATE", help="The link's rate.")] = "10mbit",
    packets: Annotated[
        int, typer.Option(parser=whole("packets", 1), metavar="N", help="Number of packets that arrive.")
    ] = 5000,
    sizes: Annotated[str, typer.Option(metavar="BYTES|mix", help="mix: half 1514, a quarter 64.")] = "1514",
    flows: Annotated[int, typer.Option(parser=whole("flows", 1), metavar="N", help="Number of flows.")] = 10,
    ecn: Annotated[str, typer.Option(metavar="none|ect0|ect1|mix", help="Codepoints; mix: all four.")] = "none",
    seed: Annotated[int, typer.Option(parser=whole("seed", 0, 2**64 - 1), metavar="N", help="Seed of the draws.")] = 1,
    force: Force = False,
    json: Json = False,
) -> None:
    """Record a qdisc's decisions, packet by packet.

    The trace tests another implementation. It has the format of the kernel's traces (golden/README.md): each call, each
    decision, each random number, each tick of a timer. The same options give the same bytes. If the kernel lacks the
    qdisc, as with `pie variant rfc8033`, the header has goodqueue's line.

    \b
    Patterns:
      steady  gaps uniform around their mean
      burst   1 to 50 packets of one flow at the same moment, then a gap
      onoff   twice the load for 250 ms, nothing for 250 ms
      saw     the load climbs from 0 to twice its mean within a second, again and again
      aimd    flows with windows that answer drops and marks, 50 ms base RTT; --load has no effect

    \b
    Examples:
      goodqueue record "codel target 5ms" --out codel.csv.gz
      goodqueue record "fq_codel flows 64 limit 200" --pattern burst --flows 100 --sizes mix --out burst.csv.gz
      goodqueue record "pie ecn" --pattern aimd --ecn ect0 --packets 20000 --seed 7 --out pie.csv.gz
      goodqueue replay codel.csv.gz
    """
    from goodqueue.decisions.recording import Load, record
    from goodqueue.errors import UserError, quoted
    from goodqueue.show import terminal

    try:
        multiple = float(load)
    except ValueError:
        raise UserError("--load", f"found {quoted(load)}; accepted: a number, as 1.1") from None
    offered = Load(pattern, multiple, rate, packets, sizes, flows, ecn, seed)
    totals = record(qdisc, offered, out, force)
    if json:
        terminal.emit_json({"file": out, **totals})
    else:
        told = ", ".join(f"{totals[key]} {key}" for key in ("offered", "delivered", "dropped", "marked"))
        typer.echo(terminal.fit(f"{out}: {told}"))
