"""Flent's data files, both ways: our runs for Flent's plots, its measurements for our tables.

`choice` says which test of Flent's a run is nearest to, `writing` makes a file, `exporting` a folder of them, `reading`
takes one in, `importing` makes a record of it. The format is that of Flent 1.2 and later: JSON,
compressed.
"""

VERSION = 4
"""Of the format; Flent, too, refuses a higher one."""

SUFFIX = ".flent.gz"

EPOCH_S = 946_684_800
"""Time zero of a simulated run, as in its captures: 2000-01-01 00:00:00 UTC."""

PING = "Ping (ms)"
"""How the series begin that are round-trip times."""

VOIP = "VoIP"
"""A call: its packets; what is derived of them has names that begin so."""

HTTP = "HTTP latency"
"""A page: its fetches, in ms."""
