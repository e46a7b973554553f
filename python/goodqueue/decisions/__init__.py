"""Decision traces: records those of our disciplines, replays those of Linux."""
