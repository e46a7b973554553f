"""Decision traces: recording those of our disciplines, replaying those of Linux."""
