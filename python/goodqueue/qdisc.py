"""Queue disciplines one by one: driven by hand, or written in Python.

**By hand.** Each discipline of ``goodqueue list qdiscs`` is a function of this module. Its parameters are ``tc``'s,
with units for times and rates. ``rate`` is the rate of the link below it. A discipline that has its own ``rate`` takes
the link's as ``link_rate``. ``seed`` is the seed of its random draws. Times are whole nanoseconds and never decrease.


>>> import goodqueue.qdisc as q
>>> c = q.codel(target="5ms", rate="10mbit")
>>> for ms in range(400):  # two packets a millisecond come, one goes: the queue stands
...     c.enqueue(ms * 1_000_000, q.Packet(1514, id=2 * ms))
...     c.enqueue(ms * 1_000_000, q.Packet(1514, id=2 * ms + 1))
...     sent = c.dequeue(ms * 1_000_000)
...     if c.dropped:
...         break
>>> ms, sent.id, [(packet.id, reason) for packet, reason in c.dropped]
(110, 111, [(110, 'target')])
>>> c.backlog  # packets and bytes
(110, 166540)
>>> c.probe()["count"]
1
>>> c.change(400_000_000, target="20ms", limit=100)  # as `tc qdisc change`: the oldest ten have to go
>>> len(c.dropped), c.backlog[0], c.line
(10, 100, 'codel limit 100 target 20ms interval 100ms noecn variant linux')
>>> c.set_link_rate(400_000_000, "5mbit")  # for those that ask for it, such as ared, rem or docsis_pie

**Written in Python.** A class with the methods ``enqueue`` and ``dequeue`` runs wherever a qdisc line is asked for, as
``./my_aqm.py:MyAqm target 20ms``: in ``goodqueue compare``, in a scenario, and here in `make`:

>>> class Fifo:
...     def __init__(self, link, limit=1000):  # `link` first, then parameters; their defaults say of which type
...         self.limit = limit
...
...     def enqueue(self, now, packet, queue):  # queue.push(packet) or packet.drop(reason)
...         if len(queue) < self.limit:
...             queue.push(packet)
...         else:
...             packet.drop("overlimit")
...
...     def dequeue(self, now, queue):  # a packet from queue.pop(), or None
...         return queue.pop()

``now`` is in nanoseconds. ``queue`` is a FIFO that starts empty; ``link.queue()`` creates more of them. Random numbers
come from ``link.random()``, whose draws derive from the scenario's seed, so that runs are repeatable. A discipline that
uses the module ``random`` or the time of day is not. A method ``on_timer(self, now, queue)`` is called at
``self.next_timer`` (in nanoseconds; None for never), which the class sets itself. A method ``probe(self)`` may return a
dict. Its ``drop_probability`` goes into the time series; with the scenario's ``series.law = true`` each of its numbers
does, under its key. See `Packet`, `Queue` and `Link` for everything else.

Each packet must end dropped, delivered or in a queue. If a class loses a packet, the run ends with an error. The path
starts at the scenario's file, or in the folder of the command. Such a class takes about 0.5 to 2 microseconds per
packet; our own disciplines and the rest of the simulator take 0.15. Its runs take turns, whatever ``--workers`` says.
"""

from collections.abc import Callable

from goodqueue._goodqueue import DisciplineError, Link, Packet, Qdisc, Queue, qdisc_line
from goodqueue._goodqueue import time_ns as ns
from goodqueue.errors import UserError
from goodqueue.scenario import discipline, parameters

__all__ = ["DisciplineError", "Link", "Packet", "Qdisc", "Queue", "make", "names", "ns"]


def make(line: str, *, rate: str = "10mbit", mtu: int = 1514, seed: int = 1) -> Qdisc:
    """Make the discipline of a ``tc`` line, such as ``codel target 5ms`` or ``./my_aqm.py:MyAqm target 5ms``.

    ``rate`` is the link's, with its unit. ``mtu`` is a full frame in bytes as ``tc`` counts it. ``seed`` is the seed of
    random draws. Raises ValueError with one line that says what was found and what is accepted.
    """
    try:
        return Qdisc(" ".join(line.split()), rate, mtu, seed, discipline.make)
    except UserError as error:
        raise ValueError(str(error)) from error


def names() -> list[str]:
    """Return the names of all disciplines of the registry."""
    return list(parameters.registry())


def _parameters(name: str) -> list[str]:
    return [param["name"] for param in parameters.registry()[name]["params"]]


def __getattr__(name: str) -> Callable[..., Qdisc]:
    """Return the function that makes the discipline ``name``."""
    if name.startswith("_") or name not in names():
        raise AttributeError(f"module 'goodqueue.qdisc' has no {name!r}; accepted: {', '.join([*__all__, *names()])}")

    def discipline_of_registry(
        *, link_rate: str | None = None, mtu: int = 1514, seed: int = 1, **parameters: str | float | bool
    ) -> Qdisc:
        if "rate" in parameters and "rate" not in _parameters(name):
            rate = parameters.pop("rate")
            if link_rate is not None:
                raise ValueError(f"{name} rate: given twice, as rate and as link_rate; accepted: one of them")
            if not isinstance(rate, str):
                raise ValueError(f"{name} rate: found {rate!r}, which has no unit; accepted: a rate such as '10mbit'")
            link_rate = rate
        return make(qdisc_line(name, parameters), rate=link_rate or "10mbit", mtu=mtu, seed=seed)

    discipline_of_registry.__name__ = discipline_of_registry.__qualname__ = name
    discipline_of_registry.__doc__ = f"Make a {name}; see ``goodqueue list qdiscs {name}`` for its parameters."
    return discipline_of_registry


def __dir__() -> list[str]:
    return [*__all__, *names()]
