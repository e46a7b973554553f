"""The compiled part: the stacks, and the run that drives them."""

VERSION: str

def stacks() -> list[tuple[str, str, list[str]]]:
    """Return the stacks: name, release (empty: it is no part of this module), and congestion controls."""

def over_socket(scenario_json: str, is_server: bool, address: str) -> str:
    """Run one end of a scenario's only connection over a UDP socket, by the real clock.

    Returns what it measured, as JSON.

    Raises ValueError with one line.
    """

class Simulation:
    """One run of one scenario."""

    duration_s: float
    """The simulated time at which the run ends."""

    def __init__(self, scenario_json: str, cpu: bool = False, qlog: str | None = None) -> None:
        """Set up the scenario. With ``cpu`` the stacks' CPU time is measured. ``qlog`` is a folder for their qlogs.

        Raises ValueError if the scenario is refused.
        """

    def advance(self, until_s: float, most_events: int | None = None) -> float:
        """Run until ``until_s`` seconds of simulated time, at most to the end. Returns the time reached, in seconds.

        Raises ValueError with one line if a stack fails.
        """

    def record(self) -> str:
        """Return the record of the run so far, as JSON."""

    def cpu(self) -> list[tuple[str, str, list[tuple[float, int]]]]:
        """Return each connection's name and stack, and of its sender and receiver CPU seconds and datagrams."""

    def finish_qlog(self) -> None:
        """End the files of qlog, and with them the connections.

        Raises ValueError if one could not be written. Then none of them stays.
        """

    def discard_qlog(self) -> None:
        """Remove the files of qlog, unless they have been ended."""

    def failures(self) -> list[str]:
        """Return the connections that ended by an error, one line each."""
