"""Compare runs: whether they differ or agree, and why."""
