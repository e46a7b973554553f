"""``goodqueue generate``: writes a file of rates for a link whose rate varies."""

from collections.abc import Callable
from typing import Annotated

import typer

from goodqueue.cli.options import Force, whole


def generate(
    kind: Annotated[str, typer.Argument(metavar="KIND", help="lte, starlink or mmwave.")],
    out: Annotated[str, typer.Option(metavar="FILE", help="The file of rates.")],
    mean: Annotated[
        str | None,
        typer.Option(
            metavar="RATE",
            help="The mean rate of lte and starlink, over the whole file.",
        ),
    ] = None,
    length: Annotated[str, typer.Option(metavar="TIME", help="Length of the file; then it repeats.")] = "60s",
    draw_seed: Annotated[int, typer.Option(parser=whole("draw_seed", 0), metavar="N", help="Draws the rates.")] = 1,
    force: Force = False,
) -> None:
    """Write a file of rates, like those of a kind of link.

    A scenario's key `trace` names such a file. The same options give the same bytes. If a run is longer than the file,
    the file repeats.

    \b
    Kinds:
      lte       delivery opportunities as mahimahi has them, a time in ms a line: the rate wanders, and has outages
      starlink  steps of 15 s, each rate within half of the mean around it; its queue is qdisc = "pfifo_head_drop"
      mmwave    5G in sight of its base station (500 to 2000 Mbit/s) and not (50 to 200), 1 to 10 s each

    \b
    Examples:
      goodqueue generate lte --mean 12mbit --out lte.mahimahi
      goodqueue generate starlink --mean 150mbit --length 5min --draw-seed 7 --out starlink.txt
      goodqueue run my-link.toml --set bottleneck.trace=lte.mahimahi    # where [bottleneck] has no rate
    """
    from goodqueue import _goodqueue
    from goodqueue.errors import UserError, quoted
    from goodqueue.files import output
    from goodqueue.show import terminal

    output.check_file(out, force)
    if kind == "mmwave" and mean is not None:
        raise UserError("--mean", f"found {quoted(mean)} with mmwave, whose rates are its own; accepted: without")
    if kind != "mmwave" and mean is None:
        raise UserError("--mean", "missing; accepted: a rate such as 12mbit")
    wanted = mean or "1gbit"  # mmwave ignores it
    _read("--mean", _goodqueue.rate_bps, wanted)
    _read("--length", _goodqueue.time_ns, length)
    try:
        content = _goodqueue.generate_rates(kind, wanted, length, draw_seed).encode()
    except ValueError as error:
        raise UserError("generate", str(error)) from None
    written = output.write_file(out, force, content)
    terminal.say(f"Written: {written}, {_goodqueue.mean_rate_bps(content) / 1e6:.4g} Mbit/s on average.")
    terminal.say(f'A link follows it where, in place of a rate, it has: trace = "{written}"')
    if written != out:
        raise output.appeared(out, written)


def _read(option: str, reads: Callable[[str], object], text: str) -> None:
    """Raise UserError with the name of the ``option`` if the core cannot read ``text``."""
    from goodqueue.errors import UserError

    try:
        reads(text)
    except ValueError as error:
        raise UserError(option, str(error)) from None
