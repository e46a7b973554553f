"""Reads one station's numbers from the record of a Wi-Fi cell."""

from collections.abc import Mapping

from goodqueue.record import Record
from goodqueue.record.dotted import walk


def of_station(record: Record, options: Mapping[str, str | float]) -> float | None:
    """Return ``number`` of the station called ``station``. The number covers both directions, or names its direction.

    Examples: ``airtime_percent``, ``down.aggregate_frames``.
    """
    stations = record["wifi"]["stations"] if "wifi" in record else []
    names = [station["name"] for station in stations]
    if options["station"] not in names:
        return None
    return walk(record, f"wifi.stations.{names.index(str(options['station']))}.{options['number']}")
