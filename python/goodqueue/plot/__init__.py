"""Figures: pure functions from records and comparisons to matplotlib figures.

Nothing here runs a simulation or writes a file but `style.save`. A figure of the same record is the same bytes, as SVG
and as PNG, whenever it is drawn with the same matplotlib.
"""

KINDS = ("ellipse", "cdf", "box", "bar", "time", "jain", "lines", "air")
"""Of figures of runs."""
