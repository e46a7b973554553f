"""Files of measurements, as Flent writes them."""

import gzip
import json
from pathlib import Path
from typing import Any


def data(**changes: Any) -> dict[str, Any]:
    """Return a file as Flent writes it: uploads of 4 and 2 Mbit/s from 1 s to 11 s, one ping per second, one lost."""
    t0 = 1_500_000_000.0
    grid = [float(second) for second in range(13)]
    flow = {
        name: [{"t": t0 + second, "dur": 1.0, "val": rate, "tcp_cwnd": 10 + second} for second in range(2, 12)]
        for name, rate in (("TCP upload::1", 4.0), ("TCP upload::2", 2.0))
    }
    ping = [{"t": t0 + second + 0.05, "seq": second + 1.0, "val": 50.0} for second in range(13) if second != 5]
    raw: dict[str, Any] = {**flow, "Ping (ms) ICMP": ping}
    return {
        "version": 4,
        "metadata": {
            "NAME": "tcp_nup",
            "TITLE": "by hand",
            "T0": "2017-07-14T02:40:00.000000Z",
            "TIME": "2017-07-14T02:40:00.000000Z",
            "STEP_SIZE": 1.0,
            "TOTAL_LENGTH": 12,
            "SERIES_META": {"TCP upload::1": {"CONG_CONTROL": "cubic"}},
        },
        "x_values": grid,
        "results": {**{name: [None] * 13 for name in raw}, "TCP upload sum": [6.0] * 13, "Cpu::load": [1.0] * 13},
        "raw_values": raw,
        **changes,
    }


def written(folder: Path, content: dict[str, Any], name: str = "real.flent.gz") -> str:
    path = folder / name
    path.write_bytes(gzip.compress(json.dumps(content).encode()))
    return str(path)
