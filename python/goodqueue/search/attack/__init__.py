"""``attack``: looks for scenarios in which a property breaks, and shrinks them."""
