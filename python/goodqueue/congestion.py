"""Congestion controls written in Python.

A class with the methods ``on_ack`` and ``ssthresh`` runs wherever a congestion control is asked for, as
``./my_cc.py:MyCc beta 0.7``: in ``goodqueue compare --cc``, in a scenario (``cc = "./my_cc.py:MyCc"``, relative to its
file), and in ``goodqueue suite rfc9743``. This one is Reno (RFC 5681), and its record is that of ``reno``:

>>> class Slow:
...     def __init__(self, connection):  # `connection` first, then parameters; their defaults say of which type
...         pass
...
...     def on_ack(self, ack, window):  # an ACK that advances the window, except while a reduction is under way
...         if ack.is_cwnd_limited:
...             rest = window.slow_start(ack.counted) if window.in_slow_start else ack.counted
...             if rest:
...                 window.increase(window.cwnd, rest)  # one segment per window
...
...     def ssthresh(self, congestion):  # once per window of data with a loss, a mark or a timeout
...         return max(2, congestion.cwnd // 2)

The sender is Linux's: it decides when something happens, and finds losses, paces reductions (PRR) and undoes them. The
class decides how much. Windows are in segments, and times in nanoseconds. These methods are called if the class has
them:

- ``on_open(now, rtt, window)``: the handshake is over. ``rtt`` is its sample, or None.
- ``on_delivered(ack, window)``: an ACK delivered something, in any state, before ``on_ack``.
- ``on_state(state, window)``: the sender enters ``open``, ``disorder``, ``cwr`` (RFC 3168), ``recovery`` (RFC 6675) or
  ``loss``.
- ``on_rto()``: the congestion was a timeout (RFC 6298). It follows ``ssthresh``.
- ``on_restart(now, idle)``: data is sent after ``idle`` nanoseconds with nothing in flight (RFC 9293, 3.8.6).
- ``on_undo()``, then ``undo_cwnd(window, prior_cwnd)``: nothing had been lost (RFC 5682, RFC 8985). The second returns
  the window to restore; without it, that is the larger one of the two.

- ``on_rate(ack, sample, window)``: every ACK, as the last call, with a `RateSample`. A class that has it is
  model-based, as BBR is: it sets the window and ``window.pacing_bps`` in every state of the sender, its connections
  pace, and ``on_ack`` is not called.
- ``on_transmit_start(now, is_idle, window)``: such a class sends while nothing was in flight.
- ``on_ecn_agreed(mode)``: the ECN feedback of the connection: ``rfc3168``, ``accecn`` or None. It comes before
  ``on_open``.
- ``probe()``: returns a dict of variables, which ``[series] cc = true`` records in each interval.

With ``paces = True`` in the class its connections pace what they send, at ``window.pacing_bps`` if the class sets it.
ECN is the scenario's (``ecn = true`` or ``"accecn"``): ``ack.marked`` counts marked segments. With ``ecn = "dctcp"``
in the class its packets are ECT(0), ACKs too, and each mark is echoed (RFC 8257). With ``ecn = "l4s"`` they are ECT(1)
with AccECN (RFC 9331). Such a class needs the scenario's ``ecn``. See `Ack`, `Window`,
`Congestion` and `Connection` for everything else. The objects are valid only during the call that gets them.

Each connection has an object of its own. An exception ends the run with its file and line. So does a window below 1
segment, or a threshold below 2. Such a class takes about 3 microseconds per ACK; the rest of the simulator takes 0.15
per packet. Its runs take turns, whatever ``--workers`` says.
"""

from goodqueue._goodqueue import Ack, Congestion, Connection, DisciplineError, RateSample, Window
from goodqueue._goodqueue import time_ns as ns

__all__ = ["Ack", "Congestion", "Connection", "DisciplineError", "RateSample", "Window", "ns"]
