"""``goodqueue advise``: recommends a tc line."""

from typing import TYPE_CHECKING, Annotated

import typer

from goodqueue import options
from goodqueue.advice import framing
from goodqueue.cli.options import FirstSeed, Force, Json, Workers, check_force, whole
from goodqueue.measures import FIRST_SEED

if TYPE_CHECKING:
    from goodqueue.advice.answer import Advice


USES = "calls,games,downloads,web"
"""Everything that a link is used for."""


def advise(
    more: Annotated[
        list[str] | None, typer.Argument(metavar="FILE", help="Further files of --flent.", show_default=False)
    ] = None,
    down: Annotated[str | None, typer.Option(metavar="RATE", help="The link's rate down.")] = None,
    up: Annotated[str | None, typer.Option(metavar="RATE", help="The link's rate up.")] = None,
    rtt: Annotated[str | None, typer.Option(metavar="TIME", help="Round trip without queueing. [30ms]")] = None,
    link: Annotated[
        str,
        typer.Option(
            metavar="KIND",
            help="docsis (cable), lld, dsl (ATM), vdsl (PTM), ethernet (fibre), lte, 5g, starlink, wifi.",
        ),
    ] = "docsis",
    use: Annotated[
        str, typer.Option(metavar="LIST", help="What matters to you: any of calls,games,downloads,web.")
    ] = USES,
    flent: Annotated[
        list[str] | None,
        typer.Option(metavar="FILE...", help="Flent's measurements of the real link: its rates, RTT, queue."),
    ] = None,
    buffer: Annotated[
        str | None,
        typer.Option(metavar="TIME", help="Delay of the modem's full queue, as it is now. [250ms; lte 1s, 5g 500ms]"),
    ] = None,
    trace: Annotated[
        str | None, typer.Option(metavar="FILE", help="A file of rates that an LTE or 5G link follows down.")
    ] = None,
    pppoe: Annotated[
        str | None, typer.Option(metavar="WHO", help="Who dials: router, modem, no. [dsl, vdsl: modem; others: no]")
    ] = None,
    vlan: Annotated[bool, typer.Option("--vlan", help="The packets have a VLAN's tag on the line.")] = False,
    overhead: Annotated[
        int | None,
        typer.Option(
            parser=whole("overhead", 0, framing.MOST), metavar="BYTES", help="What the line adds to an IP packet."
        ),
    ] = None,
    wan: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="The router's interface. [eth0; pppoe-wan if the router dials; wlan0]"),
    ] = None,
    why: Annotated[bool, typer.Option("--why", help="Show every line that was tried.")] = False,
    verify: Annotated[
        bool, typer.Option("--verify", help="Run the answer also on Linux's own qdiscs. This takes minutes.")
    ] = False,
    tune: Annotated[
        bool, typer.Option("--tune", help="Search for a better rate and rtt of cake, judged on other links.")
    ] = False,
    quick: Annotated[
        bool, typer.Option("--quick", help="Runs of half the length: 3 of each line, 4 over a radio.")
    ] = False,
    out: Annotated[
        str | None, typer.Option(metavar="DIR", help="Write a report: a page, JSON, and the scenarios.")
    ] = None,
    force: Force = False,
    seeds: Annotated[
        int | None,
        typer.Option(parser=whole("seeds", 1, 1000), metavar="N", help="Runs of each line. [5; 12 over a radio]"),
    ] = None,
    seed: FirstSeed = FIRST_SEED,
    workers: Workers = None,
    json: Json = False,
) -> None:
    """Say which tc lines to type on a link, and what they change.

    \b
    Examples:
      goodqueue advise --down 50mbit --up 10mbit --rtt 30ms
      goodqueue advise --down 8mbit --up 1mbit --link dsl --use calls,games --why
      goodqueue advise --down 100mbit --up 40mbit --link vdsl --pppoe router --vlan
      goodqueue advise --down 100mbit --up 40mbit --link ethernet --verify
      goodqueue advise --down 12mbit --up 4mbit --link lte --rtt 60ms
      goodqueue advise --down 40mbit --link wifi
      goodqueue advise --flent rrul-*.flent.gz --link docsis --out report

    The command simulates the link with qdiscs that Linux ships, in both directions at once. The downloads and uploads
    of a household of four users fill the link, and the modem has a queue behind the router. The answer is what was
    measured: calls, pings, pages and goodput, compared with the link as it is now. The command also tries what would
    change the answer: another rate, another buffer, Wi-Fi. Give the rates at which the link itself sends: the
    contract's rate for cable, the modem's sync rate for DSL.
    """
    from goodqueue.advice import checking, trying
    from goodqueue.advice import question as asking
    from goodqueue.errors import UserError, quoted
    from goodqueue.files import output
    from goodqueue.show import terminal

    if more and not flent:
        raise UserError("advise", f"found {quoted(more[0])} without --flent; accepted: --flent FILE...")
    files = [*(flent or []), *(more or [])]
    check_force(force, out)
    if out is not None:
        output.check(out, force)
    question = asking.ask(
        down,
        up,
        rtt,
        link,
        use,
        buffer,
        seeds,
        seed,
        quick,
        trace,
        files,
        pppoe=pppoe,
        vlan=vlan,
        overhead=overhead,
        wan=wan,
    )
    with terminal.progress(f"{question.link.title}: what Linux ships") as progress:
        advice = trying.advise(question, workers, progress)
    if verify:
        with terminal.progress("Linux's own qdiscs") as progress:
            advice = checking.checked(advice, progress)
    if tune:
        from goodqueue.advice import tuned

        with terminal.progress("A better rate and rtt") as progress:
            advice = tuned.tuned(advice, workers, progress)
    written = None
    if out is not None:
        from goodqueue.advice import report

        command = options.command(
            "advise", down=down, up=up, rtt=rtt, link=link, use=None if use == USES else use, buffer=buffer,
            trace=trace, pppoe=pppoe, vlan=vlan, overhead=overhead, wan=wan, verify=verify, tune=tune, quick=quick,
            seeds=seeds, seed=None if seed == FIRST_SEED else seed, flent=files,
        )  # fmt: skip
        written, _ = output.write(out, force, lambda folder: report.write(folder, advice, command))
    if json:
        from goodqueue._goodqueue import VERSION
        from goodqueue.advice.answer import as_json

        terminal.emit_json(as_json(advice, VERSION))
    else:
        _print(advice, why)
    if out is not None and written is not None:
        if not json:
            terminal.say(f"Written: {written}/{report.WRITTEN}.")
        if written != out:
            raise output.appeared(out, written, force=force)


def _print(advice: "Advice", why: bool) -> None:
    from goodqueue.advice import show
    from goodqueue.show import terminal

    terminal.show([*show.warning(advice), show.headline(advice.question), *show.measured(advice.question), ""])
    for line in show.lines(advice):  # not wrapped, so that they can be pasted
        terminal.emit(f"{terminal.fit(line)}\n")
    terminal.say()
    terminal.print_table(show.changes(advice))
    for sentence in show.sentences(advice):
        for line in show.hanging(sentence, terminal.width()):
            terminal.say(line)
    for line in show.address(advice):  # in one piece, too
        terminal.emit(f"{line}\n")
    unchecked = [f"Not checked on Linux: {advice.kernel}."] if advice.kernel else []
    if advice.checks or unchecked:
        terminal.show(["", *show.checks(advice), *unchecked])
    if why:
        terminal.show(["", *show.why(advice)])
