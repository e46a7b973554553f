"""The kinds of traffic that the laboratory runs, by what it has to know of them; each is named with its program."""

from . import bulk, datagrams
from .apps import HALVES

TCP = (bulk.KIND, *HALVES)
"""Those that are TCP."""

ASKING = tuple(kind for kind, half in HALVES.items() if half.ASKS)
"""Those of them in which the receiver of the data opens the connections, and asks for them."""

LOOKING_UP = tuple(kind for kind, half in HALVES.items() if half.LOOKS_UP)
"""Those of them that exchange datagrams beside."""

ALL = (*TCP, *datagrams.FAR_SIDES)
