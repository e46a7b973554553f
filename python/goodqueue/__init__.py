"""goodqueue: a laboratory for active queue management.

*Good queue* disappears within a round-trip time; *bad queue* stays. This package runs queue disciplines under realistic
traffic, measures what people feel, and says how certain the numbers are. In a notebook:

>>> import goodqueue as gq
>>> one = gq.run(qdisc="codel", rate="10mbit", rtt="50ms", duration="10s")
>>> one.queue["delay_ms"]["p95"] < 30
True
>>> both = gq.compare("pfifo", "codel", rate="10mbit", rtt="50ms", duration="10s", seeds=2)
>>> both.estimate("codel", "delay_p95_ms").mean < both.estimate("pfifo", "delay_p95_ms").mean
True

`run`, `compare`, `sweep` and `advise` return results that print as tables and have DataFrames, arrays and figures:
docs/python.md. `Bottleneck` is the path of a scenario for endpoints of your own. The simulator is the Rust library
behind ``goodqueue._goodqueue``. The modules beside it make up the command line, and can be imported too (``from
goodqueue.measures import stats``).
"""

from importlib import import_module

__all__ = [
    "Advice",
    "Bottleneck",
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
    "Bottleneck": "goodqueue.api.bottleneck",
    "Comparison": "goodqueue.api.comparison",
    "Run": "goodqueue.api.run",
    "Suite": "goodqueue.api.suite",
    "Sweep": "goodqueue.api.sweep",
    "UserError": "goodqueue.errors",
    "qdiscs": "goodqueue.api.lists",
    "suite": "goodqueue.api.suite",
    "traffic_kinds": "goodqueue.api.lists",
}
"""The modules of names that are not modules themselves. The other names, in lower case, are callable modules."""


def __getattr__(name: str) -> object:
    """Import a name when it is first used: the command line starts without these modules."""
    if name in _FROM:
        return getattr(import_module(_FROM[name]), name)
    if name in __all__:
        return import_module(f"goodqueue.{name}")
    raise AttributeError(f"module 'goodqueue' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
