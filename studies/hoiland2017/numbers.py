"""Numbers of one station of a Wi-Fi cell."""

from goodqueue.record import Record
from goodqueue.record.dotted import walk
from goodqueue.studies.computing import TEXT, Computation, Options


def of_station(record: Record, options: Options) -> float | None:
    """Return ``number`` of the station called ``station``. The number covers both directions, or names its direction.

    Examples: ``airtime_percent``, ``down.aggregate_frames``.
    """
    stations = record["wifi"]["stations"] if "wifi" in record else []
    names = [station["name"] for station in stations]
    if options["station"] not in names:
        return None
    return walk(record, f"wifi.stations.{names.index(str(options['station']))}.{options['number']}")


NUMBERS = {
    "of_station": Computation(
        {"station": TEXT, "number": TEXT},
        of_station,
        "a number of a station of a Wi-Fi cell: airtime_percent, down.aggregate_frames",
    ),
}
"""The computations by name, as `compute` takes them."""
