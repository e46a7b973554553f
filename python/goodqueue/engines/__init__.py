"""What can run a scenario beside the simulator. Each engine gives the same record."""
