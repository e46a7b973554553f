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
docs/reference/python.md. `attack`, `tune`, `fit` and `sensitivity` search among thousands of runs:
docs/guides/search.md. `Bottleneck` is the path of a scenario for endpoints of your own, and
`link` has real programs behind it, in virtual time. The simulator is the Rust
library behind ``goodqueue._goodqueue``. The modules beside it make up the command line, and can be imported too (``from
goodqueue.measures import stats``).
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from goodqueue.api.advice import Advice, advise
    from goodqueue.api.bottleneck import Bottleneck
    from goodqueue.api.comparison import Comparison, compare
    from goodqueue.api.link import Linked, link
    from goodqueue.api.lists import qdiscs, traffic_kinds
    from goodqueue.api.run import Run, run
    from goodqueue.api.searching import Search, attack, fit, sensitivity, tune
    from goodqueue.api.suite import Suite, suite
    from goodqueue.api.sweep import Sweep, sweep
    from goodqueue.errors import UserError

__all__ = [
    "Advice",
    "Bottleneck",
    "Comparison",
    "Linked",
    "Run",
    "Search",
    "Suite",
    "Sweep",
    "UserError",
    "advise",
    "attack",
    "compare",
    "fit",
    "link",
    "qdiscs",
    "run",
    "sensitivity",
    "suite",
    "sweep",
    "traffic_kinds",
    "tune",
]

_FROM = {
    "Advice": "goodqueue.api.advice",
    "Bottleneck": "goodqueue.api.bottleneck",
    "Comparison": "goodqueue.api.comparison",
    "Linked": "goodqueue.api.link",
    "Run": "goodqueue.api.run",
    "Search": "goodqueue.api.searching",
    "Suite": "goodqueue.api.suite",
    "Sweep": "goodqueue.api.sweep",
    "UserError": "goodqueue.errors",
    "advise": "goodqueue.api.advice",
    "attack": "goodqueue.api.searching",
    "compare": "goodqueue.api.comparison",
    "fit": "goodqueue.api.searching",
    "link": "goodqueue.api.link",
    "qdiscs": "goodqueue.api.lists",
    "run": "goodqueue.api.run",
    "sensitivity": "goodqueue.api.searching",
    "suite": "goodqueue.api.suite",
    "sweep": "goodqueue.api.sweep",
    "traffic_kinds": "goodqueue.api.lists",
    "tune": "goodqueue.api.searching",
}
"""The module of each name. No name is that of a module of this package: an import of the module would replace it."""


def __getattr__(name: str) -> object:
    """Import a name when it is first used: the command line starts without these modules."""
    if name not in _FROM:
        raise AttributeError(f"module 'goodqueue' has no attribute {name!r}")
    return getattr(import_module(_FROM[name]), name)


def __dir__() -> list[str]:
    return __all__
