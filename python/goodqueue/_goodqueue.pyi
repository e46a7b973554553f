"""The Rust core, as Python sees it. All text is JSON; `goodqueue.record` describes the records."""

VERSION: str

class ScenarioError(ValueError):
    """A refused scenario; its text is ``key: message``."""

    key: str
    """Dotted path of the offending key, such as ``bottleneck.rate``; empty where no single key is to blame."""
    message: str
    """What was found and what is accepted."""

class Simulation:
    """One run of one scenario."""

    duration_s: float
    """The simulated time at which the run ends."""

    def __init__(self, scenario_json: str) -> None:
        """Set the scenario up. Raises ScenarioError."""

    def advance(self, until_s: float) -> None:
        """Simulate up to `until_s` seconds of simulated time (at most to the end). Releases the GIL."""

    def record(self) -> str:
        """The record of the run so far, as JSON."""

def resolve(scenario_json: str) -> str:
    """The scenario with its defaults filled in. Raises ScenarioError."""

def qdiscs() -> str:
    """The registry: a list of name, summary, source and params."""

def congestion_controls() -> str:
    """A list of name, summary and source."""

def traffic_kinds() -> str:
    """A list of name and summary."""

def replay(path: str) -> str:
    """The outcome of one decision trace. Raises ValueError with one line on a malformed file."""

def qdisc_pair_ns(line: str, flows: int, backlog: int, pairs: int) -> float:
    """Mean nanoseconds of one enqueue and one dequeue at a standing `backlog` (packets) spread over `flows`.

    Raises ValueError for a `line` that is refused.
    """
