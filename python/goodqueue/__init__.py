"""goodqueue: a laboratory for active queue management.

*Good queue* goes away within a round trip; *bad queue* stands. This package runs queue disciplines under real
traffic, measures what people feel, and says how sure it is. The simulator is the Rust library behind
``goodqueue._goodqueue``; everything here prepares scenarios for it and makes tables, figures and reports of its
records.

>>> from goodqueue import run, scenario
>>> record = run.one(scenario.load("examples/one-flow-codel.toml"))
>>> record["queues"]["down"]["delay_ms"]["p95"]
"""

import importlib.util
import os
from contextlib import suppress

__all__ = ["bench", "compare", "errors", "plot", "qdisc", "record", "replay", "report", "run", "scenario", "stats"]


def _without_missing_backend() -> None:
    """Let matplotlib be imported where MPLBACKEND names a module that is not installed here.

    A notebook sets it to one of its own environment, whose commands may be of another. Figures here need no backend.
    """
    name = os.environ.get("MPLBACKEND", "")
    if not name.startswith("module://"):
        return
    module = None
    with suppress(ImportError, ValueError):  # a package above the module is missing, too
        module = importlib.util.find_spec(name.removeprefix("module://"))
    if module is None:
        del os.environ["MPLBACKEND"]


_without_missing_backend()
