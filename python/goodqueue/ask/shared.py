"""The fields that several questions have, each once."""

from typing import Any

from goodqueue import options
from goodqueue.ask.fields import flag, option
from goodqueue.ask.readers import LISTED, PATH, SETS, TEXT, TEXTS, Source, whole

STORE = "Keeps each run; what is in it is not run again."
"""The sentence of ``--store``."""

WORKERS = "Number of threads. It does not change the result."
"""The sentence of ``--workers``."""

KERNEL = "The kernel engine's Linux: 6.1, 6.12 or 7.3."
"""The sentence of ``--kernel``."""

MACHINE = "Where the kernel engine's Linux runs: process (an ordinary process, built here), or qemu (Debian's binary)."
WITHOUT_MACHINE = "process if it is built, otherwise qemu"
"""The sentence of ``--machine``."""

QUICK = "Shorter runs, fewer seeds: a look, in seconds."
"""The sentence of ``--quick``."""

FIRST = "The first seed."
"""The sentence of ``--seed`` where several seeds follow."""

ENGINE = "sim, kernel (Linux's own), or live (its TCP on our path)."
"""The sentence of ``--engine``."""

KEYS = "Change a key: traffic.0.count=4. Repeatable."
"""The sentence of ``--set``."""

METRIC = "What to show, e.g. up_delay_p95_ms, or a path in the record, e.g. apps.0.rtt_ms.p99."
"""The sentence of ``--metric``."""

CORRECT = "Correct the stars for the number of comparisons."
"""The sentence of ``--correct``."""

EFFECT = "Show effect sizes of the differences, too (Cohen's d_z)."
"""The sentence of ``--effect``."""

REPORT = "Write a report and the data."
"""The sentence of ``--out`` where the folder has nothing else."""


FORCE = "Replace what exists where the command writes; files of others stay."
"""The sentence of ``--force``."""


def name_of(source: Source) -> str:
    """Return the name of a scenario in sentences: its file, if it has one."""
    return source if isinstance(source, str) else "scenario"


def store() -> Any:
    """Declare the folder that keeps the runs, and whose runs are taken from it."""
    return option("DIR", STORE, reader=PATH)


def workers(*aliases: str) -> Any:
    """Declare the number of threads."""
    return option("N", WORKERS, reader=whole(*options.BOUNDS["workers"]), aliases=aliases, otherwise="all cores")


def kernel() -> Any:
    """Declare the release of Linux that the kernel engine runs."""
    return option("RELEASE", KERNEL, reader=TEXT, otherwise="this machine's packages")


def machine() -> Any:
    """Declare the machine of the kernel engine."""
    return option("NAME", MACHINE, reader=TEXT, otherwise=WITHOUT_MACHINE)


def seeds(default: int | None, text: str, otherwise: str = "") -> Any:
    """Declare the number of seeds. ``text`` says of what."""
    return option("N", text, default, reader=whole(*options.BOUNDS["seeds"]), otherwise=otherwise)


def quick() -> Any:
    """Declare a shorter look."""
    return flag(QUICK)


def engine() -> Any:
    """Declare the engine that runs the scenarios."""
    return option("NAME", ENGINE, "sim")


def first_seed(default: int) -> Any:
    """Declare the first of several seeds."""
    return option("N", FIRST, default, reader=whole(*options.BOUNDS["seed"]))


def draw_seed() -> Any:
    """Declare the seed of what a search draws. The runs' own seeds are others."""
    return option("N", "Draws what the search tries.", 1, reader=whole(0, 2**32 - 1))


def method() -> Any:
    """Declare the method of a search (`search.optimising`)."""
    return option("NAME", "tpe, random, or nsga2.", "tpe")


def metric(otherwise: str = "") -> Any:
    """Declare the metrics of the tables. ``otherwise`` says which, if none are asked for."""
    return option("NAME", METRIC, reader=TEXTS, otherwise=otherwise, completes="metric")


def keys() -> Any:
    """Declare changes of a scenario's keys. Python has them as keyword arguments, if at all."""
    return option("KEY=VALUE", KEYS, reader=SETS, name="set", completes="assignment", in_python=False)


def keys_in_python() -> Any:
    """Declare the same for a question whose ``--set`` has the values of a grid: the command line has no other."""
    return option("", "", reader=SETS, name="set", in_python=False, on_command_line=False)


def engines() -> Any:
    """Declare the engines that run the scenarios."""
    return option("NAMES", "sim, kernel (Linux's own), live (its TCP on our path), or several.", "sim", reader=LISTED)


def kernels() -> Any:
    """Declare the releases of Linux that the kernel engine runs, one or several."""
    return option("RELEASES", "The kernel engine's Linux: 6.1, 6.12, 7.3, or several as 6.1,7.3.", reader=LISTED)


def correct() -> Any:
    """Declare the correction for the number of comparisons."""
    return option("holm", CORRECT)
