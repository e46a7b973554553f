"""Trees of `tc` commands on Linux and here, each with its own timers: every packet that leaves is compared."""
