"""goodqueue: a laboratory for active queue management.

*Good queue* goes away within a round trip; *bad queue* stands. This package runs queue disciplines under real
traffic, measures what people feel, and says how sure it is. The simulator is the Rust library behind
``goodqueue._goodqueue``; everything here prepares scenarios for it and makes tables, figures and reports of its
records.

>>> from goodqueue import run, scenario
>>> record = run.one(scenario.load("examples/one-flow-codel.toml"))
>>> record["queues"]["down"]["delay_ms"]["p95"]
"""

__all__ = ["bench", "compare", "errors", "plot", "qdisc", "record", "replay", "report", "run", "scenario", "stats"]
