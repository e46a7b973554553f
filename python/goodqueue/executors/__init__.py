"""Executors run scenarios on this machine's cores or on a Dask cluster. The resulting bytes are the same."""

from collections.abc import Callable, Sequence

from goodqueue import engines, running
from goodqueue.errors import UserError, quoted
from goodqueue.record import Scenario

Executor = Callable[[str, Sequence[Scenario], running.Progress, running.Finished, running.Failed | None], None]
"""Runs resolved scenarios, with their seeds, on an engine, and returns each record as soon as it exists.

If the last argument is None, the first failed run ends all runs. Otherwise the others continue.
"""

DASK = "dask://"


def parse(text: str, workers: int | None = None, warn: Callable[[str], None] = lambda _: None) -> Executor:
    """Return the executor that ``--executor`` names: ``local`` (``workers`` threads) or ``dask://HOST:PORT``.

    ``warn`` is called with warnings, for example about workers that cannot be used. Raises UserError.
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
    """Return the executor on this machine, with ``workers`` threads, by default one per usable core."""

    def execute(
        engine: str,
        scenarios: Sequence[Scenario],
        progress: running.Progress,
        finished: running.Finished,
        failed: running.Failed | None = None,
    ) -> None:
        running.each(scenarios, finished, workers, progress, engines.find(engine), failed)

    return execute
