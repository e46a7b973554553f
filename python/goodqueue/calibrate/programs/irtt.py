"""irtt: a UDP packet each way every 20 ms, beside a load that another program makes."""

from pathlib import Path

from goodqueue.calibrate.programs.program import SERVER, Claim, Port, Program, Told
from goodqueue.flent import programs

INTERVAL = "20ms"
"""The time between two packets. irtt's default is 1 s."""


def _file(folder: Path) -> Path:
    return folder / "irtt.json"


def _client(seconds: float, folder: Path) -> list[str]:
    return ["irtt", "client", "-i", INTERVAL, "-d", f"{seconds:g}s", "-q", "-o", str(_file(folder)), SERVER]


def _server(_: Path) -> list[str]:
    return ["irtt", "server", "-i", "0"]


def _read(folder: Path) -> Told:
    (record,) = programs.records(str(_file(folder)), None, 1)
    trips, loss = record["apps"][0]["rtt_ms"], record["apps"][0]["loss_percent"]
    return {
        "rtt_mean_ms": trips and trips["mean"],
        "rtt_p95_ms": trips and trips["p95"],
        "rtt_max_ms": trips and trips["max"],
        "loss_percent": loss,
    }


PROGRAM = Program(
    name="irtt",
    needs=["irtt"],
    package="apt-get install irtt",
    version=["irtt", "version"],
    client=_client,
    server=_server,
    port=Port("udp", 2112),
    read=_read,
    beside="iperf3",
    claims=[
        Claim(
            "rtt_mean_ms", "RTT, mean, ms", "round_trip_mean_ms",
            "base RTT and the mean delay of all packets in the queues",
            "Its packets are sparse: a discipline with a queue per flow lets them pass the load.",
        ),
        Claim(
            "rtt_p95_ms", "RTT, p95, ms", "round_trip_p95_ms",
            "base RTT and the 95th percentile of the delay of all packets in the queue down",
            "A percentile over time; the queue's is over packets, and more packets see a full queue.",
        ),
        Claim(
            "rtt_max_ms", "RTT, max, ms", "round_trip_max_ms",
            "base RTT and the longest delay of a packet in the queue down",
            "A peak shorter than the interval falls between two packets.",
        ),
        Claim(
            "loss_percent", "loss, percentage points", "loss_percent",
            "packets that the queues dropped, of all that arrived",
            "Some hundred packets cannot tell a loss below 1 %, and sparse flows are dropped less.",
            is_share=True,
        ),
    ],
)  # fmt: skip
