"""``compare``: several disciplines on the same scenario and seeds, on one engine or on several."""
