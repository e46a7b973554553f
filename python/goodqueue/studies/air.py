"""Numbers of a Wi-Fi cell: those of one station, and round trips across the cell."""

from collections.abc import Mapping

from goodqueue.measures.base import path_ms
from goodqueue.record import Record
from goodqueue.record.dotted import walk
from goodqueue.record.reading import statistic


def of_station(record: Record, options: Mapping[str, str | float]) -> float | None:
    """Return ``number`` of the station called ``station``. The number covers both directions, or names its direction.

    Examples: ``airtime_percent``, ``down.aggregate_frames``.
    """
    stations = record["wifi"]["stations"] if "wifi" in record else []
    names = [station["name"] for station in stations]
    if options["station"] not in names:
        return None
    return walk(record, f"wifi.stations.{names.index(str(options['station']))}.{options['number']}")


def captured_rtt_ms(record: Record, options: Mapping[str, str | float]) -> float | None:
    """Return a ``percentile`` (10, 50 or 90) of the round trips that captures at the stations show of what they send.

    Linux shows a packet to a capture when it leaves the discipline (``dev_queue_xmit_nit``), so its wait there is no
    part of the round trip. The record has no distribution of whole round trips: the percentile is the sum of that of
    the station's driver, that of the access point's queue, which the ACKs cross, and the base RTT.
    """
    key = f"p{options['percentile']:g}"
    up, down = (record["queues"][direction] for direction in ("up", "down"))
    parts = [statistic(up["ring"]["delay_ms"], key) if "ring" in up else None, statistic(down["delay_ms"], key)]
    present = [part for part in parts if part is not None]
    return path_ms(record["scenario"]) + sum(present) if len(present) == len(parts) else None
