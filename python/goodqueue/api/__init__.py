"""The Python API behind ``import goodqueue as gq``, for notebooks and programs: runs and comparisons as objects.

The functions take the command line's options by the same names, with the same defaults, from the same place (`asked`),
and call the same functions. `asking` turns Python values into these options, `showing` prints the results, and `frames`
makes tables of pandas.
"""
