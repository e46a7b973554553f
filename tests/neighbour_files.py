"""Files of measurements, as irtt and iperf3 write them."""

from typing import Any


def trip(number: int, up_ms: float = 20.0, down_ms: float = 30.0, lost: str = "false") -> dict[str, Any]:
    """Return a round trip as irtt writes it, sent every 20 ms."""
    sent = 1_700_000_000_000_000_000 + 20_000_000 * number
    stamps = {"client": {"send": {"wall": sent, "monotonic": 5_000_000 + 20_000_000 * number}, "receive": {}}}
    ms = {"send": up_ms, "receive": down_ms, "rtt": up_ms + down_ms} if lost == "false" else {}
    delay = {key: round(1e6 * value) for key, value in ms.items()}
    return {"seqno": number, "lost": lost, "timestamps": stamps, "delay": delay, "ipdv": {}}


def measured(trips: list[dict[str, Any]], **stats: Any) -> dict[str, Any]:
    return {
        "version": {"irtt": "0.9.1", "protocol": 1, "json_format": 1},
        "system_info": {"os": "linux"},
        "config": {"remote_address": "192.0.2.1:2112", "params": {"interval": 20_000_000, "duration": 100_000_000}},
        "stats": {"start_time": "2023-11-14T22:13:20Z", "packets_sent": len(trips), **stats},
        "round_trips": trips,
    }


def step(
    second: int, size: int, sender: bool | None = True, socket: int = 5, omitted: bool = False, **more: Any
) -> dict[str, Any]:
    """Return one stream's part of an interval of 1 s."""
    flag = {} if sender is None else {"sender": sender}
    return {"socket": socket, "start": second, "end": second + 1, "seconds": 1.0, "bytes": size, "omitted": omitted,
            "bits_per_second": 8.0 * size, **flag, **more}  # fmt: skip


def run(streams: list[list[dict[str, Any]]], end: dict[str, Any], protocol: str = "TCP", **test: Any) -> dict[str, Any]:
    """Return a client's file. ``streams`` has for each interval the parts of the streams."""
    return {
        "start": {
            "version": "iperf 3.16",
            "timestamp": {"time": "Tue, 14 Nov 2023 22:13:20 GMT"},
            "connecting_to": {"host": "192.0.2.1", "port": 5201},
            "tcp_mss_default": 1000,
            "test_start": {"protocol": protocol, "reverse": 0, **test},
        },
        "intervals": [{"streams": parts, "sum": {}} for parts in streams],
        "end": end,
    }


def of_tcp(size: int, received: int, socket: int = 5, sender: bool = True, **more: Any) -> dict[str, Any]:
    """Return one stream's result after 2 s."""
    both = {"socket": socket, "seconds": 2.0, "sender": sender}
    return {
        "sender": both | {"bytes": size, "bits_per_second": 4.0 * size, **more},
        "receiver": both | {"bytes": received, "bits_per_second": 4.0 * received},
    }
