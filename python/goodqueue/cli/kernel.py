"""``goodqueue kernel``: examines what ``--engine kernel`` needs, and builds what its machines run."""

from typing import Annotated

import typer

from goodqueue.cli.options import Json, Kernel, Machine, prepared

app = typer.Typer(
    help="""The engine that runs scenarios on Linux's own qdiscs and TCP.

    \b
    Examples:
      goodqueue kernel doctor
      goodqueue kernel image
      goodqueue kernel image --kernel 7.3
      goodqueue kernel image --kernel 7.3 --with dualpi2
      goodqueue kernel image --kernel 7.3 --machine process
    """,
    no_args_is_help=True,
    rich_markup_mode=None,
)


@app.callback()
def _linux() -> None:
    from goodqueue import engines

    engines.need_linux("kernel")


@app.command("doctor")
@prepared
def doctor(json: Json = False) -> None:
    """Say what this machine can do, what is missing, and what installs it.

    The exit status is 0 if the engine can run, in a virtual machine or on this host, and 1 if not.
    """
    from goodqueue.engines.kernel.doctor import examine
    from goodqueue.show import terminal
    from goodqueue.show.table import Column, Table

    diagnosis = examine()
    if json:
        from json import dumps

        terminal.emit(dumps(diagnosis.as_json()) + "\n")
    else:
        columns = [Column("", False), Column("found", False)]
        rows = [[finding.name, finding.found] for finding in diagnosis.findings]
        terminal.print_table(Table("The kernel engine on this machine", columns, rows))
        good = {finding.name for finding in diagnosis.findings if finding.good}
        faster = "on this host" if "this host" in good else "nowhere here"
        places = {
            "process": "Runs as a process of this machine, in virtual time, links of any rate.",
            "vm": f"Runs in a virtual machine, in virtual time, links of up to {_fastest()}; faster ones {faster}.",
            "host": "Runs on this host, in real time: results vary with what else it does.",
            None: "Cannot run here.",
        }
        terminal.say(places[diagnosis.where])
        if diagnosis.remedy is not None:
            terminal.say(f"Next: {diagnosis.remedy}")
    if diagnosis.where is None:
        raise typer.Exit(1)


@app.command("image")
@prepared
def image(
    kernel: Kernel = None,
    module: Annotated[
        str | None,
        typer.Option("--with", metavar="QDISC", help="Build a module that Debian leaves out, too: dualpi2."),
    ] = None,
    machine: Machine = None,
    json: Json = False,
) -> None:
    """Build the virtual machine's image from the Debian packages that apt fetches now.

    It takes a minute, unless the image exists.

    The command installs nothing and needs no root. Runs use the image that this command named last. Images of several
    releases of Linux lie side by side. For a release that this machine's own sources lack, apt gets a list of its own,
    which this command makes; the machine's sources stay as they are.

    --machine process also builds Linux as an ordinary process, from Debian's source of the same kernel (a download of
    140 to 170 MB, eight to twelve minutes of the processor). It needs gcc, make, flex, bison and bc. Runs without
    --machine take it from then on.

    --with compiles one more module from Debian's source of the same kernel (170 MB), which needs gcc and make. Without
    it the first run with that discipline does the same.
    """
    from sys import stderr

    from goodqueue.engines import machines, releases
    from goodqueue.engines.kernel import module as modules
    from goodqueue.engines.kernel import process_build
    from goodqueue.engines.kernel.image import build
    from goodqueue.errors import Option, UserError, quoted
    from goodqueue.show import terminal

    if kernel is not None:
        releases.parse(kernel, Option("kernel"), several=False)
    if machine is not None:
        machines.parse(machine, Option("machine"))
    *_, newest = releases.RELEASES
    if module is not None and (module not in modules.NAMES or kernel != newest):
        found = f"found {quoted(module)} with {f'--kernel {kernel}' if kernel else 'no --kernel'}"
        raise UserError("--with", f"{found}; accepted: {', '.join(modules.NAMES)}, with --kernel {newest}")

    def tell(step: str) -> None:
        print(f"{step} …" if terminal.is_utf8(stderr) else step, file=stderr, flush=True)

    built = build(tell, kernel)
    if module is not None:
        compiled = modules.build(built, module, tell)
    if machine == "process":
        program = process_build.build(built, tell)
    if json:
        from json import dumps

        terminal.emit(dumps(built.as_json()) + "\n")
    else:
        terminal.say(f"{built.key}: Linux {built.kernel}, {len(built.packages)} packages, in {built.folder}")
        if module is not None:
            terminal.say(f"{module}: {compiled}")
        if machine == "process":
            terminal.say(f"Linux {built.release} as a process: {program}")


def _fastest() -> str:
    from goodqueue.engines.kernel.vm import FASTEST_BPS

    return f"{max(FASTEST_BPS.values()) / 1e6:g} Mbit/s (both directions)"
