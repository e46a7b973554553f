"""``goodqueue serve``: serves the page in the browser, with the user's own scenarios, results and lessons."""

from typing import Annotated

import typer

from goodqueue.cli.options import whole
from goodqueue.errors import warn
from goodqueue.serving.address import PORT


def serve(
    paths: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="PATH",
            help="Scenarios, records, stores, comparisons, folders of scenarios. [scenarios in this folder]",
        ),
    ] = None,
    lessons: Annotated[
        str | None,
        typer.Option("--lessons", metavar="DIR", help="Lessons of your own, in place of the page's: a folder of TOML."),
    ] = None,
    port: Annotated[
        int,
        typer.Option(parser=whole("port", 0, 65535), metavar="N", help="The port to listen on; 0 picks a free one."),
    ] = PORT,
    no_browser: Annotated[bool, typer.Option("--no-browser", help="Open no browser.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Print the address as JSON.")] = False,
) -> None:
    """Serve the page that simulates in the browser.

    \b
    Examples:
      goodqueue serve
      goodqueue serve one-flow.toml
      goodqueue serve examples store
      goodqueue serve --lessons my-lessons
      goodqueue run one-flow.toml --json > record.json; goodqueue serve one-flow.toml record.json
      goodqueue serve --port 0 --no-browser --json

    The page runs scenarios and shows stored results. If the first PATH is a file, the page opens it. Nothing leaves
    this machine: the command listens only on 127.0.0.1. Ctrl-C ends it. The page reads a file again at each request,
    so a reload shows a changed file.
    """
    from dataclasses import replace
    from json import dumps

    from goodqueue.serving import lessons as own_lessons
    from goodqueue.serving import mine, server
    from goodqueue.show import terminal

    files = server.page()
    with terminal.progress("results") as progress:
        found = mine.find(paths or (), progress)
    if lessons is not None:
        own_lessons.load(lessons)  # refuses a file before anything is served
        found = replace(found, lessons=lessons)
    for line in found.left_out:
        warn(line)
    with server.Server(files, found, port) as listening:
        try:
            if json:
                terminal.emit(dumps({"url": listening.url}) + "\n")
            else:
                terminal.emit(f"{listening.url}\n")
                terminal.emit(f"Scenarios: {len(found.scenarios)}, results: {len(found.results)}. Ctrl-C ends it.\n")
            if not no_browser:
                _open(listening.url)
            listening.serve_forever()
        except KeyboardInterrupt:
            return


def _open(url: str) -> None:
    """Open the browser in another thread: a browser in the terminal returns only when the user leaves it."""
    import threading
    import webbrowser

    def show() -> None:
        if not webbrowser.open(url):
            warn(f"no browser found; accepted: {url} in one, or --no-browser")

    threading.Thread(target=show, daemon=True).start()
