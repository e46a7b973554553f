"""What a cell of Wi-Fi says of one of its stations."""

from collections.abc import Mapping

from goodqueue.record import Record
from goodqueue.record.dotted import walk


def of_station(record: Record, options: Mapping[str, str | float]) -> float | None:
    """Return ``number`` of the station called ``station``: of both ways together, or one that names its direction.

    Such as ``airtime_percent``, or ``down.aggregate_frames``.
    """
    stations = record["wifi"]["stations"] if "wifi" in record else []
    names = [station["name"] for station in stations]
    if options["station"] not in names:
        return None
    return walk(record, f"wifi.stations.{names.index(str(options['station']))}.{options['number']}")
