"""The table of a Wi-Fi cell's stations."""

from goodqueue.record import Record
from goodqueue.record.reading import statistic
from goodqueue.show import layout
from goodqueue.show.run.flows import DIRECTION
from goodqueue.show.table import Table, number, short


def tables(record: Record) -> list[Table]:
    """Return the table of a Wi-Fi cell's stations: airtime, rate, aggregation, retries, throughput and delay."""
    if (air := record.get("wifi")) is None:
        return []
    rows = [
        {
            "station": station["name"],
            DIRECTION: direction,
            "airtime\n%": number(one["airtime_percent"]),
            "rate\nMbit/s": number(one["rate_mbps"]),
            "frames per\naggregate": number(one["aggregate_frames"]),
            "retries\n%": number(one["retry_percent"]),
            "lost\nframes": str(one["lost"]),
            "delivered\nMbit/s": number(one["throughput_mbps"], 2),
            "delay ms\nmean": short(statistic(one["delay_ms"], "mean")),
            "\np95": short(statistic(one["delay_ms"], "p95")),
        }
        for station in air["stations"]
        for direction, one in (("down", station["down"]), ("up", station["up"]))
        if one["transmissions"]
    ]
    busy, collided = number(air["busy_percent"]), number(air["collision_percent"])
    notes = [
        f"on the air {busy} % of the time, without collisions; {collided} % of the transmissions collided",
        "delay: from a packet's arrival at its sender's queue until it was delivered",
    ]
    table = Table.of("Air", rows, notes, ("station", DIRECTION), names=2)
    return [layout.fitted(table, ("lost\nframes", "rate\nMbit/s", "retries\n%"))]
