"""``goodqueue advise``: which line to type."""

from typing import TYPE_CHECKING, Annotated

import typer

from goodqueue.cli.options import Json, Workers, whole
from goodqueue.measures import FIRST_SEED

if TYPE_CHECKING:
    from goodqueue.advise.answer import Advice


def advise(
    more: Annotated[
        list[str] | None, typer.Argument(metavar="FILE", help="Further files of --flent.", show_default=False)
    ] = None,
    down: Annotated[str | None, typer.Option(metavar="RATE", help="What the link carries down.")] = None,
    up: Annotated[str | None, typer.Option(metavar="RATE", help="What it carries up.")] = None,
    rtt: Annotated[str | None, typer.Option(metavar="TIME", help="Round trip without queueing. [30ms]")] = None,
    link: Annotated[
        str, typer.Option(metavar="KIND", help="docsis, dsl (ATM), vdsl (PTM), ethernet (fibre too), lte, wifi.")
    ] = "docsis",
    use: Annotated[
        str, typer.Option(metavar="LIST", help="What counts: any of calls,games,downloads,web.")
    ] = "calls,games,downloads,web",
    flent: Annotated[
        list[str] | None,
        typer.Option(metavar="FILE...", help="Flent's measurements of the real link: its rates, RTT, queue."),
    ] = None,
    buffer: Annotated[
        str | None, typer.Option(metavar="TIME", help="How long the modem's queue gets now. [250ms; lte 1s]")
    ] = None,
    trace: Annotated[
        str | None, typer.Option(metavar="FILE", help="A file of rates that an lte link follows down.")
    ] = None,
    why: Annotated[bool, typer.Option("--why", help="Show all that was tried.")] = False,
    verify: Annotated[
        bool, typer.Option("--verify", help="Run the answer on Linux's own qdiscs too; takes minutes.")
    ] = False,
    quick: Annotated[bool, typer.Option("--quick", help="3 seeds of half the length.")] = False,
    seeds: Annotated[
        int | None, typer.Option(parser=whole("--seeds", 1, 1000), metavar="N", help="Runs of each line. [5]")
    ] = None,
    seed: Annotated[int, typer.Option(parser=whole("--seed", 0), metavar="N", help="The first seed.")] = FIRST_SEED,
    workers: Workers = None,
    json: Json = False,
) -> None:
    """Say which tc lines to type on a link, and what they change.

    \b
    Examples:
      goodqueue advise --down 50mbit --up 10mbit --rtt 30ms
      goodqueue advise --down 8mbit --up 1mbit --link dsl --use calls,games --why
      goodqueue advise --down 100mbit --up 40mbit --link ethernet --verify
      goodqueue advise --down 12mbit --up 4mbit --link lte --rtt 60ms
      goodqueue advise --down 40mbit --link wifi
      goodqueue advise --flent rrul-*.flent.gz --link docsis --json

    Lines that Linux ships are tried on the link in both directions at once, filled by downloads and uploads, before
    a modem's queue that hides behind the router. The answer is what was measured there: calls, pings, pages and
    goodput against what is there now. What would change it is tried too: another rate, another buffer, Wi-Fi. Rates
    are what the link itself sends with: of cable the contract's, of DSL the modem's sync rate.
    """
    from goodqueue.advise import checking, trying
    from goodqueue.advise import question as asking
    from goodqueue.errors import UserError, quoted
    from goodqueue.show import terminal

    if more and not flent:
        raise UserError("advise", f"found {quoted(more[0])} without --flent; accepted: --flent FILE...")
    files = [*(flent or []), *(more or [])]
    question = asking.ask(down, up, rtt, link, use, buffer, seeds, seed, quick, trace, files)
    with terminal.progress(f"{question.link.title}: what Linux ships") as progress:
        advice = trying.advise(question, workers, progress)
    if verify:
        with terminal.progress("Linux's own qdiscs") as progress:
            advice = checking.checked(advice, progress)
    if json:
        from json import dumps

        from goodqueue._goodqueue import VERSION
        from goodqueue.advise.answer import as_json

        terminal.emit(dumps(as_json(advice, VERSION), ensure_ascii=False) + "\n")
        return
    _print(advice, why)


def _print(advice: "Advice", why: bool) -> None:
    from goodqueue.advise import show
    from goodqueue.show import terminal

    for sentence in (show.headline(advice.question), *show.measured(advice.question)):
        terminal.say(sentence)
    terminal.say()
    for line in show.lines(advice):  # unwrapped, to be pasted
        terminal.emit(f"{terminal.fit(line)}\n")
    terminal.say()
    terminal.print_table(show.changes(advice))
    for sentence in (*show.sure(advice), *show.doubts(advice), show.assumed(advice)):
        for line in show.hanging(sentence, terminal.width()):
            terminal.say(line)
    if advice.checks or advice.kernel:
        terminal.say()
    for table in show.checks(advice):
        terminal.print_table(table)
    if advice.kernel:
        terminal.say(f"Not checked on Linux: {advice.kernel}.")
    if why:
        terminal.say()
        for table in show.why(advice):
            terminal.print_table(table)
