"""ping of iputils: one packet per second, its default, beside a load that another program makes."""

import re
from pathlib import Path

from goodqueue.calibrate.programs.program import SERVER, Claim, Program, Told
from goodqueue.errors import UserError

_SUMMARY = re.compile(r"= ([0-9.]+)/([0-9.]+)/([0-9.]+)/[0-9.]+ ms")


def _client(seconds: float, _: Path) -> list[str]:
    return ["ping", "-n", "-c", f"{seconds:.0f}", SERVER]


def _read(folder: Path) -> Told:
    match = _SUMMARY.search(PROGRAM.said(folder))
    if match is None:
        raise UserError(str(PROGRAM.output(folder)), "found no summary; accepted: the output of ping, with min/avg/max")
    _, mean, most = (float(number) for number in match.groups())
    return {"rtt_mean_ms": mean, "rtt_max_ms": most}


PROGRAM = Program(
    name="ping",
    needs=["ping"],
    package="apt-get install iputils-ping",
    version=["ping", "-V"],
    client=_client,
    read=_read,
    beside="iperf3",
    claims=[
        Claim(
            "rtt_mean_ms", "RTT, mean, ms", "round_trip_mean_ms",
            "base RTT and the mean delay of all packets in the queues",
            "One packet per second is a few samples, and they are sparse as irtt's.",
        ),
        Claim(
            "rtt_max_ms", "RTT, max, ms", "round_trip_max_ms",
            "base RTT and the longest delay of a packet in the queue down",
            "The longest of a few samples is seldom the longest delay.",
        ),
    ],
)  # fmt: skip
