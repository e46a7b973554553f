"""Congestion controls in Python that do anything: a run ends, or is refused in one line of the file's."""

import math
from pathlib import Path
from typing import Any

import goodqueue as gq
from tries import tries

ODD = '''
import random

VALUES = [None, True, 0, 1, 2, 7, -1, 1.5, 2**31 - 1, 2**31, 2**63, 10**30, 1e308, float("nan"), float("inf"), "", "x",
          b"", [], {}, object(), lambda: 1]


class Quiet(Exception):
    def __str__(self):
        raise ValueError("nothing")


class Odd:
    paces = PACES

    def __init__(self, connection, seed=1, one_in=9):
        self.draw = random.Random(seed)
        self.one_in, self.kept, self.connection = one_in, [], connection

    def _odd(self, *seen):
        """Do what a class may do wrong, now and then."""
        if self.draw.randrange(self.one_in):
            return
        act, value = self.draw.randrange(9), self.draw.choice(VALUES)
        if act == 0:
            raise self.draw.choice((ValueError, Quiet, KeyError, RecursionError, OverflowError))("a\\nb")
        for one in (*seen, *self.kept):  # those of earlier calls, which are no longer valid, too
            names = [name for name in dir(one) if not name.startswith("_")]
            for name in self.draw.sample(names, min(len(names), 3)):
                if act in (1, 2):
                    setattr(one, name, value)
                elif act in (3, 4):
                    getattr(one, name)
                elif act == 5:
                    getattr(one, name)(value)
                elif act == 6:
                    getattr(one, name)(value, self.draw.choice(VALUES))
        if act == 7:
            self.kept = list(seen)[-2:]
        if act == 8:
            del self.draw.x  # AttributeError

    def on_ack(self, ack, window):
        self._odd(ack, window)
        if ack.is_cwnd_limited:
            window.increase(window.cwnd, ack.counted)

    def ssthresh(self, congestion):
        self._odd(congestion)
        return max(2, congestion.cwnd // 2) if self.draw.randrange(self.one_in) else self.draw.choice(VALUES)

    def undo_cwnd(self, window, prior_cwnd):
        return self.draw.choice(VALUES) if not self.draw.randrange(self.one_in) else max(window.cwnd, prior_cwnd)

    def probe(self):
        return {"x": 1.0} if self.draw.randrange(self.one_in) else self.draw.choice([{"x": v} for v in VALUES] + VALUES)

    def on_delivered(self, ack, window): self._odd(ack, window)
    def on_open(self, now, rtt, window): self._odd(window, self.connection)
    def on_state(self, state, window): self._odd(window)
    def on_rto(self): self._odd(self.connection)
    def on_undo(self): self._odd()
    def on_restart(self, now, idle): self._odd()
RATE
'''  # fmt: skip
ON_RATE = """
    def on_rate(self, ack, sample, window): self._odd(ack, sample, window)
    def on_transmit_start(self, now, is_idle, window): self._odd(window)
"""


def test_whatever_a_congestion_control_does_the_run_ends_or_says_why_in_a_line(here: Path) -> None:
    ended = 0
    for draw in tries(25):
        by_rate = draw.random() < 0.3
        text = ODD.replace("PACES", str(draw.random() < 0.5)).replace("RATE", ON_RATE if by_rate else "")
        # A file of its own per text: the class is compiled once per content.
        Path("odd.py").write_text(text, encoding="utf-8")
        one_in = round(math.exp(draw.uniform(0, math.log(3000))))
        flow = {"kind": "bulk", "cc": f"./odd.py:Odd seed {draw.randint(0, 9**6)} one_in {one_in}"}
        given: dict[str, Any] = {
            "duration": "400ms",
            "warmup": "0s",
            "seed": draw.randint(1, 99),
            "bottleneck": {"rate": "10mbit", "qdisc": draw.choice(("pfifo limit 9", "netem loss 3%", "codel"))},
            "path": {"rtt": "9ms"},
            "traffic": [flow | {"count": draw.randint(1, 2)}],
            "series": {"interval": "50ms", "cc": True},
        }
        try:
            gq.run(given)
            ended += 1
        except gq.UserError as error:
            assert "\n" not in str(error)
            assert len(str(error)) < 3000
            assert "odd.py" in str(error) or "Odd" in str(error), error
    print(f"{ended} ran to their end")
