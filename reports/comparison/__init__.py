"""Runs held against each other: whether they differ or agree, and why."""
