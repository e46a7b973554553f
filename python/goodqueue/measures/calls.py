"""The score of a call as its listener hears it: behind a play-out buffer, which makes the delay of all packets equal.

This is the MOS that a person is shown. The delay of ITU-T G.107 (Ta) is that from mouth to ear, which includes the
buffer (ITU-T G.1020). A telephone plays each packet at a fixed time after it was sent. That time adds to the delay of
the whole call, and a packet that arrives later is discarded: for the listener it is lost (RFC 3611, 4.7.1 and 4.7.7:
discard rate, jitter buffer). A record's ``mos`` has the mean delay of the packets in its place, as the papers have it,
and so it does not hear jitter. `web/src/call.ts` has the same rule.
"""

from typing import Any

from goodqueue import _goodqueue, traffic

FIELD = "mos"
"""The field of a call's part of a record that has the score by the mean delay."""

KIND = next(kind.name for kind in traffic.kinds().values() if any(one.path == FIELD for one in kind.measures))
"""The kind of traffic that is a call."""

WORST = 1.0
"""The score of a call of which nothing arrives."""

NOTE = "MOS: 1 to 4.5 by ITU-T G.107, behind the play-out buffer that suits each call best"
NOTE_OF_MEAN = "MOS of mean delay: 1 to 4.5 by ITU-T G.107, without a play-out buffer"


def mos(call: Any) -> float | None:
    """Return the score of one call of a record (ITU-T G.107), with the play-out buffer that suits this call best.

    The buffer waits for one of the percentiles of the delay. A longer wait loses fewer packets and delays all of them;
    the best wait is taken, so that no size of ours decides. None if nothing was sent, or if another program measured
    the call and kept no percentiles.
    """
    lost, waits = call.get("loss_percent"), call.get("delay_percentiles_ms")
    if lost is None:
        return None
    known = [(percent, wait) for percent, wait in enumerate(waits or []) if wait is not None]
    if not known:
        return WORST if lost >= 100 else None
    return max(_goodqueue.mos(wait, 100 - (100 - lost) * percent / 100) for percent, wait in known)
