"""Plan, execute, collect and store experiments."""
