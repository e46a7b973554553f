"""Validation runs a fixed set of scenarios in the simulator and on a real Linux kernel, and compares the numbers.

The kernel's numbers count as true. An error is the difference of the simulator's number from the kernel's.

`cells` reads the set (``cells.toml``: data). `runs` executes the runs and stores them, so that a killed validation can
continue. `result` holds the measurements, which ``results.json`` stores. `judging` computes the errors, `show` makes
tables and `pages` writes the files.
"""
