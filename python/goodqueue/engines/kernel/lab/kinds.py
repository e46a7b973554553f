"""The kinds of traffic that the laboratory runs, grouped by what it must know of them. Each program names its kind."""

from . import bulk, datagrams
from .apps import HALVES

TCP = (bulk.KIND, *HALVES)
"""The kinds that run over TCP."""

ASKING = tuple(kind for kind, half in HALVES.items() if half.ASKS)
"""The kinds of TCP traffic in which the receiver of the data opens the connections and sends requests."""

ALL = (*TCP, *datagrams.FAR_SIDES)
