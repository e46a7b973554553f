"""A call as its listener hears it: behind a play-out buffer, which makes the delay of all packets equal.

A record's ``mos`` has the mean delay of the packets, as the papers have it, and so it does not hear jitter. A telephone
plays each packet at a fixed time after it was sent. That time adds to the delay of the whole call, and a packet that
arrives later is discarded: for the listener it is lost (RFC 3611, 4.7.1 and 4.7.7: discard rate, jitter buffer).
"""

from typing import Any

from goodqueue import _goodqueue
from goodqueue.measures import metrics

KIND = next(metric.app for metric in metrics.METRICS if metric.key == "voip_mos")
"""The kind of traffic that is a call."""

WORST = 1.0
"""The score of a call of which nothing arrives."""


def mos(call: Any) -> float:
    """Return the score of one call of a record (ITU-T G.107), with the play-out buffer that suits this call best.

    The buffer waits for one of the percentiles of the delay. A longer wait loses fewer packets and delays all of them;
    the best wait is taken, so that no size of ours decides.
    """
    lost = call["loss_percent"]
    waits = enumerate(call.get("delay_percentiles_ms") or ())
    return max((_goodqueue.mos(wait, 100 - (100 - lost) * percent / 100) for percent, wait in waits), default=WORST)
