"""Metrics of a record, and their statistics over several seeds."""

SEEDS = 5
"""The number of seeds per qdisc of a comparison and per cell of a sweep, unless the user gives another number."""

FIRST_SEED = 1
