"""Flent: RRUL with best-effort packets (``rrul_be``): four TCP flows each way with pings, and its own summary."""

import re
from pathlib import Path

from goodqueue.calibrate.programs.program import SERVER, Claim, Port, Program, Told
from goodqueue.errors import UserError

_ROWS = {"down_mbps": "TCP download sum", "up_mbps": "TCP upload sum", "ping_mean_ms": "Ping (ms) avg"}
"""The rows of the summary by claim. The first column is the mean."""


def _client(seconds: float, folder: Path) -> list[str]:
    return ["flent", "rrul_be", "-H", SERVER, "-l", f"{seconds:.0f}", "-D", str(folder), "-t", "calibration"]


def _server(_: Path) -> list[str]:
    return ["netserver", "-D"]


def _read(folder: Path) -> Told:
    text = PROGRAM.said(folder)
    matches = {key: re.search(rf"^ *{re.escape(row)} *: +([0-9.]+) ", text, re.MULTILINE) for key, row in _ROWS.items()}
    if not any(matches.values()):
        where = str(PROGRAM.output(folder))
        raise UserError(where, "found no summary; accepted: the output of Flent, with TCP download sum")
    return {key: None if match is None else float(match[1]) for key, match in matches.items()}


PROGRAM = Program(
    name="flent",
    needs=["flent", "netperf", "netserver"],
    package="apt-get install flent, and netperf",
    version=["flent", "--version"],
    client=_client,
    server=_server,
    port=Port("tcp", 12865),
    read=_read,
    claims=[
        Claim(
            "down_mbps", "download sum, mean, Mbit/s", "goodput_mbps",
            "what the path saw acknowledged of the flows down, each over its own time",
            "The mean is of netperf's interim results, which come at unequal distances on a slow link.",
        ),
        Claim(
            "up_mbps", "upload sum, mean, Mbit/s", "up_goodput_mbps",
            "what the path saw acknowledged of the flows up, each over its own time",
            "A sender counts what it wrote: bytes in its socket's buffer have not arrived.",
        ),
        Claim(
            "ping_mean_ms", "ping, mean, ms", "round_trip_mean_ms",
            "base RTT and the mean delays of packets in both queues",
            "The mean includes five idle seconds before and after the load, and its packets are sparse.",
        ),
    ],
)  # fmt: skip
