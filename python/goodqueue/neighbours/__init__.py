"""What other programs measured at the ends of a path, as records: irtt's and iperf3's JSON. Flent has its own room.

`opening` unpacks a file and recognises the program that wrote it. `irtt` and `iperf3` make records of what these
programs wrote, out of the `parts` that every such record has. The engine of a record is the program's name.
"""
