"""The part of a record that says which file of another program it was read from."""

from typing import NotRequired, TypedDict


class SourceFile(TypedDict):
    """The file of another program that a record was read from: the source of `flent`, `irtt` and `iperf3`."""

    file: str
    """Name of the file."""
    test: str
    """Flent's test. For irtt and iperf3, what was sent."""
    title: str
    """Title in the file, or the other end's address."""
    time: str
    """Time of the measurement, as the file gives it."""
    version: str
    """The program's version."""
    measured_s: list[float]
    """Start and end of the time that the record describes: all TCP flows ran, or `notes` says otherwise."""
    left_out: list[str]
    """Series that are not in the record."""
    reasons: NotRequired[dict[str, str]]
    """Why, for each series that was left out."""
    notes: NotRequired[list[str]]
    """How the record differs from what a reader would expect: a test that was interrupted, flows that ran apart."""


SOURCES = ("flent", "irtt", "iperf3")
"""The programs whose files become records. Each is the name of its engine and the key of its source."""
