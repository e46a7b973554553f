"""The kernel's ``struct tcp_info``: the state of a connection, as its sender sees it."""

import struct

# ``linux/tcp.h``. Fields are only ever appended to the structure. These are the fields of kernel 6.1 up to the last
# one that is used.
_SIZES = [1] * 8 + [4] * 24 + [8] * 4 + [4] * 6 + [8] * 4 + [4] * 2 + [8] * 2 + [4] * 2
_FORMAT = struct.Struct("=" + "".join({1: "B", 4: "I", 8: "Q"}[size] for size in _SIZES))
_FIELDS = (
    *("state", "ca_state", "retransmits", "probes", "backoff", "options", "wscale", "flags"),
    *("rto_us", "ato_us", "snd_mss", "rcv_mss", "unacked", "sacked", "lost", "retrans", "fackets"),
    *("last_data_sent", "last_ack_sent", "last_data_recv", "last_ack_recv", "pmtu", "rcv_ssthresh"),
    *("rtt_us", "rttvar_us", "ssthresh", "cwnd", "advmss", "reordering", "rcv_rtt_us", "rcv_space", "total_retrans"),
    *("pacing_rate", "max_pacing_rate", "bytes_acked", "bytes_received"),
    *("segs_out", "segs_in", "notsent_bytes", "min_rtt_us", "data_segs_in", "data_segs_out"),
    *("delivery_rate", "busy_time_us", "rwnd_limited_us", "sndbuf_limited_us"),
    *("delivered", "delivered_ce", "bytes_sent", "bytes_retrans", "dsack_dups", "reord_seen"),
)
_UNLIMITED = 0x7FFFFFFF
"""The kernel's value for a slow-start threshold that was never set."""


def decode(digits: str) -> dict[str, int | None]:
    """Return the structure's fields by name, from its bytes as hexadecimal digits."""
    info: dict[str, int | None] = dict(zip(_FIELDS, _FORMAT.unpack(bytes.fromhex(digits)), strict=True))
    if info["ssthresh"] == _UNLIMITED:
        info["ssthresh"] = None
    return info
