"""A congestion control to begin with: Reno (RFC 5681), with the share of the window that a congestion leaves.

  goodqueue compare pfifo codel --cc "./examples/my_cc.py:Slow beta 0.7" --rate 10mbit --rtt 50ms --duration 20s
  goodqueue suite rfc9743 ./examples/my_cc.py:Slow --quick

How such a class talks to the sender stands in `python -c "help('goodqueue.congestion')"`.
"""


class Slow:
    def __init__(self, connection, beta=0.5):
        self.beta = beta

    def on_ack(self, ack, window):
        if not ack.is_cwnd_limited:
            return  # the application limits the flow, and the window must not grow
        rest = window.slow_start(ack.counted) if window.in_slow_start else ack.counted
        if rest:
            window.increase(window.cwnd, rest)  # one segment per window

    def ssthresh(self, congestion):
        return max(2, int(congestion.cwnd * self.beta))
