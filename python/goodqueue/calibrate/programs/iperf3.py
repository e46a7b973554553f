"""iperf3: one TCP download (``-R``), as most people run it. The server's own output has the RTT, the client's not."""

from pathlib import Path

from goodqueue.calibrate.programs.program import SERVER, Claim, Port, Program, Told
from goodqueue.errors import UserError
from goodqueue.flent import programs
from goodqueue.record import Record


def _client(seconds: float, _: Path) -> list[str]:
    return ["iperf3", "-c", SERVER, "-R", "-t", f"{seconds:g}", "--json"]


def _server(_: Path) -> list[str]:
    return ["iperf3", "-s", "-1", "--json"]


def _record(file: Path) -> Record:
    records = list(programs.records(str(file), None, 1))
    if not records or not records[0]["flows"]:
        raise UserError(str(file), "found no stream; accepted: the output of a test that ran")
    return records[0]


def _read(folder: Path) -> Told:
    client, server = _record(PROGRAM.output(folder)), _record(PROGRAM.server_output(folder))
    rtt = server["flows"][0]["rtt_ms"]
    again = client["flows"][0]["retransmitted"]
    return {
        "goodput_mbps": client["flows"][0]["goodput_mbps"],
        "retransmitted": None if again is None else float(again),
        "rtt_mean_ms": rtt and rtt["mean"],
        "rtt_max_ms": rtt and rtt["max"],
    }


PROGRAM = Program(
    name="iperf3",
    needs=["iperf3"],
    package="apt-get install iperf3",
    version=["iperf3", "--version"],
    client=_client,
    server=_server,
    port=Port("tcp", 5201),
    is_once=True,
    read=_read,
    claims=[
        Claim(
            "goodput_mbps", "goodput, Mbit/s", "goodput_mbps",
            "what the path saw acknowledged of the flow, over the flow's time",
            "It says nothing of delay: the same goodput stands beside a queue of 1 ms and of 1 s.",
        ),
        Claim(
            "retransmitted", "retransmitted", "dropped",
            "packets that the queue down dropped",
            "The queue also dropped packets of irtt and ping; a retransmission that was not needed counts here alone.",
        ),
        Claim(
            "rtt_mean_ms", "RTT at the server, mean, ms", "round_trip_mean_ms",
            "base RTT and the mean delay of packets in the queues",
            "One smoothed RTT per second, and only at the end that sends: with -R the client's output has none.",
        ),
        Claim(
            "rtt_max_ms", "RTT at the server, max, ms", "round_trip_max_ms",
            "base RTT and the longest delay of a packet in the queue down",
            "A smoothed RTT once per second flattens a peak, or falls between two peaks.",
        ),
    ],
)  # fmt: skip
