"""Where runs are done: on this machine's cores, or on a Dask cluster. The results are the same bytes."""

from collections.abc import Callable, Sequence

from goodqueue import engines, run
from goodqueue.errors import UserError, quoted
from goodqueue.record import Scenario

Executor = Callable[[str, Sequence[Scenario], run.Progress, run.Finished, run.Failed | None], None]
"""Does resolved scenarios, with their seeds, on an engine, and hands over each record as soon as there is one.

Without the last argument the first run that fails ends all; with it the others go on.
"""

DASK = "dask://"


def parse(text: str, workers: int | None = None, warn: Callable[[str], None] = lambda _: None) -> Executor:
    """Return what ``--executor`` names: ``local`` (``workers`` threads) or ``dask://HOST:PORT``. Raises UserError.

    ``warn`` is told of what a person should know, as of workers that cannot be used.
    """
    if text == "local":
        return local(workers)
    host, colon, port = text.removeprefix(DASK).rpartition(":")
    if not (text.startswith(DASK) and host and colon and port.isascii() and port.isdecimal() and int(port) < 65536):
        raise UserError("--executor", f"found {quoted(text)}; accepted: local, or dask://HOST:PORT")
    if workers is not None:
        raise UserError("--jobs", f"{text} has its own workers; accepted: --jobs with --executor local")
    from goodqueue.executors import cluster

    return cluster.connect(host, int(port), text, warn)


def local(workers: int | None = None) -> Executor:
    """Return the executor on this machine, with ``workers`` threads, by default one a usable core."""

    def execute(
        engine: str,
        scenarios: Sequence[Scenario],
        progress: run.Progress,
        finished: run.Finished,
        failed: run.Failed | None = None,
    ) -> None:
        run.each(scenarios, finished, workers, progress, engines.find(engine), failed)

    return execute
