"""Validation: a fixed set of scenarios in the simulator and on a real Linux kernel, and how far apart they are.

The kernel is what is true; an error is the simulator's number against it.

`cells` reads the set (``cells.toml``: data), `runs` does the runs (`records` keeps them, so that a killed validation
goes on), `result` holds what was measured and is what ``results.json`` stores, `judging` says how far apart the two
are, `show` makes tables of it, `pages` the files.
"""
