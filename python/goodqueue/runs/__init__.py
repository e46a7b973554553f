"""One run of one scenario, as ``goodqueue run`` and ``gq.run`` ask for it."""
