"""The fields that several questions have, each once."""

from typing import Any

from goodqueue import options
from goodqueue.ask.fields import option
from goodqueue.ask.readers import PAIRS, PATH, TEXT, TEXTS, Source, whole

REPORT = "Write a report and the data."
"""The sentence of ``--out`` where the folder has nothing else."""


def name_of(source: Source) -> str:
    """Return the name of a scenario in sentences: its file, if it has one."""
    return source if isinstance(source, str) else "scenario"


def store() -> Any:
    """Declare the folder that keeps the runs, and whose runs are taken from it."""
    return option("DIR", "Keeps each run; what is in it is not run again.", reader=PATH)


def workers() -> Any:
    """Declare the number of threads."""
    text = "Number of threads. It does not change the result."
    return option("N", text, reader=whole(*options.BOUNDS["workers"]), otherwise="all cores")


def kernel() -> Any:
    """Declare the release of Linux that the kernel engine runs."""
    text = "The kernel engine's Linux: 6.1, 6.12 or 7.3."
    return option("RELEASE", text, reader=TEXT, otherwise="this machine's packages")


def seeds(default: int | None, text: str) -> Any:
    """Declare the number of seeds. ``text`` says of what."""
    return option("N", text, default, reader=whole(*options.BOUNDS["seeds"]))


def first_seed(default: int) -> Any:
    """Declare the first of several seeds."""
    return option("N", "The first seed.", default, reader=whole(*options.BOUNDS["seed"]))


def draw_seed() -> Any:
    """Declare the seed of what a search draws. The runs' own seeds are others."""
    return option("N", "Draws what the search tries.", 1, reader=whole(0, 2**32 - 1))


def method() -> Any:
    """Declare the method of a search (`search.optimising`)."""
    return option("NAME", "tpe, random, or nsga2.", "tpe")


def metric(otherwise: str) -> Any:
    """Declare the metrics of the tables. ``otherwise`` says which, if none are asked for."""
    text = "What to show, e.g. up_delay_p95_ms, or a path in the record, e.g. apps.0.rtt_ms.p99."
    return option("NAME", text, reader=TEXTS, otherwise=otherwise, completes="metric")


def sets() -> Any:
    """Declare changes of a scenario's keys. In Python the scenario is a dict, which a caller changes."""
    text = "Change a key: traffic.0.count=4. Repeatable."
    return option("KEY=VALUE", text, reader=PAIRS, completes="assignment", in_python=False)
