"""What ``import goodqueue as gq`` is for: runs, comparisons and sweeps as objects, for notebooks and programs.

It takes the command line's options by the same names, with the same defaults, from the same place (`asked`), and does
its work with the same functions. `asking` is how Python values become these options, `showing` how results show
themselves, `frames` their tables of pandas.
"""
