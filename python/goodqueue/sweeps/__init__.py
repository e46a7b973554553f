"""Sweeps run one scenario over a grid of values, with several seeds each. An interrupted sweep can be resumed.

`grid` has the cells, `carrying` runs them, `result` holds the results, `show` makes tables, `pages` writes files.
"""
