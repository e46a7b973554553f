"""How fast the simulator runs, beside other simulators."""
