"""What is measured, and what several seeds say of it."""

SEEDS = 5
"""Seeds of each qdisc of a comparison and of each cell of a sweep, unless the user gives a number."""

FIRST_SEED = 1
