"""Flent's data files: goodqueue's runs for Flent's plots, and Flent's measurements for goodqueue's tables.

`choice` finds the Flent test that is nearest to a run, `writing` makes a file, and `exporting` makes a folder of
files. `reading` reads a file, and `importing` makes a record from it. The format is that of Flent 1.2 and later:
compressed JSON.
"""

VERSION = 4
"""The version of the format. Flent, too, refuses a higher version."""

SUFFIX = ".flent.gz"

PING = "Ping (ms)"
"""The prefix of the series of round-trip times."""

VOIP = "VoIP"
"""The series of a call's packets, and the prefix of the series that are derived from it."""

HTTP = "HTTP latency"
"""The series of a page's fetches, in ms."""
