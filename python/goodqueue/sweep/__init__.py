"""Sweeps: one scenario over a grid of values, with several seeds each, resumed where they were interrupted.

`grid` is what is run, `carrying` does it, `result` is what it gave, `show` its tables, `pages` its files.
"""

from goodqueue.calling import calls

calls(__name__, "goodqueue.api.sweep", "sweep")
