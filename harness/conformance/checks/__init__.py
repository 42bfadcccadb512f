"""The checks: each file is one, and has an experiment, readings, and what they should be."""
