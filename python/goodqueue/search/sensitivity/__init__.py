"""``sensitivity``: says which keys of a scenario matter, and how much."""
