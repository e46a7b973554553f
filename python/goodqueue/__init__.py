"""goodqueue: a laboratory for active queue management.

*Good queue* goes away within a round trip; *bad queue* stands. This package runs queue disciplines under real
traffic, measures what people feel, and says how sure it is. In a notebook:

>>> import goodqueue as gq
>>> one = gq.run(qdisc="codel", rate="10mbit", rtt="50ms", duration="10s")
>>> one.queue["delay_ms"]["p95"] < 30
True
>>> both = gq.compare("pfifo", "codel", rate="10mbit", rtt="50ms", duration="10s", seeds=2)
>>> both.estimate("codel", "delay_p95_ms").mean < both.estimate("pfifo", "delay_p95_ms").mean
True

`run`, `compare`, `sweep` and `advise` return results that show themselves as tables and give DataFrames, arrays and
figures: docs/python.md. The simulator is the Rust library behind ``goodqueue._goodqueue``; the modules beside it are
what the command line is made of, and can be imported too (``from goodqueue.measures import stats``).
"""

from importlib import import_module

__all__ = [
    "Advice",
    "Comparison",
    "Run",
    "Suite",
    "Sweep",
    "UserError",
    "advise",
    "compare",
    "qdiscs",
    "run",
    "suite",
    "sweep",
    "traffic_kinds",
]

_FROM = {
    "Advice": "goodqueue.api.advice",
    "Comparison": "goodqueue.api.comparison",
    "Run": "goodqueue.api.run",
    "Suite": "goodqueue.api.suite",
    "Sweep": "goodqueue.api.sweep",
    "UserError": "goodqueue.errors",
    "qdiscs": "goodqueue.api.lists",
    "suite": "goodqueue.api.suite",
    "traffic_kinds": "goodqueue.api.lists",
}
"""Where what has no module of its own name is; those in small letters beside it are modules that can be called."""


def __getattr__(name: str) -> object:
    """Import what is asked for, as late as that: the command line starts without it."""
    if name in _FROM:
        return getattr(import_module(_FROM[name]), name)
    if name in __all__:
        return import_module(f"goodqueue.{name}")
    raise AttributeError(f"module 'goodqueue' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
