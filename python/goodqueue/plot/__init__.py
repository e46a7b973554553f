"""Figures: pure functions from records and comparisons to matplotlib figures.

Nothing here runs a simulation, and only `style.save` writes files. Figures of the same record have the same bytes, as
SVG and as PNG, if the matplotlib is the same.
"""

KINDS = ("ellipse", "cdf", "box", "bar", "time", "jain", "lines", "air", "law", "tree")
"""The kinds of figures of runs."""
